"""Erasures are held against what is said of them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ledger.core.observations import EntriesErased
from ledger.dialects import DIALECTS
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import Verification
from tests.log.damages import (
    damage,
    erase,
    said,
    seen,
)
from tests.log.verifying.asking import Named, known_heads, named


def test_an_erasure_that_nothing_in_the_run_accounts_for_is_found(path: Path) -> None:
    erase(path, 1, 3, 7, account=13)
    assert named(path) == [("erasure_unexplained", "run_1", 3, 3), ("erasure_unexplained", "run_1", 7, 7)]
    with SqliteStore.open(path, create=False) as store:
        store.append(1, [seen(13, EntriesErased(entries=(3, 7), reason="asked"))])
    assert named(path) == []


@pytest.mark.parametrize("account", ["", "owner", "11", "-10", "10.0", "9" * 30])
def test_an_erasure_that_names_another_account_is_found(path: Path, account: str) -> None:
    damage(path, f"UPDATE erasures SET erased_by = '{account}'")
    assert named(path) == [("erasure_unexplained", "run_1", 6, 6)]


def test_what_the_ledger_erases_itself_is_accounted_for(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        store.erase(3, [2, 4], seen(6, EntriesErased(entries=(2, 4), reason="asked")))
        store.erase(3, [4, 5], seen(7, EntriesErased(entries=(4, 5), reason="asked again")))
    assert named(path) == []


def test_an_imported_run_that_is_not_whole_may_account_for_its_erasures_yet(path: Path) -> None:
    erase(path, 3, 4, account=9)
    with Verification(path, DIALECTS) as verification:
        assert list(verification.findings()) == []
        (what,) = verification.summary.unchecked["run_3"]
        assert verification.summary.incomplete_runs == 1
    assert what == "why entries are erased: the part of the run that tells is not imported yet"
    erase(path, 2, 3, account=9)
    assert named(path) == [("erasure_unexplained", "run_2", 3, 3)]


def test_an_erasure_that_is_said_and_was_not_done_is_found(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        store.append(3, [seen(6, EntriesErased(entries=(0, 4, 6, 7, 1 << 40), reason="asked"))])
    assert named(path) == [("erasure_undone", "run_3", 4, 4)]


IMPORTED = "UPDATE runs SET via = 'imported' WHERE run_no = 1;"
RETYPED = "UPDATE entries SET type = 'ENTRIES_ERASED' WHERE entry_id = (1 << 32 | 11);"
UNTYPED = "UPDATE entries SET type = 'RECORD' WHERE entry_id = (1 << 32 | 10);"

# Each: what is run with the triggers dropped, the entries erased after it, by which account, what is found.
ERASED_EVIDENCE: dict[str, tuple[str, tuple[int, ...], object, list[Named]]] = {
    "an exit, by an account that is to come behind the end of an imported run": (
        IMPORTED,
        (11,),
        4_000_000,
        [("erasure_unexplained", "run_1", 11, 11)],
    ),
    "an exit and the end of an imported run": (
        IMPORTED,
        (11, 12),
        4_000_000,
        [("erasure_unexplained", "run_1", 11, 11), ("erasure_unexplained", "run_1", 12, 12)],
    ),
    "what the run is, by an account that is to come": (
        IMPORTED + "UPDATE runs SET program = 'x' WHERE run_no = 1;",
        (1,),
        4_000_000,
        [("opening_missing", "run_1", 1, 1), ("erasure_unexplained", "run_1", 1, 1)],
    ),
    "entries, by an erased entry that is called an account, and itself": (
        RETYPED,
        (3, 9, 11),
        11,
        [("erasure_unexplained", "run_1", seq, seq) for seq in (3, 9, 11)],
    ),
    "an account, by itself": (
        "",
        (10,),
        10,
        [("erasure_unexplained", "run_1", 6, 6), ("erasure_unexplained", "run_1", 10, 10)],
    ),
    "an account that is called a record": (
        "",
        (10,),
        11,
        [("erasure_unexplained", "run_1", 6, 6), ("erasure_unexplained", "run_1", 10, 10)],
    ),
}


@pytest.mark.parametrize("what", ERASED_EVIDENCE)
def test_evidence_that_was_erased_is_found_and_named(path: Path, what: str) -> None:
    script, seqs, account, expected = ERASED_EVIDENCE[what]
    damage(path, script)
    erase(path, 1, *seqs, account=account)
    if "called a record" in what:
        damage(path, UNTYPED)
    assert named(path, known=known_heads(path)) == expected


def test_an_account_that_was_erased_is_found_also_where_another_names_it(path: Path) -> None:
    erase(path, 1, 10, account=13)
    with SqliteStore.open(path, create=False) as store:
        store.append(1, [seen(13, EntriesErased(entries=(6, 10), reason="asked"))])
    assert named(path) == [("erasure_unexplained", "run_1", seq, seq) for seq in (6, 10)]


def test_an_account_that_cannot_be_read_or_comes_before_accounts_for_nothing(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        store.append(1, [replace(seen(13, EntriesErased(entries=(3,), reason="")), body=b'{"entries":[3]}')])
        store.append(1, [seen(14, EntriesErased(entries=(15,), reason="asked")), said(15)])
    erase(path, 1, 3, account=13)
    erase(path, 1, 15, account=14)
    assert ("erasure_unexplained", "run_1", 3, 3) in named(path)
    assert ("erasure_unexplained", "run_1", 15, 15) in named(path)


def test_a_run_whose_opening_was_erased_is_broken_also_where_an_account_names_it(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        store.append(3, [seen(6, EntriesErased(entries=(1,), reason="asked"))])
    erase(path, 3, 1, account=6)
    assert named(path) == [("opening_missing", "run_3", 1, 1)]
