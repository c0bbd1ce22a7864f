"""STREAM_EVIDENCE: what became of every key that a child stream considered. It gates nothing.

Rules 1, 2 and 4 are asked in part by the shape of the message and by its scope; what no wire can show (how
the counts were taken, whether a boundary was walked) is never asked.
"""

from ledger.core.findings import Detail, Fault, rule, show_name
from ledger.dialects.collection_profile.messages import StreamEvidence
from ledger.dialects.collection_profile.state import State


@rule("evidence/3")
def evidence_is_of_a_child(state: State, message: StreamEvidence) -> Fault | None:
    """Only a stream declared with ``state_stream`` gives evidence."""
    declared = state.plan.declared(message.stream) if state.plan else None
    if state.plan is None or (declared is not None and declared.state_stream is not None):
        return None
    return _fault("evidence_of_no_child", "evidence/3", message)


@rule("evidence/4")
def outcomes_add_up(state: State, message: StreamEvidence) -> Fault | None:
    """The four outcomes add up to what was considered, exactly."""
    outcomes = message.outcomes
    total = outcomes.emitted + outcomes.unchanged + outcomes.gapped + outcomes.unaccounted
    if total == message.considered:
        return None
    detail: Detail = {
        "stream": show_name(message.stream),
        "considered": message.considered,
        "outcomes": total,
    }
    return Fault(code="evidence_does_not_add_up", clause="evidence/4", detail=detail)


@rule("evidence/5")
def evidence_is_given_once(state: State, message: StreamEvidence) -> Fault | None:
    """A stream gives evidence once in a run."""
    if message.stream not in state.evidence and message.stream not in state.erased.evidence:
        return None
    accepted = state.evidence.get(message.stream)
    return _fault("evidence_given_twice", "evidence/5", message, (accepted[0],) if accepted else ())


@rule("evidence/closure")
def evidence_agrees_with_counts(state: State, message: StreamEvidence) -> Fault | None:
    """``emitted`` is the number of distinct keys seen, and ``gapped`` no more than the gaps seen.

    Reading: the text permits this check and does not ask for it; a switch turns it on.
    """
    plan = state.plan.streams.get(message.stream) if state.plan else None
    if state.ruleset.switches.evidence_closure == "off" or plan is None or plan.keys is None:
        return None
    if message.outcomes.emitted != len(plan.keys):
        return _fault("evidence_disagrees_with_records", "evidence/closure", message)
    if message.outcomes.gapped > state.gaps.of_stream(message.stream):
        return _fault("evidence_disagrees_with_gaps", "evidence/closure", message)
    return None


def _fault(code: str, clause: str, message: StreamEvidence, entries: tuple[int, ...] = ()) -> Fault:
    return Fault(code=code, clause=clause, detail={"stream": show_name(message.stream)}, entries=entries)
