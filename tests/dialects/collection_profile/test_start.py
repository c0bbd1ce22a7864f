"""START, and what is matched before a program is spawned: bindings, capabilities, the grant."""

from typing import Any

import pytest

from ledger.core.observations import Offered, Trigger
from tests.dialects.collection_profile.runs import (
    SINGLE_USE,
    Message,
    Sent,
    Step,
    blame,
    broken,
    decide,
    done,
    exited,
    findings,
    record,
    start,
    streams,
    to_line,
    unknowns,
)

A = streams("a", "b", timed={"consent_time_field": "at"})


def told(*steps: Step, manifest: Message = A, **how: Any) -> tuple[str, str | None]:
    """Return the status and the clause of the first fault."""
    decision = decide(manifest, *steps, done(), exited(0), **how)
    fault = broken(decision)
    return decision.status, fault[2] if fault else None


GOOD: list[tuple[str, Sent]] = [
    ("one stream", start("a")),
    ("all streams", start("a", "b", "timed")),
    ("full refresh", start("a", collection_mode="full_refresh")),
    ("state null", start("a", state=None)),
    ("state", start("a", state={"a": {"x": 1}, "b": None})),
    ("unknown members", start({"name": "a", "later": 1}, later={})),
    ("unknown bindings", start("a", bindings={"nvidia.com/gpu": {"n": "1"}})),
    ("view and necessity null", start({"name": "a", "view": None, "necessity": None})),
    ("time range", start({"name": "timed", "time_range": {"since": "2026-01-01T00:00:00Z"}})),
    ("time range by date", start({"name": "timed", "time_range": {"until": "2026-01-01"}})),
    ("time range empty", start({"name": "timed", "time_range": {}})),
    ("fields empty", start({"name": "a", "fields": []})),
    ("between white space", Sent(b"\t" + to_line(start("a").line) + b" \r")),
]

BAD: list[tuple[str, str, Sent]] = [
    ("no stream", "start/scope", start()),
    ("scope null", "start/scope", start("a", scope=None)),
    ("scope an array", "start/scope", start("a", scope=[])),
    ("streams an object", "start/scope", start("a", scope={"streams": {"a": {}}})),
    ("wildcard", "start/scope", start("a", "*")),
    ("undeclared stream", "start/scope", start("a", "zzz")),
    ("a stream without a name", "start/scope", start({"fields": ["x"]})),
    ("a stream by its bare name", "start/scope", start("a", scope={"streams": ["a"]})),
    ("a view", "start/view", start({"name": "a", "view": "summary"})),
    ("a necessity", "start/necessity", start({"name": "a", "necessity": "required"})),
    ("mode absent", "start/collection_mode", start("a", collection_mode=None)),
    ("mode unknown", "start/collection_mode", start("a", collection_mode="Incremental")),
    ("run id absent", "start/run_id", start("a", run_id=None)),
    ("run id blank", "start/run_id", start("a", run_id=" ")),
    ("run id a number", "start/run_id", start("a", run_id=1)),
    ("state an array", "start/state", start("a", state=[])),
    ("a cursor that is a text", "start/state", start("a", state={"a": "x"})),
    ("bindings an array", "start/bindings", start("a", bindings=[])),
    ("a descriptor that is a text", "start/bindings", start("a", bindings={"network": "on"})),
    ("resources a text", "start/resources", start({"name": "a", "resources": "k"})),
    ("resources hold a number", "start/resources", start({"name": "a", "resources": [1]})),
    ("fields hold a blank", "start/fields", start({"name": "a", "fields": [" "]})),
    ("a bound that is a number", "start/time_range", start({"name": "timed", "time_range": {"since": 1}})),
    (
        "a bound without offset",
        "start/time_range",
        start({"name": "timed", "time_range": {"since": "2026-01-01T00:00:00"}}),
    ),
    (
        "a bound on no day",
        "start/time_range",
        start({"name": "timed", "time_range": {"until": "2026-02-30"}}),
    ),
]


@pytest.mark.parametrize("sent", [g[1] for g in GOOD], ids=[g[0] for g in GOOD])
def test_a_sound_start_is_taken(sent: Sent) -> None:
    assert told(sent) == ("succeeded", None)


