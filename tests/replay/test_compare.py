"""What another ruleset decides otherwise: compared decision by decision, and said in one line."""

from typing import Any

import pytest

from ledger.core.decision import Decision
from ledger.core.observations import ControllerLost
from ledger.dialects.collection_profile.rulesets import REFERENCE, RULESETS, TEXT
from ledger.errors import NotFoundError
from ledger.replay.compare import CHECKPOINTS_TOLD, OtherRuleset, compare
from ledger.replay.replay import replay_under_all, ruleset_named
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE, Run


def decided(run: Run, ruleset: str | None = None) -> tuple[Decision, ...]:
    return replay_under_all(PROFILE, run.entries, run.documents, ruleset_named(PROFILE, ruleset))


def by_both(run: Run) -> tuple[Decision, Decision]:
    return run.decided(TEXT.id), run.decided(REFERENCE.id)


def compared(manifest: r.Message, *lines: r.Step, **how: Any) -> OtherRuleset:
    end = (r.done(r.count(lines)), r.exited(0))
    run = r.run(manifest, r.start_all(manifest), *lines, *end, **how)
    return compare(*by_both(run))


def test_every_shipped_ruleset_decides_the_one_asked_for_first() -> None:
    run = r.run(r.streams("a"), r.start("a"), r.state("a"), r.done(), r.exited(0))
    assert [one.ruleset.id for one in decided(run)] == list(RULESETS)
    others = [one for one in RULESETS if one != REFERENCE.id]
    assert [one.ruleset.id for one in decided(run, REFERENCE.id)] == [REFERENCE.id, *others]
    assert decided(run) == tuple(map(run.decided, RULESETS))
    with pytest.raises(NotFoundError, match="no ruleset 'nothing'"):
        decided(run, "nothing")


def test_entries_are_gone_through_once() -> None:
    run = r.run(
        r.fully_declared(r.streams("a")), r.start("a"), *[r.record("a")] * 3000, r.done(3000), r.exited(0)
    )
    at_once = replay_under_all(PROFILE, iter(run.entries), run.documents)
    assert [one.terminal.counted for one in at_once[:2]] == [3000, 3000]
    assert at_once == decided(run)


def test_a_run_that_only_one_ruleset_breaks_is_still_folded_to_its_end_under_the_other() -> None:
    lines = (r.record("a", op="upsert"), *[r.record("a")] * 2500, r.state("a"))
    run = r.run(r.streams("a"), r.start("a"), *lines, r.done(2501), r.exited(0))
    text, reference, *_ = decided(run)
    assert (text.status, text.terminal.counted) == ("succeeded", 2501)
    assert (reference.status, reference.terminal.counted) == ("failed", 0)
    assert text.through == reference.through == len(run.entries)
    assert reference == run.decided(REFERENCE.id)


def test_agreement_is_said() -> None:
    other = compared(r.streams("a"), r.state("a"))
    assert other.same
    assert other.sentence == f"{REFERENCE.id} decides the same."
    assert (other.status, other.cause, other.checkpoints) == ("succeeded", None, ())


def test_a_checkpoint_that_is_staged_elsewhere_is_named() -> None:
    other = compared(r.streams("p", d=r.detail("p")), r.coverage("d", "p"), r.state("d"))
    assert not other.same
    assert other.sentence == f"Under {REFERENCE.id}: d would be committed; status the same."
    (one,) = other.checkpoints
    assert (one.stream, one.here, one.there) == ("d", None, "commit")


def test_verdicts_are_told_apart_and_a_status_says_its_cause() -> None:
    manifest = r.streams("a", "b")
    steps = (r.start_all(manifest), r.state("b"), r.state("a"), ControllerLost())
    here, there = by_both(r.run(manifest, *steps))
    said = compare(here, there).sentence
    assert said == f"Under {REFERENCE.id}: b, a would be withheld; status the same."
    assert compare(there, here).sentence == f"Under {TEXT.id}: b, a would be committed; status the same."
    broken = compared(r.streams("a"), r.state("a"), r.record("a", op="upsert"))
    assert broken.sentence == f"Under {REFERENCE.id}: a would be withheld; status failed (member_invalid)."


def test_another_order_is_a_difference() -> None:
    other = compared(r.streams("a", "7"), r.state("a"), r.state("7"))
    assert (other.same, other.order_differs, other.checkpoints) == (False, True, ())
    assert other.sentence == f"Under {REFERENCE.id}: the order would be 7, a; status the same."


def test_another_cause_of_the_same_status_is_a_difference() -> None:
    error = {"message": "x", "retryable": True, "more": 1}
    run = r.run(r.streams("a"), r.start("a"), r.done(0, "failed", error=error), r.exited(1))
    here, there = by_both(run)
    assert compare(here, there).sentence == f"Under {REFERENCE.id}: status failed (member_invalid)."


def test_many_checkpoints_are_counted_and_few_are_named() -> None:
    names = [f"s{number}" for number in range(300)]
    manifest = r.streams(*names)
    run = r.run(manifest, r.start_all(manifest), *map(r.state, names), ControllerLost())
    other = compare(*by_both(run))
    assert (len(other.checkpoints), other.checkpoints_total) == (CHECKPOINTS_TOLD, 300)
    assert "s0, s1, s2, s3, s4 and 295 more would be withheld" in other.sentence


def test_a_run_that_goes_on_is_compared_too() -> None:
    run = r.run(r.streams("a"), r.start("a"), r.state("a"))
    other = compare(*by_both(run))
    assert (other.same, other.status) == (True, "running")
