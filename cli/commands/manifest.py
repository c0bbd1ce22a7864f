"""``runledger manifest``: hold a manifest against its rules, before any run."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.exits import NO
from cli.options import Common, Output, command
from cli.render import print_json, print_rows
from ledger.core.json_reader import Malformed, read_json
from ledger.errors import ManifestError

EXAMPLES = """Examples:

  runledger manifest check manifest.json

  cat manifest.json | runledger manifest check - -o json"""

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Hold manifests against their rules.")


@app.command("check", epilog=EXAMPLES)
@command
def check(
    common: Common, file: Annotated[Path, typer.Argument(metavar="FILE", help="A manifest; - for stdin.")]
) -> None:
    """Ask of a manifest what a runtime must ask before it spawns the connector."""
    from ledger.dialects.collection_profile.catalogue import CATALOGUE
    from ledger.dialects.collection_profile.manifest import read_manifest

    reading = read_manifest(read_document(file))
    faults = [
        {
            "code": fault.code,
            "clause": fault.clause,
            "sentence": CATALOGUE.fault(fault.code, fault.detail),
            "demand": CATALOGUE.demand(fault.clause),
        }
        for fault in reading.faults
    ]
    declared = reading.manifest.streams.values() if reading.manifest is not None else ()
    streams = [{"stream": s.name, "checkpoints": s.parents, "shape": _shape(s)} for s in declared]
    if common.output in (Output.JSON, Output.JSONL):
        bindings = reading.manifest.required_bindings if reading.manifest is not None else ()
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
    if faults:
        raise typer.Exit(NO)


def read_document(file: Path) -> bytes:
    """Read a manifest document.

    Raises:
        ManifestError: it cannot be read, or is no JSON object; the message names line and column.
    """
    try:
        body = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise ManifestError(f"{file}: cannot be read: {error.strerror or error}") from error
    document = read_json(body)
    if isinstance(document, Malformed):
        before = body[: document.offset]
        line, column = before.count(b"\n") + 1, document.offset - before.rfind(b"\n")
        where = f"{file}:{line}:{column}"
        raise ManifestError(f"{where}: expected a JSON object, found {document.reason.replace('_', ' ')}")
    if not isinstance(document.value, dict):
        raise ManifestError(f"{file}: expected a JSON object, found another JSON value")
    return body


def _shape(stream: Any) -> str:
    if stream.state_stream is not None:
        return "child"
    return "detail" if stream.parent_streams else "self-mapped"
