"""The fate of a run: its status and the one cause, resolved in a fixed order.

Refused; cancelled; controller lost; protocol violated; no valid DONE; DONE's own status, with certification.
A failed write comes after all of these, once checkpoints are known; see ``decide``.
"""

from ledger.core.findings import By, Detail
from ledger.core.json_reader import printable
from ledger.dialects.collection_profile.decision import Cause, NearMiss, Status
from ledger.dialects.collection_profile.rules.done import STREAM_FAILURE
from ledger.dialects.collection_profile.state import Phase, State

NEAR_MISS_LIMIT = 20


class Fate:
    """Status, cause and whether checkpoints may be weighed one by one.

    Attributes:
        certified: whether a stream-scoped failure is certified (done/certification/1..2).
        restart: whether the three conditions of restart abandonment apply.
    """

    __slots__ = ("cause", "certified", "restart", "status")

    def __init__(
        self, status: Status, cause: Cause | None = None, *, certified: bool = False, restart: bool = False
    ) -> None:
        self.status = status
        self.cause = cause
        self.certified = certified
        self.restart = restart


def resolve_fate(state: State) -> Fate:
    """Resolve the fate of the run at the state's prefix."""
    if state.refusals or (state.refused is not None and state.phase is not Phase.VIOLATED):
        return Fate("refused", _refusal(state))
    if state.cancelled is not None:
        detail: Detail = {"text": printable(state.cancelled.text)[:200]}
        clause = "done/cancellation" if state.cancelled.code == "cancel_requested" else "runtime/13"
        return Fate(
            "cancelled", _cause(state.cancelled.code, clause, (state.cancelled.entry,), "owner", detail)
        )
    if state.erased_run or state.opened is None or state.manifest is None:
        return Fate("indeterminate", _unreadable(state))
    if state.controller_lost is not None:
        return _abandonment(state)
    if state.violations:
        return Fate("failed", _violation(state))
    if state.phase is not Phase.DONE and not (state.phase is Phase.CUT and state.done is not None):
        return _without_done(state)
    if state.exit_entry is None and state.closed is None and state.cut is None:
        return Fate("running")
    return _reported(state)


def _cause(
    code: str, clause: str, entries: tuple[int, ...], by: By, detail: Detail | None = None, *near: NearMiss
) -> Cause:
    return Cause(
        code=code,
        clause=clause,
        entries=entries,
        by=by,
        detail=detail or {},
        near_misses=near,
    )


def _refusal(state: State) -> Cause:
    if state.refusals:
        entry, fault = state.refusals[0]
        return _cause(fault.code, fault.clause, (entry,), fault.by, fault.detail)
    refused = state.refused
    assert refused is not None
    return _cause(
        refused.code, "binding/1", (refused.entry,), "runtime", {"text": printable(refused.text)[:200]}
    )


def _unreadable(state: State) -> Cause:
    if state.erased_run:
        return _cause("entry_erased", "log/erasure", tuple(state.erased_run[:100]), "owner")
    return _cause("manifest_unknown", "manifest/shape", (1,) if state.opened else (), "observer")


def _violation(state: State) -> Cause:
    violation = state.violations[0]
    return _cause(violation.code, violation.clause, (violation.entry,), violation.by, violation.detail)


def _abandonment(state: State) -> Fate:
    lost = state.controller_lost
    assert lost is not None
    cause = _cause(
        "controller_lost", "restart/1", (lost.entry,), "runtime", {"text": printable(lost.text)[:200]}
    )
    valid_done = state.done is not None and not state.violations
    certified = valid_done and _is_certified(state)
    return Fate("abandoned", cause, certified=certified, restart=not state.violations and not valid_done)


def _without_done(state: State) -> Fate:
    if state.exit_entry is None and state.closed is None and state.cut is None:
        return Fate("running")
    if state.exit is not None and state.exit_entry is not None:
        how = state.exit.signal or str(state.exit.code)
        return Fate(
            "failed", _cause("no_terminal", "connector/3", (state.exit_entry,), "program", {"exit": how})
        )
    entry = state.closed or state.cut or state.through
    return Fate("failed", _cause("no_terminal", "connector/3", (entry,), "program"))


def _reported(state: State) -> Fate:
    done, entry = state.done, state.done_entry
    assert done is not None
    assert entry is not None
    if done.status == "succeeded":
        return Fate("succeeded")
    if done.status == "cancelled":
        return Fate("cancelled", _cause("cancelled_by_program", "done/status", (entry,), "program"))
    if _is_certified(state):
        skips = (number for tally in state.failed_streams.values() for number in tally.first)
        entries = (entry, *sorted(skips)[:99])
        detail: Detail = {"streams": tuple(printable(s) for s in list(state.failed_streams)[:100])}
        return Fate(
            "failed",
            _cause("streams_failed", "done/certification/1", entries, "program", detail),
            certified=True,
        )
    code = done.error.code if done.error is not None and done.error.code is not None else ""
    near = tuple(_near_certification(state))
    return Fate(
        "failed", _cause("run_failed", "done/status", (entry,), "program", {"error_code": code}, *near)
    )


def _is_certified(state: State) -> bool:
    """Both conditions: DONE failed with the code, and a skip in scope named a stream (done/certification)."""
    done = state.done
    return (
        done is not None
        and done.status == "failed"
        and done.error is not None
        and done.error.code == STREAM_FAILURE
        and bool(state.failed_streams)
    )


def _near_certification(state: State) -> list[NearMiss]:
    done, entry = state.done, state.done_entry
    assert done is not None
    assert entry is not None
    has_code = done.error is not None and done.error.code == STREAM_FAILURE
    if not has_code and not state.failed_streams:
        return []
    if not has_code:
        skips = [number for tally in state.failed_streams.values() for number in tally.first]
        return [NearMiss(code="skips_without_error_code", entry=min(skips))]
    misses = [NearMiss(code="error_code_without_skip", entry=entry)]
    for skip in state.skips:
        reason = skip.message.reason or ""
        if reason == STREAM_FAILURE:
            misses.append(NearMiss(code="skip_names_no_stream", entry=skip.entry))
        elif reason.strip().lower() == STREAM_FAILURE:
            misses.append(
                NearMiss(code="skip_reason_differs", entry=skip.entry, detail={"reason": printable(reason)})
            )
    return misses[:NEAR_MISS_LIMIT]
