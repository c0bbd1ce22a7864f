"""What is missing is unknown, not assumed, and is listed."""

import pytest

from ledger.core.entries import OBSERVER, Entry
from ledger.core.observations import Decided, RecordsDurable, RunClosed, Trigger
from ledger.replay.replay import replay
from tests.dialects.collection_profile.runs import (
    PROFILE,
    SINGLE_USE,
    TEXT,
    Step,
    broken,
    child,
    decide,
    detail,
    done,
    error,
    exited,
    findings,
    interaction,
    progress,
    record,
    row,
    run,
    start,
    state,
    streams,
    unknowns,
    verdicts,
)

A = streams("a", "b")
DURABLE = RecordsDurable(through_seq=3)
WHOLE: list[Step] = [start("a"), record("a"), state("a"), done(1), DURABLE, exited(0)]


def test_a_whole_run_leaves_nothing_unknown() -> None:
    assert unknowns(decide(A, *WHOLE)) == []


MISSING: list[tuple[str, list[Step], list[str]]] = [
    ("the exit", [*WHOLE[:5], RunClosed()], ["exit_status"]),
    ("durability", [*WHOLE[:4], exited(0)], ["durability"]),
    ("START", WHOLE[1:], ["scope"]),
    ("all of them", [*WHOLE[1:4], RunClosed()], ["exit_status", "durability", "scope"]),
]


@pytest.mark.parametrize(("steps", "missing"), [m[1:] for m in MISSING], ids=[m[0] for m in MISSING])
def test_what_is_missing_is_listed_and_withholds_nothing(steps: list[Step], missing: list[str]) -> None:
    decision = decide(A, *steps)
    assert unknowns(decision) == missing
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})


def test_durability_is_not_missed_where_nothing_needs_it() -> None:
    without_records: list[Step] = [start("a"), state("a"), done(), exited(0)]
    without_states: list[Step] = [start("a"), record("a"), done(1), exited(0)]
    for steps in (without_records, without_states):
        assert unknowns(decide(A, *steps)) == []


@pytest.mark.parametrize("steps", [[], [start("a")], [start("a"), state("a")], [start("a"), done()]])
def test_a_run_without_exit_and_without_closing_is_running(steps: list[Step]) -> None:
    decision = decide(A, *steps)
    assert (decision.status, decision.cause) == ("running", None)
    assert set(verdicts(decision).values()) <= {"pending"}
    assert "exit_status" not in unknowns(decision)


def test_closing_without_done_is_a_failure() -> None:
    decision = decide(A, start("a"), state("a"), RunClosed())
    assert decision.status == "failed"
    assert decision.cause is not None
    assert (decision.cause.code, decision.cause.entries) == ("no_terminal", (4,))
    assert verdicts(decision) == {"a": "withhold"}


def test_closing_with_done_takes_done_at_its_word() -> None:
    assert decide(A, start("a"), state("a"), done(), RunClosed()).status == "succeeded"
    assert decide(A, start("a"), done(0, "failed", error=error()), RunClosed()).status == "failed"


def test_an_exit_after_the_decision_was_not_known_to_it() -> None:
    cut = Decided(ruleset=TEXT, through_seq=4, decision="sha256:x")
    decision = decide(A, start("a"), state("a"), done(), cut, exited(1))
    assert decision.status == "succeeded"
    assert "exit_status" in unknowns(decision)
    assert decision.terminal.exit is None


# Without START every declared stream is in scope, and nothing narrows it.


def test_without_start_every_declared_stream_is_in_scope() -> None:
    manifest = streams("p", "timed", c=child("p"), d=detail("p"))
    lines: list[Step] = [
        record("p"),
        record("timed"),
        record("c"),
        record("d"),
        state("p"),
        done(4),
        exited(0),
    ]
    decision = decide(manifest, *lines)
    assert decision.status == "succeeded"
    assert decision.subject.start is None
    assert verdicts(decision) == {"p": "withhold"}
    assert row(decision, "d", "p").condition == "missing"


