"""A ledger decided again: what comes of each run, and why of some nothing does."""

from pathlib import Path

import pytest

from ledger.core.decision import encode_decision
from ledger.core.digests import digest
from ledger.core.observations import Decided
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import TreeHead
from ledger.recompute import recomputation
from ledger.recompute.recomputation import RunDecided
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import Erased, Run
from tests.log.damages import damage
from tests.recompute.histories import (
    CREDITED,
    GOOD,
    LATER,
    REFERENCE,
    TEXT,
    append,
    decided_at,
    erase,
    keep,
    made,
    named,
    recompute,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def only(path: Path, run: Run, after: str | None = None, before: str | None = None) -> RunDecided:
    """Recompute a ledger of one run."""
    with made(path, run):
        (one,) = recompute(path, after, before).decided
    return one


# ---- what is decided --------------------------------------------------------------------------------------


def test_a_run_is_decided_under_both_rulesets_as_a_fold_of_it_decides(path: Path) -> None:
    one = only(path, CREDITED, TEXT, REFERENCE)
    assert one.before == CREDITED.decided(REFERENCE)
    assert one.after == CREDITED.decided(TEXT)
    assert (one.rules_before and one.rules_before.id, one.rules_after.id) == (REFERENCE, TEXT)
    assert (one.size, one.run.run_id) == (len(CREDITED.entries), "run_1")


def test_under_one_ruleset_there_is_one_decision(path: Path) -> None:
    one = only(path, GOOD)
    assert one.before is one.after
    assert one.rules_before is one.rules_after


def test_what_was_exercised_is_told_of_each_side(path: Path) -> None:
    one = only(path, CREDITED, TEXT, REFERENCE)
    assert "optional_skip_keys" in one.exercised_before
    assert list(one.exercised_before) == sorted(one.exercised_before)
    assert one.exercised_after != one.exercised_before


def test_runs_come_in_the_order_of_the_log_however_they_are_batched(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(path, *[GOOD, CREDITED] * 5):
        expected = [f"run_{number}" for number in range(1, 11)]
        for runs, entries in ((1, 1), (3, 10_000), (64, 15), (64, 10_000)):
            monkeypatch.setattr(recomputation, "RUNS_A_BATCH", runs)
            monkeypatch.setattr(recomputation, "ENTRIES_A_BATCH", entries)
            found = recompute(path, TEXT, REFERENCE, keeps="nothing")
            assert [one.run.run_id for one in found.told] == expected
            assert (found.folded, found.kept) == (20, 0)


def test_an_empty_ledger_has_nothing_to_decide(path: Path) -> None:
    with made(path):
        assert recompute(path).told == []


def test_a_run_of_one_entry_and_one_that_goes_on_are_decided(path: Path) -> None:
    opened = Run(GOOD.entries[:1], GOOD.documents)
    with made(path, opened, r.run(r.streams("a"), r.start("a"), r.state("a"))):
        found = recompute(path).decided
    assert [one.after.status for one in found] == ["running", "running"]
    assert [one.size for one in found] == [1, 3]


# ---- what is not ------------------------------------------------------------------------------------------


def test_a_run_of_an_unknown_dialect_is_left_and_is_not_broken(path: Path) -> None:
    with made(path) as store:
        keep(store, GOOD, "odd", dialect="carrier-pigeon")
        keep(store, GOOD, "good")
    found = recompute(path)
    (left,) = found.left
    assert (left.run.run_id, left.size, left.is_broken) == ("odd", len(GOOD.entries), False)
    assert left.why == "the dialect 'carrier-pigeon' is not known to this version"
    assert [one.run.run_id for one in found.decided] == ["good"]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (f"DELETE FROM entries WHERE entry_id = {1 << 32 | 1}", "expected entry 1, found none"),
        (f"DELETE FROM entries WHERE entry_id = {1 << 32 | 4}", "expected entry 4, found none"),
        ("UPDATE tree_heads SET peaks = zeroblob(320) WHERE run_no = 1", "peaks of 32 bytes"),
        ("DELETE FROM tree_heads WHERE run_no = 1", "expected a tree head, found none"),
    ],
    ids=["no opening", "a hole", "peaks of another size", "no head"],
)
def test_a_run_that_the_log_no_longer_holds_is_left_as_broken_and_the_others_are_decided(
    path: Path, script: str, why: str
) -> None:
    with made(path, GOOD, GOOD, CREDITED):
        whole = recompute(path, keeps="nothing").bytes()
    damage(path, script)
    found = recompute(path)
    (left,) = found.left
    assert (left.run.run_id, left.is_broken) == ("run_1", True)
    assert why in left.why
    assert found.bytes() == whole[1:]


def test_a_broken_run_is_found_broken_each_time(path: Path) -> None:
    with made(path, GOOD, CREDITED):
        damage(path, f"DELETE FROM entries WHERE entry_id = {1 << 32 | 4}")
    assert [len(recompute(path).left) for _ in range(3)] == [1, 1, 1]


