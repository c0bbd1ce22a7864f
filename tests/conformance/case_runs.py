"""From a conformance case to what becomes of its run.

A case says what a connector printed and what its runtime could do. Here that is turned into the entries that
a recorder would have logged, decided, and the decision performed against a scripted store, so that a write
which fails is seen by the fold as the observation that it would be. Pure: nothing here opens a file. The
fields of a case are described in ``README.md`` beside this module.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Literal

import msgspec

from ledger.core.dialect import Dialect
from ledger.core.digests import canonical_json, digest
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry, Origin
from ledger.core.json_reader import Document, Json, is_number, read_json
from ledger.core.observations import (
    CancelRequested,
    CheckpointCommitFailed,
    CheckpointCommitted,
    ControllerLost,
    Decided,
    InteractionTimedOut,
    LineUnterminated,
    Observation,
    Offered,
    ProgramExited,
    RunClosed,
    RunOpened,
    Trigger,
    encode_observation,
    observation_stream,
    observation_type,
)

MILLISECOND = 1_000
BEGINNING = 1_767_225_600_000_000  # 2026-01-01, in microseconds
DESCRIPTORS: Mapping[str, Json] = {"browser_automation": {"interface": "cdp", "ws_url": "ws://127.0.0.1:1/x"}}


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the interaction handler answers, and how long it takes over it."""

    status: str = "success"
    data: Any = msgspec.UNSET
    delay_ms: int = 0


class Observed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something else that the recorder saw, after so many lines, or right after it had decided."""

    observed: Observation
    after_line: int | None = None


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens around the connector; the field names are those of the cases."""

    kind: Literal["proactive", "continuous", "single_use"]
    grant_id: str | None = None
    grant_streams: tuple[str, ...] | None = None
    cancelled_at_line: int | None = None
    state_put_fails_for: tuple[str, ...] = ()
    controller_restart: bool = False
    signal: str | None = None
    interactive: bool = True
    wait_for_interaction: bool = True
    interaction_response: Answer = Answer(data={})
    eol: str = "\n"
    no_trailing_newline: bool = False
    observed: tuple[Observed, ...] = ()


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of a run; in a case, None stands for what the case does not ask."""

    status: str
    committed: tuple[str, ...]
    violation: bool
    not_committed: frozenset[str] | None = None
    accepted: int | None = None
    findings: frozenset[str] = frozenset()
    recovery: str | None = None
    gate: str | None = None
    failure: str | None = None
    basis: tuple[str, ...] | None = None


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case as it stands in its file; the manifest and the members of START keep their bytes."""

    id: str
    manifest: msgspec.Raw
    run: Conditions
    start: dict[str, msgspec.Raw]
    lines: tuple[str, ...]
    exit_code: int
    then: dict[str, Outcome | None]
    offered: Offered | None = None
    title: str = ""
    clause: str = ""
    section: str = ""
    decided_by: str = ""
    open: str = ""
    rests_on: tuple[str, ...] = ()

    @property
    def manifest_digest(self) -> str:
        return digest(bytes(self.manifest))

    def expected(self, ruleset: str) -> Outcome | None:
        """Return what the case demands under a ruleset, None where it does not speak for it."""
        return self.then.get(ruleset)


read_case = msgspec.json.Decoder(Case).decode


