"""STREAM_EVIDENCE: its five rules, and that it is folded on every ending and gates nothing."""

from typing import Any

import pytest

from ledger.core.observations import CancelRequested, ControllerLost, RunClosed
from tests.dialects.collection_profile.runs import (
    Message,
    Step,
    answer,
    broken,
    child,
    coverage,
    decide,
    detail,
    done,
    error,
    evidence,
    exited,
    interaction,
    row,
    start,
    state,
    streams,
    succeeded,
    verdicts,
)

MAX = 9007199254740991
M = streams("p", "self", c=child("p"), d=detail("p"))
ALL = start("p", "self", "c", "d")
GOOD = evidence("c", 200, 11, 2, 1)


def changed(**members: Any) -> Message:
    """Return good evidence with members of it, or of its outcomes, replaced."""
    outcomes = {**GOOD["outcomes"], **{n: v for n, v in members.items() if n in GOOD["outcomes"]}}
    others = {n: v for n, v in members.items() if n not in GOOD["outcomes"]}
    return {**GOOD, "outcomes": outcomes, **others}


SOUND: list[tuple[str, Message]] = [
    ("as in the text", GOOD),
    ("nothing considered", evidence("c", 0)),
    ("the greatest count", evidence("c", MAX)),
    ("the greatest sum", evidence("c", MAX - 3, 1, 1, 1)),
    ("2.0 is a whole number", evidence("c", 2.0, 1)),
    ("so is 1e3", evidence("c", 1e3)),
    ("so is -0.0", evidence("c", 3, -0.0)),
    ("unknown members", changed(covered=1, state_stream="q", note={})),
    ("what no wire can show", evidence("c", 5)),
]
REJECTED: list[tuple[str, str, Message]] = [
    ("reference_only absent", "evidence/1", changed(reference_only=None)),
    ("reference_only false", "evidence/1", changed(reference_only=False)),
    ("reference_only 1", "evidence/1", changed(reference_only=1)),
    ("stream out of scope", "evidence/2", changed(stream="zzz")),
    ("stream absent", "evidence/2", changed(stream=None)),
    ("of a self-mapped stream", "evidence/3", changed(stream="self")),
    ("of a parent", "evidence/3", changed(stream="p")),
    ("of a detail stream", "evidence/3", changed(stream="d")),
    ("considered absent", "evidence/4", changed(considered=None)),
    ("considered one too many", "evidence/4", changed(considered=215)),
    ("considered one too few", "evidence/4", changed(considered=213)),
    ("considered a text", "evidence/4", changed(considered="214")),
    ("considered true", "evidence/4", {**evidence("c", 1), "considered": True}),
    ("considered 2^53", "evidence/4", evidence("c", MAX + 1)),
    ("considered 2^53 as a sum", "evidence/4", evidence("c", MAX, 1)),
    ("considered 2^53 as a double", "evidence/4", evidence("c", float(MAX + 1))),
    ("a huge count", "evidence/4", evidence("c", 10**400)),
    ("outcomes absent", "evidence/4", changed(outcomes=None)),
    ("outcomes an array", "evidence/4", changed(outcomes=[1])),
    ("outcomes empty", "evidence/4", changed(outcomes={}, considered=0)),
    ("an outcome absent", "evidence/4", changed(unaccounted=None, considered=213)),
    ("an outcome negative", "evidence/4", evidence("c", -1, 2)),
    ("outcomes true and false", "evidence/4", {**changed(emitted=True, unchanged=False), "considered": 4}),
    ("halves that add up", "evidence/4", {**evidence("c", 7.5, 2.5), "considered": 10}),
    ("a text", "evidence/4", changed(emitted="200")),
]


@pytest.mark.parametrize("message", [s[1] for s in SOUND], ids=[s[0] for s in SOUND])
def test_sound_evidence_is_taken(message: Message) -> None:
    decision = succeeded(M, message)
    assert decision.status == "succeeded"
    assert row(decision, "c", "p").evidence == "STREAM_EVIDENCE"


@pytest.mark.parametrize(("clause", "message"), [r[1:] for r in REJECTED], ids=[r[0] for r in REJECTED])
def test_unsound_evidence_breaks_the_protocol(clause: str, message: Message) -> None:
    decision = succeeded(M, state("self"), message)
    assert decision.status == "failed"
    assert decision.violations[0].clause == clause
    assert verdicts(decision) == {"self": "withhold"}


