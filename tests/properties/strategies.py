"""Strategies for hypothesis: manifests, messages, observations and whole runs.

A run is drawn over a manifest with few streams and few keys, so that messages meet each other. Most lines are
what a good connector could say; some are damaged. Observations may stand anywhere.

The same examples are drawn every time. ``LEDGER_HUNT=5000 pytest tests/properties`` draws that many new ones.
"""

import os
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from ledger.core import observations as o
from ledger.core.entries import OBSERVER, Entry
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import Erased, Message, Run, Sent, Step
from tests.properties.json_lines import damaged, json_values, respelled, to_bytes

HUNT = int(os.environ.get("LEDGER_HUNT", "0"))
settings.register_profile("ledger", deadline=None, max_examples=HUNT or 150, derandomize=not HUNT)
settings.load_profile("ledger")

NAMES = ["a", "b", "p", "10", "c", "7"]
BINDINGS = ["network", "browser", "example.test/scanner", "interactive"]
KEYS: list[Any] = ["k", "j", "1", 1, 1.0, 2]


def once_in(draw: st.DrawFn, times: int) -> bool:
    """Draw whether something rare happens."""
    happens: bool = draw(st.sampled_from([False] * (times - 1) + [True]))
    return happens


# Manifests.


@st.composite
def manifests(draw: st.DrawFn) -> Message:
    """Draw a manifest that holds: each stream is self-mapped or rides streams declared before it."""
    declared: dict[str, Message] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True)):
        members: Message = {}
        if declared and once_in(draw, 2):
            parents = draw(st.lists(st.sampled_from(list(declared)), min_size=1, max_size=3, unique=True))
            members = r.child(parents[0]) if once_in(draw, 3) else r.detail(*parents)
        more: Message = {"consent_time_field": "at", "primary_key": ["id"]} if once_in(draw, 3) else {}
        if once_in(draw, 6):
            more["selection"] = {"resource_field": "id"}
        if once_in(draw, 8):
            more["semantics"] = "append_only"
        declared[name] = {**members, **more}
    order: list[str] = draw(st.permutations(list(declared)))
    manifest = r.streams(**{name: declared[name] for name in order})
    if once_in(draw, 4):
        manifest["protocol_capabilities"] = ["OBSERVATION"]
    if once_in(draw, 3):
        return manifest
    whole = r.fully_declared(manifest)
    if once_in(draw, 6):
        whole["runtime_requirements"] = {"bindings": {draw(st.sampled_from(BINDINGS)): {"required": False}}}
    return whole


@st.composite
def broken(draw: st.DrawFn, manifest: Message) -> Message:
    """Set one member of one stream to something else."""
    stream = draw(st.sampled_from(manifest["streams"]))
    name = draw(st.sampled_from(["name", "state_stream", "parent_streams", "coverage_strategy"]))
    value = draw(st.one_of(json_values, st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=2)))
    return {**manifest, "streams": [{**s, name: value} if s is stream else s for s in manifest["streams"]]}


# START and what the runtime says.


