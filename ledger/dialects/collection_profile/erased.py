"""What each erased entry does to the state: its columns still say what it was, and nothing else does.

What was erased is taken to have kept to the rules: an erased line broke none, by itself or by what a later
line made of it, or nothing could be said of any run with an erased line. What it said within them may be
anything, and what rests on that is left open. What an observation would have said of lines that stand is left
open too: whether they were read, or agreed with how the program ended.
"""

import msgspec

from ledger.core import observations as o
from ledger.core.entries import Entry
from ledger.core.findings import Fault, show_name
from ledger.dialects.collection_profile import messages as m
from ledger.dialects.collection_profile import observed as seen
from ledger.dialects.collection_profile import program_lines as p
from ledger.dialects.collection_profile import runtime_lines as r
from ledger.dialects.collection_profile.rules import evidence
from ledger.dialects.collection_profile.rules.connector_fact import facts_are_known
from ledger.dialects.collection_profile.rules.interaction import why_nothing_may_be_asked
from ledger.dialects.collection_profile.rules.scope import is_in_scope
from ledger.dialects.collection_profile.state import Phase, Question, Staged, State

_OUT_OF_SCOPE = {
    "RECORD": ("record_out_of_scope", "scope/1"),
    "STATE": ("stream_out_of_scope", "state/stream"),
    "SKIP_RESULT": ("stream_out_of_scope", "skip/stream"),
    "DETAIL_COVERAGE": ("stream_out_of_scope", "coverage/stream"),
    "DETAIL_GAP": ("stream_out_of_scope", "gap/stream"),
    "STREAM_EVIDENCE": ("stream_out_of_scope", "evidence/2"),
    "PROGRESS": ("stream_out_of_scope", "progress/stream"),
}


def take_program_line(state: State, entry: Entry) -> None:
    """Take a message whose body was erased: what its columns say, and what rests on the rest is unknown.

    An erased RECORD counts. An erased control message makes indeterminate what rests on it; an erased DONE
    makes the run so. What may not come at all is a violation whatever it said.
    """
    state.erased.entries.add(entry.seq)
    streams = _streams_meant(state, entry.stream)
    if len(streams) > 1:
        state.erased.leave_open(entry.seq, since=entry.seq)
        return
    entry = msgspec.structs.replace(entry, stream=streams[0])
    if entry.type == "STREAM_EVIDENCE" and state.phase is not Phase.COLLECTING:
        p.reject_evidence(state, entry, entry.stream)
    if entry.type and state.phase is Phase.WAITING:
        p.on_line_while_waiting(state, entry, None)
    elif entry.type and state.phase is Phase.DONE:
        p.on_line_after_done(state, entry, None)
    else:
        _take_message(state, entry)


def _take_message(state: State, entry: Entry) -> None:
    """Take an erased message where one may come; that its stream is out of scope, its column still says."""
    if entry.type and entry.type not in state.ruleset.wire.shapes:
        p.on_unknown(state, entry, m.Unknown(type=entry.type))
        return
    _keep_occasions(state, entry.type)
    if entry.type in _OUT_OF_SCOPE and entry.stream and not is_in_scope(state, entry.stream):
        code, clause = _OUT_OF_SCOPE[entry.type]
        fault = Fault(code=code, clause=clause, detail={"stream": show_name(entry.stream)})
        if entry.type == "RECORD":
            _take_record_out_of_scope(state, entry, fault)
        else:
            state.violate(entry.seq, fault)
        return
    _take_message_in_scope(state, entry)


