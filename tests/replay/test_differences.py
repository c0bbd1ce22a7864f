"""Where two decisions about one run differ: each thing once, with the reason that turned it."""

from typing import Any

import pytest
from msgspec.structs import replace

from ledger.core.decision import Decision
from ledger.dialects.collection_profile.clauses import CLAUSES
from ledger.replay.differences import ENTRIES_TOLD, KEYS_TOLD, Difference, differences
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import Erased, Run
from tests.recompute.histories import CREDITED, FLAT, GOOD, LATER, NESTED, REFERENCE, TEXT


def between(run: Run, before: str, after: str) -> list[Difference]:
    found = list(differences(run.decided(before), run.decided(after)))
    for one in found:
        assert one.why.clause in CLAUSES, one
        assert one.is_flip == (one.kind != "indeterminate")
    return found


def whole(manifest: r.Message, *lines: r.Step, end: tuple[r.Step, ...] | None = None) -> Run:
    ended = (r.done(r.count(lines)), r.exited(0)) if end is None else end
    return r.run(manifest, r.start_all(manifest), *lines, *ended)


def told(one: Difference) -> tuple[Any, ...]:
    why = one.why
    return one.kind, one.stream, one.before, one.after, why.code, why.basis, why.stream


@pytest.mark.parametrize("ruleset", [TEXT, REFERENCE, LATER])
def test_a_decision_does_not_differ_from_itself(ruleset: str) -> None:
    for run in (GOOD, CREDITED):
        assert between(run, ruleset, ruleset) == []


def test_a_checkpoint_that_is_withheld_now_says_what_withholds_it() -> None:
    (one,) = between(CREDITED, REFERENCE, TEXT)
    assert told(one) == ("checkpoint", "p", "commit", "withhold", "coverage_unaccounted", "after", "d")
    assert (one.why.clause, one.why.keys, one.why.keys_total) == ("eligible/3", ("k",), 1)
    assert (one.why.entries, one.why.entries_total, one.records) == ((4,), 1, 1)


def test_a_checkpoint_that_is_committed_now_says_what_withheld_it() -> None:
    (one,) = between(CREDITED, TEXT, REFERENCE)
    assert told(one) == ("checkpoint", "p", "withhold", "commit", "coverage_unaccounted", "before", "d")
    assert (one.why.keys, one.why.entries) == (("k",), (4,))


def test_of_many_keys_and_entries_the_first_are_told_and_all_are_counted() -> None:
    keys = [f"key {number}" for number in range(50)]
    reports = (r.coverage("d", "p", keys, optional_skip_keys=keys), r.state("p"))
    (one,) = between(whole(NESTED, *reports), REFERENCE, TEXT)
    assert (len(one.why.keys), one.why.keys_total) == (KEYS_TOLD, 50)
    checkpoint = CREDITED.decided(TEXT).checkpoints[0]
    many = replace(checkpoint.reasons[0], entries=tuple(range(1, 101)), entries_total=5000)
    after = replace(CREDITED.decided(TEXT), checkpoints=(replace(checkpoint, reasons=(many,)),))
    (one,) = differences(CREDITED.decided(REFERENCE), after)
    assert (one.why.entries, one.why.entries_total) == (tuple(range(1, ENTRIES_TOLD + 1)), 5000)


def test_where_the_run_itself_withholds_its_cause_is_the_reason() -> None:
    run = whole(FLAT, r.record("a", op="upsert"), r.state("a"))
    ended, checkpoint = between(run, TEXT, REFERENCE)
    assert told(ended) == ("run", None, "succeeded", "failed", "member_invalid", "after", "a")
    assert told(checkpoint) == ("checkpoint", "a", "commit", None, "member_invalid", "after", "a")
    assert ended.why == checkpoint.why
    assert (ended.why.clause, ended.why.entries) == ("record/op", (3,))
    ended, checkpoint = between(run, REFERENCE, TEXT)
    assert told(ended) == ("run", None, "failed", "succeeded", "member_invalid", "before", "a")
    assert told(checkpoint) == ("checkpoint", "a", None, "commit", "member_invalid", "before", "a")


def test_a_reason_that_all_checkpoints_share_is_told_as_the_cause_of_the_run() -> None:
    run = whole(FLAT, r.state("a"), r.state("b"), r.record("a", op="upsert"))
    ended, *checkpoints = between(run, TEXT, REFERENCE)
    assert [(one.stream, one.before, one.after) for one in checkpoints] == [
        ("a", "commit", "withhold"),
        ("b", "commit", "withhold"),
    ]
    assert {one.why for one in checkpoints} == {ended.why}
    assert ended.why.entries == (5,)


def test_records_of_a_refused_run_are_those_that_the_other_rules_accept() -> None:
    run = whole(FLAT, r.record("a"), r.record("a", "j"), r.state("a"))
    for before, after in ((TEXT, LATER), (LATER, TEXT)):
        ended, checkpoint = between(run, before, after)
        assert "refused" in (ended.before, ended.after)
        assert (ended.records, checkpoint.records) == (0, 2)
        assert ended.why == checkpoint.why


