"""A tiny builder of runs, so that a test can say what was said and ask what was decided.

``run(streams("a"), start("a"), record("a"), done(1), exited(0))`` is a run as the fold reads it: RUN_OPENED
is added as entry 1, so the first step is entry 2. A step is a message of the connector (a dict, or the raw
line), a line of the runtime (:class:`Sent`), an observation, or one of these after its erasure.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from ledger.core.decision import Checkpoint, Coverage, Decision
from ledger.core.digests import digest
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry, Origin
from ledger.core.observations import (
    Observation,
    Offered,
    ProgramExited,
    RunOpened,
    Trigger,
    encode_observation,
    observation_stream,
    observation_type,
)
from ledger.dialects.collection_profile import CollectionProfile
from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.replay.replay import replay

PROFILE = CollectionProfile()
TEXT, REFERENCE, LATER = (
    "collection-profile/0.1.0",
    "collection-profile/0.1.0+reference",
    "collection-profile/0.2.0",
)
"""The ids of the shipped rulesets."""
PROACTIVE = Trigger(kind="proactive")
SINGLE_USE = Trigger(kind="single_use", grant_id="grant_1")
EVERYTHING = Offered(
    bindings=("network", "interactive"), protocol_capabilities=("STREAM_EVIDENCE", "BLOB", "OBSERVATION")
)

Message: TypeAlias = dict[str, Any]


class Sent(NamedTuple):
    """A line of the runtime."""

    line: Message | str | bytes


class Erased(NamedTuple):
    """A step whose body was erased; its columns stay."""

    step: "Message | str | bytes | Sent | Observation"


Step: TypeAlias = Message | str | bytes | Sent | Observation | Erased


class Run(NamedTuple):
    """A run as the log hands it to the fold."""

    entries: list[Entry]
    documents: dict[str, bytes]

    def decided(self, ruleset: str | Ruleset = TEXT) -> Decision:
        """Decide it under a ruleset, or the shipped one of that id."""
        under = PROFILE.rulesets[ruleset] if isinstance(ruleset, str) else ruleset
        return replay(PROFILE, self.entries, self.documents, under)


def turned(ruleset: Ruleset, **switches: str) -> Ruleset:
    """Return a ruleset with some of its switches turned, and nothing else."""
    return dataclasses.replace(ruleset, switches=msgspec.structs.replace(ruleset.switches, **switches))


def run(
    manifest: Message | bytes | None,
    *steps: Step,
    trigger: Trigger = PROACTIVE,
    offered: Offered | None = EVERYTHING,
) -> Run:
    """Build a run; a manifest of None is one that nobody knows."""
    body = manifest if manifest is None or isinstance(manifest, bytes) else to_line(manifest)
    opened = RunOpened(
        run_id="run_1",
        dialect=PROFILE.name,
        program=PROFILE.program(body) if body is not None else "",
        manifest=digest(body) if body is not None else None,
        trigger=trigger,
        namespace=PROFILE.namespace(trigger),
        via="recorded",
        recorder="tests",
        offered=offered,
    )
    entries = [to_entry(seq, step) for seq, step in enumerate((opened, *steps), start=1)]
    return Run(entries, {digest(body): body} if body is not None else {})


def decide(manifest: Message | bytes | None, *steps: Step, **how: Any) -> Decision:
    """Build a run and decide it."""
    return run(manifest, *steps, **how).decided()


def succeeded(manifest: Message, *lines: Step, **how: Any) -> Decision:
    """Decide a run that began with START for every stream and ended well, with the right count."""
    return decide(manifest, start_all(manifest), *lines, done(count(lines)), exited(0), **how)


def failed(manifest: Message, *lines: Step, code: str | None = None, **how: Any) -> Decision:
    """Decide the same with a DONE that says failed, and perhaps why."""
    end = done(count(lines), "failed", error=error(code))
    return decide(manifest, start_all(manifest), *lines, end, exited(1), **how)


def certified(manifest: Message, *lines: Step, **how: Any) -> Decision:
    """Decide the same with the error code that certifies a failure of some streams."""
    return failed(manifest, *lines, code="stream_collection_failed", **how)


def to_entry(seq: int, step: Step) -> Entry:
    """Make an entry of a step; lines are labelled as the log labels them."""
    if isinstance(step, Erased):
        whole = to_entry(seq, step.step)
        return Entry(seq, 0, whole.origin, "", whole.type, whole.stream, None)
    if isinstance(step, get_args(Observation)):
        name, about = observation_type(step), observation_stream(step)
        return Entry(seq, 0, OBSERVER, "", name, about, encode_observation(step))
    origin: Origin = RUNTIME if isinstance(step, Sent) else PROGRAM
    line = to_line(step.line if isinstance(step, Sent) else step)  # type: ignore[arg-type]
    label = PROFILE.label(origin, line)
    return Entry(seq, 0, origin, "", label.type, label.stream, line)


def to_line(message: Message | str | bytes) -> bytes:
    """Return the bytes of a message; a text or bytes are the line already."""
    if isinstance(message, bytes):
        return message
    return (message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)).encode()


def count(steps: Iterable[Step]) -> int:
    """Count the RECORDs among steps, erased ones too."""
    lines = (step.step if isinstance(step, Erased) else step for step in steps)
    return sum(isinstance(line, dict) and line.get("type") == "RECORD" for line in lines)


# Manifests.


def streams(*names: str, required: Iterable[str] = (), **declared: Mapping[str, Any]) -> Message:
    """Declare self-mapped streams by name, others by :func:`child`, :func:`detail` or any members."""
    return {
        "connector_id": "https://example.test/connector",
        "version": "1.0.0",
        "runtime_requirements": {"bindings": {name: {"required": True} for name in required}},
        "streams": [
            *({"name": name} for name in names),
            *({"name": name, **members} for name, members in declared.items()),
        ],
    }


def child(parent: str, **more: Any) -> Message:
    """Return the members of a stream that rides its parent's checkpoint."""
    return {"state_stream": parent, "coverage_strategy": "checkpoint_window", **more}


