"""What an outside client does to a ledger, verifying finds and names; what nobody did, it does not."""

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from ledger.core.digests import digest
from ledger.core.merkle import root
from ledger.core.observations import EntriesErased, RunClosed
from ledger.dialects import DIALECTS
from ledger.errors import FormatError, IntegrityError, NotFoundError
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import FINDINGS_PER_RUN, IntegrityFinding, KnownHeads, Verification
from ledger.log.verifying import pages as reading
from tests.log.damages import (
    MANIFEST,
    OTHER_MANIFEST,
    damage,
    erase,
    make_ledger,
    open_run,
    opened,
    outside,
    said,
    seen,
)

ROOT = Path(__file__).parents[2]

Named = tuple[str, str | None, int | None, int | None]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that nobody damaged; to be read only."""
    path = tmp_path_factory.mktemp("sound") / "ledger.db"
    make_ledger(path)
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to damage."""
    path = tmp_path / "ledger.db"
    shutil.copyfile(sound, path)
    return path


def findings(path: Path, *runs: str, known: KnownHeads | None = None) -> list[IntegrityFinding]:
    with Verification(path, DIALECTS, known=known) as verification:
        rows = [row for row in verification.store.runs_as_appended() if row.run_id in runs] if runs else None
        found = list(verification.findings(rows))
        assert verification.summary.findings >= len(found) - 2
        assert bool(verification.summary.findings) == bool(found)
    return found


def named(path: Path, *runs: str, known: KnownHeads | None = None) -> list[Named]:
    """Where the ledger is broken; some versions of SQLite add that its own CHECK constraints are."""
    return [
        (one.code, one.run_id, one.first, one.last)
        for one in findings(path, *runs, known=known)
        if not one.found.startswith("CHECK constraint failed")
    ]


def known_heads(path: Path) -> dict[str, dict[int, bytes]]:
    with SqliteStore.open(path, create=False, read_only=True) as store:
        return {
            run.run_id: {head.size: root(head.peaks, head.size) for head in store.heads(run.run_no)}
            for run in store.runs_as_appended()
        }


# ---- nothing happened -------------------------------------------------------------------------------------


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


# ---- each damage is found and named -----------------------------------------------------------------------

AT = {7: "entry_id = (1 << 32 | 7)", 6: "entry_id = (1 << 32 | 6)", 1: "entry_id = (1 << 32 | 1)"}
CELLS = "at, origin, session, type, stream, salt, body"
RANGE = ("entries_changed", "run_1", 5, 8)
UNPROVED = ("entries_unproved", "run_1", 5, 8)
OPENING = ("entries_changed", "run_1", 1, 4)

