"""The fate of a run: its status and the one cause, resolved in a fixed order.

Indeterminate, where it is open whether the run ended as it seems; refused; cancelled; indeterminate, where
what decides was erased and nothing was violated; controller lost; protocol violated; no valid DONE; DONE's
own status, with certification. A failed write comes after all of these, once checkpoints are known; see
``decide``.
"""

from math import inf

from ledger.core.decision import Cause, NearMiss, Status
from ledger.core.findings import LIST_LIMIT, By, Detail, show_name
from ledger.core.json_reader import printable
from ledger.dialects.collection_profile.accounting import NEAR_MISS_LIMIT
from ledger.dialects.collection_profile.rules.done import STREAM_FAILURE
from ledger.dialects.collection_profile.state import Ending, Phase, State

_ABOUT_STREAMS = ("STATE", "SKIP_RESULT", "DETAIL_COVERAGE", "DETAIL_GAP", "STREAM_EVIDENCE", "PROGRESS")
"""Messages, besides RECORDs, that name a stream which has to be in scope."""


class Fate:
    """Status, cause and whether checkpoints may be weighed one by one.

    Attributes:
        certified: whether a stream-scoped failure is certified (done/certification/1..2).
        restart: whether the three conditions of restart abandonment apply.
        uncertain: whether only erased skips could certify the failure.
        cancelled: whether the owner cancelled the run.
    """

    __slots__ = ("cancelled", "cause", "certified", "restart", "status", "uncertain")

    def __init__(
        self,
        status: Status,
        cause: Cause | None = None,
        *,
        certified: bool = False,
        restart: bool = False,
        uncertain: bool = False,
        cancelled: bool = False,
    ) -> None:
        self.status = status
        self.cause = cause
        self.certified = certified
        self.restart = restart
        self.uncertain = uncertain
        self.cancelled = cancelled


def resolve_fate(state: State) -> Fate:
    """Resolve the fate of the run at the state's prefix."""
    if _is_open(state):
        return Fate("indeterminate", _unreadable(state))
    if state.refusals or state.phase is Phase.REFUSED:
        return Fate("refused", _refusal(state))
    if state.cancelled is not None:
        return _cancellation(state, state.cancelled)
    unreadable = state.erased.run or state.opened is None or state.manifest is None
    if unreadable and not state.violations:
        return Fate("indeterminate", _unreadable(state))
    lost = state.controller_lost
    if lost is not None and not _ended_before(state, lost.entry):
        return _abandonment(state, lost)
    if state.violations:
        return Fate("failed", _violation(state))
    if state.done is None:
        return _without_done(state)
    return _reported(state) if state.is_over else Fate("running")


def _cancellation(state: State, cancelled: Ending) -> Fate:
    """What a run is that its owner cancelled: so by the text, failed by the later profile."""
    detail: Detail = {"text": printable(cancelled.text)[:200]}
    clause = "done/cancellation" if cancelled.code == "cancel_requested" else "runtime/13"
    cause = _cause(cancelled.code, clause, (cancelled.entry,), "owner", detail)
    return Fate(state.ruleset.switches.owner_cancellation, cause, cancelled=True)


def _is_open(state: State) -> bool:
    """Tell whether what was erased leaves open that the run ended by what seems to have ended it."""
    if state.erased.cuts and not state.violations:
        return True
    if state.erased.start and _may_have_left_scope(state):
        return True
    endings = [
        *(violation.entry for violation in state.violations[:1]),
        *(entry for entry, _ in state.refusals[:1]),
        *(ending.entry for ending in (state.refused, state.cancelled) if ending is not None),
    ]
    return state.erased.since is not None and state.erased.since < min(endings, default=inf)


def _may_have_left_scope(state: State) -> bool:
    """Tell whether what seems to have ended a run without START came behind a line that may have broken it.

    Such a line names a stream: the START that was erased may have left out, or narrowed, whichever it is.
    """
    if state.plan is None or state.violations or (state.cancelled is None and state.refused is None):
        return False
    return state.counted > 0 or not state.types_asked.isdisjoint(_ABOUT_STREAMS)


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
        refused.code, "log/refusal", (refused.entry,), "runtime", {"text": printable(refused.text)[:200]}
    )


def _unreadable(state: State) -> Cause:
    if state.erased.run:
        return _cause("entry_erased", "log/erasure", tuple(state.erased.run[:LIST_LIMIT]), "owner")
    return _cause("manifest_unknown", "manifest/shape", (1,) if state.opened else (), "observer")


def _violation(state: State) -> Cause:
    violation = state.violations[0]
    return _cause(
        violation.code,
        violation.clause,
        (violation.entry, *violation.entries),
        violation.by,
        violation.detail,
    )


def _ended_before(state: State, lost: int) -> bool:
    """Tell whether the program ended without DONE by itself, before the controller was lost (restart/1)."""
    return state.done is None and state.exit_entry is not None and state.exit_entry < lost


def _abandonment(state: State, lost: Ending) -> Fate:
    cause = _cause(
        "controller_lost", "restart/1", (lost.entry,), "runtime", {"text": printable(lost.text)[:200]}
    )
    valid_done = state.done is not None and not state.violations
    return Fate(
        "abandoned",
        cause,
        certified=valid_done and _is_certified(state),
        restart=not state.violations and not valid_done,
        uncertain=valid_done and _is_uncertain(state),
    )


def _without_done(state: State) -> Fate:
    if not state.is_over:
        return Fate("running")
    exited = state.exit_in_time
    if exited is not None and state.exit_entry is not None:
        detail: Detail = {"exit": exited.signal or str(exited.code)}
        return Fate("failed", _cause("no_terminal", "connector/3", (state.exit_entry,), "program", detail))
    ended = min(entry for entry in (state.closed, state.cut) if entry is not None)
    return Fate("failed", _cause("no_terminal", "connector/3", (ended,), "program"))


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
        entries = (entry, *sorted(skips)[: LIST_LIMIT - 1])
        detail: Detail = {"streams": tuple(show_name(s) for s in list(state.failed_streams)[:LIST_LIMIT])}
        return Fate(
            "failed",
            _cause("streams_failed", "done/certification/1", entries, "program", detail),
            certified=True,
        )
    code = done.error.code if done.error is not None and done.error.code is not None else ""
    near = tuple(_near_certification(state))
    cause = _cause("run_failed", "done/status", (entry,), "program", {"error_code": code}, *near)
    return Fate("failed", cause, uncertain=_is_uncertain(state))


def _is_certified(state: State) -> bool:
    """Both conditions: DONE failed with the code, and a skip in scope named a stream (done/certification)."""
    return _has_error_code(state) and bool(state.failed_streams)


def _is_uncertain(state: State) -> bool:
    """The first condition holds, and only a skip that was erased could fulfil the second."""
    return _has_error_code(state) and not state.failed_streams and bool(state.erased.skips)


def _has_error_code(state: State) -> bool:
    done = state.done
    if done is None or done.status != "failed" or done.error is None:
        return False
    return done.error.code == STREAM_FAILURE


def _near_certification(state: State) -> list[NearMiss]:
    done, entry = state.done, state.done_entry
    assert done is not None
    assert entry is not None
    has_code = _has_error_code(state)
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
                NearMiss(code="skip_reason_differs", entry=skip.entry, detail={"reason": show_name(reason)})
            )
    return misses[:NEAR_MISS_LIMIT]
