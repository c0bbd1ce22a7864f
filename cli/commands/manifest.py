"""``runledger manifest``: hold a manifest against its rules, before any run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.documents import read_document
from cli.exits import NO, say
from cli.options import Common, Output, command, examples, keep_options
from cli.page import visible
from cli.render import print_json, print_rows
from cli.rulesets import find_ruleset, ledger_if_any
from ledger.core.findings import Fault
from ledger.core.json_reader import printable
from ledger.dialects.collection_profile.manifest import ManifestReading, ManifestStream

EXAMPLES = """Examples:

  runledger manifest check manifest.json

  cat manifest.json | runledger manifest check - -o json"""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Hold manifests against their rules.",
    callback=keep_options,
    epilog=examples(EXAMPLES),
)


@app.command("check", epilog=examples(EXAMPLES), short_help="Hold a manifest against its rules.")
@command
def check(
    common: Common,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A manifest; - for stdin.", readable=False)],
) -> None:
    """Ask of a manifest what a runtime must ask before it spawns the connector."""
    from ledger.dialects.collection_profile.manifest import read_manifest

    reading = read_manifest(read_document(file))
    faults, streams = _faults(reading, common), _streams(reading)
    bindings = (
        list(map(printable, reading.manifest.required_bindings)) if reading.manifest is not None else []
    )
    if common.output in (Output.JSON, Output.JSONL):
        print_json(
            {
                "connector_id": reading.connector_id,
                "version": reading.version,
                "good": not faults,
                "required_bindings": bindings,
                "streams": streams,
                "faults": faults,
            }
        )
    elif faults:
        print_rows(faults, ("clause", "sentence"), common)
    else:
        print_rows(streams, ("stream", "shape", "checkpoints"), common)
    name = visible(f"{reading.connector_id} {reading.version}".strip()) or "the manifest"
    if faults:
        say(f"{name} breaks {len(faults)} rule{'s' * (len(faults) > 1)}; a runtime must refuse it")
        raise typer.Exit(NO)
    say(f"{name} is good; it requires the bindings: {', '.join(bindings) or 'none'}")


def _faults(reading: ManifestReading, common: Common) -> list[dict[str, Any]]:
    """Return what is wrong: by the rules of every manifest, else by those that a ruleset adds."""
    from ledger.dialects import DIALECTS
    from ledger.dialects.collection_profile.ruleset import Ruleset

    with ledger_if_any(common) as store:
        asked = find_ruleset(store, DIALECTS["collection-profile"], common.ruleset)
    faults: Iterable[Fault] = reading.faults
    if reading.manifest is not None:
        faults = asked.faults_of(reading.manifest) if isinstance(asked, Ruleset) else ()
    return [
        {
            "code": fault.code,
            "clause": fault.clause,
            "detail": fault.detail,
            "sentence": asked.catalogue.fault(fault.code, fault.detail),
            "demand": asked.catalogue.demand(fault.clause),
        }
        for fault in faults
    ]


def _streams(reading: ManifestReading) -> list[dict[str, Any]]:
    declared = reading.manifest.streams.values() if reading.manifest is not None else ()
    return [
        {
            "stream": printable(stream.name),
            "shape": _shape(stream),
            "checkpoints": [printable(parent) for parent in stream.parents],
        }
        for stream in declared
    ]


def _shape(stream: ManifestStream) -> str:
    if stream.state_stream is not None:
        return "child"
    return "detail" if stream.parent_streams else "self-mapped"