@pytest.mark.parametrize(("clause", "sent"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_an_unsound_start_refuses_the_run_and_blames_the_runtime(clause: str, sent: Sent) -> None:
    decision = decide(A, sent, record("a"), done(1), exited(0))
    assert decision.status == "refused"
    assert decision.violations[0].clause == clause
    assert blame(decision) == "runtime"
    assert decision.violations[0].entry == decision.subject.start == 2


def test_a_scope_that_names_a_stream_twice_is_a_finding() -> None:
    decision = decide(A, start("a", {"name": "a", "fields": ["id"]}), done(), exited(0))
    assert decision.status == "succeeded"
    assert findings(decision)["scope_stream_repeated"] == (2,)


def test_another_run_id_is_a_finding() -> None:
    assert "run_id_differs" in findings(decide(A, start("a", run_id="run_2"), done(), exited(0)))


def test_state_for_a_single_use_run_is_a_finding_on_the_runtime() -> None:
    given = decide(A, start("a", state={"a": {}}), done(), exited(0), trigger=SINGLE_USE)
    assert "state_for_single_use" in findings(given)
    assert "state_for_single_use" not in findings(
        decide(A, start("a"), done(), exited(0), trigger=SINGLE_USE)
    )


# Bindings and capabilities.

NET = streams("a", required=["network"])
BROWSER = streams("a", required=["browser_automation"])
CDP = {"interface": "cdp", "ws_url": "ws://x"}


@pytest.mark.parametrize(
    ("names", "offered", "status"),
    [
        (["network"], ["network"], "succeeded"),
        (["network"], ["filesystem", "network"], "succeeded"),
        (["network"], [], "refused"),
        (["network"], ["Network"], "refused"),
        (["network", "interactive"], ["network"], "refused"),
        (["nvidia.com/gpu"], ["nvidia.com/gpu"], "succeeded"),
        ([], [], "succeeded"),
    ],
)
def test_every_required_binding_must_be_offered(names: list[str], offered: list[str], status: str) -> None:
    sent = start("a", bindings={name: {} for name in names})
    assert (
        told(sent, manifest=streams("a", required=names), offered=Offered(bindings=tuple(offered)))[0]
        == status
    )


@pytest.mark.parametrize("required", [False, None])
def test_an_optional_binding_never_refuses_a_run(required: bool | None) -> None:
    bindings = {"bindings": {"network": {"required": required}}}
    manifest = {**streams("a"), "runtime_requirements": bindings}
    assert told(start("a"), manifest=manifest, offered=Offered()) == ("succeeded", None)


def test_what_was_offered_is_not_guessed() -> None:
    decision = decide(NET, start("a", bindings={"network": {}}), done(), exited(0), offered=None)
    assert decision.status == "succeeded"
    assert "bindings" in unknowns(decision)


@pytest.mark.parametrize(
    ("declared", "offered", "clause"),
    [
        (["STREAM_EVIDENCE"], ["STREAM_EVIDENCE"], None),
        (["STREAM_EVIDENCE"], [], "binding/2"),
        (["BLOB", "STREAM_EVIDENCE"], ["STREAM_EVIDENCE"], "binding/2"),
        ([], [], None),
        (None, [], None),
        (["STREAM_EVIDENCE", "FORGED"], ["STREAM_EVIDENCE", "FORGED"], "binding/2"),
        ("STREAM_EVIDENCE", ["STREAM_EVIDENCE"], "binding/2"),
        ([None], [], "binding/2"),
        ({}, [], "binding/2"),
    ],
)
def test_every_declared_capability_must_be_known_and_offered(
    declared: object, offered: list[str], clause: str | None
) -> None:
    manifest = {**streams("a"), "protocol_capabilities": declared}
    offers = Offered(protocol_capabilities=tuple(offered))
    assert told(start("a"), manifest=manifest, offered=offers)[1] == clause


@pytest.mark.parametrize(
    ("manifest", "bindings", "status"),
    [
        (NET, {"network": {}}, "succeeded"),
        (NET, {}, "refused"),
        (NET, None, "refused"),
        (NET, {"network": None}, "refused"),
        (NET, {"Network": {}}, "refused"),
        (BROWSER, {"browser_automation": CDP}, "succeeded"),
        (BROWSER, {"browser_automation": {}}, "refused"),
        (BROWSER, {"browser_automation": {"interface": "cdp"}}, "refused"),
        (BROWSER, {"browser_automation": {**CDP, "ws_url": None}}, "refused"),
    ],
)
def test_every_required_binding_has_a_descriptor(manifest: Message, bindings: object, status: str) -> None:
    offered = Offered(bindings=("network", "browser_automation"))
    assert told(start("a", bindings=bindings), manifest=manifest, offered=offered)[0] == status


# The grant.


def granted(*permitted: str) -> Trigger:
    return Trigger(kind="continuous", grant_id="grant_1", streams=permitted)


@pytest.mark.parametrize(
    ("asked", "permitted", "status"),
    [
        (["a"], ["a"], "succeeded"),
        (["a"], ["a", "b"], "succeeded"),
        (["a", "b"], ["a"], "refused"),
        (["a"], [], "refused"),
    ],
)
def test_a_scope_stays_within_the_grant(asked: list[str], permitted: list[str], status: str) -> None:
    assert told(start(*asked), trigger=granted(*permitted))[0] == status


def test_a_scope_beyond_a_single_use_grant_is_refused_too() -> None:
    trigger = Trigger(kind="single_use", grant_id="grant_1", streams=("a",))
    assert told(start("b"), trigger=trigger) == ("refused", "runtime/11")


def test_a_grant_whose_streams_are_not_known_refuses_nothing() -> None:
    decision = decide(A, start("a"), done(), exited(0), trigger=Trigger(kind="continuous", grant_id="g"))
    assert decision.status == "succeeded"
    assert "grant" in unknowns(decision)
    assert decision.subject.namespace == "g"
