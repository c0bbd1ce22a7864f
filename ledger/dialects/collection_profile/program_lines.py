"""What each message of the connector does to the state, one handler a message.

A handler is called in a phase whose table names it (see ``machine``). It asks the ruleset's rules, in order;
the first fault ends the run, else the message is taken.
"""

from collections.abc import Callable, Iterable

import msgspec

from ledger.core.ecmascript import INHERITED_NAMES
from ledger.core.entries import PROGRAM, Entry
from ledger.core.findings import LIST_LIMIT, By, Detail, Fault, Tally, rule_needs, rule_occasion, show_name
from ledger.core.json_reader import Malformed
from ledger.dialects.collection_profile import messages as m
from ledger.dialects.collection_profile.accounting import gaps_span_boundaries
from ledger.dialects.collection_profile.plan import StreamPlan
from ledger.dialects.collection_profile.rules import connector_fact as facts
from ledger.dialects.collection_profile.rules.coverage import boundaries_in_scope
from ledger.dialects.collection_profile.rules.done import STREAM_FAILURE
from ledger.dialects.collection_profile.rules.evidence import counts_rest_on, key_of_record
from ledger.dialects.collection_profile.rules.scope import canonical_key, is_in_scope
from ledger.dialects.collection_profile.state import FactKept, Phase, Question, Report, Skip, Staged, State

KNOWN_TO_SOME = ("STREAM_EVIDENCE", "OBSERVATION")
"""Types of message that are known under some rulesets, and unknown under others."""


def on_record(state: State, entry: Entry, message: m.Record) -> None:
    """Count a RECORD and hold it against its stream and the scope (scope/1..3)."""
    state.counted += 1
    state.last_record = entry.seq
    if state.plan is None:
        keep_op(state, message)
        return
    plan = state.plan.streams.get(message.stream)
    if plan is None:
        keep_op(state, message)
        detail = {"stream": show_name(message.stream)}
        refuse_record(state, entry, None, Fault(code="record_out_of_scope", clause="scope/1", detail=detail))
        return
    plan.emitted += 1
    plan.last_record = entry.seq
    if message.op is not None:
        keep_op(state, message)
        plan.deletes += message.op == "delete"
    for rule in plan.rules:
        fault = rule(plan, message)
        if fault is not None:
            refuse_record(state, entry, plan, fault)
            return
    if plan.keys is not None:
        key = canonical_key(message.key)
        plan.keys.add(key)
        if plan.owed:
            plan.owed.pop(key, None)


def keep_op(state: State, message: m.Record) -> None:
    """Keep that a RECORD spelled out what is the default."""
    if message.op == "upsert":
        state.occasions.add("spelled_out_upsert")


def refuse_record(state: State, entry: Entry, plan: StreamPlan | None, fault: Fault) -> None:
    """Do with a RECORD out of scope what the ruleset says (runtime/12); any other bad one ends the run."""
    if plan is not None:
        plan.discarded += 1
    is_out_of_scope = fault.clause.startswith("scope/")
    if is_out_of_scope:
        state.occasions.add("out_of_scope_record")
    if is_out_of_scope and state.ruleset.switches.out_of_scope_record == "discard":
        state.note(fault, entry.seq)
    else:
        state.violate(entry.seq, fault)


def on_state(state: State, entry: Entry, message: m.State) -> None:
    """Stage a checkpoint; the newest cursor of a stream counts."""
    if breaks_a_rule(state, entry, "STATE", message):
        return
    keep_occasions(state, state.ruleset.occasional.get("staging", ()), state, message)
    fault = first_fault(state.ruleset.staging_rules, state, message)
    if fault is None:
        state.staged.setdefault(message.stream, Staged()).add(entry.seq, state.last_record)
        return
    state.occasions.add("state_of_no_checkpoint")
    if state.ruleset.switches.state_of_no_checkpoint == "violate":
        state.violate(entry.seq, fault)
    else:
        state.note(fault, entry.seq)


