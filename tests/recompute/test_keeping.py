"""What a recomputation takes of an earlier one, what it folds again, and what it does not keep."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger.core.decision import encode_decision
from ledger.log.decision_cache import NAME
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow, RunRow
from ledger.recompute import recomputation
from ledger.recompute.tasks import Batch, Results
from ledger.recompute.workers import Workers
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import Run
from tests.recompute.histories import (
    CREDITED,
    GOOD,
    LATER,
    REFERENCE,
    TEXT,
    Recomputed,
    append,
    decided_at,
    erase,
    keep,
    made,
    named,
    recompute,
)

RUNS = 6


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger of some runs is, of which nothing is kept."""
    with made(tmp_path / "ledger.db", *[GOOD, CREDITED] * (RUNS // 2)):
        pass
    return tmp_path / "ledger.db"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be two batches, the second of them not full: what happens meanwhile comes before it."""
    monkeypatch.setattr(recomputation, "RUNS_A_BATCH", 5)


def outside(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(sql, values).fetchall()


def rows(path: Path) -> int:
    found = outside(path, "SELECT 1 FROM sqlite_master WHERE name = ?", NAME)
    return len(outside(path, f"SELECT 1 FROM {NAME}")) if found else 0


def both(path: Path, **how: object) -> Recomputed:
    """Recompute under two rulesets."""
    return recompute(path, TEXT, REFERENCE, **how)  # type: ignore[arg-type]


def row_of(store: SqliteStore, run_id: str) -> RunRow:
    found = store.run(run_id)
    assert found is not None
    return found


# ---- taken, and folded again ------------------------------------------------------------------------------


def test_unchanged_runs_are_folded_once_and_decided_alike_ever_after(path: Path) -> None:
    first = both(path)
    assert (first.folded, first.kept, rows(path)) == (2 * RUNS, 0, 2 * RUNS)
    again = both(path)
    assert (again.folded, again.kept, rows(path)) == (0, 2 * RUNS, 2 * RUNS)
    assert again.bytes() == first.bytes() == both(path, keeps="nothing").bytes()
    assert [one.kept for one in again.decided] == [2] * RUNS


def test_of_other_rules_only_what_they_decide_is_folded(path: Path) -> None:
    both(path)
    found = recompute(path, LATER, REFERENCE)
    assert (found.folded, found.kept) == (RUNS, RUNS)
    assert found.bytes() == recompute(path, LATER, REFERENCE, keeps="nothing").bytes()


def test_what_was_exercised_is_kept_too(path: Path) -> None:
    first, again = both(path), both(path)
    assert first.decided[1].exercised_before
    for one, other in zip(first.decided, again.decided, strict=True):
        assert (one.exercised_before, one.exercised_after) == (other.exercised_before, other.exercised_after)


def test_only_a_run_that_went_on_is_folded_again(path: Path) -> None:
    both(path)
    with SqliteStore.open(path, create=False) as store:
        append(store, row_of(store, "run_3"), r.progress())
    found = both(path)
    assert (found.folded, found.kept) == (2, 2 * RUNS - 2)
    assert [one.kept for one in found.decided] == [2, 2, 0, 2, 2, 2]
    assert found.bytes() == both(path, keeps="nothing").bytes()
    assert rows(path) == 2 * RUNS


def test_what_is_half_kept_is_filled_up(path: Path) -> None:
    whole = both(path)
    outside(path, f"DELETE FROM {NAME} WHERE rowid % 3 = 0")
    found = both(path)
    assert (found.folded, found.kept) == (4, 8)
    assert found.bytes() == whole.bytes()
    assert both(path).folded == 0


def test_the_digest_at_the_cut_is_kept_with_the_decision(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        keep(store, decided_at(named(GOOD, "wrong"), 5, decision="sha256:other"), "wrong")
        keep(store, decided_at(named(GOOD, "right"), 5), "right")
    for _ in range(2):
        assert [one.reproduced for one in both(path).decided][-2:] == [False, True]


def test_a_decision_that_was_kept_without_the_digest_at_the_cut_is_folded_again(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        keep(store, decided_at(named(GOOD, "right"), 5), "right")
    both(path)
    outside(path, f"UPDATE {NAME} SET at_cut = NULL")
    found = both(path)
    assert (found.folded, found.decided[-1].reproduced) == (1, True)
    assert both(path).folded == 0


@pytest.mark.parametrize(
    "damage",
    [
        "exercised = 'no JSON'",
        "decision = 'no JSON'",
        "decision = CAST(x'ff' AS TEXT)",
        "decision = '{}'",
        f"decision = (SELECT decision FROM {NAME} WHERE run_no = 5 AND ruleset = mended.ruleset)",
        'decision = replace(decision, \'"digest":"sha256:\', \'"digest":"sha256:0\')',
        "decision = replace(decision, '\"through\":6', '\"through\":5')",
        "decision = '{\"checkpoints\":' || replace(hex(zeroblob(5000)), '00', '[')",
    ],
    ids=["names", "no JSON", "no text", "no decision", "another run", "other rules", "another size", "deep"],
)
def test_what_is_kept_and_is_no_decision_of_the_run_is_folded_again_and_mended(
    path: Path, damage: str
) -> None:
    whole = both(path)
    outside(path, f"UPDATE {NAME} AS mended SET {damage} WHERE run_no = 3")
    found = both(path)
    assert (found.folded, found.kept) == (2, 2 * RUNS - 2)
    assert found.bytes() == whole.bytes()
    assert both(path).folded == 0


# ---- what changes in the midst of it ----------------------------------------------------------------------


def meanwhile_in(path: Path, work: Callable[[SqliteStore], None]) -> Callable[[], None]:
    def meanwhile() -> None:
        with SqliteStore.open(path, create=False) as store:
            work(store)

    return meanwhile


def test_a_table_that_somebody_drops_meanwhile_is_folded_anew(path: Path) -> None:
    whole = both(path)
    found = both(path, meanwhile=lambda: outside(path, f"DROP TABLE {NAME}"))
    assert found.bytes() == whole.bytes()
    assert found.folded > 0
    assert found.folded + found.kept == 2 * RUNS


def test_a_run_that_goes_on_meanwhile_is_decided_as_it_was_and_not_kept(path: Path) -> None:
    whole = both(path, keeps="nothing")
    found = both(
        path,
        meanwhile=meanwhile_in(path, lambda store: append(store, row_of(store, "run_6"), r.progress())),
    )
    assert found.bytes() == whole.bytes()
    assert rows(path) == 2 * RUNS - 2
    assert both(path).folded == 2


SECRET = b"secret-key"
TELLING = r.run(
    r.streams("p", d=r.detail("p")),
    r.start("p", "d"),
    r.coverage("d", "p", [SECRET.decode()], optional_skip_keys=[SECRET.decode()]),
    r.state("p"),
    r.done(0),
    r.exited(0),
)
"""A run whose decision under 0.1.0 quotes what its third entry says."""


def is_told(path: Path) -> bool:
    """Tell whether what is secret is in any file of the ledger."""
    return SECRET in b"".join(file.read_bytes() for file in path.parent.iterdir())


def erase_telling(store: SqliteStore) -> None:
    erase(store, row_of(store, "telling"), 3)
    store.scrub()


@pytest.fixture
def telling(path: Path) -> Path:
    """A ledger in which somebody's secret is, and behind it another run."""
    with SqliteStore.open(path, create=False) as store:
        keep(store, TELLING, "telling")
        keep(store, GOOD, "last")
    return path


def test_an_erasure_takes_what_is_kept_of_the_run(telling: Path) -> None:
    both(telling)
    assert outside(telling, f"SELECT 1 FROM {NAME} WHERE instr(decision, ?)", SECRET.decode())
    meanwhile_in(telling, erase_telling)()
    assert not is_told(telling)
    found = both(telling)
    assert (found.folded, found.kept) == (2, 2 * RUNS + 2)
    assert not is_told(telling)


def test_of_a_run_that_is_erased_before_it_is_folded_nothing_is_kept(telling: Path) -> None:
    found = both(telling, meanwhile=meanwhile_in(telling, erase_telling))
    assert found.decided[-2].after.checkpoints[0].decision == "indeterminate"
    assert rows(telling) == 2 * RUNS + 2
    assert not is_told(telling)


class ErasedAfterFolding:
    """Folds like others, and lets somebody erase before it hands over what came of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._workers = Workers(path, 1)

    def fold_all(self, batches: Iterable[Batch]) -> Iterator[Results]:
        for results in list(self._workers.fold_all(batches)):
            with SqliteStore.open(self._path, create=False) as store:
                if store.size(row_of(store, "telling").run_no) == len(TELLING.entries):
                    erase_telling(store)
            yield results

    def close(self) -> None:
        self._workers.close()


def test_what_was_folded_before_an_erasure_is_not_brought_back_after_it(telling: Path) -> None:
    with closing(ErasedAfterFolding(telling)) as folding:
        found = both(telling, folding=folding)
    assert SECRET in encode_decision(found.decided[-2].after), "it was folded before"
    assert rows(telling) == 2 * RUNS + 2
    assert not is_told(telling)


# ---- what may not be kept ---------------------------------------------------------------------------------


def test_a_run_whose_manifest_is_not_there_is_kept_only_once_it_has_come(tmp_path: Path) -> None:
    path = tmp_path / "late.db"
    with made(path) as store:
        keep(store, CREDITED, "early", documents=False)
    for _ in range(2):
        found = both(path)
        assert (found.folded, found.kept, rows(path)) == (2, 0, 0)
        assert [one.decision for one in found.decided[0].after.checkpoints] == ["indeterminate"]
    unknown = both(path).bytes()
    with SqliteStore.open(path, create=False) as store:
        keep(store, CREDITED, "late")
    found = both(path)
    assert (found.folded, rows(path)) == (4, 4)
    assert found.bytes()[0] != unknown[0]
    assert found.decided[0].before == named(CREDITED, "early").decided(REFERENCE)
    assert both(path).bytes() == found.bytes()


def test_a_manifest_that_comes_meanwhile_is_used_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "late.db"
    with made(path) as store:
        keep(store, CREDITED, "early", documents=False)
    ((name, body),) = CREDITED.documents.items()
    manifest = DocumentRow(digest=name, media_type="application/json", body=body)
    found = both(path, meanwhile=meanwhile_in(path, lambda store: store.keep_documents([manifest])))
    assert found.decided[0].after.checkpoints
    assert rows(path) == 0
    assert (both(path).bytes(), rows(path)) == (found.bytes(), 2)


def test_a_run_without_a_manifest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    with made(path, r.run(None, r.start("a"), r.state("a"))):
        pass
    assert (both(path).folded, both(path).kept) == (2, 2)


def test_where_nothing_can_be_kept_everything_is_decided_and_it_is_said_why(path: Path) -> None:
    found = both(path, keeps="no more")
    assert found.bytes() == both(path, keeps="nothing").bytes()
    assert "the file system refused" in found.unkept
    assert rows(path) == 0


def test_what_is_kept_already_is_taken_where_nothing_more_can_be(path: Path) -> None:
    both(path)
    outside(path, f"DELETE FROM {NAME} WHERE run_no = 6")
    found = both(path, keeps="no more")
    assert (found.folded, found.kept) == (2, 2 * RUNS - 2)


def test_who_holds_the_ledger_for_too_long_is_waited_for_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.log.transactions.BUSY_SECONDS", 0.3)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        found = both(path, meanwhile=lambda: writer.execute("BEGIN IMMEDIATE"))
        writer.execute("ROLLBACK")
    assert "others hold it" in found.unkept
    assert (len(found.decided), rows(path)) == (RUNS, 10)


# ---- held against what is kept ----------------------------------------------------------------------------


def test_a_proof_takes_nothing_keeps_nothing_and_finds_nothing_wrong(path: Path) -> None:
    found = both(path, is_proof=True)
    assert (found.folded, found.kept, rows(path)) == (2 * RUNS, 0, 0)
    both(path)
    found = both(path, is_proof=True)
    assert (found.folded, found.kept, rows(path)) == (2 * RUNS, 0, 2 * RUNS)
    assert [one.differing for one in found.decided] == [0] * RUNS


TURNED = "decision = replace(decision, '\"withhold\"', '\"commit\"')"


@pytest.mark.parametrize("change", [TURNED, "exercised = '[\"invented\"]'", "exercised = ''"])
def test_a_proof_finds_what_somebody_changed_in_what_is_kept(path: Path, change: str) -> None:
    whole = both(path)
    outside(path, f"UPDATE {NAME} SET {change} WHERE run_no = 2 AND ruleset = ?", rule_digest(TEXT))
    found = both(path, is_proof=True)
    assert [one.differing for one in found.decided] == [0, 1, 0, 0, 0, 0]
    assert found.bytes() == whole.bytes(), "what is told is what was folded"


def rule_digest(name: str) -> str:
    return r.PROFILE.rulesets[name].digest


def test_what_was_changed_with_care_is_taken_by_who_does_not_ask_for_proof(path: Path) -> None:
    """So that nobody takes it for more than it is: what is kept is not hashed."""
    both(path)
    outside(path, f"UPDATE {NAME} SET {TURNED}")
    changed = both(path).decided[1].after
    assert [one.decision for one in changed.checkpoints] == ["commit"]


def test_a_run_that_came_in_between_is_no_fault_of_what_is_kept(path: Path) -> None:
    both(path)
    with SqliteStore.open(path, create=False) as store:
        append(store, row_of(store, "run_1"), r.progress())
        keep(store, Run(GOOD.entries, GOOD.documents), "new")
    assert [one.differing for one in both(path, is_proof=True).decided] == [0] * (RUNS + 1)