def detail(*parents: str, **more: Any) -> Message:
    """Return the members of a stream that accounts its details to its parents."""
    return {"parent_streams": list(parents), "coverage_strategy": "parent_detail_accounting", **more}


def fully_declared(manifest: Message, **more: Any) -> Message:
    """Return a manifest with what the later profile demands of it; what it declares by itself stays."""
    stream = {
        "primary_key": ["id"],
        "schema": {"type": "object"},
        "semantics": "mutable_state",
        "coverage_strategy": "full_inventory",
        "freshness_strategy": "scheduled_window",
    }
    whole = {"connector_key": "example", "capabilities": {"human_interaction": ["credentials", "otp"]}}
    return {**whole, **manifest, "streams": [{**stream, **one} for one in manifest["streams"]], **more}


# What the runtime says, and how programs end.


def start(*scope: str | Message, **more: Any) -> Sent:
    """Return a START for streams by name, or by their whole scope."""
    asked = [{"name": one} if isinstance(one, str) else one for one in scope]
    message = {"type": "START", "run_id": "run_1", "collection_mode": "incremental"}
    return Sent({**message, "scope": {"streams": asked}, "state": None, "bindings": {}, **more})


def start_all(manifest: Message) -> Sent:
    """Return a START for every stream of a manifest."""
    return start(*(stream["name"] for stream in manifest["streams"]))


def answer(request_id: str = "req_1", status: str = "success", **more: Any) -> Sent:
    return Sent({"type": "INTERACTION_RESPONSE", "request_id": request_id, "status": status, **more})


def exited(code: int | None = None, signal: str | None = None) -> ProgramExited:
    return ProgramExited(code=code, signal=signal)


# What the connector says.


def record(stream: str, key: str | list[str] = "k", **more: Any) -> Message:
    message = {"type": "RECORD", "stream": stream, "key": key, "data": {"id": key}}
    return {**message, "emitted_at": "2026-01-01T00:00:00Z", **more}


def delete(stream: str, key: str | list[str] = "k", **more: Any) -> Message:
    message = {"type": "RECORD", "stream": stream, "key": key, "op": "delete"}
    return {**message, "emitted_at": "2026-01-01T00:00:00Z", **more}


def state(stream: str, **more: Any) -> Message:
    return {"type": "STATE", "stream": stream, "cursor": {"at": 1}, **more}


def skip(stream: str | None = None, reason: str = "stream_collection_failed", **more: Any) -> Message:
    about = {} if stream is None else {"stream": stream}
    return {"type": "SKIP_RESULT", **about, "reason": reason, **more}