def _take_message_in_scope(state: State, entry: Entry) -> None:
    """Take an erased message that may be there: what it may not say of its stream, the manifest tells."""
    declared = state.plan.declared(entry.stream) if state.plan is not None else None
    match entry.type:
        case "RECORD":
            state.counted += 1
            state.last_record = entry.seq
            plan = state.plan.streams.get(entry.stream) if state.plan else None
            if plan is not None:
                plan.emitted += 1
                plan.last_record = entry.seq
                state.erased.records.setdefault(entry.stream, []).append(entry.seq)
                _end_after_evidence(state, entry)
        case "PROGRESS":
            pass
        case "STATE":
            named = m.State(stream=entry.stream)
            if p.first_fault(state.ruleset.staging_rules, state, named) is None:
                state.staged.setdefault(entry.stream, Staged()).add(entry.seq, state.last_record, erased=True)
            else:
                state.occasions.add("state_of_no_checkpoint")
        case "SKIP_RESULT":
            if entry.stream:
                state.erased.skips.setdefault(entry.stream, []).append(entry.seq)
        case "DETAIL_COVERAGE" if declared is not None and declared.state_stream is not None:
            detail = {"stream": show_name(entry.stream), "parent": "?"}
            state.violate(entry.seq, Fault(code="coverage_of_child", clause="precedence/1", detail=detail))
        case "STREAM_EVIDENCE" if declared is not None and declared.state_stream is None:
            detail = {"stream": show_name(entry.stream)}
            state.violate(entry.seq, Fault(code="evidence_of_no_child", clause="evidence/3", detail=detail))
        case "DETAIL_COVERAGE":
            state.erased.reports.setdefault(entry.stream, []).append(entry.seq)
            p.end_on_surplus_report(state, entry.seq, entry.stream)
        case "DETAIL_GAP":
            state.erased.gaps.setdefault(entry.stream, []).append(entry.seq)
            _end_after_evidence(state, entry)
        case "STREAM_EVIDENCE":
            if entry.stream in state.evidence or entry.stream in state.erased.evidence:
                detail = {"stream": show_name(entry.stream)}
                fault = Fault(code="evidence_given_twice", clause="evidence/5", detail=detail)
                state.violate(entry.seq, fault)
            state.erased.evidence.setdefault(entry.stream, []).append(entry.seq)
            p.close_stream(state, entry.seq, entry.stream)
        case "OBSERVATION" if not facts_are_known(state):
            p.on_unknown(state, entry, m.Unknown(type=entry.type))
        case "OBSERVATION":
            state.erased.facts.append(entry.seq)
        case "INTERACTION" if (barred := why_nothing_may_be_asked(state)) is not None:
            state.violate(entry.seq, barred)
        case "INTERACTION":
            p.wait_for_answer(state, Question(entry.seq, None))
        case "DONE":
            state.erased.leave_open(entry.seq)
            state.done_entry = entry.seq
            state.phase = Phase.DONE
        case _:
            state.erased.leave_open(entry.seq)


def _take_record_out_of_scope(state: State, entry: Entry, fault: Fault) -> None:
    """Do with an erased RECORD out of scope what the ruleset says; one that is discarded counts as sent."""
    if state.ruleset.switches.out_of_scope_record == "discard":
        state.counted += 1
        state.last_record = entry.seq
    p.refuse_record(state, entry, None, fault)


def _keep_occasions(state: State, type_: str) -> None:
    """Keep that every rule about a type of message had something to judge: what it was, nobody can tell."""
    if type_ in state.ruleset.message_rules:
        state.types_asked.add(type_)
        occasional = state.ruleset.occasional
        rules = (*occasional.get(type_, ()), *(occasional.get("staging", ()) if type_ == "STATE" else ()))
        state.occasions.update(rule.__name__ for rule in rules)


def _end_after_evidence(state: State, entry: Entry) -> None:
    """End the run on a stream that speaks after its evidence, where the ruleset has that final."""
    asked = {
        "RECORD": (evidence.record_comes_before_evidence, state.ruleset.record_rules),
        "DETAIL_GAP": (evidence.gap_comes_before_evidence, state.ruleset.message_rules.get("DETAIL_GAP", ())),
    }
    rule, rules = asked[entry.type]
    given = evidence.evidence_entry(state, entry.stream)
    if given is not None and rule in rules:
        state.violate(entry.seq, evidence.after_evidence(entry.type, entry.stream, given))


def _streams_meant(state: State, label: str) -> list[str]:
    """Return the streams that a column may mean: it is printable, and a stream's name need not be."""
    return state.plan.labelled.get(label, [label]) if state.plan is not None else [label]