@st.composite
def starts(draw: st.DrawFn, manifest: Message) -> Message:
    """Draw a START for some streams, some of them narrowed."""
    names = [stream["name"] for stream in manifest["streams"]]
    wide: list[Message] = [{}] * 20
    narrow = st.sampled_from(
        [*wide, {"resources": ["k", "j"]}, {"fields": ["id"]}, {"time_range": {"since": "2026-01-01"}}]
    )
    scope = draw(st.lists(st.sampled_from(names), min_size=len(names) // 2, unique=True)) or names
    asked: list[Message] = [{"name": name, **draw(narrow)} for name in scope]
    message: Message = {"type": "START", "run_id": "run_1", "collection_mode": "incremental"}
    now: Message = {"now": "2026-01-02T00:00:00Z"} if once_in(draw, 4) else {}
    return {**message, "scope": {"streams": asked}, "state": None, "bindings": {}, **now}


def answers(damage: bool) -> st.SearchStrategy[Sent]:
    """Draw an answer to the usual question; with damage, perhaps to another one or in other shapes."""
    good = st.builds(r.answer, st.just("req_1"), st.sampled_from(["success", "timeout", "cancelled"]))
    bad = st.builds(r.answer, st.just("req_2")) | st.builds(Sent, json_values.map(to_bytes))
    return good | bad if damage else good


# What the connector says.


@st.composite
def messages(draw: st.DrawFn, manifest: Message, in_scope: list[str]) -> Message:
    """Draw a message that a good connector could send."""
    declared = {stream["name"]: stream for stream in manifest["streams"]}
    name = draw(st.sampled_from(in_scope))
    parents = declared[name].get("parent_streams") or [declared[name].get("state_stream") or name]
    checkpoints = {
        p
        for s in declared.values()
        for p in (s.get("parent_streams") or [s.get("state_stream") or s["name"]])
    }
    one: list[Any] = draw(st.sampled_from([["1"], [1], ["1", 1]]))  # two keys or one, as the ruleset says
    keys = draw(st.lists(st.sampled_from(["k", "j", *one]), max_size=3, unique=True))
    held = draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []
    gaps = [key for key in keys if key not in held] if draw(st.booleans()) else []
    if once_in(draw, 8):
        gaps = keys  # those that it hydrated too
    key = draw(st.sampled_from(["k", "j"]))
    at = draw(st.sampled_from(["2026-01-02", "2026-01-02", "2026-01-02", 1767312000000]))
    choices: list[Message] = [r.record(name, key, data={"id": key, "at": at}), r.record(name, key)]
    whole = {} if once_in(draw, 4) else {"data": {"id": key, "at": at}}
    choices.append(r.delete(name, key, **whole))
    if name in checkpoints or once_in(draw, 10):
        choices += [r.state(name)] * 3
    choices.append(r.skip(name, **draw(st.sampled_from([{}, {"message": "it broke"}]))))
    choices.append(
        r.skip(draw(st.sampled_from([name, None])), "rate_limited", recovery_hint="retry_by_runtime")
    )
    parent = draw(st.sampled_from(parents))
    if "state_stream" in declared[name]:
        choices.append(r.evidence(name, *draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))))
    else:
        choices += [r.coverage(name, parent, keys, held, gap_keys=gaps)] * (2 if parent in in_scope else 0)
    about: tuple[Any, Any] = (draw(st.sampled_from(KEYS)), draw(st.sampled_from([None, parent])))
    choices += [r.owed(name, *about), r.owed(name, *about), r.gap(name, *about)][once_in(draw, 4) :]
    if parents == [name] and once_in(draw, 4):
        choices.append(r.coverage(name, draw(st.sampled_from(in_scope)), keys, held, gap_keys=gaps))
    if "state_stream" not in declared[name] and once_in(draw, 6):
        left = [key for key in keys if key not in held]
        choices.append(r.coverage(name, parent, keys, held, optional_skip_keys=left))
    choices += [r.interaction(), r.progress(stream=name)]
    if "OBSERVATION" in manifest.get("protocol_capabilities", ()):
        choices += [draw(facts())] * 2
    if once_in(draw, 3):
        choices = [choice for choice in choices if choice["type"] in ("STATE", "DETAIL_COVERAGE")] or choices
    return draw(st.sampled_from(choices))


FACT_IDS = ["o1", "o2", "o3"]


@st.composite
def facts(draw: st.DrawFn) -> Message:
    """Draw an OBSERVATION that is sound by itself, but for a few."""
    attrs = draw(st.sampled_from([{"state": "absent"}, {"state": "absent"}, {"state": "gone"}]))
    more: Message = {"step": "log_in", "attrs": attrs}
    kind = draw(st.sampled_from(["element_expectation", "provider_message"]))
    resolves = draw(st.sampled_from([None, None, ["o1"], ["o2", "o1"]]))
    id_ = draw(st.sampled_from(FACT_IDS))
    return r.fact(id_, kind, resolves=resolves, **(more if kind == "element_expectation" else {}))


def counted_evidence(message: Message, said: list[Step]) -> Message:
    """Return evidence of a stream that agrees with what it said."""
    keys: set[str] = set()
    gaps: set[tuple[str, bool]] = set()
    for line in said:
        if not isinstance(line, dict) or line.get("stream") != message["stream"]:
            continue
        if line["type"] == "RECORD":
            keys.add(line["key"])
            gaps = {gap for gap in gaps if gap[0] != line["key"]}
        elif line["type"] == "DETAIL_GAP":
            key = line["record_key"]
            gaps.add((str(int(key)) if isinstance(key, float) else str(key), isinstance(key, str)))
    unchanged = message["outcomes"]["unchanged"]
    return r.evidence(message["stream"], len(keys), unchanged, len(gaps))