def test_records_of_all_streams_that_a_checkpoint_covers_stand_behind_it() -> None:
    manifest = r.streams("p", d=r.detail("p"), c=r.child("p"))
    lines = (r.record("p"), r.record("c"), r.record("c", "j"), r.record("d"))
    skipped = r.coverage("d", "p", ["k"], optional_skip_keys=["k"])
    (one,) = between(whole(manifest, *lines, skipped, r.state("p")), REFERENCE, TEXT)
    assert one.records == 4


def test_a_checkpoint_that_one_side_does_not_stage_says_what_was_found_of_its_stream() -> None:
    run = whole(NESTED, r.coverage("d", "p"), r.state("p"), r.state("d"))
    (one,) = between(run, TEXT, REFERENCE)
    assert told(one) == ("checkpoint", "d", None, "commit", "state_of_no_checkpoint", "before", "d")
    assert (one.why.clause, one.why.entries) == ("state/stream", (5,))
    (one,) = between(run, REFERENCE, TEXT)
    assert told(one) == ("checkpoint", "d", "commit", None, "state_of_no_checkpoint", "after", "d")


def test_a_checkpoint_that_one_side_does_not_stage_for_no_reason_that_is_told_says_so() -> None:
    decision = GOOD.decided()
    (one,) = differences(decision, replace(decision, checkpoints=()))
    assert told(one) == ("checkpoint", "a", "commit", None, "not_staged", "after", "a")
    assert one.why.clause in CLAUSES


def test_whether_what_is_not_committed_was_staged_is_no_difference() -> None:
    lines = (r.record("a", op="upsert"), r.state("a"))
    run = r.run(FLAT, r.start_all(FLAT), *lines, r.done(1, "failed", error=r.error()), r.exited(1))
    assert run.decided(TEXT).checkpoints[0].decision == "withhold"
    assert run.decided(REFERENCE).checkpoints == ()
    assert between(run, TEXT, REFERENCE) == between(run, REFERENCE, TEXT) == []


def test_a_run_that_goes_on_is_the_reason_of_what_is_pending() -> None:
    run = whole(FLAT, r.state("a"), r.record("a", op="upsert"), end=())
    ended, checkpoint = between(run, REFERENCE, TEXT)
    assert (ended.before, ended.after, ended.why.basis) == ("failed", "running", "before")
    assert told(checkpoint) == ("checkpoint", "a", "withhold", "pending", "running", "after", None)
    _, checkpoint = between(run, TEXT, REFERENCE)
    assert told(checkpoint) == ("checkpoint", "a", "pending", "withhold", "member_invalid", "after", "a")


def test_a_pending_checkpoint_that_is_committed_says_that_the_run_went_on() -> None:
    running = r.run(FLAT, r.start("a", "b"), r.state("a"))
    ended, checkpoint = differences(running.decided(), GOOD.decided())
    assert told(ended) == ("run", None, "running", "succeeded", "running", "before", None)
    assert told(checkpoint) == ("checkpoint", "a", "pending", "commit", "running", "before", None)


def test_another_order_of_the_same_commits_is_one_difference_of_its_own() -> None:
    run = whole(r.streams("a", "7"), r.state("a"), r.state("7"))
    (one,) = between(run, TEXT, REFERENCE)
    assert (one.kind, one.stream, one.before, one.after) == ("order", None, "a, 7", "7, a")
    assert (one.why.code, one.is_flip, one.records) == ("order_of_commits", True, 0)


def test_where_other_checkpoints_are_committed_their_order_is_no_difference() -> None:
    run = whole(r.streams("a", "7", d=r.detail("a")), r.coverage("d", "a"), *map(r.state, ("a", "7", "d")))
    assert [(one.kind, one.stream) for one in between(run, TEXT, REFERENCE)] == [("checkpoint", "d")]


def test_what_an_erased_body_leaves_open_on_one_side_is_told_apart_and_is_no_flip() -> None:
    report = r.coverage("d", "p", ["k"], ["k"])
    run = whole(NESTED, Erased(report), r.state("p"), r.record("p", op="upsert"))
    found = between(run, TEXT, REFERENCE)
    assert [(one.kind, one.before, one.after, one.is_flip) for one in found] == [
        ("run", "succeeded", "failed", True),
        ("indeterminate", "indeterminate", "withhold", False),
    ]
    assert found[1].why.code == "member_invalid"
    _, mirrored = between(run, REFERENCE, TEXT)
    assert (mirrored.kind, mirrored.why.code, mirrored.why.basis) == (
        "indeterminate",
        "entry_erased",
        "after",
    )


def test_what_is_open_on_both_sides_is_no_difference() -> None:
    run = whole(NESTED, Erased(r.coverage("d", "p", ["k"], ["k"])), r.state("p"))
    assert run.decided(TEXT).checkpoints[0].decision == "indeterminate"
    assert between(run, TEXT, REFERENCE) == []


def test_an_indeterminate_run_is_told_apart_too() -> None:
    decision = GOOD.decided()
    cause = CREDITED.decided(LATER).cause
    left_open: Decision = replace(decision, status="indeterminate", cause=cause)
    (one,) = differences(decision, left_open)
    assert (one.kind, one.before, one.after, one.why.basis) == (
        "indeterminate",
        "succeeded",
        "indeterminate",
        "after",
    )
