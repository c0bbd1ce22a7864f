"""How a run ends: DONE and its shape, counts, exits, certification, cancellation."""

from typing import Any

import pytest

from ledger.core.observations import (
    CancelRequested,
    Decided,
    GrantRevoked,
    RunClosed,
    RunRefused,
    Trigger,
)
from tests.dialects.collection_profile.runs import (
    PROACTIVE,
    SINGLE_USE,
    TEXT,
    Step,
    blame,
    broken,
    certified,
    checkpoint,
    child,
    committable,
    coverage,
    decide,
    delete,
    detail,
    done,
    error,
    exited,
    failed,
    findings,
    gap,
    interaction,
    reasons,
    record,
    skip,
    start,
    state,
    streams,
    succeeded,
    verdicts,
)

A = streams("a", "b")
ALL = start("a", "b")
LOST = "stream_collection_failed"


def ended(end: Step, *after: Step) -> tuple[str, str | None]:
    """Return the status, and the clause of the first violation, of a run that ends so."""
    decision = decide(A, ALL, state("a"), end, *after)
    first = broken(decision)
    if first is not None or decision.status != "succeeded":
        assert committable(decision) == []
    return decision.status, first[2] if first else None


def test_success_commits_what_was_staged() -> None:
    assert verdicts(succeeded(A, record("a"), state("a"))) == {"a": "commit"}


SHAPES: list[tuple[str, dict[str, Any], str | None]] = [
    ("status absent", {"status": None}, "done/status"),
    ("status unknown", {"status": "Succeeded"}, "done/status"),
    ("count absent", {"records_emitted": None}, "done/records_emitted"),
    ("count a text", {"records_emitted": "0"}, "done/records_emitted"),
    ("count false", {"records_emitted": False}, "done/records_emitted"),
    ("count negative", {"records_emitted": -1}, "done/records_emitted"),
    ("count a half", {"records_emitted": 0.5}, "done/records_emitted"),
    ("count 0.0", {"records_emitted": 0.0}, None),
    ("count -0.0", {"records_emitted": -0.0}, None),
    ("count huge", {"records_emitted": 10**4000}, "done/records_emitted"),
    ("error beside success", {"error": error()}, "done/error"),
    ("empty error beside success", {"error": {}}, "done/error"),
    ("error null beside success", {"error": None}, None),
    ("unknown member", {"later": 1}, None),
]


@pytest.mark.parametrize(("members", "clause"), [s[1:] for s in SHAPES], ids=[s[0] for s in SHAPES])
def test_the_shape_of_done(members: dict[str, Any], clause: str | None) -> None:
    expected = ("succeeded", None) if clause is None else ("failed", clause)
    assert ended({**done(), **members}, exited(0)) == expected


ERRORS: list[tuple[str, dict[str, Any], str | None]] = [
    ("sound", {}, None),
    ("message absent", {"message": None}, "done/error"),
    ("message blank", {"message": " "}, "done/error"),
    ("retryable absent", {"retryable": None}, "done/error"),
    ("retryable a text", {"retryable": "true"}, "done/error"),
    ("retryable 1", {"retryable": 1}, "done/error"),
    ("unknown member", {"basis": ["x"]}, None),
    ("code of one letter", {"code": "a"}, None),
    ("code of 64", {"code": "a" * 64}, None),
    ("code of 65", {"code": "a" * 65}, "done/error"),
    ("code empty", {"code": ""}, "done/error"),
    ("code with a digit first", {"code": "1a"}, "done/error"),
    ("code with an underscore first", {"code": "_a"}, "done/error"),
    ("code with a capital", {"code": "aB"}, "done/error"),
    ("code with a hyphen", {"code": "a-b"}, "done/error"),
    ("code with a trailing newline", {"code": "a\n"}, "done/error"),
    ("code in other letters", {"code": "aé"}, "done/error"),
    ("code with a digit of another script", {"code": "a\u0661"}, "done/error"),
    ("code a number", {"code": 1}, "done/error"),
    ("hint", {"recovery_hint": "not_retriable"}, None),
    ("hint unknown", {"recovery_hint": "retry"}, "hint/1"),
]


