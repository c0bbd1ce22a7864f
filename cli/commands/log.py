"""``runledger log``: the entries of a run."""

import base64
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from cli.decisions import open_ledger
from cli.options import Common, Output
from cli.render import print_bytes, print_rows
from cli.run_names import find_run
from ledger.core.entries import ORIGINS, Entry
from ledger.core.instants import write_micros
from ledger.errors import UsageError
from ledger.replay.replay import dialect_named

EXAMPLES = """Examples:

  runledger log @latest --type DETAIL_COVERAGE --type DETAIL_GAP

  runledger log run_1 --from 30 --to 40 --raw"""

COLUMNS = ("seq", "at", "origin", "type", "stream", "told")


def log(
    common: Common,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="An id, a prefix, @latest, @latest:PROGRAM or @2.")
    ],
    first: Annotated[int, typer.Option("--from", min=1, help="The first entry to print.")] = 1,
    last: Annotated[int | None, typer.Option("--to", min=1, help="The last entry to print.")] = None,
    type: Annotated[
        list[str] | None, typer.Option("--type", help="Only of this type; may be repeated.")
    ] = None,
    stream: Annotated[
        list[str] | None, typer.Option("--stream", help="Only of this stream; may be repeated.")
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option("--origin", help="Only of program, runtime or observer; may be repeated."),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print the bodies alone, byte for byte.")] = False,
) -> None:
    """Print the entries of a run: every line, and every observation."""
    wrong = set(origin or ()) - set(ORIGINS)
    if wrong:
        raise UsageError(f"expected --origin program, runtime or observer; found {', '.join(sorted(wrong))}")
    with open_ledger(common) as store:
        found = find_run(store, run)
        entries = (
            entry
            for entry in store.entries(found.run_no, after=first - 1, through=last)
            if (not type or entry.type in type)
            and (not stream or entry.stream in stream)
            and (not origin or entry.origin in origin)
        )
        if raw:
            for entry in entries:
                print_bytes(b"[erased]" if entry.body is None else entry.body)
        elif common.output is Output.TEXT:
            tell = dialect_named(found.dialect).tell
            print_rows((_told(entry, tell) for entry in entries), COLUMNS, common)
        else:
            print_rows(map(_whole, entries), ("seq", "at", "origin", "session", "type", "stream"), common)


def _told(entry: Entry, tell: Callable[[Entry], Any]) -> dict[str, Any]:
    facts = " · ".join(f"{name} {value}" for name, value in tell(entry).items() if name != "stream")
    return {**_fixed(entry), "at": _time(entry), "told": facts if len(facts) <= 200 else facts[:199] + "…"}


def _whole(entry: Entry) -> dict[str, Any]:
    return {**_fixed(entry), **dict(_body(entry))}


def _fixed(entry: Entry) -> dict[str, Any]:
    return {
        "seq": entry.seq,
        "at": write_micros(entry.at) if entry.at else None,
        "origin": entry.origin,
        "session": entry.session or None,
        "type": entry.type,
        "stream": entry.stream,
    }


def _time(entry: Entry) -> str:
    return write_micros(entry.at)[11:23] if entry.at else ""


def _body(entry: Entry) -> Iterator[tuple[str, str | bool]]:
    if entry.body is None:
        yield "erased", True
        return
    try:
        yield "body", entry.body.decode("utf-8")
    except UnicodeDecodeError:
        yield "b64", base64.b64encode(entry.body).decode("ascii")