def on_skip_result(state: State, entry: Entry, message: m.SkipResult) -> None:
    """Keep a skip; the newest of a stream is the one that counts (skip/continuation)."""
    if breaks_a_rule(state, entry, "SKIP_RESULT", message):
        return
    if message.recovery_hint is not None:
        state.occasions.add("unknown_hint_member")
    skip = Skip(entry.seq, message)
    state.skips_total += 1
    if len(state.skips) < LIST_LIMIT:
        state.skips.append(skip)
    state.newest_skips[message.stream] = skip
    if message.stream is not None and message.reason == STREAM_FAILURE:
        fault = Fault(code="covers_failed_stream", clause="eligible/1")
        state.failed_streams.setdefault(message.stream, Tally(fault)).add(entry.seq)
    if message.reason == "scope_not_supported":
        detail = {"stream": show_name(message.stream or "")}
        state.note(Fault(code="scope_not_supported", clause="scope/4", detail=detail), entry.seq)


def on_detail_coverage(state: State, entry: Entry, message: m.DetailCoverage) -> None:
    """Keep the report of one boundary."""
    if breaks_a_rule(state, entry, "DETAIL_COVERAGE", message):
        return
    state.reporting.setdefault(message.state_stream, []).append(message.stream)
    state.reports_read[message.stream] = state.reports_read.get(message.stream, 0) + 1
    state.reports[message.stream, message.state_stream] = Report(
        entry.seq, message, frozenset(message.hydrated_keys), frozenset(message.gap_keys)
    )
    end_on_surplus_report(state, entry.seq, message.stream)


def end_on_surplus_report(state: State, entry: int, stream: str) -> None:
    """Break the run where reports, erased ones among them, are more than a stream has parents in scope."""
    erased = state.erased.reports.get(stream)
    if not erased or state.plan is None:
        return
    if len(erased) + state.reports_read.get(stream, 0) > boundaries_in_scope(state, state.plan, stream):
        detail = {"stream": show_name(stream)}
        state.violate(entry, Fault(code="coverage_reported_too_often", clause="coverage/once", detail=detail))


def on_detail_gap(state: State, entry: Entry, message: m.DetailGap) -> None:
    """Keep a gap, and which boundary it accounts to."""
    if breaks_a_rule(state, entry, "DETAIL_GAP", message):
        return
    parent = message.parent_stream
    if parent is None:
        declared = state.plan.declared(message.stream) if state.plan else None
        parents = declared.parents if declared else ()
        parent = parents[0] if len(parents) == 1 and not gaps_span_boundaries(state, message.stream) else None
    state.gaps.add(entry.seq, message, parent)
    plan = state.plan.streams.get(message.stream) if state.plan else None
    if plan is not None and plan.keys is not None and message.record_key is not None:
        plan.owed = {} if plan.owed is None else plan.owed
        plan.owed.setdefault(key_of_record(message.record_key), set()).add(message.record_key)


def on_stream_evidence(state: State, entry: Entry, message: m.StreamEvidence) -> None:
    """Keep the evidence of a child stream."""
    if breaks_a_rule(state, entry, "STREAM_EVIDENCE", message):
        reject_evidence_of(state, entry, message)
    else:
        unread = counts_rest_on(state, message)
        if unread:
            state.erased.leave_open(unread[0], since=entry.seq)
        state.evidence[message.stream] = (entry.seq, message)
        close_stream(state, entry.seq, message.stream)


def close_stream(state: State, entry: int, stream: str) -> None:
    """Keep that a stream gave its evidence, and ask its later RECORDs the rules that are about that."""
    plan = state.plan.streams.get(stream) if state.plan is not None else None
    if plan is not None and plan.evidence is None:
        plan.evidence = entry
        about = (rule for rule in state.ruleset.record_rules if rule_needs(rule) == "evidence")
        plan.rules = (*plan.rules, *about)


