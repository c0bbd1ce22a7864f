"""``runledger``: the commands, assembled."""

import re
from typing import Annotated

import typer

from cli.commands import (
    backup,
    certificate,
    doctor,
    erase,
    export,
    heads,
    import_,
    log,
    manifest,
    note,
    recompute,
    rules,
    runs,
    show,
    verify,
    why,
)
from cli.exits import exits, ready_streams
from cli.options import (
    ColorOption,
    LedgerOption,
    OutputOption,
    RulesetOption,
    command,
    examples,
    keep_options,
)
from ledger import __version__

EXAMPLES = """Examples:

  runledger import sample_runs

  runledger why @latest"""

app = typer.Typer(
    name="runledger",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(EXAMPLES),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"runledger {__version__}")
        raise typer.Exit


@app.callback()
def runledger(
    ctx: typer.Context,
    ledger: LedgerOption = None,
    output: OutputOption = None,
    ruleset: RulesetOption = None,
    color: ColorOption = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """An event-sourced ledger of data-collection runs: find out why a checkpoint was withheld."""
    keep_options(ctx, ledger, output, ruleset, color)


def _short(sentence: str) -> str:
    """Return what fits in the list of commands: the sentence up to where it begins to explain."""
    return re.split(r"[;:,]", sentence)[0].rstrip(".") + "."


for verb, module, function in (
    ("import", import_, import_.import_),
    ("runs", runs, runs.runs),
    ("why", why, why.why),
    ("show", show, show.show),
    ("log", log, log.log),
    ("note", note, note.note),
    ("export", export, export.export),
    ("erase", erase, erase.erase),
    ("recompute", recompute, recompute.recompute),
    ("certificate", certificate, certificate.certificate),
    ("verify", verify, verify.verify),
    ("heads", heads, heads.heads),
    ("backup", backup, backup.backup),
    ("doctor", doctor, doctor.doctor),
):
    app.command(verb, epilog=examples(module.EXAMPLES), short_help=_short(function.__doc__ or ""))(
        command(function)
    )
app.add_typer(manifest.app, name="manifest")
app.add_typer(rules.app, name="rules")


def main() -> None:
    """Run the command line and exit."""
    ready_streams()
    with exits():
        app(prog_name="runledger")