# Each: what is run with the triggers dropped, and everything that is found after it.
ENTRIES: dict[str, tuple[str, list[Named]]] = {
    "one byte of a body edited": (
        f"UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '7', '8') AS BLOB) WHERE {AT[7]}",
        [RANGE],
    ),
    "a body replaced": (
        f"UPDATE entries SET body = x'7b7d' WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7), ("label_changed", "run_1", 7, 7), RANGE],
    ),
    "a body of the newest batch edited": (
        "UPDATE entries SET body = CAST(body || x'20' AS BLOB) WHERE entry_id = (1 << 32 | 11)",
        [("tree_broken", "run_1", 11, 12)],
    ),
    "the time of an entry edited": (f"UPDATE entries SET at = at + 1 WHERE {AT[7]}", [RANGE]),
    "the time of a batch's last entry edited": (
        "UPDATE entries SET at = at + 1 WHERE entry_id = (1 << 32 | 8)",
        [("head_changed", "run_1", 8, 8), RANGE],
    ),
    "the origin of an entry edited": (f"UPDATE entries SET origin = 'runtime' WHERE {AT[7]}", [RANGE]),
    "an origin that there is not": (
        f"UPDATE entries SET origin = 'nobody' WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), RANGE],
    ),
    "the session of an entry edited": (f"UPDATE entries SET session = 'x' WHERE {AT[7]}", [RANGE]),
    "the type of a line edited": (
        f"UPDATE entries SET type = 'DONE' WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7)],
    ),
    "the stream of a line edited": (
        f"UPDATE entries SET stream = 'other' WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7)],
    ),
    "the type of an observation edited": (
        "UPDATE entries SET type = 'NOTE' WHERE entry_id = (1 << 32 | 8)",
        [("label_changed", "run_1", 8, 8)],
    ),
    "the stream of an observation edited": (
        "UPDATE entries SET stream = '' WHERE entry_id = (1 << 32 | 8)",
        [("label_changed", "run_1", 8, 8)],
    ),
    "a salt edited": (f"UPDATE entries SET salt = zeroblob(16) WHERE {AT[7]}", [RANGE]),
    "a salt taken out": (
        f"UPDATE entries SET salt = NULL WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), UNPROVED],
    ),
    "a salt cut short": (
        f"UPDATE entries SET salt = x'00' WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), UNPROVED],
    ),
    "a session that is no text": (
        f"UPDATE entries SET session = CAST(x'ff' AS TEXT) WHERE {AT[7]}",
        [("entry_malformed", "run_1", 7, 7), UNPROVED],
    ),
    "a type that is no text": (
        f"UPDATE entries SET type = CAST(x'ff' AS TEXT) WHERE {AT[7]}",
        [("label_changed", "run_1", 7, 7)],
    ),
    "the first entry deleted": (
        f"DELETE FROM entries WHERE {AT[1]}",
        [("entry_missing", "run_1", 1, 1), ("entries_unproved", "run_1", 1, 4)],
    ),
    "an entry in the middle deleted": (
        f"DELETE FROM entries WHERE {AT[7]}",
        [("entry_missing", "run_1", 7, 7), UNPROVED],
    ),
    "the last entry deleted": (
        "DELETE FROM entries WHERE entry_id = (1 << 32 | 12)",
        [("entry_missing", "run_1", 12, 12), ("entries_unproved", "run_1", 11, 12)],
    ),
    "several entries deleted": (
        "DELETE FROM entries WHERE entry_id IN ((1 << 32 | 3), (1 << 32 | 7), (1 << 32 | 8), (1 << 32 | 9))",
        [
            ("entry_missing", "run_1", 3, 3),
            ("entry_missing", "run_1", 7, 9),
            ("entries_unproved", "run_1", 1, 4),
            UNPROVED,
            ("entries_unproved", "run_1", 9, 10),
        ],
    ),
    "an entry deleted, and one changed later": (
        "DELETE FROM entries WHERE entry_id = (1 << 32 | 3); UPDATE entries SET at = 1 WHERE"
        " entry_id = (1 << 32 | 9)",
        [
            ("entry_missing", "run_1", 3, 3),
            ("entries_unproved", "run_1", 1, 4),
            ("entries_changed", "run_1", 9, 10),
        ],
    ),
    "two entries changed, far apart": (
        "UPDATE entries SET at = 1 WHERE entry_id IN ((1 << 32 | 3), (1 << 32 | 9))",
        [("entries_changed", "run_1", 1, 4), ("entries_changed", "run_1", 9, 10)],
    ),
    "two entries swapped": (
        "UPDATE entries SET entry_id = 1 << 33 WHERE entry_id = (1 << 32 | 5);"
        f"UPDATE entries SET entry_id = (1 << 32 | 5) WHERE {AT[7]};"
        "UPDATE entries SET entry_id = (1 << 32 | 7) WHERE entry_id = 1 << 33",
        [RANGE],
    ),
    "an entry of one run put into another": (
        f"DELETE FROM entries WHERE {AT[7]}; INSERT INTO entries SELECT (1 << 32 | 7), {CELLS} FROM entries"
        " WHERE entry_id = (3 << 32 | 4)",
        [RANGE],
    ),
    "an entry put in beyond the newest head": (
        f"INSERT INTO entries SELECT (1 << 32 | 13), {CELLS} FROM entries WHERE {AT[7]}",
        [("entries_beyond_head", "run_1", 13, 13)],
    ),
    "an entry put in for a run that does not exist": (
        f"INSERT INTO entries SELECT (7 << 32 | 1), {CELLS} FROM entries WHERE {AT[7]}",
        [("stray_rows", None, None, None)],
    ),
    "entry 0 put in": (
        f"INSERT INTO entries SELECT 2 << 32, {CELLS} FROM entries WHERE {AT[7]}",
        [("stray_rows", "run_2", 0, 0)],
    ),
    "entries put in below all runs": (
        f"INSERT INTO entries SELECT -1, {CELLS} FROM entries WHERE {AT[7]}",
        [("stray_rows", None, None, None)],
    ),
    "a tail cut, its heads left": (
        "DELETE FROM entries WHERE entry_id BETWEEN (3 << 32 | 3) AND (3 << 32 | 5)",
        [("entry_missing", "run_3", 3, 5), ("entries_unproved", "run_3", 3, 5)],
    ),
    "a tail cut within a batch": (
        "DELETE FROM entries WHERE entry_id = (3 << 32 | 5);"
        "DELETE FROM tree_heads WHERE run_no = 3 AND size = 5",
        [("entries_beyond_head", "run_3", 3, 4)],
    ),
}

