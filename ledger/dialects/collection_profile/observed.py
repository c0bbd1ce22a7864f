"""What each observation does to the state."""

from math import inf

import msgspec

from ledger.core import observations as o
from ledger.core.entries import Entry
from ledger.core.findings import LIST_LIMIT, By, Detail, Fault, show_name
from ledger.dialects.collection_profile.manifest import read_manifest
from ledger.dialects.collection_profile.program_lines import first_fault
from ledger.dialects.collection_profile.runtime_lines import refuse
from ledger.dialects.collection_profile.state import UNREAD, Ending, Phase, State

_TOO_LATE_TO_CANCEL = {
    Phase.VIOLATED: "violated",
    Phase.REFUSED: "refused",
    Phase.CLOSED: "closed",
}


def observe(state: State, entry: Entry, observation: o.Observation) -> None:
    """Take one observation."""
    match observation:
        case o.RunOpened():
            on_opened(state, entry, observation)
        case o.RunRefused():
            on_refused(state, entry, observation)
        case o.ProgramSpawned():
            state.spawned = state.spawned or entry.seq
        case o.ProgramExited():
            on_exited(state, entry, observation)
        case o.CancelRequested():
            cancel(state, entry, "cancel_requested", observation.reason)
        case o.GrantRevoked():
            on_grant_revoked(state, entry, observation)
        case o.ControllerLost():
            on_controller_lost(state, entry, observation)
        case o.RecordsDurable():
            state.durable_through = max(state.durable_through or 0, observation.through_seq)
        case o.RecordsRejected():
            on_records_rejected(state, entry, observation)
        case o.Decided():
            cut(state, entry)
        case o.CheckpointCommitted() | o.CheckpointCommitFailed():
            on_checkpoint(state, entry, observation)
        case o.InteractionTimedOut():
            on_timed_out(state, observation)
        case o.SubmissionRejected():
            on_submission_rejected(state, entry)
        case o.LineUnterminated():
            on_unterminated(state, entry, observation)
        case o.LineCut():
            on_line_cut(state, entry, observation)
        case o.RunClosed():
            close(state, entry)
        case o.ProgramStderr() | o.EntriesErased() | o.Note():
            pass


def on_opened(state: State, entry: Entry, opened: o.RunOpened) -> None:
    """Read the manifest and match what can be matched before START (manifest/1..7, binding/1..2)."""
    if entry.seq > 1:
        state.note(Fault(code="run_opened_twice", clause="log/opening", by="observer"), entry.seq)
        return
    state.opened = opened
    body = state.documents.get(opened.manifest) if opened.manifest is not None else None
    if body is None:
        return
    state.manifest = read_manifest(body)
    manifest = state.manifest.manifest
    if manifest is None:
        refuse(state, entry, state.manifest.faults)
        return
    faults = list(state.ruleset.faults_of(manifest))
    if opened.offered is not None:
        faults += [fault for rule in state.ruleset.match_rules for fault in rule(manifest, opened.offered)]
    if faults:
        refuse(state, entry, faults)


def on_refused(state: State, entry: Entry, refused: o.RunRefused) -> None:
    """Keep that the runtime refused the run; after the decision that changes nothing."""
    if state.cut is not None:
        state.note(Fault(code="refused_late", clause="log/refusal", by="observer"), entry.seq)
    elif state.refused is None:
        state.refused = Ending(entry.seq, "refused_by_runtime", refused.reason)
        if state.phase not in (Phase.CANCELLED, Phase.VIOLATED):
            state.phase = Phase.REFUSED


def on_timed_out(state: State, timed_out: o.InteractionTimedOut) -> None:
    """Keep that nobody answered the question that waits, where it is the one meant."""
    pending = state.pending
    if pending is not None and (
        pending.message is None or pending.message.request_id == timed_out.request_id
    ):
        pending.timed_out = True