def take_runtime_line(state: State, entry: Entry) -> None:
    """Take a line of the runtime whose body was erased: its column still says what it was."""
    state.erased.entries.add(entry.seq)
    if entry.type == "START":
        _take_start(state, entry)
    elif state.phase is Phase.INITIALIZING:
        if entry.type:
            r.on_line_before_start(state, entry, None)
        else:  # a blank line, which is none, or a broken one, which ends the run
            state.erased.leave_open(entry.seq)
    elif entry.type == "INTERACTION_RESPONSE":
        _take_answer(state, entry)
    elif not entry.type and state.phase is Phase.WAITING:
        # A blank line, which is none, or one that could not be read, which is taken as the answer.
        state.erased.leave_open(entry.seq, since=entry.seq)
        r.take_answer(state, entry, None)


def _take_start(state: State, entry: Entry) -> None:
    """Take an erased START: a second one is one whatever it said, of a first the scope is unknown."""
    if state.phase is not Phase.INITIALIZING:
        r.on_second_start(state, entry, None)
        return
    state.start_entry = entry.seq
    state.occasions.update(rule.__name__ for rule in state.ruleset.start_rules)
    state.erased.start = True
    state.erased.leave_open(entry.seq)
    manifest = state.manifest.manifest if state.manifest else None
    if manifest is None:
        state.phase = Phase.COLLECTING
    else:
        r.begin(state, manifest, None)


def _take_answer(state: State, entry: Entry) -> None:
    """Take an erased answer: as the one that is waited for, or as one that nobody asked for."""
    _keep_occasions(state, "INTERACTION_RESPONSE")
    if state.phase is Phase.WAITING:
        r.take_answer(state, entry, None)
    elif state.phase is Phase.COLLECTING:
        fault = Fault(code="answer_not_asked_for", clause="session/response", by="runtime")
        state.violate(entry.seq, fault)
    else:
        r.on_late_line(state, entry, None)


def take_observation(state: State, entry: Entry) -> None:
    """Take an observation whose body was erased: that it was made, its column still says."""
    state.erased.entries.add(entry.seq)
    match entry.type:
        case "CANCEL_REQUESTED":
            seen.cancel(state, entry, "cancel_requested", "")
        case "CONTROLLER_LOST":
            seen.on_controller_lost(state, entry, o.ControllerLost())
        case "RUN_REFUSED":
            seen.on_refused(state, entry, o.RunRefused(reason=""))
        case "PROGRAM_SPAWNED":
            state.spawned = state.spawned or entry.seq
        case "PROGRAM_EXITED":
            _take_exit(state, entry)
        case "RUN_CLOSED":
            seen.close(state, entry)
        case "RECORDS_REJECTED":
            state.erased.rejections.setdefault(entry.stream, []).append(entry.seq)
        case "SUBMISSION_REJECTED":
            seen.on_submission_rejected(state, entry)
        case "RECORDS_DURABLE":
            state.erased.durable = True
        case "DECIDED":
            seen.cut(state, entry)
        case "CHECKPOINT_COMMITTED":
            seen.on_checkpoint(state, entry, _erased_commit(state, entry))
        case "CHECKPOINT_COMMIT_FAILED":
            namespace = state.opened.namespace if state.opened else None
            seen.on_checkpoint(
                state, entry, o.CheckpointCommitFailed(stream=entry.stream, namespace=namespace)
            )
        case "RUN_OPENED" if entry.seq == 1:
            state.erased.leave_open(entry.seq)
        case "LINE_CUT":  # of any line before it, and told late: even what came before it may not have been
            state.erased.leave_open(entry.seq)
            state.erased.cuts = True
        case "GRANT_REVOKED" if seen.revocation_could_cancel(state):
            state.erased.leave_open(entry.seq, since=entry.seq)
        case _:
            pass


def _take_exit(state: State, entry: Entry) -> None:
    """Take an erased exit: it may or may not have agreed with DONE."""
    if state.exit is None:
        state.erased.exit = entry.seq
        if state.phase is Phase.DONE:
            state.erased.leave_open(entry.seq, since=entry.seq)
    seen.on_exited(state, entry, o.ProgramExited())


def _erased_commit(state: State, entry: Entry) -> o.CheckpointCommitted:
    """Take an erased commit as one of the newest cursor: nothing says otherwise."""
    staged = state.staged.get(entry.stream)
    return o.CheckpointCommitted(
        stream=entry.stream,
        namespace=state.opened.namespace if state.opened else None,
        cursor_seq=staged.cursor_entry if staged is not None else 0,
    )
