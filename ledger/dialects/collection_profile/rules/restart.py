"""Restart abandonment: what may be committed when the controller was lost and the program did not fail.

Condition 1, that the controller was lost, is what brings a run here; see ``fate``.
"""

from collections.abc import Iterator

from ledger.core.decision import Reason
from ledger.core.findings import LIST_LIMIT, rule, show_name
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.rules.eligible import shortfall
from ledger.dialects.collection_profile.state import State


@rule("restart/2")
def faces_no_coverage_verdict(state: State, plan: Plan, checkpoint: str) -> Iterator[Reason]:
    """A checkpoint that the manifest declares as some detail stream's parent is never committed here.

    Reading: a parent in ``parent_streams``, whether or not its detail stream is in scope. The target of a
    ``state_stream`` alone faces no verdict.
    """
    if checkpoint in plan.detail_parents:
        covered = (plan.declared(stream) for stream in plan.covers.get(checkpoint, ()))
        details = [one.name for one in covered if one is not None and one.parent_streams]
        lost = [state.controller_lost.entry] if state.controller_lost is not None else []
        yield _reason("restart_detail_parent", "restart/2", details[0], lost, len(lost))


@rule("restart/3")
def nothing_is_owed(state: State, plan: Plan, checkpoint: str) -> Iterator[Reason]:
    """No stream that a checkpoint covers has a pending gap or unproven coverage.

    Reading: the checkpoint's own stream and every stream that it covers; a named failure of one of them
    leaves its coverage unproven. A checkpoint that is a detail stream itself owes its own reports.
    """
    covered = plan.covered_by(checkpoint)
    for (stream, _), owed in state.gaps.owed(covered, checkpoint).items():
        yield _reason("restart_gap_pending", "restart/3", stream, owed.first, owed.total)
    for stream in state.reporting.get(checkpoint, ()):
        report = state.reports[stream, checkpoint]
        if (unproven := shortfall(state, report, "restart_coverage_unproven", "restart/3")) is not None:
            yield unproven
    declared = plan.declared(checkpoint)
    for parent in declared.parent_streams if declared is not None and checkpoint in plan.streams else ():
        own = state.reports.get((checkpoint, parent))
        if own is None:
            yield _reason("restart_coverage_missing", "restart/3", checkpoint, [], 0)
        elif (reason := shortfall(state, own, "restart_coverage_unproven", "restart/3")) is not None:
            yield reason
    for stream in covered:
        tally = state.failed_streams.get(stream)
        if tally is not None:
            yield _reason("restart_stream_failed", "restart/3", stream, tally.first, tally.total)


def _reason(code: str, clause: str, stream: str, entries: list[int], total: int) -> Reason:
    return Reason(
        code=code,
        clause=clause,
        stream=show_name(stream),
        entries=tuple(entries[:LIST_LIMIT]),
        entries_total=total,
    )
