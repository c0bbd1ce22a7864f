"""The fate of a run under the later profile: cancellation, gated hints, and what a failure is put down to."""

from typing import Any

import msgspec
import pytest

from ledger.core.decision import Decision, Failure
from ledger.core.observations import (
    CancelRequested,
    CheckpointCommitFailed,
    ControllerLost,
    Decided,
    RunClosed,
    SubmissionRejected,
)
from tests.dialects.collection_profile.runs import (
    LATER,
    Erased,
    Message,
    Step,
    absent,
    answer,
    broken,
    done,
    error,
    exited,
    fact,
    findings,
    fully_declared,
    interaction,
    reasons,
    run,
    skip,
    start,
    state,
    streams,
    verdicts,
)

M = fully_declared(streams("a"), protocol_capabilities=["OBSERVATION"])
ALL = start("a")
REJECTED = SubmissionRejected(request_id="req_1")
DECIDED = Decided(ruleset=LATER, through_seq=1, decision="sha256:x")


def decide(*lines: Step) -> Decision:
    return run(M, ALL, *lines, offered=None).decided(LATER)


def failed(*lines: Step, **members: Any) -> Decision:
    """Decide a run that ended with a DONE that failed with these members of its error."""
    return decide(*lines, done(0, "failed", error=error(**members)), exited(1))


# Cancellation.


def test_done_may_not_say_cancelled_whatever_else_is_wrong_with_it() -> None:
    decision = decide(done(7, "cancelled", error={"message": "stopped"}), exited(1))
    assert broken(decision) == (3, "done_says_cancelled", "done/outcome")


def test_a_cancelled_run_has_failed_by_its_owner_and_commits_nothing() -> None:
    decision = decide(state("a"), CancelRequested(reason="enough"), done(), exited(0))
    assert (decision.status, decision.violations) == ("failed", ())
    assert decision.cause is not None
    assert (decision.cause.code, decision.cause.by) == ("cancel_requested", "owner")
    assert (decision.cause.clause, decision.cause.entries) == ("done/cancellation", (4,))
    assert (verdicts(decision), reasons(decision, "a")) == ({"a": "withhold"}, ["run_cancelled"])


def test_an_erased_cancellation_is_one_all_the_same() -> None:
    decision = decide(state("a"), Erased(CancelRequested(reason="enough")), done(), exited(0))
    assert (decision.status, reasons(decision, "a")) == ("failed", ["run_cancelled"])


def test_a_question_that_waits_when_the_owner_cancels_is_owed_no_answer() -> None:
    decision = decide(interaction(), CancelRequested(), exited(1))
    assert "interaction_unanswered" not in findings(decision)
    assert "interaction_unanswered" in findings(decide(interaction(), exited(1)))


def test_a_write_of_a_cancelled_run_that_fails_is_no_cause() -> None:
    tried = CheckpointCommitFailed(stream="a", namespace="global")
    decision = decide(state("a"), CancelRequested(), DECIDED, tried, RunClosed())
    assert decision.cause is not None
    assert decision.cause.code == "cancel_requested"


def test_a_run_that_its_controller_left_commits_nothing_for_that_reason() -> None:
    ends: list[list[Step]] = [[], [done(), exited(0)]]
    for end in ends:
        decision = decide(state("a"), *end, ControllerLost())
        assert (decision.status, reasons(decision, "a")) == ("abandoned", ["run_abandoned"])
        assert decision.failure is msgspec.UNSET


# Hints.


def gate(decision: Decision) -> tuple[str, str] | None:
    recovery = decision.recovery
    return None if recovery is None else (recovery.action, str(recovery.gate))


@pytest.mark.parametrize("seen", [REJECTED, Erased(REJECTED), SubmissionRejected(request_id="never_asked")])
def test_a_wish_for_credentials_holds_where_a_rejection_was_seen(seen: Step) -> None:
    asked: list[Step] = [interaction(kind="credentials"), answer()]
    assert gate(failed(*asked, seen, recovery_hint="refresh_credentials")) == ("refresh_credentials", "holds")
    assert gate(failed(*asked, recovery_hint="refresh_credentials")) == ("refresh_credentials", "not_met")


