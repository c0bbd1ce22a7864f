"""A ledger file: what it refuses, whoever writes to it, and what it survives."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ledger.core.digests import digest
from ledger.core.merkle import append_leaves, leaf_hash, root
from ledger.errors import (
    BusyError,
    DiskError,
    FormatError,
    InputError,
    IntegrityError,
    NotFoundError,
    SequenceConflict,
    UnavailableError,
)
from ledger.log import connecting, transactions
from ledger.log.schema import APPLICATION_ID, SCHEMA
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow
from tests.log.scripted import line, lines, observed, run_row

ROOT = Path(__file__).parents[2]
RUN_1 = 1 << 32
MANIFEST = DocumentRow(digest=digest(b"{}"), media_type="application/json", body=b"{}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed ledger of two runs of three entries, one document and one erasure."""
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row("run_1"), [observed(1, "RUN_OPENED"), *lines(2, 3)], [MANIFEST])
        store.open_run(run_row("run_2"), lines(1, 3))
    with closing(raw(path)) as connection:
        connection.execute("INSERT INTO erasures VALUES (?, ?, 'owner')", (RUN_1 | 3, bytes(32)))
    return path


def raw(path: Path, *, recursive_triggers: bool = False) -> sqlite3.Connection:
    """A connection of somebody else's: none of our settings, autocommit."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA recursive_triggers = {'ON' if recursive_triggers else 'OFF'}")
    return connection


def dump(path: Path) -> list[str]:
    with closing(raw(path)) as connection:
        return list(connection.iterdump())


# ---- immutable for whoever writes -------------------------------------------------------------------------

ENTRY = "at, origin, session, type, stream, salt, body"
VALUES = "1, 'program', '', 'RECORD', '', zeroblob(16), x'00'"

ATTACKS = {
    "update a body": "UPDATE entries SET body = x'00' WHERE entry_id = (1 << 32 | 1)",
    "update every entry": "UPDATE entries SET at = 0",
    "label an entry anew": "UPDATE entries SET type = 'NOTE' WHERE entry_id = (1 << 32 | 1)",
    "empty an entry, no erasure": "UPDATE entries SET body = NULL, salt = NULL WHERE entry_id = 1 << 32 | 1",
    "fill an erased entry": "UPDATE entries SET body = x'00' WHERE entry_id = 1 << 32 | 3",
    "empty an erased entry": "UPDATE entries SET body = NULL, salt = NULL WHERE entry_id = 1 << 32 | 3",
    "label an erased entry anew": "UPDATE entries SET body = NULL, type = '' WHERE entry_id = 1 << 32 | 3",
    "move an entry": "UPDATE OR REPLACE entries SET entry_id = entry_id - 1 WHERE entry_id = 1 << 32 | 2",
    "delete an entry": "DELETE FROM entries WHERE entry_id = (1 << 32 | 2)",
    "delete all entries": "DELETE FROM entries",
    "replace an entry": f"REPLACE INTO entries (entry_id, {ENTRY}) VALUES (1 << 32 | 1, {VALUES})",
    "replace an erased entry": f"REPLACE INTO entries (entry_id, {ENTRY}) VALUES ((1 << 32 | 3), {VALUES})",
    "upsert an entry": f"INSERT INTO entries (entry_id, {ENTRY}) VALUES ((1 << 32 | 1), {VALUES})"
    " ON CONFLICT (entry_id) DO UPDATE SET body = excluded.body",
    "an entry of no run": f"INSERT INTO entries (entry_id, {ENTRY}) VALUES (9 << 32 | 1, {VALUES})",
    "an entry without a number": f"INSERT INTO entries ({ENTRY}) VALUES ({VALUES})",
    "entry nought": f"INSERT INTO entries (entry_id, {ENTRY}) VALUES (2 << 32, {VALUES})",
    "an entry without a body": f"INSERT INTO entries (entry_id, {ENTRY}) VALUES (2 << 32 | 4, "
    "1, 'program', '', '', '', zeroblob(16), NULL)",
    "an entry without a salt": f"INSERT INTO entries (entry_id, {ENTRY}) VALUES (2 << 32 | 4, "
    "1, 'program', '', '', '', NULL, x'00')",
    "an entry of an unknown origin": f"INSERT INTO entries (entry_id, {ENTRY}) VALUES (2 << 32 | 4, "
    "1, 'nobody', '', '', '', zeroblob(16), x'00')",
    "a body that is text": f"INSERT INTO entries (entry_id, {ENTRY}) VALUES (2 << 32 | 4, "
    "1, 'program', '', '', '', zeroblob(16), 'text')",
    "update a run": "UPDATE runs SET program = 'other'",
    "delete a run": "DELETE FROM runs WHERE run_no = 2",
    "replace a run": "REPLACE INTO runs VALUES (1, 'other', '', '', '', '', 'imported', 0)",
    "replace a run by its id": "REPLACE INTO runs VALUES (3, 'run_1', '', '', '', '', 'imported', 0)",
    "skip a run number": "INSERT INTO runs VALUES (4, 'run_4', '', '', '', '', 'imported', 0)",
    "a run without a number": "INSERT INTO runs VALUES (NULL, 'run_3', '', '', '', '', 'imported', 0)",
    "a run by another way": "INSERT INTO runs VALUES (3, 'run_3', '', '', '', '', 'guessed', 0)",
    "a run without an id": "INSERT INTO runs VALUES (3, '', '', '', '', '', 'imported', 0)",
    "a document without a digest": "INSERT INTO documents VALUES ('manifest', '', x'00')",
    "update a document": "UPDATE documents SET body = x'00'",
    "delete a document": "DELETE FROM documents",
    "replace a document": f"REPLACE INTO documents VALUES ('{MANIFEST.digest}', '', x'00')",
    "update a head": "UPDATE tree_heads SET peaks = zeroblob(32)",
    "delete a head": "DELETE FROM tree_heads",
    "replace a head": "REPLACE INTO tree_heads VALUES (1, 3, zeroblob(64), 0)",
    "a head below the last": "INSERT INTO tree_heads VALUES (1, 2, zeroblob(32), 0)",
    "a head over nothing": "INSERT INTO tree_heads VALUES (1, 4, zeroblob(32), 0)",
    "a head of no run": "INSERT INTO tree_heads VALUES (9, 1, zeroblob(32), 0)",
    "update an erasure": "UPDATE erasures SET erased_by = ''",
    "delete an erasure": "DELETE FROM erasures",
    "replace an erasure": "REPLACE INTO erasures VALUES ((1 << 32 | 3), zeroblob(32), '')",
    "erase twice": "INSERT INTO erasures VALUES ((1 << 32 | 3), zeroblob(32), '')",
    "erase what is not there": "INSERT INTO erasures VALUES ((1 << 32 | 4), zeroblob(32), '')",
    "erase and keep no leaf": "INSERT INTO erasures VALUES ((1 << 32 | 2), zeroblob(31), '')",
}


@pytest.mark.parametrize("recursive_triggers", [False, True])
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_log_refuses(path: Path, attack: str, recursive_triggers: bool) -> None:
    before = dump(path)
    with (
        closing(raw(path, recursive_triggers=recursive_triggers)) as connection,
        pytest.raises(sqlite3.IntegrityError),
    ):
        connection.execute(ATTACKS[attack])
    assert dump(path) == before


@pytest.mark.parametrize(
    "change",
    [
        "body = NULL, salt = NULL, entry_id = entry_id + 9",
        "body = NULL, salt = NULL, at = at + 1",
        "body = NULL, salt = NULL, origin = 'runtime'",
        "body = NULL, salt = NULL, session = 'other'",
        "body = NULL, salt = NULL, type = 'NOTE'",
        "body = NULL, salt = NULL, stream = 'other'",
        "body = NULL",
        "salt = NULL",
        "body = x'00', salt = NULL",
    ],
)
def test_an_erasure_is_no_way_to_change_anything_else(path: Path, change: str) -> None:
    before = dump(path)
    with closing(raw(path)) as connection:
        connection.execute(
            "CREATE TEMP TRIGGER sneak AFTER INSERT ON main.erasures BEGIN"
            f" UPDATE entries SET {change} WHERE entry_id = NEW.entry_id; END"
        )
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("INSERT INTO erasures VALUES (?, zeroblob(32), '')", (RUN_1 | 2,))
    assert dump(path) == before


def test_a_head_whose_peaks_are_no_hashes_is_refused(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.execute(f"INSERT INTO entries (entry_id, {ENTRY}) VALUES ({RUN_1 | 4}, {VALUES})")
        for size in (0, 31, 33, 1056):
            with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
                connection.execute("INSERT INTO tree_heads VALUES (1, 4, zeroblob(?), 0)", (size,))


def test_every_log_table_refuses_update_and_delete_by_trigger() -> None:
    for table in ("runs", "entries", "documents", "tree_heads", "erasures"):
        for verb in ("update", "delete"):
            assert f"BEFORE {verb.upper()} ON {table}" in SCHEMA[f"{table}_no_{verb}"]


@pytest.mark.parametrize("missing", [4, 5])
def test_a_head_over_a_hole_is_refused(path: Path, missing: int) -> None:
    with closing(raw(path)) as connection:
        for seq in {4, 5, 6} - {missing}:
            connection.execute(f"INSERT INTO entries (entry_id, {ENTRY}) VALUES ({RUN_1 | seq}, {VALUES})")
        for size in (4, 5, 6):
            if size < missing and size != 6:
                continue
            with pytest.raises(sqlite3.IntegrityError, match="no holes"):
                connection.execute("INSERT INTO tree_heads VALUES (1, ?, zeroblob(64), 0)", (size,))


def test_a_head_that_leaves_entries_uncovered_is_refused(path: Path) -> None:
    with closing(raw(path)) as connection:
        for seq in (4, 5):
            connection.execute(f"INSERT INTO entries (entry_id, {ENTRY}) VALUES ({RUN_1 | seq}, {VALUES})")
        with pytest.raises(sqlite3.IntegrityError, match="no holes"):
            connection.execute("INSERT INTO tree_heads VALUES (1, 4, zeroblob(32), 0)")


def test_an_entry_that_somebody_slipped_in_without_a_head_stops_the_run(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.execute(f"INSERT INTO entries (entry_id, {ENTRY}) VALUES ({RUN_1 | 4}, {VALUES})")
    with SqliteStore.open(path, create=False) as store:
        with pytest.raises(IntegrityError, match="append-only"):
            store.append(1, lines(4, 4))
        store.append(2, lines(4, 4))


def test_peaks_that_cannot_be_are_noticed_when_the_run_goes_on(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.execute(f"INSERT INTO entries (entry_id, {ENTRY}) VALUES ({RUN_1 | 4}, {VALUES})")
        connection.execute("INSERT INTO tree_heads VALUES (1, 4, zeroblob(96), 0)")
    with SqliteStore.open(path, create=False) as store, pytest.raises(IntegrityError, match="1 peaks"):
        store.append(1, lines(5, 5))


# ---- erasure ----------------------------------------------------------------------------------------------


def test_an_erasure_empties_the_entry_and_keeps_its_leaf(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.execute("INSERT INTO erasures VALUES (?, ?, 'owner')", (RUN_1 | 2, b"l" * 32))
        assert connection.execute("SELECT leaf FROM erasures").fetchall() == [(b"l" * 32,), (bytes(32),)]
    with SqliteStore.open(path, create=False) as store:
        assert [entry.body for entry in store.entries(1)][1:] == [None, None]
        assert [entry.salt for entry in store.entries(1, salts=True)][1:] == [None, None]
        assert [(entry.type, entry.stream) for entry in store.entries(1)][1] == ("RECORD", "messages")
        store.append(1, lines(4, 4))


def test_after_a_checkpoint_the_erased_bytes_are_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    secrets = [b"the-short-secret", b"the-long-secret" * 2_000]
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(1), line(2, secrets[0]), line(3, secrets[1]), line(4)])
        with closing(raw(path)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("INSERT INTO erasures VALUES (?, zeroblob(32), '')", (RUN_1 | 2,))
            connection.execute("INSERT INTO erasures VALUES (?, zeroblob(32), '')", (RUN_1 | 3,))
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"secret" not in written


# ---- what is opened, and what is not ----------------------------------------------------------------------


def test_a_new_ledger_is_marked_and_sound(path: Path) -> None:
    with closing(raw(path)) as connection:
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode", "integrity_check")
        }
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert found == {
        "application_id": APPLICATION_ID,
        "user_version": 1,
        "journal_mode": "wal",
        "integrity_check": "ok",
    }


def test_a_sqlite_that_is_too_old_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(UnavailableError, match=r"3\.37 or newer"):
        SqliteStore.open(path, create=False)


def test_the_connection_is_set_up_to_be_safe(path: Path) -> None:
    with closing(connecting.connect(path, create=False, read_only=False)) as connection:
        found = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("synchronous", "foreign_keys", "trusted_schema", "secure_delete")
        ]
    assert found == [2, 1, 0, 1]


def test_a_missing_file_is_named_and_not_created(tmp_path: Path) -> None:
    for read_only in (False, True):
        with pytest.raises(NotFoundError, match=r"expected a ledger at .*none\.db, found no such file; .+"):
            SqliteStore.open(tmp_path / "none.db", create=False, read_only=read_only)
    with pytest.raises(NotFoundError, match="expected a folder"):
        SqliteStore.open(tmp_path / "none" / "ledger.db", create=True)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_ledger_only_where_one_is_to_be_created(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.touch()
    with pytest.raises(FormatError, match="found an empty file"):
        SqliteStore.open(path, create=False)
    assert path.read_bytes() == b""
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), lines(1, 1))


@pytest.mark.parametrize("content", [b"\x00" * 5_000, b"{}\n", b"SQLite format 3\x00" + b"\xff" * 4_080])
@pytest.mark.parametrize("create", [False, True])
def test_a_file_that_is_no_database_is_refused_and_not_touched(
    tmp_path: Path, content: bytes, create: bool
) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    with pytest.raises((FormatError, IntegrityError)) as caught:
        SqliteStore.open(path, create=create)
    assert isinstance(caught.value, FormatError)
    assert path.read_bytes() == content


def test_a_folder_is_refused(tmp_path: Path) -> None:
    for create in (False, True):
        with pytest.raises(InputError, match="found a folder"):
            SqliteStore.open(tmp_path, create=create)


@pytest.mark.parametrize(
    "sql",
    ["PRAGMA application_id = 7", "CREATE TABLE notes (text)", "PRAGMA user_version = 3"],
)
def test_another_programs_database_is_refused_and_not_touched(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "other.db"
    with closing(raw(path)) as connection:
        connection.execute(sql)
        connection.execute("VACUUM")
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(FormatError, match="another program's database"):
            SqliteStore.open(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("version", "hint"), [(2, "newer runledger"), (0, "name another file")])
def test_another_format_is_refused(path: Path, version: int, hint: str) -> None:
    with closing(raw(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(FormatError, match=f"expected log format 1, found format {version}; .*{hint}"):
        SqliteStore.open(path, create=True)


TAMPERINGS = {
    "trigger entries_no_update in the schema, found none": "DROP TRIGGER entries_no_update",
    "index entries_observed in the schema, found none": "DROP INDEX entries_observed",
    "view messages as format 1 has it": "DROP VIEW messages; CREATE VIEW messages AS SELECT 1",
    "trigger runs_no_delete as format 1 has it": "DROP TRIGGER runs_no_delete;"
    "CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs BEGIN SELECT 1; END",
    "table runs as format 1 has it": "ALTER TABLE runs ADD COLUMN note TEXT",
    "found 'extra'": "CREATE TABLE extra (text)",
    "found 'aux_sneaky'": "CREATE TRIGGER aux_sneaky AFTER INSERT ON entries BEGIN SELECT 1; END",
    "found 'aux_index'": "CREATE INDEX aux_index ON entries (at)",
}


@pytest.mark.parametrize("found", TAMPERINGS)
def test_a_schema_that_was_changed_is_noticed_on_opening(path: Path, found: str) -> None:
    with closing(raw(path)) as connection:
        connection.executescript(TAMPERINGS[found])
    for read_only in (False, True):
        with pytest.raises(IntegrityError, match=found):
            SqliteStore.open(path, create=False, read_only=read_only)


SNEAKY = "CREATE TRIGGER sneaky BEFORE DELETE ON entries BEGIN SELECT RAISE(IGNORE); END;"
SNEAKY += "PRAGMA writable_schema = ON; UPDATE sqlite_master SET "
DISGUISES = {
    "as a trigger of a table aside": "tbl_name = 'aux_leases' WHERE name = 'sneaky'",
    "as a table aside": "type = 'table', name = 'aux_x', tbl_name = 'aux_x' WHERE name = 'sneaky'",
    "as one of SQLite's own": "name = 'sqlite_x', tbl_name = 'sqlite_x' WHERE name = 'sneaky'",
    "as a guard, before the guard": "name = 'messages' WHERE name = 'sneaky'",
    "as a guard, in its place": "name = 'entries_no_delete' WHERE name = 'sneaky';"
    "DELETE FROM sqlite_master WHERE name = 'entries_no_delete' AND sql LIKE '%append-only%'",
    "in a text that is spelled oddly": "sql = replace(sql, 'CREATE TRIGGER', 'CREATE /* TABLE */ TRIGGER'),"
    " tbl_name = 'aux_x' WHERE name = 'sneaky'",
}


@pytest.mark.parametrize("how", DISGUISES)
def test_a_trigger_in_disguise_is_noticed_by_sqlite_itself(path: Path, how: str) -> None:
    with closing(raw(path)) as connection:
        connection.executescript(SNEAKY + DISGUISES[how])
    with pytest.raises(IntegrityError):
        SqliteStore.open(path, create=False, read_only=True)


def test_aux_tables_and_sqlites_own_are_nobodys_business(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.executescript(
            "CREATE TABLE aux_leases (run_no INTEGER PRIMARY KEY AUTOINCREMENT, held_by TEXT UNIQUE);"
            "CREATE INDEX leases_by_holder ON aux_leases (held_by);"
            "CREATE TRIGGER leases AFTER INSERT ON aux_leases BEGIN SELECT 1; END;"
            "INSERT INTO aux_leases VALUES (1, 'me'); ANALYZE"
        )
    with SqliteStore.open(path, create=False) as store:
        assert store.size(1) == 3


@pytest.mark.parametrize("create", [False, True])
def test_paths_that_look_like_uris_are_paths(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "a?mode=memory#b%20 ü.db"
    SqliteStore.open(path, create=True).close()
    with SqliteStore.open(str(path), create=create) as store:
        store.open_run(run_row(), lines(1, 1))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


# ---- reading only -----------------------------------------------------------------------------------------


def test_a_reader_reads_and_cannot_write(path: Path) -> None:
    with SqliteStore.open(path, create=False, read_only=True) as store:
        assert store.size(2) == 3
        with pytest.raises(DiskError, match="readonly"):
            store.append(2, lines(4, 4))


def test_a_reader_sees_what_a_writer_has_committed_meanwhile(path: Path) -> None:
    with (
        SqliteStore.open(path, create=False, read_only=True) as reader,
        SqliteStore.open(path, create=False) as writer,
    ):
        writer.append(2, lines(4, 5))
        assert list(reader.entries(2)) == lines(1, 5)


READ_AS_NOBODY = """
import os, sys
from ledger.errors import LedgerError
from ledger.log.sqlite_store import SqliteStore
os.setgid(65534); os.setuid(65534)  # after the imports: nobody may read our modules
try:
    with SqliteStore.open(sys.argv[1], create=False, read_only=True) as store:
        print(store.size(2))
