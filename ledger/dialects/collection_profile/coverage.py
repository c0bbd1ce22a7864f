"""The coverage projection: how complete each stream is under each of its parent boundaries.

It is folded on every way a run can end, and decides nothing.
"""

from collections.abc import Iterator, Mapping

from ledger.core.decision import Checkpoint, Condition, Coverage, Evidence
from ledger.core.findings import LIST_LIMIT, show_name
from ledger.dialects.collection_profile.accounting import account
from ledger.dialects.collection_profile.fate import Fate
from ledger.dialects.collection_profile.messages import StreamEvidence
from ledger.dialects.collection_profile.state import Report, State


def project_coverage(state: State, fate: Fate, checkpoints: Mapping[str, Checkpoint]) -> Iterator[Coverage]:
    """Yield a row for each declared boundary of each stream in scope, then for reports on any other.

    Args:
        state: the folded run.
        fate: its fate; a report that a running run has not given yet is not missing.
        checkpoints: the decided checkpoints by stream.
    """
    if state.plan is None:
        return
    shown: set[tuple[str, str]] = set()
    for stream, plan in state.plan.streams.items():
        for parent in plan.declared.parents:
            shown.add((stream, parent))
            if plan.declared.state_stream is not None:
                yield _child_row(state, stream, parent, checkpoints)
            elif (stream, parent) in state.reports:
                yield _reported_row(state, state.reports[stream, parent], checkpoints)
            elif plan.declared.parent_streams:
                due = parent in state.plan.streams and fate.status != "running"
                erased = state.erased.reports.get(stream, [])
                condition: Condition = "missing" if due and not erased else "unknown"
                yield _row(stream, parent, condition, "none", checkpoints, entries=tuple(erased[:LIST_LIMIT]))
    for boundary, report in state.reports.items():
        if boundary not in shown:
            yield _reported_row(state, report, checkpoints)


def _reported_row(state: State, report: Report, checkpoints: Mapping[str, Checkpoint]) -> Coverage:
    sums = account(state, report)
    condition: Condition = "gapped" if sums.gapped else "shortfall" if sums.unaccounted else "complete"
    return _row(
        report.message.stream,
        report.message.state_stream,
        condition,
        "DETAIL_COVERAGE",
        checkpoints,
        (sums.required, sums.hydrated, sums.gapped, len(sums.unaccounted)),
        (report.entry,),
    )


def _child_row(state: State, stream: str, parent: str, checkpoints: Mapping[str, Checkpoint]) -> Coverage:
    if stream in state.evidence_rejected and stream not in state.evidence:
        rejected = (state.evidence_rejected[stream],)
        return _row(stream, parent, "unknown", "STREAM_EVIDENCE", checkpoints, entries=rejected)
    if stream not in state.evidence and stream in state.erased.evidence:
        erased = tuple(state.erased.evidence[stream][:LIST_LIMIT])
        return _row(stream, parent, "unknown", "none", checkpoints, entries=erased)
    if stream not in state.evidence:
        return _row(stream, parent, "inherited", "none", checkpoints)
    entry, evidence = state.evidence[stream]
    return _row(
        stream, parent, _measured(evidence), "STREAM_EVIDENCE", checkpoints, _counts(evidence), (entry,)
    )


def _counts(evidence: StreamEvidence) -> tuple[int, int, int, int]:
    outcomes = evidence.outcomes
    covered = outcomes.emitted + outcomes.unchanged
    return evidence.considered, covered, outcomes.gapped, outcomes.unaccounted


def _measured(evidence: StreamEvidence) -> Condition:
    if evidence.outcomes.gapped:
        return "gapped"
    return "shortfall" if evidence.outcomes.unaccounted else "complete"


def _row(
    stream: str,
    parent: str,
    condition: Condition,
    evidence: Evidence,
    checkpoints: Mapping[str, Checkpoint],
    counts: tuple[int, int, int, int] = (0, 0, 0, 0),
    entries: tuple[int, ...] = (),
) -> Coverage:
    required, hydrated, gapped, unaccounted = counts
    checkpoint = checkpoints.get(parent)
    return Coverage(
        stream=show_name(stream),
        parent=show_name(parent),
        required=required,
        hydrated=hydrated,
        gapped=gapped,
        unaccounted=unaccounted,
        condition=condition,
        evidence=evidence,
        checkpoint=checkpoint.decision if checkpoint else None,
        outcome=checkpoint.outcome if checkpoint else None,
        entries=entries,
    )