@pytest.mark.parametrize(("clause", "message"), [r[1:] for r in REJECTED], ids=[r[0] for r in REJECTED])
def test_rejected_evidence_is_never_read_as_inheritance(clause: str, message: Message) -> None:
    one = row(decide(M, ALL, message, done(), exited(0)), "c", "p")
    if message["stream"] == "c":
        assert (one.condition, one.entries) == ("unknown", (3,))
    else:
        assert one.condition == "inherited"


def test_evidence_is_given_once_a_run() -> None:
    decision = succeeded(M, GOOD, GOOD)
    assert broken(decision) == (4, "evidence_given_twice", "evidence/5")
    assert row(decision, "c", "p").condition != "inherited"


def test_evidence_of_two_streams_is_one_each() -> None:
    assert broken(succeeded(streams("p", c=child("p"), e=child("p")), evidence("c"), evidence("e"))) is None


def test_a_child_that_gives_no_evidence_inherits_its_parent_s_outcome() -> None:
    one = row(succeeded(streams("p", c=child("p")), state("p")), "c", "p")
    assert (one.condition, one.evidence, one.checkpoint) == ("inherited", "none", "commit")


@pytest.mark.parametrize("phase", ["waiting", "done"])
def test_evidence_that_came_when_nothing_may_come_is_rejected_too(phase: str) -> None:
    before = interaction() if phase == "waiting" else done()
    decision = decide(M, ALL, before, GOOD, exited(0))
    assert decision.violations[0].entry == 4
    assert row(decision, "c", "p").condition == "unknown"


CONDITIONS: list[tuple[tuple[int, int, int, int], str]] = [
    ((5, 0, 0, 0), "complete"),
    ((0, 5, 0, 0), "complete"),
    ((0, 0, 0, 0), "complete"),
    ((4, 0, 1, 0), "gapped"),
    ((4, 0, 0, 1), "shortfall"),
    ((3, 0, 1, 1), "gapped"),
    ((0, 0, 0, 1), "shortfall"),
]


@pytest.mark.parametrize(("counts", "condition"), CONDITIONS)
def test_the_condition_follows_from_the_partition(counts: tuple[int, int, int, int], condition: str) -> None:
    one = row(succeeded(M, evidence("c", *counts)), "c", "p")
    emitted, unchanged, gapped, unaccounted = counts
    assert one.condition == condition
    assert (one.required, one.hydrated) == (sum(counts), emitted + unchanged)
    assert (one.gapped, one.unaccounted) == (gapped, unaccounted)


ENDINGS: list[tuple[str, list[Step], str]] = [
    ("success", [done(), exited(0)], "succeeded"),
    ("failure", [done(0, "failed", error=error()), exited(1)], "failed"),
    ("cancelled by the program", [done(0, "cancelled"), exited(1)], "cancelled"),
    ("no DONE", [exited(1)], "failed"),
    ("closed without DONE", [RunClosed()], "failed"),
    ("violation", ["{"], "failed"),
    ("exit that disagrees", [done(), exited(1)], "failed"),
    ("wrong count", [done(7), exited(0)], "failed"),
    ("cancelled by the owner", [CancelRequested()], "cancelled"),
    ("abandoned", [ControllerLost()], "abandoned"),
    ("timed out", [interaction(), answer(status="timeout"), done(), exited(0)], "succeeded"),
    ("still running", [], "running"),
]


@pytest.mark.parametrize(("steps", "status"), [e[1:] for e in ENDINGS], ids=[e[0] for e in ENDINGS])
def test_accepted_evidence_is_folded_on_every_ending(steps: list[Step], status: str) -> None:
    decision = decide(M, ALL, GOOD, *steps)
    one = row(decision, "c", "p")
    assert decision.status == status
    assert (one.condition, one.required, one.hydrated, one.gapped) == ("gapped", 214, 211, 2)
    assert one.entries == (3,)


@pytest.mark.parametrize("message", [None, evidence("c", 9), evidence("c", 0, 0, 9, 9)])
def test_evidence_gates_no_checkpoint(message: Message | None) -> None:
    lines = [state("p"), state("self"), coverage("d", "p", ["k"], ["k"])]
    given = [] if message is None else [message]
    assert verdicts(succeeded(M, *lines, *given)) == {"p": "commit", "self": "commit"}
    assert verdicts(decide(M, ALL, *lines[:2], *given, ControllerLost()))["self"] == "commit"
