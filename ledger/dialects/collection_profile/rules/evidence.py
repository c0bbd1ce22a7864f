"""STREAM_EVIDENCE: what became of every key that a child stream considered. It gates nothing.

Rules 1, 2 and 4 are asked in part by the shape of the message and by its scope; what no wire can show (how
the counts were taken, whether a boundary was walked) is never asked.
"""

from typing import NamedTuple

from ledger.core.ecmascript import number_to_string
from ledger.core.findings import Detail, Fault, rule, show_name
from ledger.dialects.collection_profile.messages import DetailGap, Key, Record, StreamEvidence
from ledger.dialects.collection_profile.plan import StreamPlan
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


class Seen(NamedTuple):
    """What was seen of a stream before its evidence: between how many keys and how many gaps, of each.

    The bounds lie apart where it is not known which RECORDs the store refused, or where bodies were erased.
    """

    fewest_keys: int
    most_keys: int
    fewest_gaps: int
    most_gaps: int


def counts_are_seen(state: State, message: StreamEvidence) -> bool:
    """Tell whether the keys of a stream are counted: it rides another's checkpoint, and a switch says so."""
    plan = state.plan.streams.get(message.stream) if state.plan else None
    return plan is not None and plan.keys is not None


@rule("evidence/closure", when=counts_are_seen)
def evidence_equals_counts(state: State, message: StreamEvidence) -> Fault | None:
    """``emitted`` is the number of distinct keys accepted, and ``gapped`` of distinct gaps not recovered.

    Reading: of RECORDs and DETAIL_GAPs before the evidence, unless a switch turns this off. A deletion's key
    counts, as it is a RECORD. A RECORD that the store refused by then does not; which one that was is not
    known, so any number that could be right is. A gap is recovered by a later RECORD of the stream, deletions
    too, whose canonical key is the text of the gap's key; two gaps of one key are one, and a number and a
    text are two keys, as elsewhere.
    """
    seen = _seen(state, message.stream)
    if seen is None:
        return None
    outcomes = message.outcomes
    if not seen.fewest_keys <= outcomes.emitted <= seen.most_keys:
        detail: Detail = {"emitted": outcomes.emitted, "seen": seen.most_keys}
        return _fault("evidence_miscounts_records", "evidence/closure", message, more=detail)
    if not seen.fewest_gaps <= outcomes.gapped <= seen.most_gaps:
        detail = {"gapped": outcomes.gapped, "seen": seen.most_gaps}
        return _fault("evidence_miscounts_gaps", "evidence/closure", message, more=detail)
    return None


def counts_rest_on(state: State, message: StreamEvidence) -> list[int]:
    """Return the erased entries by which sound evidence does or does not agree with what was seen."""
    rules = state.ruleset.message_rules.get("STREAM_EVIDENCE", ())
    if evidence_equals_counts not in rules or not counts_are_seen(state, message):
        return []
    erased = state.erased
    return [
        entry
        for entries in (erased.records, erased.gaps, erased.rejections)
        for entry in entries.get(message.stream, ())
    ]


def _seen(state: State, stream: str) -> Seen | None:
    """Return what was seen of a stream so far, None where that is not counted."""
    plan = state.plan.streams.get(stream) if state.plan else None
    if plan is None or plan.keys is None:
        return None
    erased = state.erased
    records, gaps = len(erased.records.get(stream, ())), len(erased.gaps.get(stream, ()))
    refused = plan.emitted if stream in erased.rejections else plan.rejected
    left = 0 if stream in erased.rejections else plan.accepted
    keys, owed = len(plan.keys), sum(map(len, (plan.owed or {}).values()))
    return Seen(
        fewest_keys=max(keys - refused, min(left, 1)),  # what is left of RECORDs has some key
        most_keys=min(keys + records, plan.accepted),
        fewest_gaps=max(0, owed - records),
        most_gaps=min(owed + refused, state.gaps.of_stream(stream)) + gaps,
    )


def key_of_record(gap_key: Key) -> str:
    """Return the canonical key of the record that a gap is about; see ``record/primary_key`` for numbers."""
    text = gap_key.text
    is_fraction = gap_key.is_number and ("." in text or "e-" in text)
    return number_to_string(float(text)) if is_fraction else text


def evidence_entry(state: State, stream: str) -> int | None:
    """Return the entry of a stream's accepted evidence, an erased one too; None where there is none."""
    if stream in state.evidence:
        return state.evidence[stream][0]
    return next(iter(state.erased.evidence.get(stream, ())), None)


@rule("evidence/final", needs="evidence", when=lambda plan: plan.evidence is not None)
def record_comes_before_evidence(plan: StreamPlan, record: Record) -> Fault | None:
    """A RECORD comes before the accepted evidence of its stream, which is final; deletions too."""
    return None if plan.evidence is None else after_evidence("RECORD", record.stream, plan.evidence)


def may_be_final(state: State, message: DetailGap) -> bool:
    """Tell whether a gap's stream may give evidence, or gave it where no manifest says that it may not."""
    return is_of_a_child(state, message.stream) or evidence_entry(state, message.stream) is not None


@rule("evidence/final", when=may_be_final)
def gap_comes_before_evidence(state: State, message: DetailGap) -> Fault | None:
    """A DETAIL_GAP comes before the accepted evidence of its stream, which is final."""
    given = evidence_entry(state, message.stream)
    return None if given is None else after_evidence("DETAIL_GAP", message.stream, given)


def after_evidence(type_: str, stream: str, given: int) -> Fault:
    """Return the fault of a message that comes after its stream's evidence, which is the entry given."""
    detail = {"stream": show_name(stream), "type": type_}
    return Fault(code="said_after_evidence", clause="evidence/final", detail=detail, entries=(given,))


def is_of_a_child(state: State, stream: str) -> bool:
    """Tell whether a stream rides another's checkpoint."""
    declared = state.plan.declared(stream) if state.plan else None
    return declared is not None and declared.state_stream is not None


def _fault(
    code: str,
    clause: str,
    message: StreamEvidence,
    entries: tuple[int, ...] = (),
    more: Detail | None = None,
) -> Fault:
    detail: Detail = {"stream": show_name(message.stream), **(more or {})}
    return Fault(code=code, clause=clause, detail=detail, entries=entries)
