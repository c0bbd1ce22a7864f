"""The audit of one run: its decision explained with what the ledger holds of it and of earlier runs.

The explanation itself is pure; what is here fetches for it the entries that the decision rests on, and the
earlier runs that say since when a checkpoint has not moved.
"""

from collections.abc import Iterator
from difflib import get_close_matches

from cli.decisions import decide_run
from cli.page import some_of
from ledger.core.decision import Checkpoint, Decision
from ledger.core.dialect import Dialect
from ledger.core.entries import Entry
from ledger.errors import NotFoundError
from ledger.log.store import RunRow, Store
from ledger.replay.explain import Explanation, entries_cited, explain, records_naming
from ledger.replay.history import PastRun, Standing, find_standings
from ledger.replay.replay import dialect_named

EARLIER_RUNS = 50
EARLIER_ENTRIES = 500_000
"""Earlier runs, and entries of them, that are looked at for when a checkpoint last moved."""

STREAMS_NAMED = 5


def audit(store: Store, run: RunRow, ruleset: str | None, stream: str | None) -> Explanation:
    """Decide a run and explain the decision.

    Args:
        store: the ledger.
        run: the run asked about.
        ruleset: under which to decide, None for the dialect's default.
        stream: the one checkpoint, or stream that a checkpoint covers, to explain; None for all.

    Raises:
        NotFoundError: the run staged no checkpoint of that stream.
    """
    decision = decide_run(store, run, ruleset)
    try:
        checkpoints = _asked_about(decision, stream)
    except NotFoundError as error:
        known = _last_move(store, run, ruleset, decision, stream or "")
        raise NotFoundError(f"{error}{known}") from None
    numbers = entries_cited(decision, checkpoints)
    cited = {seq: entry for seq in sorted(numbers) if (entry := _entry(store, run.run_no, seq)) is not None}
    records = records_naming(store.entries(run.run_no), checkpoints) if _names_keys(checkpoints) else {}
    standings = _standings(store, run, ruleset, decision, checkpoints)
    dialect = dialect_named(run.dialect)
    return explain(dialect, decision, checkpoints, cited, records, standings, stream=stream)


def _asked_about(decision: Decision, stream: str | None) -> list[Checkpoint]:
    if stream is None:
        return list(decision.checkpoints)
    found = [one for one in decision.checkpoints if stream == one.stream or stream in one.covers]
    if not found:
        streams = [one.stream for one in decision.checkpoints]
        near = get_close_matches(stream, streams, 3)
        staged = some_of(near or streams[:STREAMS_NAMED], len(streams)) or "none"
        raise NotFoundError(f"run {decision.run_id} staged no checkpoint for {stream!r}; it staged: {staged}")
    return found


def _last_move(store: Store, run: RunRow, ruleset: str | None, decision: Decision, stream: str) -> str:
    """Say when a checkpoint that this run did not stage last moved, '' where no run is known to move it."""
    looked_at, all_seen = _earlier_runs(store, run) if run.program else ([], True)
    history = _history(store, run, ruleset, decision, looked_at)
    commit = find_standings([stream], history, all_seen=all_seen)[stream].last_commit
    return f"; {stream} last moved in {commit.run_id}" if commit is not None else ""


def _names_keys(checkpoints: list[Checkpoint]) -> bool:
    return any(reason.keys for one in checkpoints for reason in one.reasons)


def _entry(store: Store, run_no: int, seq: int) -> Entry | None:
    return next(store.entries(run_no, after=seq - 1, through=seq), None)


def _standings(
    store: Store, run: RunRow, ruleset: str | None, decision: Decision, checkpoints: list[Checkpoint]
) -> dict[str, tuple[Standing, str | None]]:
    if not run.program:  # without a manifest nobody knows which runs came before it
        return {}
    streams = [one.stream for one in checkpoints]
    looked_at, all_seen = _earlier_runs(store, run)
    history = _history(store, run, ruleset, decision, looked_at)
    standings = find_standings(streams, history, all_seen=all_seen)
    dialect = dialect_named(run.dialect)
    return {name: (standing, _last_cursor(store, dialect, standing)) for name, standing in standings.items()}


def _earlier_runs(store: Store, run: RunRow) -> tuple[list[RunRow], bool]:
    """Return the runs of the same program and namespace that were opened before, newest first, and if all."""
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
    store: Store, run: RunRow, ruleset: str | None, decision: Decision, earlier: list[RunRow]
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
