"""Rows that an outside client changed are found and named; what nobody changed is not."""

from contextlib import closing
from pathlib import Path

import pytest

from ledger.dialects import DIALECTS
from ledger.dialects.collection_profile.rulesets import TEXT
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import RULESET_MEDIA_TYPE, DocumentRow
from ledger.log.verifying import Verification
from ledger.log.verifying import pages as reading
from tests.log.damages import (
    damage,
    outside,
)
from tests.log.verifying.asking import findings, known_heads, named
from tests.log.verifying.row_damages import DAMAGES


def test_a_ledger_that_nobody_damaged_holds(sound: Path) -> None:
    with Verification(sound, DIALECTS, known=known_heads(sound)) as verification:
        assert list(verification.findings()) == []
        summary = verification.summary
    assert (summary.runs, summary.broken_runs, summary.entries, summary.erased) == (3, 0, 20, 1)
    assert (summary.heads, summary.documents, summary.unchecked) == (7, 2, {})
    assert (summary.known_heads, summary.known_heads_held) == (7, 7)


def test_a_ledger_holds_also_where_pages_are_short(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows in (1, 2, 3):
        for name in ("_ENTRIES", "_HEADS", "_ERASURES"):
            sql = getattr(reading, name).rsplit(" ", 1)[0]
            monkeypatch.setattr(reading, name, f"{sql} {rows}")
        monkeypatch.setattr(reading, "PAGE_ROWS", rows)
        assert findings(sound, known=known_heads(sound)) == []
    monkeypatch.setattr("ledger.log.paging.PAGE_BYTES", 1)
    assert findings(sound) == []


def test_tables_of_ours_that_are_not_the_logs_are_nobodys_business(path: Path) -> None:
    with closing(outside(path)) as connection:
        connection.executescript("CREATE TABLE aux_leases (run_no); INSERT INTO aux_leases VALUES (1)")
    assert findings(path) == []


def test_a_ruleset_needs_no_run_that_names_it(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        store.keep_documents(
            [DocumentRow(digest=TEXT.digest, media_type=RULESET_MEDIA_TYPE, body=TEXT.document)]
        )
    with Verification(path, DIALECTS) as verification:
        assert list(verification.findings()) == []
        assert verification.summary.documents == 3


@pytest.mark.parametrize("what", DAMAGES)
def test_what_was_done_to_the_rows_is_found_and_named(path: Path, what: str) -> None:
    script, expected = DAMAGES[what]
    damage(path, script)
    assert named(path) == expected
