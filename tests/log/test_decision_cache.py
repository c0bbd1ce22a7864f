"""Decisions that a ledger keeps: under what, in place of what, and never beyond what they follow from."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledger.dialects import DIALECTS
from ledger.errors import BusyError, DiskError, NotFoundError
from ledger.log import decision_cache
from ledger.log.decision_cache import NAME, DecisionCache, DecisionKey, KeptDecision
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import root_of
from ledger.log.verifying import Verification
from tests.log.damages import damage
from tests.log.scripted import line, lines, run_row
from tests.log.test_scrubbing import account, found_in_files, secret

KEPT = KeptDecision(b'{"n":1}', ("gap_names_its_parent", "key_equality"), "sha256:x")
PLAIN = KeptDecision(b"{}", ())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger of two runs is."""
    with SqliteStore.open(tmp_path / "ledger.db", create=True) as store:
        for run_id in ("run_1", "run_2"):
            store.open_run(run_row(run_id), lines(1, 3))
    return tmp_path / "ledger.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(path, create=False) as opened:
        yield opened


@pytest.fixture
def cache(path: Path) -> Iterator[DecisionCache]:
    with DecisionCache.open(path, read_only=False) as opened:
        yield opened


def key_of(store: SqliteStore, run_no: int = 1, ruleset: str = "sha256:rules", fold: int = 1) -> DecisionKey:
    head = store.head(run_no)
    assert head is not None
    return DecisionKey(run_no, ruleset, fold, root_of(run_row(), head))