def test_without_start_an_undeclared_stream_is_still_out_of_scope() -> None:
    assert broken(decide(A, record("zzz"), done(1), exited(0))) == (2, "record_out_of_scope", "scope/1")


def test_without_start_no_descriptor_is_missed() -> None:
    manifest = streams("a", required=["network"])
    assert decide(manifest, record("a"), done(1), exited(0)).status == "succeeded"


def test_a_question_is_not_held_against_a_runtime_whose_offer_is_unknown() -> None:
    decision = decide(A, start("a"), interaction(), offered=None)
    assert decision.violations == ()
    assert unknowns(decision) == ["bindings"]


def test_what_the_grant_permits_is_unknown_only_where_there_is_one() -> None:
    grant = Trigger(kind="continuous", grant_id="grant_1")
    assert "grant" in unknowns(decide(A, *WHOLE, trigger=grant))
    named = Trigger(kind="continuous", grant_id="grant_1", streams=("a",))
    assert "grant" not in unknowns(decide(A, *WHOLE, trigger=named))
    assert "grant" not in unknowns(decide(A, *WHOLE))


def test_nothing_is_known_of_a_run_without_an_opening() -> None:
    whole = run(A, *WHOLE)
    decision = replay(PROFILE, whole.entries[1:], whole.documents, PROFILE.rulesets[TEXT])
    assert decision.status == "indeterminate"
    assert "manifest" in unknowns(decision)
    empty = replay(PROFILE, [], {}, PROFILE.rulesets[TEXT])
    assert (empty.status, empty.through) == ("indeterminate", 0)


def test_a_manifest_that_is_not_at_hand_makes_the_run_indeterminate() -> None:
    whole = run(A, *WHOLE)
    decision = replay(PROFILE, whole.entries, {}, PROFILE.rulesets[TEXT])
    assert (decision.status, decision.cause.code if decision.cause else "") == (
        "indeterminate",
        "manifest_unknown",
    )
    assert decision.subject.manifest is not None
    assert "commit" not in verdicts(decision).values()


def test_single_use_runs_are_asked_the_same() -> None:
    assert decide(A, *WHOLE, trigger=SINGLE_USE).status == "succeeded"


def test_an_observation_that_this_version_does_not_know_is_a_finding() -> None:
    drawn = run(A, *WHOLE)
    drawn.entries.append(Entry(8, 0, OBSERVER, "", "LATER_FACT", "", b'{"type":"LATER_FACT"}'))
    decision = drawn.decided()
    assert decision.status == "succeeded"
    assert findings(decision) == {"observation_unreadable": (8,)}


def test_the_torn_end_of_a_transcript_is_a_finding_of_its_own() -> None:
    drawn = run(A, *WHOLE)
    drawn.entries.append(Entry(8, 0, OBSERVER, "", "", "", b'{"at":"2026-11-30T00:'))
    decision = drawn.decided()
    assert decision.status == "succeeded"
    assert findings(decision) == {"transcript_torn": (8,)}


def test_progress_alone_makes_a_run() -> None:
    assert decide(A, start("a"), progress(), done(), exited(0)).status == "succeeded"


def test_an_opening_that_is_not_the_first_entry_opens_nothing() -> None:
    drawn = run(A, *WHOLE)
    first = drawn.entries[0]
    later = Entry(len(drawn.entries) + 1, 0, OBSERVER, "", "RUN_OPENED", "", first.body)
    drawn.entries[0] = Entry(1, 0, OBSERVER, "", "LATER_FACT", "", b'{"type":"LATER_FACT"}')
    drawn.entries.append(later)
    decision = drawn.decided()
    assert decision.status == "indeterminate"
    assert findings(decision) == {"observation_unreadable": (1,), "run_opened_twice": (later.seq,)}