def reject_evidence_of(state: State, entry: Entry, message: object) -> None:
    """Remember that evidence, if this is any, was rejected, so that nothing is inherited in its place."""
    read = message.message if isinstance(message, m.Repeated) else message
    match read:
        case m.StreamEvidence() | m.Misshapen(type="STREAM_EVIDENCE"):
            reject_evidence(state, entry, read.stream)
        case m.Unknown(type="STREAM_EVIDENCE"):
            state.types_broken.add("STREAM_EVIDENCE")
        case _:
            pass


def reject_evidence(state: State, entry: Entry, stream: str) -> None:
    """Remember that a stream's evidence was rejected."""
    state.types_broken.add("STREAM_EVIDENCE")
    if is_in_scope(state, stream):
        state.evidence_rejected.setdefault(stream, entry.seq)


def on_connector_fact(state: State, entry: Entry, message: m.ConnectorFact) -> None:
    """Keep what the connector says it saw; a bad OBSERVATION is discarded and shown, and ends no run."""
    if not facts.facts_are_known(state):
        on_unknown(state, entry, m.Unknown(type="OBSERVATION"))
        return
    length = len((entry.body or b"").removesuffix(b"\r"))
    message = msgspec.structs.replace(message, length=length)
    fault = ask_rules(state, "OBSERVATION", message)
    if fault is not None:
        state.note(fault, entry.seq)
    elif len(state.connector_facts) < facts.FACTS_TAKEN and message.id not in state.connector_facts:
        if facts.rests_on_erased(state, message):
            state.erased.doubtful_facts.add(message.id)
        resolved, left = facts.resolved_ids(message), facts.element_state(message)
        state.connector_facts[message.id] = FactKept(entry.seq, message.fact, resolved, left)


def on_progress(state: State, entry: Entry, message: m.Progress) -> None:
    """Ask the rules; nothing is kept."""
    breaks_a_rule(state, entry, "PROGRESS", message)


def on_interaction(state: State, entry: Entry, message: m.Interaction) -> None:
    """Wait for the answer."""
    if not breaks_a_rule(state, entry, "INTERACTION", message):
        wait_for_answer(state, Question(entry.seq, message))


def wait_for_answer(state: State, asked: Question) -> None:
    """Put a question before the runtime."""
    state.asked_total += 1
    if len(state.asked) < LIST_LIMIT:
        state.asked.append(asked)
    state.pending = asked
    state.phase = Phase.WAITING


def on_done(state: State, entry: Entry, message: m.Done) -> None:
    """Take the last message, or say what is wrong with it."""
    if not breaks_a_rule(state, entry, "DONE", message):
        state.phase = Phase.DONE
        fault = first_fault(state.ruleset.exit_rules, message, state.exit) if state.exit is not None else None
        if fault is not None:
            state.violate(entry.seq, fault)
        elif state.erased.exit is not None:
            state.erased.leave_open(state.erased.exit, since=entry.seq)
        elif facts.basis_rests_on_erased(state, message):
            state.erased.leave_open(state.erased.facts[0], since=entry.seq)
    state.done, state.done_entry = message, entry.seq


def on_unknown(state: State, entry: Entry, message: m.Unknown) -> None:
    """Do with an unknown type what the ruleset says (session/unknown)."""
    state.occasions.add("unknown_message")
    if message.type in KNOWN_TO_SOME:
        state.types_broken.add(message.type)
    fault = Fault(code="message_unknown", clause="session/unknown", detail={"type": message.type[:80]})
    unknown = state.ruleset.switches.unknown_message
    is_inherited = unknown == "ignore_inherited_names" and message.type in INHERITED_NAMES
    if unknown == "ignore" or is_inherited:
        state.note(fault, entry.seq)
    else:
        state.violate(entry.seq, fault)