except LedgerError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_ledger_in_a_folder_that_cannot_be_written_to_is_read() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "ledger.db")
        with SqliteStore.open(path, create=True) as writer:
            writer.open_run(run_row("run_1"), lines(1, 1))
            writer.open_run(run_row("run_2"), lines(1, 3))
        path.parent.chmod(0o755)
        path.chmod(0o444)
        assert run_script(READ_AS_NOBODY, str(path)) == "3\n"
        with SqliteStore.open(path, create=False) as writer:
            writer.append(2, lines(4, 4))
            Path(f"{path}-shm").chmod(0o600)
            assert run_script(READ_AS_NOBODY, str(path)).startswith("DiskError")


# ---- the world --------------------------------------------------------------------------------------------


def test_a_ledger_that_is_held_too_long_is_busy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "BUSY_SECONDS", 0.05)
    with SqliteStore.open(path, create=False) as store, closing(raw(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="locked"):
            store.append(2, lines(4, 4))
        other.execute("ROLLBACK")
        store.append(2, lines(4, 4))


def test_a_full_disk_is_said_and_leaves_whole_batches(path: Path) -> None:
    connection = connecting.connect(path, create=False, read_only=False)
    with SqliteStore(connection, str(path)) as store:
        connection.execute("PRAGMA max_page_count = 40")
        with pytest.raises(DiskError, match="full"):
            store.append(2, [line(seq, b"x" * 10_000) for seq in range(4, 200)])
        assert store.size(2) == 3
        connection.execute("PRAGMA max_page_count = 4000")
        store.append(2, lines(4, 4))


def test_a_damaged_file_is_said(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * (size - 8192))
    with (
        pytest.raises(IntegrityError, match="sound SQLite file"),
        SqliteStore.open(path, create=False) as store,
    ):
        list(store.entries(1))


def test_a_second_writer_on_a_run_is_told_what_it_missed(path: Path) -> None:
    with SqliteStore.open(path, create=False) as one, SqliteStore.open(path, create=False) as two:
        one.append(2, lines(4, 6))
        with pytest.raises(SequenceConflict, match="expected to append entry 4, found that the next is 7"):
            two.append(2, lines(4, 5))
        two.append(2, lines(7, 7))
        one.append(2, lines(8, 8))
        assert_run_holds(one, 2, 8)


def assert_run_holds(store: SqliteStore, run_no: int, size: int) -> None:
    """Hold a run's entries against their numbers, and its last head against the leaves."""
    found = list(store.entries(run_no, salts=True))
    assert [entry.seq for entry in found] == list(range(1, size + 1))
    leaves = [leaf_hash(e.salt or b"", e.origin, e.session, e.at, e.body or b"") for e in found]
    *_, head = store.heads(run_no)
    assert head.size == size
    assert root(head.peaks, size) == root(append_leaves(b"", 0, leaves), size)


# ---- several processes ------------------------------------------------------------------------------------

APPEND = """
import sys, time
from ledger.core.entries import Entry
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import RunRow
path, run_id, start, batches = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
batch = lambda n: [Entry(n * 50 + i, n, "program", "", "", "", b"%d" % i) for i in range(1, 51)]
while time.time() < start:
    pass
with SqliteStore.open(path, create=True) as store:
    run = store.open_run(RunRow(run_id=run_id, dialect="", program="", namespace="", trigger="", via="tapped",
                                opened_at=0), batch(0))
    print("opened", flush=True)
    for n in range(1, batches):
        store.append(run.run_no, batch(n))
"""


def spawn(script: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", script, *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run_script(script: str, *arguments: str) -> str:
    out, err = spawn(script, *arguments).communicate(timeout=60)
    assert err == ""
    return out


@pytest.mark.parametrize("attempt", range(3))
def test_processes_that_create_one_ledger_at_once_lose_nothing(tmp_path: Path, attempt: int) -> None:
    path, start = tmp_path / "ledger.db", str(time.time() + 0.6)
    processes = [spawn(APPEND, str(path), f"run_{n}", start, "40") for n in range(4)]
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (out, err, process.returncode) == ("opened\n", "", 0)
    with SqliteStore.open(path, create=False) as store:
        assert sorted(run.run_id for run in store.runs()) == [f"run_{n}" for n in range(4)]
        for run_no in range(1, 5):
            assert_run_holds(store, run_no, 2_000)
    with closing(raw(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1])
def test_a_writer_that_is_killed_leaves_whole_batches(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "ledger.db"
    process = spawn(APPEND, str(path), "run_1", "0", "1000000")
    assert process.stdout is not None
    assert process.stdout.readline() == "opened\n"
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    with SqliteStore.open(path, create=False) as store:
        size = store.size(1)
        assert size % 50 == 0
        assert_run_holds(store, 1, size)
        store.append(1, lines(size + 1, size + 3))
        assert_run_holds(store, 1, size + 3)


# ---- the view for people ----------------------------------------------------------------------------------

BODIES: dict[bytes, str] = {
    b'{"type":"RECORD"}': '{"type":"RECORD"}',
    "é€😀\U0010ffff".encode(): "é€😀\U0010ffff",
    b"": "",
    b"\t\x7f\r": "\t\x7f\r",
    b"a\x00b": "610062",
    b"\xff": "FF",
    b"\xc3": "C3",
    b"\x80a": "8061",
    b"\xc0\x80": "C080",
    b"\xe0\x9f\xbf": "E09FBF",
    b"\xed\xa0\x80": "EDA080",
    b"\xf0\x8f\xbf\xbf": "F08FBFBF",
    b"\xf4\x90\x80\x80": "F4908080",
    b"\xc3\xa9\xa9": "C3A9A9",
}


def test_messages_shows_text_where_it_is_text_and_hex_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(seq, body) for seq, body in enumerate(BODIES, 1)])
    with closing(raw(path)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        found = connection.execute("SELECT seq, body, typeof(body) FROM messages").fetchall()
    assert found == [(seq, text, "text") for seq, text in enumerate(BODIES.values(), 1)]


def test_messages_gives_up_on_bodies_that_are_too_long_to_prove(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    bodies = [b"x" * 100_000, "é".encode() * 30_000, "é".encode() * 40_000]
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(seq, body) for seq, body in enumerate(bodies, 1)])
    with closing(raw(path)) as connection:
        found = [row[0] for row in connection.execute("SELECT body FROM messages")]
    assert found == [bodies[0].decode(), bodies[1].decode(), bodies[2].hex().upper()]


def test_messages_shows_time_and_place(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.row_factory = sqlite3.Row
        first, _, erased = connection.execute("SELECT * FROM messages WHERE run_id = 'run_1'").fetchall()
    assert dict(first) == {
        "run_id": "run_1",
        "seq": 1,
        "time": "1970-01-01T00:00:00.001001Z",
        "origin": "observer",
        "session": "",
        "type": "RUN_OPENED",
        "stream": "",
        "body": '{"n":1}',
    }
    assert (erased["seq"], erased["type"], erased["body"]) == (3, "RECORD", None)


@pytest.mark.parametrize(
    ("at", "time"),
    [
        (0, None),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (1_796_000_000_123_456, "2026-11-30T00:53:20.123456Z"),
        (2**62, str(2**62)),
    ],
)
def test_messages_writes_times_as_people_do(tmp_path: Path, at: int, time: str | None) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(1, at=at)])
    with closing(raw(path)) as connection:
        assert connection.execute("SELECT time FROM messages").fetchone() == (time,)


def test_finding_one_runs_messages_reads_no_other_run(path: Path) -> None:
    with closing(raw(path)) as connection:
        plan = connection.execute("EXPLAIN QUERY PLAN SELECT * FROM messages WHERE run_id = 'x'").fetchall()
    assert any("SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in row[3] for row in plan)


def test_rows_that_no_head_covers_are_no_part_of_a_run(path: Path) -> None:
    with closing(raw(path)) as outside, outside:
        outside.execute(
            "INSERT INTO entries VALUES (?, 0, 'observer', '', 'CANCEL_REQUESTED', '', ?, ?)",
            (RUN_1 | 7, bytes(16), b"{}"),
        )
    with SqliteStore.open(path, create=False) as store:
        assert [entry.seq for entry in store.entries(1)] == list(range(1, store.size(1) + 1))
        assert list(store.observations("CANCEL_REQUESTED")) == []