def on_submission_rejected(state: State, entry: Entry) -> None:
    """Keep that the provider rejected what the owner submitted; after the decision that changes nothing.

    Whether the question that it names was ever asked is not looked into: the runtime knows what it saw.
    """
    if state.cut is None and state.closed is None:
        if len(state.submissions_rejected) < LIST_LIMIT:
            state.submissions_rejected.append(entry.seq)
        return
    switches = state.ruleset.switches
    state.occasions.update(("recovery_hints", "failure_cause"))
    if switches.recovery_hints == "gated" or switches.failure_cause == "derived":
        state.note(Fault(code="submission_rejected_late", clause="hint/gate", by="observer"), entry.seq)


def on_exited(state: State, entry: Entry, exited: o.ProgramExited) -> None:
    """Keep how the program ended, and hold it against a DONE that was taken (connector/8)."""
    if state.exit is not None:
        return
    state.exit, state.exit_entry = exited, entry.seq
    if state.done is None and state.phase is Phase.DONE:  # an erased one, which this may contradict
        state.erased.leave_open(entry.seq, since=entry.seq)
    if state.done is None or state.phase not in (Phase.DONE, Phase.CUT, Phase.CLOSED):
        return
    fault = first_fault(state.ruleset.exit_rules, state.done, exited)
    if fault is not None and state.phase is Phase.DONE:
        state.violate(entry.seq, fault)
    elif fault is not None:
        state.note(fault, entry.seq)


def on_grant_revoked(state: State, entry: Entry, revoked: o.GrantRevoked) -> None:
    """A revocation of the run's own grant cancels the run (done/cancellation)."""
    if state.opened is not None and state.opened.trigger.grant_id == revoked.grant_id:
        cancel(state, entry, "grant_revoked", revoked.grant_id)
    else:
        state.note(Fault(code="other_grant_revoked", clause="runtime/13", by="observer"), entry.seq)


def revocation_could_cancel(state: State) -> bool:
    """Tell whether a revocation could be of the run's own grant, and come in time."""
    granted = state.opened is not None and state.opened.trigger.grant_id is not None
    return granted and state.cut is None and state.phase not in _TOO_LATE_TO_CANCEL


def cancel(state: State, entry: Entry, code: str, text: str) -> None:
    """Cancel the run, unless it was decided or had broken the protocol by then (done/cancellation).

    Lines after the cancellation change nothing, whatever they say.
    """
    why = "decided" if state.cut is not None else _TOO_LATE_TO_CANCEL.get(state.phase)
    if why is not None:
        fault = Fault(code="cancel_too_late", clause="done/cancellation", by="owner", detail={"why": why})
        state.note(fault, entry.seq)
    elif state.cancelled is None:
        state.cancelled = Ending(entry.seq, code, text)
        state.phase = Phase.CANCELLED


def on_controller_lost(state: State, entry: Entry, lost: o.ControllerLost) -> None:
    """The controller was replaced or restarted; after the decision that changes nothing (restart/1)."""
    if state.cut is not None or state.closed is not None:
        state.note(Fault(code="controller_lost_late", clause="restart/1", by="observer"), entry.seq)
    elif state.controller_lost is None:
        state.controller_lost = Ending(entry.seq, "controller_lost", lost.reason)
        if state.phase not in _TOO_LATE_TO_CANCEL and state.phase is not Phase.CANCELLED:
            state.phase = Phase.ABANDONED


def on_records_rejected(state: State, entry: Entry, rejected: o.RecordsRejected) -> None:
    """Records that the store refused for good do not count as accepted."""
    plan = state.plan.streams.get(rejected.stream) if state.plan else None
    if plan is not None and rejected.count > 0:
        plan.rejected += rejected.count
    fault = Fault(
        code="records_rejected",
        clause="record/store",
        by="store",
        detail={"stream": show_name(rejected.stream)},
    )
    state.note(fault, entry.seq)


def close(state: State, entry: Entry) -> None:
    """Nothing more comes; a later line would change nothing (log/closing)."""
    state.closed = state.closed or entry.seq
    if state.phase not in UNREAD:
        state.phase = Phase.CLOSED


