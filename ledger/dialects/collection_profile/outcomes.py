"""What became of a decision: commits and failed writes, and where they are not what the rules say."""

from collections.abc import Iterator, Mapping

import msgspec

from ledger.core.decision import Cause, Commit, Discrepancy, Outcome, Status, Verdict
from ledger.core.findings import LIST_LIMIT, Detail, show_name
from ledger.core.json_reader import printable
from ledger.core.observations import CheckpointCommitFailed, CheckpointCommitted
from ledger.dialects.collection_profile.fate import Fate
from ledger.dialects.collection_profile.state import State
from ledger.dialects.collection_profile.weighing import Weighed


class Became(msgspec.Struct, frozen=True):
    """What the log says became of a checkpoint.

    Attributes:
        entries: the first observations that say so.
        cursor: the entry whose cursor the store took last, None where none is recorded.
    """

    outcome: Outcome | None
    entries: tuple[int, ...] = ()
    cursor: int | None = None


def outcomes(state: State, weighed: Mapping[str, Weighed]) -> dict[str, Became]:
    """Return what the log says became of each checkpoint."""
    tried: dict[str, list[int]] = {}
    cursors: dict[str, int | None] = {}
    for entry, event in state.commits:
        tried.setdefault(event.stream, []).append(entry)
        if isinstance(event, CheckpointCommitted):
            cursors[event.stream] = event.cursor_seq if 0 < event.cursor_seq < entry else None
    stopped = _write_failed(state)
    over = state.cut is not None and state.closed is not None
    became: dict[str, Became] = {}
    for stream, one in weighed.items():
        if stream in tried:
            outcome: Outcome = "committed" if stream in cursors else "failed"
            became[stream] = Became(outcome, tuple(tried[stream][:LIST_LIMIT]), cursors.get(stream))
        else:
            left_out = one.verdict == "commit" and (stopped or over)
            became[stream] = Became("not_attempted" if left_out else None)
    return became


def _write_failed(state: State) -> bool:
    return any(isinstance(event, CheckpointCommitFailed) for _, event in state.commits)


def store_failure(state: State, weighed: Mapping[str, Weighed]) -> tuple[Status, Cause] | None:
    """Return what a run becomes where a write that was due failed, or is known to fail (eligible/5).

    It has failed. Where an erased entry leaves open whether the write was due, so is whether the run failed.
    """
    open_ones: list[Cause] = []
    for cause, verdict in _failures(state, weighed):
        if verdict != "indeterminate":
            return "failed", cause
        open_ones.append(cause)
    return ("indeterminate", open_ones[0]) if open_ones else None


def _failures(state: State, weighed: Mapping[str, Weighed]) -> Iterator[tuple[Cause, Verdict]]:
    """Yield each write that was due or may have been, and failed or is known to fail, and its verdict."""
    for entry, event in state.commits:
        one = weighed.get(event.stream)
        if not isinstance(event, CheckpointCommitFailed) or one is None:
            continue
        if one.verdict in ("commit", "indeterminate") or one.refusal is not None:
            detail = {"stream": printable(event.stream), "text": printable(event.error)[:200]}
            cause = Cause(
                code="checkpoint_store_failed",
                clause="eligible/5",
                entries=(entry,),
                by="store",
                detail=detail,
            )
            yield cause, one.verdict
    for one in weighed.values():
        if one.refusal is not None:
            cause = Cause(
                code=one.refusal.code,
                clause=one.refusal.clause,
                entries=one.refusal.entries,
                by="runtime",
                detail={"stream": one.refusal.stream or ""},
            )
            yield cause, one.verdict


def sum_up(state: State, weighed: Mapping[str, Weighed], became: Mapping[str, Became]) -> Commit:
    """Sum up the checkpoints of the run (eligible/5)."""
    failed = [e.stream for _, e in state.commits if isinstance(e, CheckpointCommitFailed)]
    committed = tuple(dict.fromkeys(e.stream for _, e in state.commits if isinstance(e, CheckpointCommitted)))
    return Commit(
        staged=len(weighed),
        eligible=sum(w.verdict == "commit" for w in weighed.values()),
        committed=len(committed),
        committed_streams=tuple(map(show_name, committed)),
        failed_stream=show_name(failed[0]) if failed else None,
        not_attempted=tuple(show_name(s) for s, one in became.items() if one.outcome == "not_attempted"),
    )


