"""The audit of one run: its decision explained with what the ledger holds of it and of earlier runs.

The explanation itself is pure; what is here fetches for it the entries that the decision rests on, and the
earlier runs that say since when a checkpoint has not moved.
"""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from cli.decisions import decide_run, decide_run_under_all
from cli.erasures import Erasures
from cli.page import some_of
from ledger.core.decision import Decision
from ledger.core.dialect import Dialect, Ruleset
from ledger.core.entries import Entry
from ledger.errors import NotFoundError
from ledger.log.store import RunRow, Store
from ledger.replay.explain import (
    Explanation,
    entries_cited,
    explain,
    told_checkpoints,
)
from ledger.replay.history import PastRun, Standing, find_standings
from ledger.replay.records_at_fault import keys_at_fault, records_naming
from ledger.replay.replay import dialect_named

EARLIER_RUNS = 50
EARLIER_ENTRIES = 500_000
"""Earlier runs, and entries of them, that are looked at for when a checkpoint last moved."""

STREAMS_NAMED = 5

LOOKED_UP = 1000
"""Entries that are looked up one by one; for more of them the run is read through."""


def audit(store: Store, run: RunRow, ruleset: Ruleset | None, stream: str | None) -> Explanation:
    """Decide a run and explain the decision.

    Args:
        store: the ledger.
        run: the run asked about.
        ruleset: under which to decide, None for the dialect's default.
        stream: the one checkpoint, or stream that a checkpoint covers, to explain; None for all.

    Raises:
        NotFoundError: the run staged no checkpoint of that stream.
    """
    decision, *others = decide_run_under_all(store, run, ruleset)
    checkpoints = [one for one in decision.checkpoints if stream in (None, one.stream, *one.covers)]
    if stream is not None and not checkpoints:
        standings = _standings(store, run, ruleset, decision, [stream])
        raise NotFoundError(_not_staged(decision, stream, standings))
    asked_total = len(checkpoints)
    checkpoints = told_checkpoints(decision, checkpoints)
    cited = _entries(store, run.run_no, entries_cited(decision, checkpoints))
    streams = keys_at_fault(checkpoints)
    records = records_naming(store.labelled(run.run_no, "RECORD", streams), checkpoints) if streams else {}
    dialect, erasures = dialect_named(run.dialect), Erasures(store, run)
    standings = _standings(store, run, ruleset, decision, [one.stream for one in checkpoints])
    stands = {name: (one, _last_cursor(store, dialect, one)) for name, one in standings.items()}
    return explain(
        dialect,
        decision,
        checkpoints,
        cited,
        records,
        stands,
        stream=stream,
        asked_total=asked_total,
        others=others,
        erased={seq: str(erasures.told(seq)) for seq, entry in cited.items() if entry.body is None},
        words=ruleset.catalogue if ruleset is not None else None,
    )


def _not_staged(decision: Decision, stream: str, standings: Mapping[str, Standing]) -> str:
    """Say that a run staged no checkpoint of a stream, what it staged, and where the stream last moved."""
    streams = [one.stream for one in decision.checkpoints]
    near = get_close_matches(stream, streams, 3)
    staged = some_of(near or streams[:STREAMS_NAMED], len(streams)) or "none"
    commit = standings[stream].last_commit if stream in standings else None
    moved = f"; {stream} last moved in {commit.run_id}" if commit is not None else ""
    return f"run {decision.run_id} staged no checkpoint for {stream!r}; it staged: {staged}{moved}"


def _entries(store: Store, run_no: int, numbers: Collection[int]) -> dict[int, Entry]:
    """Return entries by seq: a few looked up one by one, many picked out of the run as it is read through."""
    if len(numbers) <= LOOKED_UP:
        found = (_entry(store, run_no, seq) for seq in sorted(numbers))
        return {entry.seq: entry for entry in found if entry is not None}
    read = store.entries(run_no, after=min(numbers) - 1, through=max(numbers))
    return {entry.seq: entry for entry in read if entry.seq in numbers}


def _entry(store: Store, run_no: int, seq: int) -> Entry | None:
    return next(store.entries(run_no, after=seq - 1, through=seq), None)


def _standings(
    store: Store, run: RunRow, ruleset: Ruleset | None, decision: Decision, streams: list[str]
) -> dict[str, Standing]:
    """Find where checkpoints stand; nowhere known without a manifest, which says what runs came before."""
    if not run.program:
        return {}
    earlier, all_seen = _earlier_runs(store, run)
    history = _history(store, run, ruleset, decision, earlier)
    return find_standings(streams, history, all_seen=all_seen)


def _earlier_runs(store: Store, run: RunRow) -> tuple[list[RunRow], bool]:
    """Return the earlier runs of the same program and namespace, newest first, and whether those are all."""
    earlier: list[RunRow] = []
    entries = 0
    for other in store.runs(program=run.program):
        same = (other.namespace, other.dialect) == (run.namespace, run.dialect)
        if not same or (other.opened_at, other.run_no) >= (run.opened_at, run.run_no):
            continue
        if len(earlier) == EARLIER_RUNS or entries > EARLIER_ENTRIES:
            return earlier, False
        entries += store.size(other.run_no)
        earlier.append(other)
    return earlier, True


def _history(
    store: Store, run: RunRow, ruleset: Ruleset | None, decision: Decision, earlier: list[RunRow]
) -> Iterator[PastRun]:
    yield _past(run, decision)
    for other in earlier:
        yield _past(other, decide_run(store, other, ruleset))


def _past(run: RunRow, decision: Decision) -> PastRun:
    return PastRun(run_no=run.run_no, run_id=run.run_id, opened_at=run.opened_at, decision=decision)


def _last_cursor(store: Store, dialect: Dialect, standing: Standing) -> str | None:
    """Return the text of the cursor that was last committed, shortened; None where there is none."""
    commit = standing.last_commit
    entry = _entry(store, commit.run_no, commit.cursor_entry) if commit is not None else None
    return dialect.tell(entry).get("cursor") if entry is not None else None