def outside(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Do something to the table as another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(sql, values).fetchall()


def rows(path: Path) -> int:
    return len(outside(path, f"SELECT 1 FROM {NAME}"))


# ---- under what -------------------------------------------------------------------------------------------


def test_nothing_is_kept_of_a_new_ledger_and_looking_makes_no_table(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    assert not cache.holds(key_of(store))
    assert cache.get(key_of(store)) is None
    assert outside(path, "SELECT 1 FROM sqlite_master WHERE name = ?", NAME) == []


@pytest.mark.parametrize("kept", [KEPT, PLAIN], ids=["all", "no more than a decision"])
def test_what_is_kept_is_found_as_it_was(path: Path, store: SqliteStore, kept: KeptDecision) -> None:
    with DecisionCache.open(path, read_only=False) as cache:
        assert cache.keep([(key_of(store), kept)]) == 1
        assert cache.get(key_of(store)) == kept
    with DecisionCache.open(path, read_only=True) as again:
        assert again.holds(key_of(store))
        assert again.get(key_of(store)) == kept


def test_a_key_is_all_of_run_rules_fold_and_root(store: SqliteStore, cache: DecisionCache) -> None:
    key = key_of(store)
    cache.keep([(key, KEPT)])
    others = [
        key_of(store, 2),
        replace(key, ruleset="sha256:others"),
        replace(key, fold=2),
        replace(key, root=bytes(32)),
    ]
    for other in others:
        assert not cache.holds(other)
        assert cache.get(other) is None


def test_decisions_under_several_rules_and_of_several_runs_stand_beside_each_other(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    keys = [key_of(store, run_no, ruleset) for run_no in (1, 2) for ruleset in ("sha256:a", "sha256:b")]
    told = [KeptDecision(b'{"n":%d}' % number, ()) for number in range(4)]
    assert cache.keep(zip(keys, told, strict=True)) == 4
    assert [cache.get(key) for key in keys] == told
    assert rows(path) == 4


def test_a_run_that_went_on_keeps_the_newer_decision_in_the_place_of_the_older(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    older = key_of(store)
    cache.keep([(older, KEPT)])
    store.append(1, [line(4)])
    newer = key_of(store)
    assert not cache.holds(newer)
    assert cache.keep([(newer, PLAIN)]) == 1
    assert (cache.get(older), cache.get(newer), rows(path)) == (None, PLAIN, 1)


def test_what_a_run_outlived_goes_under_all_rules_and_fold_versions_and_of_no_other_run(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    others = [key_of(store, ruleset="sha256:tried"), key_of(store, fold=0), key_of(store, 2)]
    for key in others:  # one by one, as the second would take the first away
        cache.keep([(key, KEPT)])
    assert [cache.holds(key) for key in others] == [False, True, True]
    store.append(1, [line(4)])
    newer = key_of(store)
    cache.keep([(newer, KEPT)])
    assert [cache.holds(key) for key in (*others, newer)] == [False, False, True, True]
    cache.keep([(replace(newer, ruleset="sha256:tried"), KEPT)])
    assert rows(path) == 3


def test_what_was_folded_before_the_run_went_on_is_not_kept(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    older, other = key_of(store), key_of(store, 2)
    store.append(1, [line(4)])
    assert cache.keep([(older, KEPT), (other, PLAIN)]) == 1
    assert (cache.holds(older), cache.holds(other), rows(path)) == (False, True, 1)


def test_of_a_run_that_is_not_there_or_whose_head_is_broken_nothing_is_kept(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    key = key_of(store)
    damage(path, "UPDATE tree_heads SET peaks = zeroblob(32) WHERE run_no = 1")  # two peaks, for 3 entries
    assert cache.keep([(key, KEPT), (replace(key, run_no=7), KEPT)]) == 0


def test_a_decision_that_is_too_long_is_left_out(
    store: SqliteStore, cache: DecisionCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_cache, "MOST_BYTES", 100)
    longest, longer = (KeptDecision(b"x" * size, ()) for size in (100, 101))
    assert cache.keep([(key_of(store), longest), (key_of(store, 2), longer)]) == 1
    assert cache.holds(key_of(store))
    assert not cache.holds(key_of(store, 2))


def test_a_kept_decision_is_no_part_of_the_log(path: Path, store: SqliteStore, cache: DecisionCache) -> None:
    cache.keep([(key_of(store), KEPT)])
    with Verification(path, DIALECTS) as verification:
        codes = {finding.code for finding in verification.findings()}
    with Verification(path, DIALECTS) as verification:
        outside(path, f"DROP TABLE {NAME}")
        assert codes == {finding.code for finding in verification.findings()}


# ---- tables and rows that are not as they should be -------------------------------------------------------


def test_a_table_of_another_shape_is_none_and_is_replaced(path: Path, store: SqliteStore) -> None:
    outside(path, f"CREATE TABLE {NAME} (run_no INTEGER, body BLOB)")
    outside(path, f"INSERT INTO {NAME} VALUES (1, x'00')")
    with DecisionCache.open(path, read_only=False) as cache:
        assert not cache.holds(key_of(store))
        assert cache.get(key_of(store)) is None
        cache.keep([(key_of(store), KEPT)])
        assert cache.get(key_of(store)) == KEPT
    assert rows(path) == 1


@pytest.mark.parametrize(
    "made",
    [
        f"CREATE TRIGGER aux_no BEFORE INSERT ON {NAME} BEGIN SELECT RAISE(ABORT, 'no'); END",
        f"CREATE TRIGGER aux_lost AFTER INSERT ON {NAME} BEGIN DELETE FROM {NAME}; END",
        f"CREATE TRIGGER aux_odd AFTER DELETE ON {NAME} BEGIN SELECT nobody_has_it(1); END",
        f"CREATE UNIQUE INDEX aux_one ON {NAME} (fold)",
        f"DROP TABLE {NAME}; CREATE VIEW {NAME} AS SELECT 1 AS run_no",
        f"DROP TABLE {NAME}; CREATE VIEW {NAME.replace('cached', 'CACHED')} AS SELECT 1 AS run_no",
    ],
)
def test_a_view_of_its_name_and_what_hangs_on_the_table_go(path: Path, store: SqliteStore, made: str) -> None:
    with DecisionCache.open(path, read_only=False) as cache:
        cache.keep([(key_of(store), KEPT)])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(made)
    with DecisionCache.open(path, read_only=False) as cache:
        assert cache.get(key_of(store)) is None
        cache.keep([(key_of(store), PLAIN), (key_of(store, 2), PLAIN)])
        assert cache.get(key_of(store)) == PLAIN
    assert rows(path) == 2


@pytest.mark.parametrize("instead", ["", f"CREATE TABLE {NAME} (other INTEGER)"], ids=["gone", "another"])
def test_a_table_that_somebody_drops_meanwhile_is_made_again(
    path: Path, store: SqliteStore, cache: DecisionCache, instead: str
) -> None:
    cache.keep([(key_of(store), KEPT)])
    outside(path, f"DROP TABLE {NAME}")
    if instead:
        outside(path, instead)
    assert not cache.holds(key_of(store))
    assert cache.get(key_of(store)) is None
    cache.keep([(key_of(store), PLAIN)])
    assert cache.get(key_of(store)) == PLAIN


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("exercised", "'[1]'"),
        ("exercised", "'no JSON'"),
        ("exercised", "CAST(x'22ff22' AS TEXT)"),
        ("at_cut", "CAST(x'ff' AS TEXT)"),
    ],
)
def test_a_row_that_cannot_be_read_is_none(
    path: Path, store: SqliteStore, cache: DecisionCache, column: str, value: str
) -> None:
    cache.keep([(key_of(store), KEPT), (key_of(store, 2), KEPT)])
    outside(path, f"UPDATE {NAME} SET {column} = {value} WHERE run_no = 1")
    assert cache.get(key_of(store)) is None
    assert cache.get(key_of(store, 2)) == KEPT
    cache.keep([(key_of(store), PLAIN)])
    assert cache.get(key_of(store)) == PLAIN


def test_a_decision_is_given_back_as_the_bytes_that_are_there(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    cache.keep([(key_of(store), KEPT)])
    outside(path, f"UPDATE {NAME} SET decision = CAST(x'7bff' AS TEXT)")
    kept = cache.get(key_of(store))
    assert kept is not None
    assert kept.decision == b"{\xff"


# ---- who may write, and who is in the way -----------------------------------------------------------------


def test_without_a_ledger_there_is_none(tmp_path: Path) -> None:
    for read_only in (True, False):
        with pytest.raises(NotFoundError):
            DecisionCache.open(tmp_path / "none.db", read_only=read_only)
    assert list(tmp_path.iterdir()) == []


def test_who_only_reads_keeps_nothing(path: Path, store: SqliteStore) -> None:
    with DecisionCache.open(path, read_only=True) as cache, pytest.raises(DiskError):
        cache.keep([(key_of(store), KEPT)])
    assert outside(path, "SELECT 1 FROM sqlite_master WHERE name = ?", NAME) == []


def test_a_writer_that_stays_is_waited_for_and_then_told_of(
    path: Path, store: SqliteStore, cache: DecisionCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.log.transactions.BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError):
            cache.keep([(key_of(store), KEPT)])
        assert not cache.holds(key_of(store))
        writer.execute("ROLLBACK")
    assert cache.keep([(key_of(store), KEPT)]) == 1


def test_two_that_keep_at_once_end_with_one_row_a_decision(path: Path, store: SqliteStore) -> None:
    keys = [key_of(store), key_of(store, 2)]
    with (
        DecisionCache.open(path, read_only=False) as one,
        DecisionCache.open(path, read_only=False) as other,
    ):
        one.keep([(key, PLAIN) for key in keys])
        other.keep([(key, KEPT) for key in keys])
        assert [one.get(key) for key in keys] == [KEPT, KEPT]
    assert rows(path) == 2


# ---- erasing ----------------------------------------------------------------------------------------------


def about(run_no: int, seq: int, size: int) -> KeptDecision:
    """A decision that quotes an entry."""
    return KeptDecision(secret(run_no, seq, size), ())


def test_an_erasure_drops_what_is_kept_of_the_run_and_nothing_else(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    keys = [key_of(store, run_no, ruleset) for run_no in (1, 2) for ruleset in ("sha256:a", "sha256:b")]
    cache.keep((key, KEPT) for key in keys)
    store.erase(1, [2], account(4, [2]))
    assert [cache.holds(key) for key in keys] == [False, False, True, True]


def test_what_was_folded_before_an_erasure_is_not_brought_back_after_it(
    path: Path, store: SqliteStore, cache: DecisionCache
) -> None:
    key = key_of(store)
    store.erase(1, [2], account(4, [2]))
    assert cache.keep([(key, about(1, 2, 100))]) == 0
    store.scrub()
    assert found_in_files(path.parent) == set()


@pytest.mark.parametrize("sizes", [(100, 10), (3_000, 7_000), (7_000, 100), (100_000, 3_000)])
def test_of_what_was_kept_no_byte_is_left_in_any_file_after_an_erasure(
    path: Path, store: SqliteStore, cache: DecisionCache, sizes: tuple[int, int]
) -> None:
    for size in sizes:  # the second in the place of the first
        for ruleset in ("sha256:a", "sha256:b"):
            cache.keep([(key_of(store, run_no, ruleset), about(run_no, 2, size)) for run_no in (1, 2)])
    assert found_in_files(path.parent) == {(1, 2), (2, 2)}
    store.erase(1, [2], account(4, [2]))
    store.scrub()
    assert found_in_files(path.parent) == {(2, 2)}
    assert cache.get(key_of(store, 2, "sha256:a")) == about(2, 2, sizes[1])