RUNS: dict[str, tuple[str, list[Named]]] = {
    "a run labelled anew": ("UPDATE runs SET run_id = 'x' WHERE run_no = 1", [("run_changed", "x", 1, 1)]),
    "a run of another dialect": (
        "UPDATE runs SET dialect = 'x' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run of another program": (
        "UPDATE runs SET program = 'x' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run of another namespace": (
        "UPDATE runs SET namespace = '' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run that had no namespace given one": (
        "UPDATE runs SET namespace = 'global' WHERE run_no = 3",
        [("run_changed", "run_3", 1, 1)],
    ),
    "a run with another trigger": (
        "UPDATE runs SET \"trigger\" = 'continuous' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run that came another way": (
        "UPDATE runs SET via = 'tapped' WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "a run opened at another time": (
        "UPDATE runs SET opened_at = 0 WHERE run_no = 1",
        [("run_changed", "run_1", 1, 1)],
    ),
    "RUN_OPENED of another run": (
        f"UPDATE entries SET body = (SELECT body FROM entries WHERE entry_id = (2 << 32 | 1)) WHERE {AT[1]}",
        [("run_changed", "run_1", 1, 1), OPENING, ("document_unreferenced", None, None, None)],
    ),
    "no RUN_OPENED": (
        "UPDATE entries SET body = x'7b7d', type = '' WHERE entry_id = (2 << 32 | 1)",
        [("opening_missing", "run_2", 1, 1), ("tree_broken", "run_2", 1, 2)],
    ),
    "a run's row deleted": (
        "DELETE FROM runs WHERE run_no = 2",
        [
            ("run_missing", None, None, None),
            ("stray_rows", None, None, None),
            ("stray_rows", None, None, None),
        ],
    ),
    "the newest run's row deleted": (
        "DELETE FROM runs WHERE run_no = 3",
        [
            ("stray_rows", None, None, None),
            ("stray_rows", None, None, None),
            ("document_unreferenced", None, None, None),
        ],
    ),
    "a run in the middle taken out whole": (
        "DELETE FROM entries WHERE entry_id >> 32 = 2; DELETE FROM tree_heads WHERE run_no = 2;"
        "DELETE FROM runs WHERE run_no = 2",
        [("run_missing", None, None, None)],
    ),
    "a run's row moved to another number": (
        "UPDATE runs SET run_no = 5 WHERE run_no = 3",
        [
            ("run_missing", None, None, None),
            ("stray_rows", None, None, None),
            ("stray_rows", None, None, None),
            ("run_empty", "run_3", None, None),
        ],
    ),
    "a whole run moved to another number": (
        "UPDATE entries SET entry_id = entry_id + (4 << 32) WHERE entry_id >> 32 = 3;"
        "UPDATE tree_heads SET run_no = 7 WHERE run_no = 3; UPDATE runs SET run_no = 7 WHERE run_no = 3",
        [("run_missing", None, None, None)],
    ),
    "two runs whose rows changed places": (
        "UPDATE runs SET run_no = 9 WHERE run_no = 1; UPDATE runs SET run_no = 1 WHERE run_no = 2;"
        "UPDATE runs SET run_no = 2 WHERE run_no = 9",
        [
            ("run_changed", "run_2", 1, 1),
            ("run_changed", "run_1", 1, 1),
        ],
    ),
    "a run put in under a number that no run has": (
        "INSERT INTO runs VALUES (0, 'run_0', '', '', '', '', 'imported', 0)",
        [("stray_rows", None, None, None)],
    ),
    "a run made of nothing": (
        "INSERT INTO runs VALUES (4, 'run_4', 'collection-profile', '', '', '', 'imported', 0)",
        [("run_empty", "run_4", None, None)],
    ),
    "all entries and heads of a run deleted": (
        "DELETE FROM entries WHERE entry_id >> 32 = 2; DELETE FROM tree_heads WHERE run_no = 2",
        [("run_empty", "run_2", None, None)],
    ),
    "all entries of a run deleted": (
        "DELETE FROM entries WHERE entry_id >> 32 = 2",
        [("entry_missing", "run_2", 1, 3), ("entries_unproved", "run_2", 1, 3)],
    ),
}

HEADS: dict[str, tuple[str, list[Named]]] = {
    "the peaks of a head edited": (
        "UPDATE tree_heads SET peaks = zeroblob(32) WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "the peaks of the newest head edited": (
        "UPDATE tree_heads SET peaks = zeroblob(64) WHERE run_no = 1 AND size = 12",
        [("head_changed", "run_1", 12, 12)],
    ),
    "the peaks of the only head edited": (
        "UPDATE tree_heads SET peaks = zeroblob(64) WHERE run_no = 2",
        [("tree_broken", "run_2", 1, 3)],
    ),
    "the peaks of two heads in a row edited": (
        "UPDATE tree_heads SET peaks = zeroblob(32) WHERE run_no = 1 AND size IN (4, 8)",
        [("head_changed", "run_1", 4, 4), ("head_changed", "run_1", 8, 8)],
    ),
    "a head edited, and an entry after it": (
        "UPDATE tree_heads SET peaks = zeroblob(32) WHERE run_no = 1 AND size = 4;"
        f"UPDATE entries SET at = 1 WHERE {AT[7]}",
        [("tree_broken", "run_1", 1, 4), RANGE],
    ),
    "peaks that cannot be": (
        "UPDATE tree_heads SET peaks = zeroblob(96) WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "peaks that are no hashes": (
        "UPDATE tree_heads SET peaks = x'00' WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "the size of a head edited": (
        "UPDATE tree_heads SET size = 5 WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 5, 5), ("head_changed", "run_1", 5, 5)],
    ),
    "the time of a head edited": (
        "UPDATE tree_heads SET at = 7 WHERE run_no = 1 AND size = 4",
        [("head_changed", "run_1", 4, 4)],
    ),
    "a head given to another run": (
        "UPDATE tree_heads SET run_no = 2 WHERE run_no = 3 AND size = 2",
        [("head_changed", "run_2", 2, 2)],
    ),
    "the newest head deleted": (
        "DELETE FROM tree_heads WHERE run_no = 1 AND size = 12",
        [("entries_beyond_head", "run_1", 11, 12)],
    ),
    "every head of a run deleted": (
        "DELETE FROM tree_heads WHERE run_no = 1",
        [("head_missing", "run_1", 1, 12), ("stray_rows", "run_1", 6, 6)],
    ),
    "a head put in that the entries do not give": (
        "INSERT INTO tree_heads VALUES (1, 6, zeroblob(64), 1006)",
        [("head_changed", "run_1", 6, 6)],
    ),
    "a head put in over nothing": (
        "INSERT INTO tree_heads VALUES (1, 4294967295, zeroblob(1024), 0)",
        [("entry_missing", "run_1", 13, 4294967295), ("entries_unproved", "run_1", 13, 4294967295)],
    ),
    "heads put in of sizes that no run has": (
        "INSERT INTO tree_heads VALUES (1, 0, x'', 0), (1, -1, x'', 0), (1, 4294967296, zeroblob(32), 0)",
        [
            ("head_changed", "run_1", -1, -1),
            ("head_changed", "run_1", 0, 0),
            ("head_changed", "run_1", 4294967296, 4294967296),
        ],
    ),
    "a head put in for a run that does not exist": (
        "INSERT INTO tree_heads VALUES (9, 1, zeroblob(32), 0)",
        [("stray_rows", None, None, None)],
    ),
}

ERASURES: dict[str, tuple[str, list[Named]]] = {
    "a body taken out without an erasure": (
        f"UPDATE entries SET body = NULL, salt = NULL WHERE {AT[7]}",
        [("erasure_missing", "run_1", 7, 7), UNPROVED],
    ),
    "an erasure deleted": (
        "DELETE FROM erasures",
        [("erasure_missing", "run_1", 6, 6), UNPROVED],
    ),
    "the leaf of an erasure edited": ("UPDATE erasures SET leaf = zeroblob(32)", [RANGE]),
    "the leaf of an erasure cut short": (
        "UPDATE erasures SET leaf = x'00'",
        [("entry_malformed", "run_1", 6, 6), UNPROVED],
    ),
    "an erasure put in for an entry that has its body": (
        "INSERT INTO erasures VALUES ((1 << 32 | 7), zeroblob(32), 'x')",
        [("erasure_incomplete", "run_1", 7, 7), ("erasure_unexplained", "run_1", 7, 7)],
    ),
    "an erasure put in beyond the newest head": (
        "INSERT INTO erasures VALUES ((1 << 32 | 13), zeroblob(32), 'x')",
        [("stray_rows", "run_1", 13, 13)],
    ),
    "an erasure put in for a run that does not exist": (
        "INSERT INTO erasures VALUES ((9 << 32 | 1), zeroblob(32), 'x')",
        [("stray_rows", None, None, None)],
    ),
    "an erased entry given a salt": (
        f"UPDATE entries SET salt = zeroblob(16) WHERE {AT[6]}",
        [("erasure_incomplete", "run_1", 6, 6)],
    ),
    "an erased entry given another body": (
        f"UPDATE entries SET salt = zeroblob(16), body = x'7b7d', type = '', stream = '' WHERE {AT[6]}",
        [("erasure_incomplete", "run_1", 6, 6), RANGE],
    ),
}

DOCUMENTS: dict[str, tuple[str, list[Named]]] = {
    "a document edited": (
        f"UPDATE documents SET body = x'7b7d' WHERE digest = '{MANIFEST.digest}'",
        [("document_changed", None, None, None)],
    ),
    "a document deleted": (
        f"DELETE FROM documents WHERE digest = '{OTHER_MANIFEST.digest}'",
        [("document_missing", "run_3", 1, 1)],
    ),
    "a document filed under another digest": (
        f"UPDATE documents SET digest = 'sha256:{'0' * 64}' WHERE digest = '{MANIFEST.digest}'",
        [
            ("document_changed", None, None, None),
            ("document_missing", "run_1", 1, 1),
            ("document_unreferenced", None, None, None),
        ],
    ),
    "a document put in": (
        f"INSERT INTO documents VALUES ('{digest(b'{}')}', '', x'7b7d')",
        [("document_unreferenced", None, None, None)],
    ),
}

DAMAGES = ENTRIES | RUNS | HEADS | ERASURES | DOCUMENTS


@pytest.mark.parametrize("what", DAMAGES)
def test_what_was_done_to_the_rows_is_found_and_named(path: Path, what: str) -> None:
    script, expected = DAMAGES[what]
    damage(path, script)
    assert named(path) == expected


SCHEMA_DAMAGES = {
    "a trigger dropped": ("DROP TRIGGER entries_no_update", "trigger entries_no_update"),
    "a trigger made toothless": (
        "DROP TRIGGER runs_no_delete;CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs BEGIN SELECT 1; END",
        "trigger runs_no_delete",
    ),
    "a trigger added": (
        "CREATE TRIGGER sneaky AFTER INSERT ON entries BEGIN SELECT 1; END",
        "'sneaky'",
    ),
    "a trigger added under a name of ours": (
        "CREATE TRIGGER aux_sneaky AFTER INSERT ON entries BEGIN SELECT 1; END",
        "'aux_sneaky'",
    ),
    "a view added": ("CREATE VIEW more AS SELECT 1", "'more'"),
    "a view changed": ("DROP VIEW messages; CREATE VIEW messages AS SELECT 1", "view messages"),
    "a table added": ("CREATE TABLE notes (text)", "'notes'"),
    "a table changed": ("ALTER TABLE runs ADD COLUMN note TEXT", "table runs"),
    "an index dropped": ("DROP INDEX entries_observed", "index entries_observed"),
    "the text of the schema changed": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'BEFORE', 'AFTER')"
        " WHERE name = 'documents_no_update'",
        "trigger documents_no_update",
    ),
}


@pytest.mark.parametrize("what", SCHEMA_DAMAGES)
def test_a_schema_that_was_changed_is_found_and_the_rest_is_verified_all_the_same(
    path: Path, what: str
) -> None:
    script, expected = SCHEMA_DAMAGES[what]
    damage(path, DAMAGES["the time of an entry edited"][0])
    with closing(outside(path)) as connection:
        connection.executescript(script)
    with pytest.raises(IntegrityError):
        SqliteStore.open(path, create=False)
    found = findings(path)
    assert [one.code for one in found] == ["schema_changed", "entries_changed"]
    assert expected in f"expected {found[0].expected}, found {found[0].found}"


def test_all_triggers_dropped_are_all_named(path: Path) -> None:
    with closing(outside(path)) as connection:
        names = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        }
        for name in names:
            connection.execute(f"DROP TRIGGER {name}")
    found = findings(path)
    assert {one.code for one in found} == {"schema_changed"}
    assert {one.expected.split()[1] for one in found} == names


@pytest.mark.parametrize("pragma", ["application_id = 0", "user_version = 0", "user_version = 2"])
def test_a_header_that_was_changed_is_found(path: Path, pragma: str) -> None:
    with closing(outside(path)) as connection:
        connection.execute(f"PRAGMA {pragma}")
    assert named(path) == [("header_changed", None, None, None)]


def test_a_ledger_of_a_newer_format_and_another_programs_database_are_not_verified(path: Path) -> None:
    with closing(outside(path)) as connection:
        connection.executescript("PRAGMA user_version = 2; CREATE TABLE witnesses (run_no)")
    with pytest.raises(FormatError, match="newer runledger"):
        Verification(path, DIALECTS)
    other = path.with_name("other.db")
    with closing(outside(other)) as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(FormatError, match="another program's"):
        Verification(other, DIALECTS)
    with pytest.raises(NotFoundError):
        Verification(path.with_name("none.db"), DIALECTS)


def test_a_table_that_is_gone_is_said_and_the_others_are_verified(path: Path) -> None:
    damage(path, f"UPDATE entries SET at = 1 WHERE {AT[7]}")
    with closing(outside(path)) as connection:
        connection.execute("DROP TABLE documents")
    codes = [code for code, *_ in named(path)]
    assert codes == [*["schema_changed"] * 4, "table_unreadable", "entries_changed"]
    with closing(outside(path)) as connection:
        connection.execute("DROP TABLE erasures")
    assert ("table_unreadable", "run_2", None, None) in named(path)


def test_every_cell_may_be_of_any_type_once_the_tables_are_not_strict(path: Path) -> None:
    with closing(outside(path)) as connection:
        connection.executescript(
            "PRAGMA writable_schema = ON;"
            "UPDATE sqlite_master SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')"
            " WHERE type = 'table' AND name NOT IN ('documents', 'tree_heads')"
        )
    for cell in ("'text'", "x'00'", "NULL", "1.5", "12"):
        for column in ("at", "origin", "session", "type", "stream", "salt", "body"):
            copy = path.with_name("copy.db")
            shutil.copyfile(path, copy)
            damage(copy, f"PRAGMA writable_schema = ON; UPDATE entries SET {column} = {cell} WHERE {AT[7]}")
            codes = {code for code, *_ in named(copy)}
            assert codes > {"schema_changed"} or "file_damaged" in codes, (column, cell)


# ---- the bytes of the file --------------------------------------------------------------------------------


def test_an_index_that_lacks_what_its_table_holds_is_found(path: Path) -> None:
    change = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'entries_observed'"
    with closing(outside(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change, ("'observer'", "'nobody'"))
    with closing(outside(path)) as connection:
        connection.execute("REINDEX entries_observed")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change, ("'nobody'", "'observer'"))
    found = findings(path)
    assert {one.code for one in found} == {"file_damaged"}
    assert "entries_observed" in found[0].found


def test_pages_that_were_overwritten_are_findings_and_what_is_left_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        number = open_run(store, opened("run_1", None), said(2))
        for first in range(3, 603, 100):
            store.append(number, [said(seq, pad=300) for seq in range(first, first + 100)])
        open_run(store, opened("run_2", None), said(2))
    with closing(outside(path)) as connection:
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    body = bytearray(path.read_bytes())
    middle = len(body) // page_size // 2 * page_size
    body[middle : middle + page_size] = b"\xff" * page_size
    path.write_bytes(body)
    with Verification(path, DIALECTS) as verification:
        found = list(verification.findings())
        summary = verification.summary
    codes = [one.code for one in found]
    assert codes[0] == "file_damaged"
    assert "entries_unreadable" in codes
    assert set(codes) <= {"file_damaged", "entries_unreadable", "entries_unproved", "label_changed"}
    assert {one.run_id for one in found if one.run_id} == {"run_1"}
    assert summary.runs == 2
    assert summary.entries > 300


# ---- what plain verifying cannot see, and heads kept elsewhere can ----------------------------------------

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


# ---- erasures and what is said of them --------------------------------------------------------------------


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


# ---- how much is told -------------------------------------------------------------------------------------


def test_of_very_many_findings_the_first_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        open_run(store, opened("run_1", None), *map(said, range(2, 501)))
        open_run(store, opened("run_2", None), said(2))
    damage(path, "UPDATE entries SET type = 'DONE' WHERE entry_id & 4294967295 > 2")
    with Verification(path, DIALECTS) as verification:
        found = list(verification.findings())
        assert verification.summary.findings == 498
    assert [one.code for one in found] == ["label_changed"] * FINDINGS_PER_RUN + ["more_findings"]
    assert found[-1].found == "398 more"


def test_the_range_is_as_narrow_as_the_peaks_tell(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        number = open_run(store, opened("run_1", None), *map(said, range(2, 1001)))
        store.append(number, list(map(said, range(1001, 2001))))
        store.append(number, list(map(said, range(2001, 2010))))
    expected = {3: (1, 512), 513: (513, 768), 900: (897, 960), 1000: (993, 1000), 1001: (1001, 1024)}
    expected |= {1999: (1985, 2000), 2009: (2009, 2009)}
    for seq, (first, last) in expected.items():
        copy = tmp_path / f"{seq}.db"
        shutil.copyfile(path, copy)
        damage(copy, f"UPDATE entries SET salt = zeroblob(16) WHERE entry_id = (1 << 32 | {seq})")
        code = "entries_changed" if seq <= 2000 else "tree_broken"
        assert named(copy) == [(code, "run_1", first, last)]


def test_a_dialect_that_is_not_known_is_said_and_its_labels_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        open_run(store, opened("run_1", None, dialect="semaphore"), said(2))
    damage(path, "UPDATE entries SET type = 'x' WHERE entry_id = (1 << 32 | 2)")
    with Verification(path, DIALECTS) as verification:
        assert list(verification.findings()) == []
        (what,) = verification.summary.unchecked["run_1"]
    assert what == 'types and streams of its lines, as the dialect "semaphore" is not known'


def test_an_observation_of_a_later_version_is_filed_under_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    later = replace(seen(2, RunClosed()), type="RUN_FROZEN", body=b'{"type":"RUN_FROZEN","depth":3}')
    torn = replace(seen(3, RunClosed()), type="", body=b'{"at":"2026')
    with SqliteStore.open(path, create=True) as store:
        open_run(store, opened("run_1", None), later, torn)
    assert named(path) == []
    damage(path, "UPDATE entries SET type = 'RUN_CLOSED' WHERE entry_id > (1 << 32 | 1)")
    assert named(path) == [("label_changed", "run_1", 2, 2), ("label_changed", "run_1", 3, 3)]


def test_progress_goes_through_every_entry(sound: Path) -> None:
    told: list[tuple[str, int]] = []
    with Verification(sound, DIALECTS) as verification:
        assert verification.total_entries() == 20
        list(verification.findings(progress=lambda what, done: told.append((what, done))))
    assert [done for _, done in told] == sorted(done for _, done in told)
    assert told[-1] == ("run_3", 20)


# ---- while others write -----------------------------------------------------------------------------------

WRITER = """
import sys
from itertools import count
from ledger.core.observations import EntriesErased
from ledger.log.sqlite_store import SqliteStore
from tests.log.damages import OTHER_MANIFEST, open_run, opened, said, seen

def erase(store, run_no, seq, next_seq):
    store.erase(run_no, [seq], seen(next_seq, EntriesErased(entries=(seq,), reason="")))

with SqliteStore.open(sys.argv[1], create=False) as store:
    print("ready", flush=True)
    for number in count():
        run = opened(f"other_{number}", OTHER_MANIFEST)
        run_no = open_run(store, run, said(2), documents=[OTHER_MANIFEST])
        for first in range(3, 303, 30):
            store.append(run_no, [said(seq) for seq in range(first, first + 29)])
            erase(store, run_no, first + 1, first + 29)
            if number < 40:
                erase(store, 4, 2 + number * 10 + first // 30, 502 + number * 10 + first // 30)
"""


def test_a_ledger_that_is_written_to_meanwhile_gives_no_false_alarm(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        open_run(store, opened("run_4", None), *map(said, range(2, 502)))
    command = [sys.executable, "-c", WRITER, str(path)]
    sizes = set()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            for _ in range(25):
                with Verification(path, DIALECTS, known=known_heads(path)) as verification:
                    assert list(verification.findings()) == []
                    sizes.add(verification.summary.entries)
            assert writer.poll() is None
        finally:
            writer.kill()
    assert len(sizes) > 3
    assert findings(path) == []


def test_what_is_erased_and_appended_between_two_pages_is_no_finding(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_ENTRIES", reading._ENTRIES.rsplit(" ", 1)[0] + " 2")
    monkeypatch.setattr(reading, "PAGE_ROWS", 2)
    acted: list[int] = []

    def act(what: str, done: int) -> None:
        if what == "run_3" and not acted:
            with SqliteStore.open(path, create=False) as store:
                store.append(3, [said(6), said(7)])
                store.erase(3, [2, 4], seen(8, EntriesErased(entries=(2, 4), reason="asked")))
                open_run(store, opened("run_4", MANIFEST), said(2), documents=[MANIFEST])
            acted.append(done)

    with Verification(path, DIALECTS) as verification:
        assert list(verification.findings(progress=act)) == []
    assert acted == [17]  # entries 1 and 2 of the run were read before, as they were
    assert findings(path) == []


# ---- files that were overwritten at random ----------------------------------------------------------------


def overwritten(body: bytes, dice: Random) -> bytes:
    """Change some bytes, swap two pages, blank one, or cut the file off."""
    changed = bytearray(body)
    first, second = (dice.randrange(len(body) // 8192) * 8192 for _ in range(2))
    page, other = changed[first : first + 8192], changed[second : second + 8192]
    match dice.randrange(5):
        case 0:
            for _ in range(dice.randrange(1, 40)):
                changed[dice.randrange(len(body))] = dice.randrange(256)
        case 1:
            changed[first : first + 8192] = dice.randbytes(8192)
        case 2:
            changed[first : first + 8192] = bytes(8192)
        case 3:
            changed[first : first + 8192], changed[second : second + 8192] = other, page
        case _:
            del changed[dice.randrange(len(body)) :]
    return bytes(changed)


def logical(path: Path) -> list[str]:
    with closing(outside(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize("seed", range(150))
def test_a_file_that_was_overwritten_at_random_is_broken_or_says_what_it_said(path: Path, seed: int) -> None:
    with closing(outside(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    said_before = logical(path)
    path.write_bytes(overwritten(path.read_bytes(), Random(seed)))
    try:
        found = findings(path)
    except (FormatError, IntegrityError):
        return
    assert found or logical(path) == said_before