@st.composite
def endings(draw: st.DrawFn, counted: int, *, basis: bool = False) -> Message:
    """Draw a DONE, mostly with the right count; perhaps it says on which facts its error rests."""
    error = r.error(draw(st.sampled_from([*["stream_collection_failed"] * 4, None, "auth_failed"])))
    if once_in(draw, 8):
        error.pop("retryable")
    if once_in(draw, 4):
        error["recovery_hint"] = draw(st.sampled_from(["refresh_credentials", "retry_by_runtime", "unknown"]))
    if basis and draw(st.booleans()):
        error["basis"] = draw(st.lists(st.sampled_from(FACT_IDS), max_size=2))
    records = counted + once_in(draw, 20)
    failed = r.done(records, "failed", error=error)
    return draw(st.sampled_from([*[r.done(records), failed] * 4, r.done(records, "cancelled")]))


OTHERS: list[Message] = [
    {"type": "BLOB"},
    r.fact(),
    r.fact(None),
    {},
    r.record("zzz"),
    r.record("a", emitted_at="noon"),
    r.record("a", data={"id": "j"}),
    r.record("a", ["k", "j"]),
    r.interaction(kind="manual_action"),
    r.state("zzz"),
    r.gap("zzz"),
    r.progress(" "),
    {"type": "toString"},
    {"type": "__proto__"},
    r.record("a", op="upsert"),
    r.state("a", cursor=None),
    {"type": "STATE", "stream": "a"},
    r.gap("a", " k"),
    r.coverage("a", "a", ["k", 1, "1"], ["k"], optional_skip_keys=["k", 1]),
    r.done(0, "failed", error={"message": "it broke", "more": 1}),
    {"type": "START"},
    {"type": "INTERACTION_RESPONSE", "request_id": "req_1", "status": "success", "data": {"p": "s"}},
]


def wire(message: st.SearchStrategy[Message]) -> st.SearchStrategy[bytes]:
    """Draw a line: a message, sometimes damaged."""
    whole = message.map(to_bytes)
    return st.one_of(whole, whole, whole, whole, message.flatmap(respelled), whole.flatmap(damaged))


anywhere = st.one_of(
    messages(r.streams("a", "p", d=r.detail("p"), c=r.child("p")), ["a", "p", "c", "d"]),
    st.sampled_from(OTHERS),
)
wire_lines = st.one_of(
    wire(anywhere),
    wire(st.sampled_from(OTHERS)),
    wire(starts(r.streams("a", "b"))),
    json_values.map(to_bytes),
    st.lists(anywhere | json_values, max_size=2).map(to_bytes),
    st.binary(max_size=12),
)  # fmt: skip
"""Lines of either direction, in every state of repair."""

# What the observer saw.

numbers = st.integers(-1, 40) | st.sampled_from([10**30, -(10**30)])
names = st.sampled_from([*NAMES, "zzz"])
ordinary: st.SearchStrategy[o.Observation] = st.one_of(
    st.builds(o.ProgramSpawned),
    st.builds(o.ProgramExited, code=st.sampled_from([0, 0, 1, None, -1])),
    st.builds(o.ProgramExited, signal=st.just("SIGKILL")),
    st.builds(o.CancelRequested, by=st.just("owner")),
    st.builds(o.GrantRevoked, grant_id=st.sampled_from(["grant_1", "grant_2"])),
    st.builds(o.ControllerLost),
    st.builds(o.RecordsDurable, through_seq=st.integers(0, 20)),
    st.builds(o.SubmissionRejected, request_id=st.sampled_from(["req_1", "req_2"])),
    st.builds(o.RecordsRejected, stream=names, count=st.integers(0, 2)),
    st.builds(o.Note, by=st.just("me"), text=st.text(max_size=4)),
    st.builds(o.RunClosed),
)
rare: st.SearchStrategy[o.Observation] = st.one_of(
    st.builds(o.RunRefused, reason=st.text(max_size=4)),
    st.builds(o.Decided, ruleset=st.just(r.TEXT), through_seq=numbers, decision=st.just("sha256:x")),
    st.builds(
        o.CheckpointCommitted, stream=names, namespace=st.sampled_from(["global", None]), cursor_seq=numbers
    ),
    st.builds(o.CheckpointCommitFailed, stream=names, namespace=st.just("global"), error=st.text(max_size=4)),
    st.builds(o.LineUnterminated, seq=numbers),
    st.builds(o.LineCut, seq=numbers, length=numbers, sha256=st.just("")),
    st.builds(o.InteractionTimedOut, request_id=st.sampled_from(["req_1", "req_2"])),
    st.builds(o.EntriesErased, entries=st.just((1, 2)), reason=st.just("asked")),
    st.builds(o.RecordsRejected, stream=names, count=numbers),
    st.builds(o.RecordsDurable, through_seq=numbers),
)
garbage = st.sampled_from(
    [
        b"",
        b"{",
        b"null",
        b"\xff",
        b'{"type":"LATER_FACT"}',
        b'{"type":"RUN_CLOSED","more":1}',
        b'{"type":"RECORDS_DURABLE","through_seq":"x"}',
    ]
)

