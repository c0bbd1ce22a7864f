"""What plain verifying cannot see, heads kept elsewhere can."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ledger.dialects import DIALECTS
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import Verification
from tests.log.damages import (
    OTHER_MANIFEST,
    damage,
    said,
)
from tests.log.verifying.asking import known_heads, named
from tests.log.verifying.row_damages import AT, UNPROVED

CUT = "DELETE FROM entries WHERE entry_id BETWEEN (3 << 32 | 3) AND (3 << 32 | 5);"
CUT += "DELETE FROM tree_heads WHERE run_no = 3 AND size = 5"
LAST_RUN_OUT = "DELETE FROM entries WHERE entry_id >> 32 = 3; DELETE FROM tree_heads WHERE run_no = 3;"
LAST_RUN_OUT += (
    f"DELETE FROM runs WHERE run_no = 3; DELETE FROM documents WHERE digest = '{OTHER_MANIFEST.digest}'"
)

UNSEEN = {
    "a tail cut with its heads": CUT,
    "the newest run taken out whole": LAST_RUN_OUT,
    "an inner head deleted": "DELETE FROM tree_heads WHERE run_no = 1 AND size = 8",
    "what an erased entry was, save its body": "UPDATE entries SET at = 1, origin = 'runtime', session = 'x',"
    f" type = 'DONE', stream = '' WHERE {AT[6]}",
    "that a run was recorded here": "UPDATE runs SET via = 'imported' WHERE run_no = 1",
    "the media type of a document": "UPDATE documents SET media_type = 'x'",
}
"""What the page on trust says that nobody can see without heads, or that no hash is over."""


@pytest.mark.parametrize("what", UNSEEN)
def test_what_plain_verifying_cannot_see_is_no_more_than_what_the_page_says(path: Path, what: str) -> None:
    damage(path, UNSEEN[what])
    assert named(path) == []


def rewrite(path: Path) -> None:
    """Change an entry, and every hash over it, as one can who knows the format."""
    with SqliteStore.open(path, create=False, read_only=True) as store:
        run = store.run("run_3")
        assert run is not None
        entries = list(store.entries(run.run_no, salts=True))
    damage(path, LAST_RUN_OUT)
    with SqliteStore.open(path, create=False) as store:
        changed = replace(entries[2], at=7)
        again = store.open_run(replace(run, run_no=0), entries[:2], [OTHER_MANIFEST])
        store.append(again.run_no, [changed, *entries[3:]])


def test_heads_find_a_cut_tail(path: Path) -> None:
    known = known_heads(path)
    damage(path, CUT)
    assert named(path, known=known) == [("known_run_short", "run_3", None, None)]
    assert named(path, "run_3", known=known) == [("known_run_short", "run_3", None, None)]
    assert named(path, "run_1", known=known) == []
    with Verification(path, DIALECTS, known=known) as verification:
        list(verification.findings())
        assert (verification.summary.known_heads, verification.summary.known_heads_held) == (7, 6)


def test_heads_find_a_run_that_was_taken_out(path: Path) -> None:
    known = known_heads(path)
    damage(path, LAST_RUN_OUT)
    assert named(path, known=known) == [("known_run_missing", "run_3", None, None)]


def test_heads_find_a_history_that_was_rewritten_with_all_its_hashes(path: Path) -> None:
    known = known_heads(path)
    rewrite(path)
    assert named(path) == []
    assert named(path, known=known) == [("known_head_differs", "run_3", 3, 5)]


def test_a_head_of_a_size_at_which_the_ledger_keeps_none_holds_all_the_same(path: Path) -> None:
    known = known_heads(path)
    damage(path, "DELETE FROM tree_heads WHERE run_no = 1 AND size IN (4, 8)")
    assert named(path, known=known) == []
    wrong = {"run_1": {7: bytes(32), 12: known["run_1"][12]}}
    assert named(path, known=wrong) == [("known_head_differs", "run_1", 1, 7)]


def test_a_known_head_over_entries_that_are_missing_cannot_be_proved(path: Path) -> None:
    known = known_heads(path)
    damage(path, f"DELETE FROM entries WHERE {AT[7]}")
    found = named(path, known=known)
    assert found == [("entry_missing", "run_1", 7, 7), UNPROVED]
    damage(path, "DELETE FROM tree_heads WHERE run_no = 1 AND size = 8")
    assert named(path, known=known) == [
        ("entry_missing", "run_1", 7, 7),
        ("known_head_unproved", "run_1", 5, 8),
        ("entries_unproved", "run_1", 5, 10),
    ]


def test_heads_tell_the_entries_from_the_head_where_nothing_else_can(path: Path) -> None:
    known = known_heads(path)
    damage(path, "UPDATE entries SET at = 1 WHERE entry_id = (2 << 32 | 2)")
    assert named(path) == [("tree_broken", "run_2", 1, 2)]
    assert named(path, known=known) == [("entries_changed", "run_2", 1, 2)]


def test_heads_tell_a_changed_head_where_nothing_else_can(path: Path) -> None:
    known = known_heads(path)
    damage(path, "UPDATE tree_heads SET peaks = zeroblob(64) WHERE run_no = 2")
    assert named(path) == [("tree_broken", "run_2", 1, 3)]
    assert named(path, known=known) == [("head_changed", "run_2", 3, 3)]


def test_a_ledger_that_has_grown_still_contains_what_was_known(path: Path) -> None:
    known = known_heads(path)
    with SqliteStore.open(path, create=False) as store:
        store.append(3, [said(6), said(7)])
    assert named(path, known=known) == []
