"""What each message of the runtime does to the state: START, and the answers to questions."""

from collections.abc import Iterable

from ledger.core.entries import Entry
from ledger.core.findings import Fault
from ledger.core.json_reader import Malformed
from ledger.dialects.collection_profile import messages as m
from ledger.dialects.collection_profile.manifest import Manifest
from ledger.dialects.collection_profile.plan import Plan, StreamPlan, plan_stream
from ledger.dialects.collection_profile.program_lines import (
    breaks_a_rule,
    keep_occasions,
    misshapen_fault,
)
from ledger.dialects.collection_profile.rules.start import start_findings
from ledger.dialects.collection_profile.ruleset import Asked
from ledger.dialects.collection_profile.state import Phase, State


def on_start(state: State, entry: Entry, message: m.Start) -> None:
    """Take the START, or refuse the run for it."""
    state.start_entry = entry.seq
    manifest = state.manifest.manifest if state.manifest else None
    if manifest is None or state.opened is None:
        state.phase = Phase.COLLECTING
        return
    asked = Asked(manifest, state.opened.trigger, state.opened.offered, message)
    keep_occasions(state, state.ruleset.start_rules, asked)
    faults = [fault for rule in state.ruleset.start_rules for fault in rule(asked)]
    if faults:
        refuse(state, entry, faults)
        return
    for fault in start_findings(asked, state.opened.run_id):
        state.note(fault, entry.seq)
    scope = {stream.name: stream for stream in message.scope}
    begin(state, manifest, scope.values())


def on_misshapen_start(state: State, entry: Entry, message: m.Misshapen) -> None:
    """Refuse the run for a START that does not have its shape."""
    if message.type != "START":
        on_line_before_start(state, entry, message)
        return
    state.start_entry = entry.seq
    fault = misshapen_fault(message)
    refuse(state, entry, (Fault(code=fault.code, clause=fault.clause, by="runtime", detail=fault.detail),))


def refuse(state: State, entry: Entry, faults: Iterable[Fault]) -> None:
    """Refuse the run before its program is spawned."""
    state.refusals.extend((entry.seq, fault) for fault in faults)
    state.phase = Phase.REFUSED


def begin(state: State, manifest: Manifest, scope: Iterable[m.ScopeStream] | None) -> None:
    """Compile the plan and start collecting; a scope of None is every declared stream."""
    record_rules = state.ruleset.record_rules
    streams: Iterable[StreamPlan]
    if scope is None:
        streams = (plan_stream(declared, None, record_rules) for declared in manifest.streams.values())
    else:
        streams = (plan_stream(manifest.streams[stream.name], stream, record_rules) for stream in scope)
    state.plan = Plan(manifest, streams)
    if state.ruleset.switches.evidence_closure != "off":
        for plan in state.plan.streams.values():
            plan.keys = set() if plan.declared.state_stream is not None else None
    state.phase = Phase.COLLECTING


def on_second_start(state: State, entry: Entry, message: object) -> None:
    """End the run on a START that is not the first thing said (session/start)."""
    if state.start_entry is not None:
        state.violate(entry.seq, Fault(code="start_repeated", clause="session/start", by="runtime"))
        return
    first = state.first_program_line or 0
    state.violate(entry.seq, Fault(code="line_before_start", clause="connector/1", detail={"first": first}))


def on_line_before_start(state: State, entry: Entry, message: object) -> None:
    """End the run on a runtime that says something else before START (session/start)."""
    fault = Fault(code="start_not_first", clause="session/start", by="runtime", detail={"type": entry.type})
    state.violate(entry.seq, fault)


def on_answer(state: State, entry: Entry, message: m.InteractionResponse) -> None:
    """Give the connector its answer, or say that nobody asked (session/response)."""
    if breaks_a_rule(state, entry, "INTERACTION_RESPONSE", message):
        return
    if message.data is not None and message.status != "success":
        state.note(Fault(code="answer_with_data", clause="interaction/data", by="runtime"), entry.seq)
    take_answer(state, entry, message)


def on_misshapen_while_collecting(state: State, entry: Entry, message: m.Misshapen) -> None:
    """Tell a START or an answer that does not have its shape from a line that is neither."""
    if message.type == "START":
        on_second_start(state, entry, message)
    elif message.type == "INTERACTION_RESPONSE":
        state.violate(entry.seq, Fault(code="answer_not_asked_for", clause="session/response", by="runtime"))
    else:
        note_unreadable(state, entry, message)


def on_misshapen_while_waiting(state: State, entry: Entry, message: m.Misshapen) -> None:
    """Tell a second START from what may be the answer."""
    if message.type == "START":
        on_second_start(state, entry, message)
    else:
        on_unreadable_answer(state, entry, message)


def on_unreadable_answer(state: State, entry: Entry, message: m.Misshapen | m.Unknown | Malformed) -> None:
    """Take a line that cannot be read, while a question waits, as the answer: nothing else may come."""
    note_unreadable(state, entry, message)
    take_answer(state, entry, None)


def take_answer(state: State, entry: Entry, message: m.InteractionResponse | None) -> None:
    """Close the question that waits."""
    if state.pending is not None:
        state.pending.answer, state.pending.answer_entry = message, entry.seq
    state.pending = None
    state.phase = Phase.COLLECTING


def note_unreadable(state: State, entry: Entry, message: m.Misshapen | m.Unknown | Malformed) -> None:
    """Keep that the runtime said something that is no message of this profile."""
    fault = Fault(
        code="runtime_line_unreadable", clause="session/jsonl", by="runtime", detail={"type": entry.type}
    )
    state.note(fault, entry.seq)


def on_late_line(state: State, entry: Entry, message: object) -> None:
    """Keep that the runtime said something after DONE."""
    fault = Fault(
        code="runtime_line_after_done", clause="session/done", by="runtime", detail={"type": entry.type}
    )
    state.note(fault, entry.seq)


def on_blank(state: State, entry: Entry, message: m.Blank) -> None:
    """Skip a blank line."""


def on_misshapen_after_done(state: State, entry: Entry, message: m.Misshapen) -> None:
    """Tell a second START from what only comes late."""
    if message.type == "START":
        on_second_start(state, entry, message)
    else:
        on_late_line(state, entry, message)
