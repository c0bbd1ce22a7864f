"""What an erasure leaves behind in the files is found; the file is written anew only where there is any."""

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ledger.errors import BusyError
from ledger.log import remains
from ledger.log.sqlite_store import SqliteStore
from tests.log.scripted import line, run_row
from tests.log.test_scrubbing import account, erase_some, found_in_files, grown, secret

ROOT = Path(__file__).parents[2]


def looked(path: Path) -> bool:
    return remains.has_remains(remains._descriptor(path))


def emptied(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_what_sqlite_leaves_behind_is_what_we_look_for(tmp_path: Path) -> None:
    """Were this to fail, SQLite would have become cleaner, and the file need not be written anew."""
    path = tmp_path / "ledger.db"
    dice = random.Random(1)
    with SqliteStore.open(path, create=True) as store:
        gone = erase_some(store, grown(store, dice, runs=30, batches=250), dice)
        emptied(path)
        assert gone & found_in_files(tmp_path)
        assert looked(path)
        store.scrub()
        assert not gone & found_in_files(tmp_path)
        assert not looked(path)


@pytest.mark.parametrize(("size", "is_anew"), [(250, False), (7_000, True)])
def test_the_file_is_written_anew_only_where_something_is_left(
    tmp_path: Path, size: int, is_anew: bool
) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(1), *(line(seq, secret(1, seq, size)) for seq in range(2, 400))])
        store.erase(1, [5], account(400, [5]))
        statements: list[str] = []
        store._connection.set_trace_callback(statements.append)
        store.scrub()
        assert ("VACUUM" in statements) == is_anew
        assert not looked(path)
        assert found_in_files(tmp_path) == {(1, seq) for seq in range(2, 400) if seq != 5}
        assert (tmp_path / "ledger.db-wal").stat().st_size == 0


@pytest.mark.parametrize("where", ["nowhere", "a gap", "a free block", "a free page", "a broken page"])
def test_bytes_are_found_wherever_a_file_holds_nothing(tmp_path: Path, where: str) -> None:
    path = tmp_path / "plain.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 4096")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, b"y" * 300) for n in range(9)])
        connection.execute("INSERT INTO t VALUES (50, zeroblob(30000))")
        connection.execute("DELETE FROM t WHERE id IN (2, 50)")
        if where == "a free block":
            connection.execute("PRAGMA secure_delete = OFF")
            connection.execute("DELETE FROM t WHERE id = 4")
    content = bytearray(path.read_bytes())
    assert int.from_bytes(content[36:40], "big") > 2
    leaf = content.index(b"y" * 300) // 4096 * 4096
    if where == "a gap":
        content[leaf + 200] = 1
    elif where == "a broken page":
        content[leaf + 5 : leaf + 7] = b"\xff\xff"
    elif where == "a free page":
        content[-1] = 1
    path.write_bytes(content)
    file = os.open(path, os.O_RDONLY)
    try:
        assert remains.has_remains(file) == (where != "nowhere")
    finally:
        os.close(file)


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    assert not looked(tmp_path / "empty.db")


# ---- others at work, and bad moments ----------------------------------------------------------------------


def test_a_writer_that_stays_is_waited_for_and_then_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.log.transactions.BUSY_SECONDS", 0.1)
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(1), line(2, secret(1, 2, 100))])
        store.erase(1, [2], account(3, [2]))
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            with pytest.raises(BusyError, match="erase --finish"):
                store.scrub()
        store.scrub()
        assert not found_in_files(tmp_path)


def test_who_has_the_ledger_open_reads_and_writes_on_after_the_file_was_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        sizes = grown(store, random.Random(3))
        with SqliteStore.open(path, create=False) as other:
            before = list(other.entries(2))
            store.erase(1, [2], account(sizes[1] + 1, [2]))
            store.scrub()
            assert list(other.entries(2)) == before
            other.append(2, [line(sizes[2] + 1)])
        assert store.size(2) == sizes[2] + 1
    with closing(sqlite3.connect(path)) as outside:
        assert outside.execute("PRAGMA integrity_check").fetchone() == ("ok",)


READ_AND_LEFT = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT * FROM runs").fetchall()
connection.close()
"""


def test_locks_of_the_process_hold_after_the_file_was_looked_through(tmp_path: Path) -> None:
    """Closing a descriptor of the file would let go of them, and the WAL be taken away under the store."""
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(1), line(2)])
        store.erase(1, [2], account(3, [2]))
        store.scrub()
        store.append(1, [line(4)])
        subprocess.run([sys.executable, "-c", READ_AND_LEFT, path], check=True, timeout=60)
        assert (tmp_path / "ledger.db-wal").exists()


KILLED = """
import os, signal, sys
from ledger.log.sqlite_store import SqliteStore
from tests.log.test_scrubbing import account
store = SqliteStore.open(sys.argv[1], create=False)
store.erase(1, [2, 3], account(store.size(1) + 1, [2, 3]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_kill_between_erasing_and_scrubbing_a_scrubbing_finishes(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        said = [line(2, secret(1, 2, 100)), line(3, secret(1, 3, 100_000)), line(4, b"{}")]
        store.open_run(run_row(), [line(1), *said])
    done = subprocess.run([sys.executable, "-c", KILLED, path], cwd=ROOT, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert found_in_files(tmp_path) == {(1, 2), (1, 3)}
    with SqliteStore.open(path, create=False) as store:
        assert [entry.body for entry in store.entries(1)][1:3] == [None, None]
        store.scrub()
        assert not found_in_files(tmp_path)


CRAMPED = """
import sys
from ledger.errors import DiskError
from ledger.log.sqlite_store import SqliteStore
with SqliteStore.open(sys.argv[1], create=False) as store:
    try:
        store.scrub()
    except DiskError as error:
        print(error)
"""


def test_no_room_to_write_the_file_anew_is_told_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    dice = random.Random(1)
    with SqliteStore.open(path, create=True) as store:
        sizes = grown(store, dice)
        gone = erase_some(store, sizes, dice)

    def cramp() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-c", CRAMPED, path],
        cwd=ROOT,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
        preexec_fn=cramp,
    )
    assert "make room" in done.stdout
    assert "erase --finish" in done.stdout
    with SqliteStore.open(path, create=False) as store:
        store.scrub()
        assert [store.size(number) for number in sizes] == [
            size + any(run_no == number for run_no, _ in gone) for number, size in sizes.items()
        ]
    assert not gone & found_in_files(tmp_path)


# ---- caches -----------------------------------------------------------------------------------------------


def test_what_was_cached_of_the_run_is_dropped_and_of_others_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        for run_id in ("a", "b"):
            store.open_run(run_row(run_id), [line(1), line(2)])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("CREATE TABLE aux_cached_decisions (run_no INTEGER, body BLOB)")
            other.execute('CREATE TABLE "aux_cached_""odd" (body BLOB)')
            other.execute("CREATE TABLE aux_leases (run_no INTEGER)")
            for table in ("aux_cached_decisions", "aux_leases"):
                other.executemany(f"INSERT INTO {table} (run_no) VALUES (?)", [(1,), (2,)])
            other.execute('INSERT INTO "aux_cached_""odd" VALUES (1)')
            store.erase(1, [2], account(3, [2]))
            assert other.execute("SELECT run_no FROM aux_cached_decisions").fetchall() == [(2,)]
            assert other.execute('SELECT count(*) FROM "aux_cached_""odd"').fetchone() == (0,)
            assert other.execute("SELECT count(*) FROM aux_leases").fetchone() == (2,)