@pytest.mark.parametrize(("members", "clause"), [e[1:] for e in ERRORS], ids=[e[0] for e in ERRORS])
def test_the_shape_of_an_error(members: dict[str, Any], clause: str | None) -> None:
    assert ended(done(0, "failed", error=error(**members)), exited(1)) == ("failed", clause)


@pytest.mark.parametrize("value", [None, "broken", [], 1])
def test_an_error_is_an_object_or_absent(value: Any) -> None:
    first = ended(done(0, "failed", error=value), exited(1))
    assert first == ("failed", None if value is None else "done/error")


# Counts and exits.


@pytest.mark.parametrize(("told", "status"), [(3, "succeeded"), (2, "failed"), (4, "failed"), (0, "failed")])
def test_done_counts_every_record_deletions_too(told: int, status: str) -> None:
    lines = [record("a"), record("a"), delete("b"), state("a")]
    decision = decide(A, ALL, *lines, done(told), exited(0))
    assert decision.status == status
    assert decision.terminal.counted == 3
    assert (broken(decision) is None) == (status == "succeeded")


EXITS: list[tuple[str, Step, bool]] = [
    ("succeeded", exited(0), True),
    ("succeeded", exited(1), False),
    ("succeeded", exited(-9), False),
    ("succeeded", exited(256), False),
    ("succeeded", exited(signal="SIGKILL"), False),
    ("failed", exited(1), True),
    ("failed", exited(0), False),
    ("failed", exited(signal="SIGTERM"), True),
    ("cancelled", exited(1), True),
    ("cancelled", exited(0), False),
]


@pytest.mark.parametrize(("status", "exit_", "agrees"), EXITS)
def test_the_exit_agrees_with_done(status: str, exit_: Step, agrees: bool) -> None:
    decision = decide(A, ALL, state("a"), done(0, status), exit_)
    assert decision.status == (status if agrees else "failed")
    assert (broken(decision) is None) == agrees


@pytest.mark.parametrize(("code", "status"), [(0, "succeeded"), (1, "failed")])
def test_an_exit_that_was_seen_before_done_was_read_is_held_against_it_too(code: int, status: str) -> None:
    decision = decide(A, ALL, state("a"), exited(code), done())
    assert decision.status == status
    assert verdicts(decision) == {"a": "commit" if code == 0 else "withhold"}


def test_an_exit_that_is_not_known_disagrees_with_nothing() -> None:
    decision = decide(A, ALL, state("a"), done(), exited())
    assert decision.status == "succeeded"
    assert "exit_status" in [fact.what for fact in decision.unknowns]


def test_an_exit_without_done_is_a_failure() -> None:
    for steps in ([exited(0)], [exited(1)], [RunClosed()], [exited(signal="SIGSEGV")]):
        decision = decide(A, ALL, state("a"), *steps)
        assert (decision.status, decision.cause.code if decision.cause else "") == ("failed", "no_terminal")
        assert reasons(decision, "a") == ["no_terminal"]


def test_a_failed_run_commits_nothing() -> None:
    decision = failed(A, record("a"), state("a"), code="auth_failed")
    assert (decision.status, reasons(decision, "a")) == ("failed", ["run_failed"])


def test_a_run_that_says_cancelled_commits_nothing() -> None:
    decision = decide(A, ALL, state("a"), done(0, "cancelled"), exited(1))
    assert (decision.status, verdicts(decision)) == ("cancelled", {"a": "withhold"})


# Certification.

M = streams("p", "q", "free", c=child("p"), one=detail("p"), two=detail("p", "q"))
STATES = [state("p"), state("q"), state("free")]
REPORTS = [coverage("one", "p"), coverage("two", "p"), coverage("two", "q")]
FAILS: list[tuple[str, list[str], list[str]]] = [
    ("self-mapped", ["free"], ["p", "q"]),
    ("a parent", ["p"], ["q", "free"]),
    ("a child", ["c"], ["q", "free"]),
    ("a detail stream of one", ["one"], ["q", "free"]),
    ("a detail stream of two", ["two"], ["free"]),
    ("two at once", ["c", "free"], ["q"]),
    ("all", ["p", "q", "free"], []),
]


@pytest.mark.parametrize(("failing", "commits"), [f[1:] for f in FAILS], ids=[f[0] for f in FAILS])
def test_a_certified_failure_withholds_what_covers_the_failed_streams(
    failing: list[str], commits: list[str]
) -> None:
    decision = certified(M, *STATES, *REPORTS, *(skip(name) for name in failing))
    assert (decision.status, decision.certified) == ("failed", True)
    assert committable(decision) == commits
    for name in {"p", "q", "free"} - set(commits):
        assert "covers_failed_stream" in reasons(decision, name)


