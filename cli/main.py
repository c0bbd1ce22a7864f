"""``runledger``: the commands, assembled."""

from typing import Annotated

import typer

from cli.commands import export, import_, log, manifest, rules, runs, show, why
from cli.exits import INTERRUPTED, say
from cli.options import ColorOption, Given, LedgerOption, OutputOption, RulesetOption, command
from ledger import __version__

app = typer.Typer(
    name="runledger",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
    ctx.obj = Given(ledger=ledger, output=output, ruleset=ruleset, color=color)


for verb, module in (
    ("import", import_),
    ("runs", runs),
    ("why", why),
    ("show", show),
    ("log", log),
    ("export", export),
):
    app.command(verb, epilog=module.EXAMPLES)(
        command(getattr(module, verb if verb != "import" else "import_"))
    )
app.add_typer(manifest.app, name="manifest")
app.add_typer(rules.app, name="rules")


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except KeyboardInterrupt:
        say("interrupted")
        raise SystemExit(INTERRUPTED) from None