def on_misshapen(state: State, entry: Entry, message: m.Misshapen) -> None:
    """End the run on a message that does not have its shape."""
    state.types_broken.add(message.type)
    reject_evidence_of(state, entry, message)
    state.violate(entry.seq, misshapen_fault(message))


def misshapen_fault(message: m.Misshapen) -> Fault:
    """Return the fault of a misshapen message."""
    detail = {"type": message.type, "member": message.member, "expected": message.expected}
    if message.stream:
        detail["stream"] = show_name(message.stream)
    if message.type == "":
        return Fault(code="line_is_no_message", clause=message.clause, detail=detail)
    code = "member_missing" if message.expected == "present" else "member_invalid"
    return Fault(code=code, clause=message.clause, detail=detail)


def on_malformed(state: State, entry: Entry, message: Malformed) -> None:
    """End the run on a line that is no JSON."""
    detail: Detail = {"reason": message.reason, "offset": message.offset}
    state.violate(entry.seq, Fault(code="line_malformed", clause="session/jsonl", detail=detail))


def on_nothing_known(state: State, entry: Entry, message: object) -> None:
    """End the run on a message that no row of the table is about."""
    state.violate(
        entry.seq, Fault(code="message_unknown", clause="session/unknown", detail={"type": entry.type})
    )


def note_repeated(state: State, entry: Entry, message: m.Repeated) -> None:
    """Keep that member names of a control message occur more than once."""
    by: By = "program" if entry.origin == PROGRAM else "runtime"
    fault = Fault(code="member_repeated", clause="session/jsonl", by=by, detail={"member": message.names[0]})
    state.note(fault, entry.seq)


def on_blank(state: State, entry: Entry, message: m.Blank) -> None:
    """Skip a blank line."""


def on_line_while_waiting(state: State, entry: Entry, message: object) -> None:
    """End the run on a connector that speaks while its question waits (session/waiting)."""
    reject_evidence_of(state, entry, message)
    asked = state.pending.entry if state.pending else 0
    fault = Fault(
        code="message_while_waiting", clause="session/waiting", detail={"type": entry.type, "asked": asked}
    )
    state.violate(entry.seq, fault)


def on_line_after_done(state: State, entry: Entry, message: object) -> None:
    """End the run on a connector that speaks after DONE (session/done)."""
    reject_evidence_of(state, entry, message)
    detail: Detail = {"type": entry.type, "done": state.done_entry or 0}
    state.violate(entry.seq, Fault(code="message_after_done", clause="session/done", detail=detail))


def breaks_a_rule(state: State, entry: Entry, type_: str, message: object) -> bool:
    """Ask the rules of one message; end the run on the first fault, and tell whether there was one."""
    fault = ask_rules(state, type_, message)
    if fault is not None:
        state.violate(entry.seq, fault)
    return fault is not None


def ask_rules(state: State, type_: str, message: object) -> Fault | None:
    """Ask the rules of one message, return the first fault, and keep which had anything to judge."""
    rules = state.ruleset.message_rules.get(type_, ())
    for asked, rule in enumerate(rules, start=1):
        fault = rule(state, message)
        if fault is not None:
            state.types_broken.add(type_)
            keep_occasions(state, rules[:asked], state, message)
            return fault
    state.types_asked.add(type_)
    keep_occasions(state, state.ruleset.occasional.get(type_, ()), state, message)
    return None


def keep_occasions(state: State, rules: Iterable[Callable[..., object]], *asked: object) -> None:
    """Keep which of the rules that were asked of something had anything to judge; see ``occasions``."""
    for rule in rules:
        when = rule_occasion(rule)
        if when is None or (rule.__name__ not in state.occasions and when(*asked)):
            state.occasions.add(rule.__name__)


def first_fault(rules: Iterable[Callable[..., Fault | None]], *asked: object) -> Fault | None:
    """Ask rules in order, and return the first fault."""
    for rule in rules:
        fault = rule(*asked)
        if fault is not None:
            return fault
    return None