@pytest.mark.parametrize("action", ["retry_by_runtime", "update_selector", "upstream_unblock"])
def test_other_wishes_never_hold(action: str) -> None:
    assert gate(failed(REJECTED, recovery_hint={"action": action, "retryable": True})) == (action, "not_met")


def test_nothing_is_asked_for_because_an_error_is_retryable() -> None:
    assert gate(failed(retryable=True)) is None
    assert gate(failed(skip("a", "x", message="y", recovery_hint="unknown"), retryable=True)) == (
        "unknown",
        "holds",
    )


@pytest.mark.parametrize("last", [DECIDED, RunClosed()])
def test_a_rejection_that_is_told_too_late_changes_nothing(last: Step) -> None:
    end: list[Step] = [done(0, "failed", error=error(recovery_hint="refresh_credentials")), exited(1)]
    decision = decide(*end, last, REJECTED)
    assert gate(decision) == ("refresh_credentials", "not_met")
    assert findings(decision)["submission_rejected_late"] == (6,)
    assert decision.failure == Failure(cause="unknown", by="program", basis=(), entries=())


def test_a_released_ruleset_ignores_a_rejection() -> None:
    lines: list[Step] = [done(0, "failed", error=error(recovery_hint="refresh_credentials")), exited(1)]
    runs: list[list[Step]] = [[REJECTED, *lines], [*lines, DECIDED, REJECTED]]
    for steps in runs:
        decision = run(streams("a"), ALL, *steps).decided()
        assert decision.recovery is not None
        assert decision.recovery.gate is msgspec.UNSET
        assert decision.failure is msgspec.UNSET
        assert not decision.findings


# What a failure is put down to.


def test_a_failure_by_account_rests_on_the_entries_of_its_facts() -> None:
    decision = failed(absent("o1"), fact("o2", resolves=["o1"]), absent("o3"), fact("o4"))
    assert decision.failure == Failure(
        cause="expectation_mismatch", by="program", basis=("o2", "o3", "o4"), entries=(4, 5, 6)
    )


def test_a_failure_rests_on_what_done_names_each_once() -> None:
    decision = failed(absent("o1"), fact("o2"), basis=["o2", "o1", "o2"])
    assert decision.failure == Failure(
        cause="expectation_mismatch", by="program", basis=("o2", "o1"), entries=(3, 4)
    )


def test_a_discarded_fact_is_behind_nothing() -> None:
    decision = failed(absent("o1", step=None))
    assert decision.failure == Failure(cause="unknown", by="program", basis=(), entries=())


def test_what_the_runtime_saw_is_told_by_its_entries() -> None:
    decision = failed(absent("o1"), REJECTED, REJECTED, basis=["o1"])
    assert decision.failure == Failure(cause="auth_rejected", by="runtime", basis=(), entries=(4, 5))


def test_a_broken_run_is_put_down_to_nothing_that_the_connector_met() -> None:
    decision = decide(absent("o1"), REJECTED, done(9), exited(0))
    assert decision.failure == Failure(cause="unknown", by="runtime", basis=(), entries=(5,))


@pytest.mark.parametrize("erased", [absent("o2"), fact("o2"), fact("o2", resolves=["o1"])])
def test_an_erased_fact_leaves_the_cause_open(erased: Message) -> None:
    decision = failed(absent("o1"), Erased(erased))
    assert decision.failure == Failure(cause="unknown", by="program", basis=("o1",), entries=(3, 4))


def test_an_erased_fact_that_done_does_not_name_is_behind_nothing() -> None:
    decision = failed(absent("o1"), Erased(fact("o2")), basis=["o1"])
    assert decision.failure == Failure(
        cause="expectation_mismatch", by="program", basis=("o1",), entries=(3,)
    )


def test_what_did_not_fail_is_put_down_to_nothing() -> None:
    for decision in (decide(absent("o1")), decide(absent("o1"), done(), exited(0))):
        assert decision.status in ("running", "succeeded")
        assert decision.failure is msgspec.UNSET
