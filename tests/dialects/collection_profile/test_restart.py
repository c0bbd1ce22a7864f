"""The controller was lost: what the three conditions of restart abandonment commit, and what DONE does."""

import pytest

from ledger.core.observations import CancelRequested, ControllerLost
from tests.dialects.collection_profile.runs import (
    SINGLE_USE,
    Step,
    broken,
    checkpoint,
    child,
    committable,
    coverage,
    decide,
    detail,
    done,
    error,
    evidence,
    exited,
    gap,
    interaction,
    reasons,
    record,
    skip,
    start,
    start_all,
    state,
    streams,
    verdicts,
)

LOST = ControllerLost(reason="restart")
KILLED = exited(signal="SIGKILL")
M = streams("a", "b", "p", "q", c=child("a"), d=detail("p"))
ALL = start_all(M)
STATES: list[Step] = [state("a"), state("b"), state("p"), state("q")]


def test_a_self_mapped_checkpoint_and_the_parent_of_a_child_are_committed() -> None:
    decision = decide(M, ALL, record("a"), *STATES, LOST)
    assert decision.status == "abandoned"
    assert committable(decision) == ["a", "b", "q"]
    assert decision.cause is not None
    assert (decision.cause.code, decision.cause.clause) == ("controller_lost", "restart/1")


@pytest.mark.parametrize("lines", [[], [coverage("d", "p", ["k"], ["k"])]])
def test_a_detail_parent_is_never_committed_even_fully_covered(lines: list[Step]) -> None:
    decision = decide(M, ALL, *STATES, *lines, LOST)
    assert "restart_detail_parent" in reasons(decision, "p")


def test_a_detail_parent_is_one_by_manifest_whatever_is_in_scope() -> None:
    assert committable(decide(M, start("p"), state("p"), LOST)) == []


def test_the_reason_names_the_stream_that_accounts_to_the_checkpoint() -> None:
    manifest = streams("p", c=child("p"), d=detail("p"))
    decision = decide(manifest, start_all(manifest), state("p"), LOST)
    assert [(r.code, r.stream) for r in checkpoint(decision, "p").reasons] == [("restart_detail_parent", "d")]


OWED: list[tuple[str, list[Step], str]] = [
    ("a gap of its own", [gap("a")], "restart_gap_pending"),
    ("a gap of a child", [gap("c")], "restart_gap_pending"),
    (
        "a gap that a report accounts for",
        [gap("a"), coverage("a", "a", ["k"], gap_keys=["k"])],
        "restart_gap_pending",
    ),
    ("a report that falls short", [coverage("a", "a", ["k"])], "restart_coverage_unproven"),
    ("its own failure", [skip("a")], "restart_stream_failed"),
    ("the failure of a child", [skip("c")], "restart_stream_failed"),
]


@pytest.mark.parametrize(("lines", "code"), [o[1:] for o in OWED], ids=[o[0] for o in OWED])
def test_a_checkpoint_that_owes_something_is_withheld(lines: list[Step], code: str) -> None:
    decision = decide(M, ALL, *STATES, *lines, LOST)
    assert code in reasons(decision, "a")
    assert "b" in committable(decision)


@pytest.mark.parametrize(
    "lines",
    [
        [coverage("a", "a", ["k"], ["k"])],
        [skip("a", "rate_limited")],
        [evidence("c", 0, 0, 5, 5)],
        [gap("d", "k", "q")],
        [interaction()],
    ],
)
def test_what_owes_nothing_withholds_nothing(lines: list[Step]) -> None:
    assert "a" in committable(decide(M, ALL, *STATES, *lines, LOST))


def test_many_owed_entries_are_counted_beyond_a_hundred() -> None:
    for line in (skip("a"), gap("a")):
        (reason,) = checkpoint(decide(M, ALL, state("a"), *[line] * 150, LOST), "a").reasons
        assert (len(reason.entries), reason.entries_total) == (100, 150)


# Condition 1: the controller was lost, and the connector did not fail.


@pytest.mark.parametrize("after", [[], [KILLED], [exited(1)]])
def test_how_the_program_ended_after_the_controller_does_not_matter(after: list[Step]) -> None:
    decision = decide(M, ALL, state("a"), LOST, *after)
    assert (decision.status, committable(decision)) == ("abandoned", ["a"])


@pytest.mark.parametrize("before", [exited(1), exited(0), exited(signal="SIGSEGV")])
def test_a_connector_that_had_ended_by_itself_gets_no_exception(before: Step) -> None:
    assert committable(decide(M, ALL, state("a"), before, LOST)) == []


def test_an_exit_without_done_is_no_restart() -> None:
    assert committable(decide(M, ALL, state("a"), KILLED)) == []


def test_a_violation_before_commits_nothing_and_is_listed() -> None:
    decision = decide(M, ALL, state("a"), "{", LOST)
    assert (decision.status, committable(decision)) == ("abandoned", [])
    assert broken(decision) == (4, "line_malformed", "session/jsonl")


def test_a_cancellation_outranks_the_loss_of_the_controller() -> None:
    orders: list[list[Step]] = [[CancelRequested(), LOST], [LOST, CancelRequested()]]
    for steps in orders:
        decision = decide(M, ALL, state("a"), *steps)
        assert (decision.status, committable(decision)) == ("cancelled", [])


def test_a_single_use_run_commits_nothing() -> None:
    decision = decide(M, ALL, state("a"), LOST, trigger=SINGLE_USE)
    assert (decision.status, reasons(decision, "a")) == ("abandoned", ["single_use"])


# With a valid DONE the checkpoints that DONE allows.


def test_after_success_the_usual_rules_commit() -> None:
    lines = [*STATES, coverage("d", "p", ["k"], ["k"]), gap("a")]
    decision = decide(M, ALL, *lines, done(), exited(0), LOST)
    assert decision.status == "abandoned"
    assert committable(decision) == ["a", "b", "p", "q"]
    assert committable(decide(M, ALL, *STATES, done(), exited(0), LOST)) == ["a", "b", "q"]


def test_after_a_certified_failure_the_eligible_commit() -> None:
    end = done(0, "failed", error=error("stream_collection_failed"))
    decision = decide(M, ALL, *STATES, coverage("d", "p"), skip("c"), end, exited(1), LOST)
    assert (decision.status, decision.certified) == ("abandoned", True)
    assert committable(decision) == ["b", "p", "q"]


@pytest.mark.parametrize("end", [done(0, "failed", error=error()), done(0, "cancelled")])
def test_after_any_other_done_nothing_commits(end: Step) -> None:
    decision = decide(M, ALL, *STATES, end, LOST)
    assert (decision.status, committable(decision)) == ("abandoned", [])


@pytest.mark.parametrize("steps", [[done(7), exited(0)], [done(), exited(1)], [done(), "{"]])
def test_after_an_invalid_done_nothing_commits(steps: list[Step]) -> None:
    decision = decide(M, ALL, *STATES, *steps, LOST)
    assert (decision.status, committable(decision)) == ("abandoned", [])
    assert decision.violations


def test_an_abandoned_run_that_staged_nothing_commits_nothing() -> None:
    assert verdicts(decide(M, ALL, record("a"), LOST)) == {}
    assert decide(M, LOST).status == "abandoned"