def test_a_failed_detail_stream_withholds_every_parent_whether_it_reported_or_not() -> None:
    decision = certified(M, *STATES, coverage("one", "p"), coverage("two", "p"), skip("two"))
    assert committable(decision) == ["free"]


def test_a_shortfall_withholds_beside_a_certified_failure() -> None:
    decision = certified(
        M, *STATES, coverage("one", "p", ["k"]), coverage("two", "p"), coverage("two", "q"), skip("free")
    )
    assert committable(decision) == ["q"]
    assert reasons(decision, "p") == ["coverage_unaccounted"]


def test_the_own_state_of_a_failed_stream_is_withheld_where_it_is_a_checkpoint_of_others() -> None:
    chain = streams("top", mid=child("top"), low=child("mid"))
    assert committable(certified(chain, state("top"), state("mid"), skip("mid"))) == []
    assert committable(certified(chain, state("top"), state("mid"), skip("low"))) == ["top"]


def test_a_state_after_the_skip_does_not_help() -> None:
    assert committable(certified(A, skip("a"), record("a"), state("a"), state("b"))) == ["b"]


NEAR: list[tuple[str, list[Step]]] = [
    ("no skip", []),
    ("another reason", [skip("b", "rate_limited")]),
    ("reason in another case", [skip("b", "Stream_Collection_Failed")]),
    ("reason with white space", [skip("b", LOST + " ")]),
    ("a skip that names no stream", [skip()]),
    ("a skip with a null stream", [{"type": "SKIP_RESULT", "stream": None, "reason": LOST}]),
    ("the reason in its message", [skip("b", "x", message=LOST)]),
    ("a gap", [gap("b", reason=LOST)]),
]


@pytest.mark.parametrize("lines", [n[1] for n in NEAR], ids=[n[0] for n in NEAR])
def test_a_near_miss_certifies_nothing(lines: list[Step]) -> None:
    decision = certified(A, state("a"), *lines)
    assert (decision.status, decision.certified, verdicts(decision)) == ("failed", False, {"a": "withhold"})
    assert decision.cause is not None
    assert "error_code_without_skip" in [miss.code for miss in decision.cause.near_misses]


@pytest.mark.parametrize("code", [None, "stream_collection_faile", "stream_collection_failed2", "other"])
def test_another_code_certifies_nothing(code: str | None) -> None:
    decision = failed(A, state("a"), skip("b"), code=code)
    assert (decision.certified, verdicts(decision)) == (False, {"a": "withhold"})
    assert decision.cause is not None
    assert [miss.code for miss in decision.cause.near_misses] == ["skips_without_error_code"]


UNCERTIFIED: list[tuple[str, list[Step]]] = [
    ("wrong count", [skip("b"), done(9, "failed", error=error(LOST)), exited(1)]),
    ("exit 0", [skip("b"), done(0, "failed", error=error(LOST)), exited(0)]),
    ("a skip out of scope", [skip("zzz"), done(0, "failed", error=error(LOST)), exited(1)]),
    ("a violation before", [skip("b"), "{", done(0, "failed", error=error(LOST)), exited(1)]),
    ("a violation after", [skip("b"), done(0, "failed", error=error(LOST)), "{", exited(1)]),
    ("a skip after DONE", [done(0, "failed", error=error(LOST)), skip("b"), exited(1)]),
    ("no DONE", [skip("b"), exited(1)]),
    ("says cancelled", [skip("b"), done(0, "cancelled", error=error(LOST)), exited(1)]),
    ("retryable absent", [skip("b"), done(0, "failed", error={"message": "x", "code": LOST}), exited(1)]),
    (
        "cancelled by the owner",
        [skip("b"), done(0, "failed", error=error(LOST)), CancelRequested(), exited(1)],
    ),
]


@pytest.mark.parametrize("steps", [u[1] for u in UNCERTIFIED], ids=[u[0] for u in UNCERTIFIED])
def test_what_breaks_certification_persists_nothing(steps: list[Step]) -> None:
    decision = decide(A, ALL, state("a"), *steps)
    assert (decision.certified, committable(decision)) == (False, [])