def coverage(
    stream: str, parent: str, required: Iterable[Any] = (), hydrated: Iterable[Any] = (), **more: Any
) -> Message:
    keys = {"required_keys": list(required), "hydrated_keys": list(hydrated)}
    message = {"type": "DETAIL_COVERAGE", "reference_only": True, "stream": stream, "state_stream": parent}
    return {**message, **keys, **more}


def gap(stream: str, key: Any = "k", parent: str | None = None, **more: Any) -> Message:
    boundary = {} if parent is None else {"parent_stream": parent}
    return {"type": "DETAIL_GAP", "stream": stream, "record_key": key, **boundary, **more}


def owed(stream: str, key: Any = "k", parent: str | None = None, **more: Any) -> Message:
    """Return a gap that says all that the later profile demands of one."""
    said = {"reference_only": True, "status": "pending", "reason": "rate_limited", "retryable": True}
    return gap(stream, key, parent, **{**said, "detail_locator": {"kind": "page"}, **more})


def fact(id_: Any = "o1", kind: Any = "provider_message", **more: Any) -> Message:
    return {"type": "OBSERVATION", "id": id_, "fact": kind, **more}


def absent(id_: str = "o1", **more: Any) -> Message:
    """Return the fact that an element was not there."""
    return fact(id_, "element_expectation", **{"step": "log_in", "attrs": {"state": "absent"}, **more})


def evidence(
    stream: str, emitted: Any = 1, unchanged: Any = 0, gapped: Any = 0, unaccounted: Any = 0
) -> Message:
    counts = {"emitted": emitted, "unchanged": unchanged, "gapped": gapped, "unaccounted": unaccounted}
    message = {"type": "STREAM_EVIDENCE", "reference_only": True, "stream": stream}
    return {**message, "considered": sum(counts.values()), "outcomes": counts}


def interaction(request_id: str = "req_1", **more: Any) -> Message:
    return {"type": "INTERACTION", "request_id": request_id, "kind": "otp", "message": "Code?", **more}


def progress(message: str = "half", **more: Any) -> Message:
    return {"type": "PROGRESS", "message": message, **more}


def done(records: Any = 0, status: str = "succeeded", **more: Any) -> Message:
    return {"type": "DONE", "status": status, "records_emitted": records, **more}


def error(code: str | None = None, **more: Any) -> Message:
    return {"message": "it broke", "retryable": True, **({} if code is None else {"code": code}), **more}


# What was decided.


def verdicts(decision: Decision) -> dict[str, str]:
    """Return commit or withhold by checkpoint."""
    return {one.stream: one.decision for one in decision.checkpoints}


def committable(decision: Decision) -> list[str]:
    """Return the checkpoints that may be committed, in order."""
    return [one.stream for one in decision.checkpoints if one.decision == "commit"]


def checkpoint(decision: Decision, stream: str) -> Checkpoint:
    return next(one for one in decision.checkpoints if one.stream == stream)


def reasons(decision: Decision, stream: str) -> list[str]:
    """Return the codes for which a checkpoint is withheld."""
    return [reason.code for reason in checkpoint(decision, stream).reasons]


def row(decision: Decision, stream: str, parent: str) -> Coverage:
    """Return the coverage of one boundary."""
    return next(one for one in decision.coverage if (one.stream, one.parent) == (stream, parent))


def broken(decision: Decision) -> tuple[int, str, str] | None:
    """Return entry, code and clause of the first violation, None where there is none."""
    first = decision.violations[:1]
    return (first[0].entry, first[0].code, first[0].clause) if first else None


def findings(decision: Decision) -> dict[str, tuple[int, ...]]:
    """Return the entries of each finding by code."""
    return {finding.code: finding.entries for finding in decision.findings}


def discrepancies(decision: Decision) -> list[tuple[str, str | None]]:
    return [(one.code, one.stream) for one in decision.discrepancies]


def unknowns(decision: Decision) -> list[str]:
    return [fact.what for fact in decision.unknowns]


Blame: TypeAlias = Literal["program", "runtime", "store", "owner", "observer"]


def blame(decision: Decision) -> Blame:
    """Return whose fault the first violation is."""
    return decision.violations[0].by
