"""The rows of ``recompute``: one for everything that is decided otherwise, or that is not as it should be.

All have the same members, so that they make one table.
"""

import msgspec

from cli.render import Row
from ledger.core.json_reader import printable
from ledger.log.store import RunRow
from ledger.replay.differences import Difference
from ledger.replay.impact import Group

COLUMNS = ("run_id", "stream", "kind", "before", "after", "code", "entries")

_NOTHING: Row = {
    "stream": None,
    "before": None,
    "after": None,
    "code": "",
    "clause": "",
    "says": "",
    "basis": None,
    "at_fault": None,
    "keys": (),
    "keys_total": 0,
    "entries": (),
    "entries_total": 0,
    "records": 0,
}


def plain_row(run: RunRow, *, kind: str, **members: object) -> Row:
    """Return a row about a run, with the members that every row has."""
    named = {"run_id": printable(run.run_id), "program": printable(run.program)}
    return {"kind": kind, **named, **_NOTHING, **members}


def difference_row(run: RunRow, difference: Difference, says: str) -> Row:
    """Return a difference of a run as a row."""
    why = difference.why
    return plain_row(
        run,
        kind=difference.kind,
        stream=difference.stream,
        before=difference.before,
        after=difference.after,
        code=why.code,
        clause=why.clause,
        says=says,
        basis=why.basis,
        at_fault=why.stream,
        keys=why.keys,
        keys_total=why.keys_total,
        entries=why.entries,
        entries_total=why.entries_total,
        records=difference.records,
    )


def group_row(group: Group) -> Row:
    """Return a group as the summary has it, without its first differences, which have rows of their own."""
    return {name: value for name, value in msgspec.structs.asdict(group).items() if name != "first"}