def cut(state: State, entry: Entry) -> None:
    """Stop deciding: what comes after the first decision or commit is what became of it."""
    if state.cut is None:
        state.cut = entry.seq
        if state.phase not in UNREAD:
            state.phase = Phase.CUT


def on_checkpoint(
    state: State, entry: Entry, tried: o.CheckpointCommitted | o.CheckpointCommitFailed
) -> None:
    """Keep what the store did with a checkpoint, and whether its records were durable by then (runtime/5)."""
    cut(state, entry)
    state.commits.append((entry.seq, tried))
    staged = state.staged.get(tried.stream)
    if (
        isinstance(tried, o.CheckpointCommitted)
        and entry.body is not None
        and not state.erased.durable
        and state.durable_through is not None
        and staged is not None
        and state.durable_through < staged.last_record_before(tried.cursor_seq)
    ):
        state.undurable_commits.append((entry.seq, tried.stream, state.durable_through))


def on_unterminated(state: State, entry: Entry, unterminated: o.LineUnterminated) -> None:
    """Keep that the last line ended without its LF: whole, it stands as it was read; torn, that is why."""
    if not 1 <= unterminated.seq < entry.seq:
        note_out_of_place(state, entry)
        return
    for index, violation in enumerate(state.violations):
        if violation.entry == unterminated.seq and violation.code == "line_malformed" and state.cut is None:
            state.violations[index] = msgspec.structs.replace(violation, code="line_torn")
            return
    state.note(Fault(code="line_unterminated", clause="session/jsonl"), unterminated.seq)


def on_line_cut(state: State, entry: Entry, line: o.LineCut) -> None:
    """End the run on a line that was too long to be kept: whatever its head says, the line was never read.

    An import tells it late, even after the decision: it is no event, but says what an earlier entry is.
    """
    if not 1 < line.seq < entry.seq:
        note_out_of_place(state, entry)
        return
    by: By = "runtime" if line.seq in state.runtime_lines else "program"
    fault = Fault(code="line_too_long", clause="session/jsonl", by=by, detail={"length": line.length})
    if line.seq > read_through(state):
        state.note(fault, line.seq)
    else:
        unread_since(state, line.seq)
        state.violate(line.seq, fault)


def read_through(state: State) -> float:
    """Return the entry at which lines ceased to be read, infinity where they still are."""
    endings = (state.refused, state.cancelled, state.controller_lost)
    stops = [
        *(violation.entry for violation in state.violations),
        *(entry for entry, _ in state.refusals),
        *(ending.entry for ending in endings if ending is not None),
        *(entry for entry in (state.cut, state.closed) if entry is not None),
    ]
    return min(stops, default=inf)


def unread_since(state: State, first: int) -> None:
    """Take back what was read from an entry on, as far as a decision on a run that failed there tells it."""
    state.violations.clear()
    state.refusals.clear()
    if state.done_entry is not None and state.done_entry >= first:
        state.done = state.done_entry = None
    for stream, staged in list(state.staged.items()):
        staged.drop_since(first)
        if not staged.total:
            del state.staged[stream]
    for id_ in [id_ for id_, fact in state.connector_facts.items() if fact.entry >= first]:
        del state.connector_facts[id_]
    cancelled, state.cancelled = state.cancelled, None
    state.phase = Phase.VIOLATED
    if cancelled is not None:
        detail: Detail = {"why": _TOO_LATE_TO_CANCEL[Phase.VIOLATED]}
        fault = Fault(code="cancel_too_late", clause="done/cancellation", by="owner", detail=detail)
        state.note(fault, cancelled.entry)


def note_out_of_place(state: State, entry: Entry) -> None:
    """Keep that an observation is about an entry that does not come before it."""
    detail = {"type": entry.type}
    fault = Fault(code="observation_out_of_place", clause="log/observation", by="observer", detail=detail)
    state.note(fault, entry.seq)