# Runs.

NARROW = o.Trigger(kind="continuous", grant_id="grant_1", streams=("a", "b", "p", "10"))
TRIGGERS = [r.PROACTIVE] * 6 + [o.Trigger(kind="continuous", grant_id="grant_1"), NARROW, r.SINGLE_USE]


@st.composite
def steps(draw: st.DrawFn, manifest: Message, *, damage: bool) -> list[Step]:
    """Draw what happens in a run after its opening."""
    said: list[Step] = []
    start = draw(starts(manifest))
    in_scope = [stream["name"] for stream in start["scope"]["streams"]]
    if not (damage and once_in(draw, 12)):
        said.append(Sent(start))
    counted = 0
    told: set[tuple[str, ...]] = set()
    for _ in range(draw(st.integers(0, 16))):
        if damage and once_in(draw, 25):
            said.append(draw(wire(st.sampled_from(OTHERS) | messages(manifest, in_scope))))
            continue
        message = draw(messages(manifest, in_scope))
        report = (message["type"], message.get("stream") or "", message.get("state_stream") or "")
        if report in told and not once_in(draw, 20):
            continue
        if message["type"] in ("DETAIL_COVERAGE", "STREAM_EVIDENCE"):
            told.add(report)
        if message["type"] == "STREAM_EVIDENCE" and not once_in(draw, 3):
            message = counted_evidence(message, said)
        counted += message["type"] == "RECORD"
        said.append(message)
        if message["type"] == "INTERACTION" and not (damage and once_in(draw, 8)):
            said.append(draw(answers(damage)))
    if not once_in(draw, 5):
        end = draw(endings(counted, basis="OBSERVATION" in manifest.get("protocol_capabilities", ())))
        said += [end, o.ProgramExited(code=int(end["status"] != "succeeded"))]
    elif once_in(draw, 2):
        said.append(o.ControllerLost())
    return said


def few(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Draw none, one or a few; mostly none."""
    return st.one_of(st.just([]), st.just([]), st.lists(strategy, max_size=1), st.lists(strategy, max_size=4))


@st.composite
def whole_runs(draw: st.DrawFn, *, damage: bool = True, erase: bool = True) -> Run:
    """Draw a run; without damage every line is one that a good connector or runtime could send."""
    manifest = draw(manifests())
    happened = draw(steps(manifest, damage=damage))
    if damage and once_in(draw, 20):
        manifest = draw(broken(manifest))
    for fact in draw(few(ordinary | rare if damage else ordinary)):
        happened.insert(draw(st.integers(0, len(happened))), fact)
    if erase and once_in(draw, 3):
        for place in draw(few(st.integers(0, max(0, len(happened) - 1)))):
            if happened and not isinstance(happened[place], Erased):
                happened[place] = Erased(happened[place])
    known = to_bytes(manifest) if not (damage and once_in(draw, 25)) else None
    offered = draw(st.sampled_from([*[r.EVERYTHING] * 6, None, o.Offered()]))
    drawn = r.run(known, *happened, trigger=draw(st.sampled_from(TRIGGERS)), offered=offered)
    if damage and once_in(draw, 12):
        place = draw(st.integers(0, len(drawn.entries) - 1))
        drawn.entries[place] = Entry(place + 1, 0, OBSERVER, "", "LATER_FACT", "", draw(garbage))
    return drawn