def test_a_run_recorded_under_rules_that_nobody_knows_is_held_against_nothing(path: Path) -> None:
    run = named(GOOD, "run_1", ruleset="acme/7")
    one = only(path, run)
    assert (one.before, one.rules_before, one.exercised_before) == (None, None, ())
    assert (one.after, one.reproduced) == (run.decided(), None)


# ---- what a run says of its own decision ------------------------------------------------------------------


def test_the_old_rules_are_those_that_a_run_was_opened_under_or_decided_under(path: Path) -> None:
    opened = named(GOOD, "run_1", ruleset=REFERENCE)
    later = decided_at(named(GOOD, "run_2", ruleset=REFERENCE), 6, LATER)
    with made(path, opened, later, GOOD):
        found = recompute(path).decided
    assert [one.rules_before and one.rules_before.id for one in found] == [REFERENCE, LATER, TEXT]


@pytest.mark.parametrize("ruleset", [TEXT, REFERENCE])
@pytest.mark.parametrize("through", [1, 5, 7])
def test_a_decision_that_was_recorded_is_reproduced_through_its_own_cut(
    path: Path, ruleset: str, through: int
) -> None:
    run = decided_at(named(CREDITED, "run_1"), through, ruleset)
    assert only(path, run, LATER).reproduced is True


def test_a_recorded_digest_that_is_of_another_decision_is_not_reproduced(path: Path) -> None:
    assert only(path, decided_at(GOOD, 6, decision="sha256:other")).reproduced is False


def test_a_digest_of_the_whole_run_is_not_that_of_the_cut(path: Path) -> None:
    run = named(GOOD, "run_1")
    of_all = digest(encode_decision(run.decided()))
    assert only(path, decided_at(run, 3, decision=of_all)).reproduced is False


@pytest.mark.parametrize("through", [0, -1, 7, 10**30])
def test_a_cut_that_is_not_before_what_tells_of_it_is_none(path: Path, through: int) -> None:
    said = Decided(ruleset=REFERENCE, through_seq=through, decision="sha256:x")
    run = Run([*GOOD.entries, r.to_entry(7, said)], GOOD.documents)
    one = only(path, run)
    assert (one.reproduced, one.rules_before and one.rules_before.id) == (None, TEXT)


def test_the_first_decision_of_a_run_counts(path: Path) -> None:
    twice = decided_at(decided_at(named(GOOD, "run_1"), 5), 6, decision="sha256:other")
    assert only(path, twice).reproduced is True


def test_under_rules_that_are_not_asked_nothing_is_reproduced(path: Path) -> None:
    assert only(path, decided_at(named(GOOD, "run_1"), 6, REFERENCE), LATER, TEXT).reproduced is None


def test_a_decision_whose_record_was_erased_is_neither_reproduced_nor_not(path: Path) -> None:
    run = decided_at(named(GOOD, "run_1", ruleset=REFERENCE), 6, decision="sha256:other")
    with made(path, run) as store:
        row = store.run("run_1")
        assert row is not None
        erase(store, row, len(run.entries))
    (one,) = recompute(path).decided
    assert (one.reproduced, one.rules_before and one.rules_before.id) == (None, REFERENCE)


@pytest.mark.parametrize(("seq", "reproduced"), [(3, None), (8, False)], ids=["before", "after"])
def test_what_was_erased_counts_only_where_the_decision_rests_on_it(
    path: Path, seq: int, reproduced: bool | None
) -> None:
    run = decided_at(named(GOOD, "run_1"), 6, decision="sha256:other")
    with made(path, run) as store:
        row = store.run("run_1")
        assert row is not None
        append(store, row, r.progress())
        erase(store, row, seq)
    (one,) = recompute(path).decided
    assert one.reproduced is reproduced


def test_a_run_that_came_erased_is_decided(path: Path) -> None:
    run = r.run(r.streams("a"), r.start("a"), Erased(r.record("a")), r.state("a"), r.done(1), r.exited(0))
    assert encode_decision(only(path, run).after) == encode_decision(run.decided())


class Overtaken(SqliteStore):
    """A ledger whose run goes on and is decided by another process just after its head was read."""

    def head(self, run_no: int) -> TreeHead | None:
        found = super().head(run_no)
        with SqliteStore.open(self._path, create=False) as other:
            other.append(run_no, decided_at(named(GOOD, "run_1"), 5).entries[-1:])
        return found


def test_a_decision_that_is_recorded_after_the_run_was_looked_at_is_left_for_another_time(path: Path) -> None:
    with made(path, GOOD):
        pass
    with Overtaken.open(path, create=False, read_only=True) as store:
        (one,) = recompute(path, store=store).decided
    assert (one.size, one.reproduced) == (len(GOOD.entries), None)
    (one,) = recompute(path).decided
    assert (one.size, one.reproduced) == (len(GOOD.entries) + 1, True)
