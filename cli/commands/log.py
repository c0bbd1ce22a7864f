"""``runledger log``: the entries of a run."""

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import Annotated, Any

import typer

from cli.decisions import open_ledger
from cli.erasures import Erasures, ErasureTold
from cli.exits import say
from cli.following import follow as follow_run
from cli.options import Common, Output, RunArgument
from cli.page import some_of
from cli.render import print_lines, print_rows
from cli.run_names import find_run
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry
from ledger.core.instants import write_micros
from ledger.core.json_reader import printable
from ledger.errors import UsageError
from ledger.log.store import RunRow
from ledger.replay.replay import dialect_named

EXAMPLES = """Examples:

  runledger log @latest --type DETAIL_COVERAGE --type DETAIL_GAP

  runledger log run_1 --follow -o jsonl"""

COLUMNS = ("seq", "at", "origin", "session", "type", "stream", "told")
ERASED = "[erased]"
TOLD_WIDTH = 200
TYPES_NAMED = 30

_NOT_ERASED = ErasureTold(None, None)

_LEAST = {"seq": 6, "at": 12, "origin": 8, "type": 18, "stream": 18}
"""Widths for rows that nobody has seen yet."""


class Speaker(StrEnum):
    """Whose entries to print."""

    PROGRAM = PROGRAM
    RUNTIME = RUNTIME
    OBSERVER = OBSERVER


def log(
    common: Common,
    run: RunArgument,
    first: Annotated[int, typer.Option("--from", metavar="SEQ", min=1, help="The first entry to print.")] = 1,
    last: Annotated[
        int | None, typer.Option("--to", metavar="SEQ", min=1, help="The last entry to print.")
    ] = None,
    type: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only of this type; may be repeated.")
    ] = None,
    stream: Annotated[
        list[str] | None,
        typer.Option("--stream", metavar="STREAM", help="Only of this stream; may be repeated."),
    ] = None,
    origin: Annotated[
        list[Speaker] | None,
        typer.Option("--origin", help="Only of who spoke; may be repeated."),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print the bodies alone, byte for byte.")] = False,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on printing what is appended, until the run is closed.")
    ] = False,
) -> None:
    """Print the entries of a run: every line, and every observation."""
    if last is not None and last < first:
        raise UsageError(f"expected --to at or after --from; found --from {first} and --to {last}")
    if follow and common.output is Output.JSON and not raw:
        raise UsageError("expected -o jsonl, csv or text with --follow, found json, which ends with the run")

    def is_wanted(entry: Entry) -> bool:
        return (
            (not type or entry.type in type)
            and (not stream or entry.stream in stream)
            and (not origin or entry.origin in origin)
        )

    with open_ledger(common) as store:
        found = find_run(store, run)
        # Of a run that is followed, what there is now is printed first, as far as it goes.
        through = _least(last, store.size(found.run_no)) if follow else last
        held: Iterator[Entry] = filter(
            is_wanted, store.entries(found.run_no, after=first - 1, through=through)
        )
        later: Iterable[Entry] = ()
        if follow and through is not None:
            after = max(through, first - 1)
            later = filter(is_wanted, follow_run(store, found.run_no, after=after, through=last))
        else:
            held = _told_of(held, lambda: store.entries(found.run_no))
        erasures = Erasures(store, found)
        _print(found, held, later, erasures, common, raw=raw, follows=follow)


def _print(
    run: RunRow,
    held: Iterator[Entry],
    later: Iterable[Entry],
    erasures: Erasures,
    common: Common,
    *,
    raw: bool,
    follows: bool,
) -> None:
    if raw:
        print_lines(ERASED.encode() if entry.body is None else entry.body for entry in chain(held, later))
    elif common.output is Output.TEXT:
        tell = dialect_named(run.dialect).tell
        print_rows(
            (_told(entry, tell, erasures) for entry in held),
            COLUMNS,
            common,
            optional=() if follows else ("session",),
            is_cut=True,
            later=(_told(entry, tell, erasures) for entry in later) if follows else None,
            least=_LEAST if follows else None,
        )
    else:
        whole = partial(_whole, erasures=erasures)
        print_rows(map(whole, held), (), common, later=map(whole, later))


def _least(last: int | None, size: int) -> int:
    return size if last is None else min(last, size)


def _told_of(entries: Iterable[Entry], all_of_them: Callable[[], Iterable[Entry]]) -> Iterator[Entry]:
    """Pass the entries on, and say what there is instead where there are none."""
    empty = True
    for entry in entries:
        empty = False
        yield entry
    if empty:
        held = Counter(printable(entry.type) for entry in all_of_them())
        types = [name for name, _ in held.most_common() if name]
        named = some_of(sorted(types[:TYPES_NAMED]), len(types))
        say(f"no entry of the run is like that; its {held.total()} entries are of the types {named}")


def _told(entry: Entry, tell: Callable[[Entry], Mapping[str, str]], erasures: Erasures) -> dict[str, Any]:
    facts = " · ".join(f"{name} {value}" for name, value in tell(entry).items() if name != "stream")
    if entry.body is None:
        facts = f"[{erasures.told(entry.seq)}]"
    cut = facts if len(facts) <= TOLD_WIDTH else facts[: TOLD_WIDTH - 1] + "…"
    return {**_fixed(entry), "at": _time(entry), "told": cut}


def _whole(entry: Entry, erasures: Erasures) -> dict[str, Any]:
    text, encoded = _body(entry)
    told = erasures.told(entry.seq) if entry.body is None else _NOT_ERASED
    return {
        **_fixed(entry),
        "body": text,
        "b64": encoded,
        "erased": entry.body is None,
        "erased_by": told.account,
        "reason": told.reason,
    }


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


def _body(entry: Entry) -> tuple[str | None, str | None]:
    """Return a body as text, or in base64 where it is none."""
    if entry.body is None:
        return None, None
    try:
        return entry.body.decode("utf-8"), None
    except UnicodeDecodeError:
        return None, base64.b64encode(entry.body).decode("ascii")