def discrepancies(state: State, fate: Fate, weighed: Mapping[str, Weighed]) -> Iterator[Discrepancy]:
    """Yield where what happened is not what the rules say, in order of the log where there is an order.

    Nothing is held against what an erased entry leaves open.
    """
    if fate.status == "refused" and state.refusals:
        ran = state.spawned or state.first_program_line or state.exit_entry
        if ran is not None:
            yield _differs("ran_though_refused", "log/refusal", None, ran)
    if state.refused is not None and not state.refusals and not state.erased.run:
        yield _differs("refused_though_allowed", "log/refusal", None, state.refused.entry)
    yield from _attempts(state, weighed)
    for entry, name, durable_through in state.undurable_commits:
        detail = {"durable_through": durable_through}
        yield _differs("committed_before_durable", "runtime/5", name, entry, detail=detail)
    yield from _left_out(state, weighed)


def _attempts(state: State, weighed: Mapping[str, Weighed]) -> Iterator[Discrepancy]:
    order = {stream: place for place, stream in enumerate(weighed)}
    eligible = [stream for stream, one in weighed.items() if one.verdict == "commit"]
    turn = 0  # of the first eligible checkpoint that is not committed yet
    committed: dict[str, int] = {}
    failed: int | None = None
    furthest = -1
    for entry, event in state.commits:
        verdict = weighed[event.stream].verdict if event.stream in weighed else None
        if failed is not None:
            yield _differs("attempted_after_failure", "eligible/5", event.stream, failed, entry)
        if isinstance(event, CheckpointCommitFailed):
            failed = failed or entry
            if verdict == "indeterminate" or (verdict and weighed[event.stream].refusal is not None):
                continue
            if verdict != "commit":
                yield _differs("attempted_though_withheld", "eligible/4", event.stream, entry)
            elif turn < len(eligible) and order[eligible[turn]] < order[event.stream]:
                yield _differs("attempted_out_of_order", "eligible/4", event.stream, entry)
            continue
        if verdict is None:
            yield _differs("committed_though_not_staged", "eligible/4", event.stream, entry)
        elif verdict not in ("commit", "indeterminate"):
            yield _differs("committed_though_withheld", "eligible/4", event.stream, entry)
        elif order[event.stream] < furthest and event.stream not in committed:
            yield _differs("committed_out_of_order", "eligible/4", event.stream, entry)
        furthest = max(furthest, order.get(event.stream, -1))
        if event.stream in committed:
            yield _differs("committed_twice", "eligible/4", event.stream, committed[event.stream], entry)
        committed.setdefault(event.stream, entry)
        while turn < len(eligible) and eligible[turn] in committed:
            turn += 1
        yield from _commit_details(state, entry, event)


def _left_out(state: State, weighed: Mapping[str, Weighed]) -> Iterator[Discrepancy]:
    """Yield what the rules commit and nobody tried to, once the run was decided and closed."""
    if state.cut is None or state.closed is None:
        return
    tried = {event.stream for _, event in state.commits}
    stopped = _write_failed(state)
    for name, one in weighed.items():
        if one.verdict == "commit" and name not in tried and not stopped:
            yield _differs("not_committed_though_eligible", "eligible/4", name, state.cut)


def _commit_details(state: State, entry: int, event: CheckpointCommitted) -> Iterator[Discrepancy]:
    staged = state.staged.get(event.stream)
    if staged is not None and not staged.erased and staged.cursor_entry != event.cursor_seq:
        yield _differs("committed_other_cursor", "eligible/4", event.stream, staged.cursor_entry, entry)
    namespace = state.opened.namespace if state.opened is not None else None
    if event.namespace != namespace:
        detail = {"namespace": show_name(event.namespace or "null")}
        yield _differs("committed_in_other_namespace", "runtime/7", event.stream, entry, detail=detail)


def _differs(
    code: str, clause: str, stream: str | None, *entries: int, detail: Detail | None = None
) -> Discrepancy:
    shown = show_name(stream) if stream is not None else None
    return Discrepancy(code=code, clause=clause, stream=shown, entries=entries, detail=detail or {})