def test_a_single_use_run_commits_nothing_even_certified() -> None:
    for decision in (
        succeeded(A, state("a"), trigger=SINGLE_USE),
        certified(A, state("a"), skip("b"), trigger=SINGLE_USE),
    ):
        assert reasons(decision, "a") == ["single_use"]
    assert succeeded(A, state("a"), trigger=SINGLE_USE).status == "succeeded"


def test_a_skip_of_a_failed_stream_in_a_run_that_succeeded_is_a_finding_only() -> None:
    decision = succeeded(A, state("a"), skip("a"))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})
    assert findings(decision) == {"failed_stream_in_success": (4,)}


@pytest.mark.parametrize("decide_", [succeeded, certified])
def test_entries_of_a_failed_stream_are_counted_beyond_a_hundred(decide_: Any) -> None:
    decision = decide_(A, state("a"), *[skip("a")] * 150)
    totals = [f.entries_total for f in decision.findings] or [
        checkpoint(decision, "a").reasons[0].entries_total
    ]
    assert totals == [150]


# Cancellation.

CANCEL = CancelRequested(by="owner", reason="enough")
WHEN: list[tuple[str, list[Step]]] = [
    ("before START", [CANCEL, ALL, state("a"), done(), exited(0)]),
    ("while collecting", [ALL, state("a"), CANCEL, done(), exited(0)]),
    ("while waiting", [ALL, state("a"), interaction(), CANCEL, exited(1)]),
    ("after DONE", [ALL, state("a"), done(), CANCEL, exited(0)]),
    ("after the exit", [ALL, state("a"), done(), exited(0), CANCEL]),
    ("before a violation", [ALL, state("a"), CANCEL, "{", exited(1)]),
    ("without DONE", [ALL, state("a"), CANCEL, exited(1)]),
    (
        "before a DONE that says failed",
        [ALL, state("a"), CANCEL, done(0, "failed", error=error(LOST)), exited(1)],
    ),
    ("twice", [ALL, state("a"), CANCEL, CANCEL]),
]


@pytest.mark.parametrize("steps", [w[1] for w in WHEN], ids=[w[0] for w in WHEN])
def test_a_cancelled_run_is_cancelled_and_commits_nothing(steps: list[Step]) -> None:
    decision = decide(A, *steps)
    assert (decision.status, committable(decision)) == ("cancelled", [])
    assert decision.cause is not None
    assert (decision.cause.code, decision.cause.by) == ("cancel_requested", "owner")
    assert decision.violations == ()


def test_a_cancellation_after_the_first_violation_comes_too_late() -> None:
    decision = decide(A, ALL, state("a"), "{", CANCEL)
    assert (decision.status, blame(decision)) == ("failed", "program")
    assert findings(decision) == {"cancel_too_late": (5,)}


def test_a_cancellation_after_the_decision_is_shown_and_changes_nothing() -> None:
    cut = Decided(ruleset=TEXT, through_seq=5, decision="sha256:x")
    decision = decide(A, ALL, state("a"), done(), exited(0), cut, CANCEL)
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})
    assert findings(decision) == {"cancel_too_late": (7,)}


GRANT = Trigger(kind="continuous", grant_id="grant_1")


@pytest.mark.parametrize(
    ("trigger", "revoked", "status"),
    [
        (GRANT, "grant_1", "cancelled"),
        (GRANT, "grant_2", "succeeded"),
        (SINGLE_USE, "grant_1", "cancelled"),
        (PROACTIVE, "grant_1", "succeeded"),
    ],
)
def test_the_revocation_of_its_own_grant_cancels_a_run(trigger: Trigger, revoked: str, status: str) -> None:
    decision = decide(A, ALL, state("a"), done(), GrantRevoked(grant_id=revoked), exited(0), trigger=trigger)
    assert decision.status == status
    assert ("other_grant_revoked" in findings(decision)) == (status == "succeeded")


def test_a_run_that_was_refused_commits_nothing_whatever_follows() -> None:
    decision = decide(A, RunRefused(reason="no"), ALL, state("a"), done(), exited(0))
    assert (decision.status, committable(decision)) == ("refused", [])
    assert "refused_though_allowed" in [one.code for one in decision.discrepancies]