class Recording:
    """The entries of one run, growing as a recorder would make them: redacted and labelled by the dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.entries: list[Entry] = []

    def line(self, origin: Origin, line: bytes) -> int:
        body = self.dialect.redact(origin, line)
        label = self.dialect.label(origin, body)
        return self._append(origin, label.type, label.stream, body)

    def observe(self, seen: Observation) -> int:
        return self._append(
            OBSERVER, observation_type(seen), observation_stream(seen), encode_observation(seen)
        )

    def _append(self, origin: Origin, type: str, stream: str, body: bytes) -> int:
        seq = len(self.entries) + 1
        self.entries.append(Entry(seq, BEGINNING + seq * MILLISECOND, origin, "", type, stream, body))
        return seq


def record(case: Case, dialect: Dialect) -> Recording:
    """Return the run up to the point where it has to be decided."""
    recording = Recording(dialect)
    recording.observe(_opening(case, dialect))
    recording.line(RUNTIME, _start(case))
    _record_output(case, recording)
    if case.run.controller_restart:
        recording.observe(ControllerLost())
    elif case.run.signal is not None:
        recording.observe(ProgramExited(signal=case.run.signal))
    else:
        recording.observe(ProgramExited(code=case.exit_code))
    return recording


def perform(case: Case, recording: Recording, ruleset: str, decision: Any) -> None:
    """Do what the decision says, as far as the store of the case lets it, and log what was done."""
    namespace = recording.dialect.namespace(_trigger(case))
    recording.observe(
        Decided(ruleset=ruleset, through_seq=decision.through, decision=digest(canonical_json(decision)))
    )
    _observe_others(case, recording, None)
    for checkpoint in decision.checkpoints:
        stream = checkpoint.stream
        if checkpoint.decision != "commit":
            continue
        if stream in case.run.state_put_fails_for:
            recording.observe(CheckpointCommitFailed(stream=stream, namespace=namespace, error="refused"))
            break
        cursor = checkpoint.cursor_entry
        recording.observe(CheckpointCommitted(stream=stream, namespace=namespace, cursor_seq=cursor))
    recording.observe(RunClosed())


def outcome(decision: Any) -> Outcome:
    """Return what a decision over a whole run says, in the words of a case."""
    staged = [checkpoint.stream for checkpoint in decision.checkpoints]
    committed = [c.stream for c in decision.checkpoints if c.outcome == "committed"]
    failure = decision.failure if decision.failure is not msgspec.UNSET else None
    return Outcome(
        status=decision.status,
        committed=tuple(committed),
        violation=decision.status == "refused" or bool(decision.violations),
        not_committed=frozenset(staged).difference(committed),
        accepted=sum(records.accepted for records in decision.records),
        findings=frozenset(finding.code for finding in decision.findings),
        recovery=decision.recovery.action if decision.recovery else "none",
        gate=_or_none(decision.recovery.gate) if decision.recovery else "none",
        failure=f"{failure.cause} by {failure.by}" if failure else "none",
        basis=failure.basis if failure else (),
    )


def _or_none(gate: Any) -> str:
    return "none" if gate is msgspec.UNSET else str(gate)


def asked(happened: Outcome, expected: Outcome) -> Outcome:
    """Return what happened without what the case does not ask about."""
    unasked = {name: None for name in expected.__struct_fields__ if getattr(expected, name) is None}
    return msgspec.structs.replace(happened, findings=happened.findings & expected.findings, **unasked)


def _opening(case: Case, dialect: Dialect) -> RunOpened:
    manifest = bytes(case.manifest)
    trigger = _trigger(case)
    return RunOpened(
        run_id=f"run_{case.id}",
        dialect=dialect.name,
        program=dialect.program(manifest),
        manifest=case.manifest_digest,
        trigger=trigger,
        namespace=dialect.namespace(trigger),
        via="imported",
        recorder="conformance",
        offered=_offered(case),
    )


def _trigger(case: Case) -> Trigger:
    return Trigger(kind=case.run.kind, grant_id=case.run.grant_id, streams=case.run.grant_streams)


def _offered(case: Case) -> Offered | None:
    if case.offered is None or case.run.interactive:
        return case.offered
    bindings = tuple(binding for binding in case.offered.bindings if binding != "interactive")
    return msgspec.structs.replace(case.offered, bindings=bindings)


def _start(case: Case) -> bytes:
    """Return the START that the runtime sends, or would have sent; the case's own members stand as given."""
    manifest = msgspec.json.decode(case.manifest)
    requirements = manifest.get("runtime_requirements") or {}
    offered = _offered(case)
    provided = set(offered.bindings) if offered is not None else set(requirements.get("bindings", {}))
    members: dict[str, Any] = {
        "type": "START",
        "run_id": f"run_{case.id}",
        "collection_mode": "incremental",
        "scope": {"streams": [{"name": name} for name in _declared_names(manifest)]},
        "state": None,
        "bindings": {
            name: DESCRIPTORS.get(name, {}) for name in requirements.get("bindings", {}) if name in provided
        },
    }
    members |= case.start
    if case.run.kind == "single_use":
        members["state"] = None  # a single-use run is handed none, whatever is stored
    return msgspec.json.encode(members)


def _declared_names(manifest: Json) -> Iterator[Json]:
    for stream in manifest.get("streams") or ():
        if isinstance(stream, dict) and "name" in stream:
            yield stream["name"]


def _record_output(case: Case, recording: Recording) -> None:
    """Log the connector's lines, the answers to them, and the owner's cancel where it falls."""
    unanswered: list[dict[str, Json]] = []
    seq = 0
    for number, line in enumerate(case.lines):
        if number == case.run.cancelled_at_line:
            recording.observe(CancelRequested())
        _observe_others(case, recording, number)
        seq = recording.line(PROGRAM, _bytes_of_line(case, number))
        question = _question(line)
        if question is None or not case.run.interactive:
            continue
        unanswered.append(question)
        if case.run.wait_for_interaction:
            _record_answers(case, recording, unanswered)
            unanswered = []
    if case.run.no_trailing_newline and case.lines:
        recording.observe(LineUnterminated(seq=seq))
    _record_answers(case, recording, unanswered)
    if case.run.cancelled_at_line is not None and case.run.cancelled_at_line >= len(case.lines):
        recording.observe(CancelRequested())
    _observe_others(case, recording, len(case.lines))


def _observe_others(case: Case, recording: Recording, after_line: int | None) -> None:
    for one in case.run.observed:
        if one.after_line == after_line:
            recording.observe(one.observed)


def _bytes_of_line(case: Case, number: int) -> bytes:
    """Return a line up to its LF: a carriage return that ends it belongs to its body."""
    is_torn = case.run.no_trailing_newline and number == len(case.lines) - 1
    return (case.lines[number] + ("" if is_torn else case.run.eol.removesuffix("\n"))).encode()


def _question(line: str) -> dict[str, Json] | None:
    document = read_json(line.encode())
    if not isinstance(document, Document) or not isinstance(document.value, dict):
        return None
    return document.value if document.value.get("type") == "INTERACTION" else None


def _record_answers(case: Case, recording: Recording, questions: Sequence[Mapping[str, Json]]) -> None:
    answer = case.run.interaction_response
    for question in questions:
        request_id, timeout = question.get("request_id"), question.get("timeout_seconds", inf)
        reply = {"type": "INTERACTION_RESPONSE", "request_id": request_id, "status": answer.status}
        if is_number(timeout) and answer.delay_ms / 1000 > timeout:
            recording.observe(InteractionTimedOut(request_id=str(request_id)))
            reply["status"] = "timeout"
        elif answer.data is not msgspec.UNSET:
            reply["data"] = answer.data
        recording.line(RUNTIME, msgspec.json.encode(reply))
