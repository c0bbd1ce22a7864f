"""A copy of a ledger: whole or not there, made beside writers, and nothing but the ledger in it."""

import os
import resource
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from ledger.errors import BusyError, DiskError, NotFoundError, UsageError
from ledger.log import backup
from ledger.log.backup import back_up
from ledger.log.schema import APPLICATION_ID, FORMAT
from ledger.log.sqlite_store import SqliteStore
from tests.log.damages import open_run, opened
from tests.log.writers import Writer, assert_holds, records, spawn


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of two runs, 1.4 MB, closed."""
    path = tmp_path_factory.mktemp("made") / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        for name in ("run_1", "run_2"):
            run_no = open_run(store, opened(name, None), *records(2, 1000))
            for first in range(1001, 8001, 1000):
                store.append(run_no, records(first, first + 999))
    return path


@pytest.fixture
def ledger(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copyfile(made, tmp_path / "ledger.db"))


def beside(path: Path) -> set[str]:
    return {entry.name for entry in path.parent.iterdir()}


def test_a_copy_is_the_ledger_in_one_file(ledger: Path, tmp_path: Path) -> None:
    made = back_up(ledger, tmp_path / "copies.db")
    copy = tmp_path / "copies.db"
    assert (made.path, made.runs, made.entries, made.bytes) == (str(copy), 2, 16_000, copy.stat().st_size)
    alone = {"ledger.db", "ledger.db-wal", "ledger.db-shm", "copies.db"}
    assert beside(ledger) <= alone
    assert_holds(copy)
    with SqliteStore.open(copy, create=False, read_only=True) as reader:
        assert beside(copy) <= {"ledger.db", "ledger.db-wal", "ledger.db-shm", "copies.db"}, (
            "no -wal is needed"
        )
        assert reader.size(2) == 8_000
    with closing(sqlite3.connect(copy)) as ours, closing(sqlite3.connect(ledger)) as theirs:
        for name in ("application_id", "user_version", "page_size", "page_count", "auto_vacuum", "encoding"):
            pragma = f"PRAGMA {name}"
            assert ours.execute(pragma).fetchone() == theirs.execute(pragma).fetchone()
        assert ours.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert ours.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        assert list(ours.iterdump()) == list(theirs.iterdump())
    assert copy.stat().st_mode == ledger.stat().st_mode


def test_a_copy_goes_on_as_a_ledger(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    back_up(ledger, copy)
    with SqliteStore.open(copy, create=False) as store:
        store.append(1, records(8001, 8100))
    assert_holds(copy)


def test_a_copy_begins_once_however_much_is_written_meanwhile(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "PAGES_A_STEP", 1)
    left: list[int] = []
    with Writer(ledger, "run_3") as writer:

        def slowly(done: int, total: int) -> None:
            left.append(total - done)
            assert left == sorted(left, reverse=True), "the copy began anew"
            if len(left) % 10 == 0:
                writer.wait_for_more()

        made = back_up(ledger, tmp_path / "copy.db", progress=slowly)
        writer.wait_for_more()
    assert len(left) > 100
    assert_holds(tmp_path / "copy.db")
    with SqliteStore.open(ledger, create=False, read_only=True) as store:
        assert store.size(3) > made.entries - 16_000 >= 0


def test_no_byte_that_was_erased_is_in_a_copy(ledger: Path, tmp_path: Path) -> None:
    secret = b"owner@example.test said this"
    with SqliteStore.open(ledger, create=False) as store:
        store.append(1, [msgspec.structs.replace(*records(8001, 8001), body=secret)])
    assert secret in ledger.read_bytes()
    with SqliteStore.open(ledger, create=False) as store:
        store._connection.execute("INSERT INTO erasures VALUES (1 << 32 | 8001, zeroblob(32), '{}')")
        back_up(ledger, tmp_path / "copy.db")
    assert secret not in (tmp_path / "copy.db").read_bytes()


# ---- what is in the way ------------------------------------------------------------------------------------


def test_what_is_there_is_kept_unless_it_is_to_be_replaced(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    back_up(ledger, copy)
    before = copy.read_bytes()
    with SqliteStore.open(ledger, create=False) as store:
        store.append(2, records(8001, 8002))
    with pytest.raises(UsageError, match="is there already"):
        back_up(ledger, copy)
    assert copy.read_bytes() == before
    assert back_up(ledger, copy, force=True).entries == 16_002
    assert_holds(copy)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("force", [False, True])
def test_only_a_copy_is_ever_replaced(ledger: Path, tmp_path: Path, force: bool) -> None:
    os.symlink(ledger, tmp_path / "link.db")
    os.symlink("nowhere", tmp_path / "dangling.db")
    os.symlink("loop.db", tmp_path / "loop.db")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "empty.db").touch()
    whole = ledger.read_bytes()
    for name in ("ledger.db", "link.db", "dangling.db", "loop.db", "fifo", "folder", "notes.txt", "empty.db"):
        with pytest.raises(UsageError, match=name):
            back_up(ledger, tmp_path / name, force=force)
    assert ledger.read_bytes() == whole
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_nothing_that_was_left_by_another_ledger_gets_into_a_copy(
    ledger: Path, tmp_path: Path, suffix: str
) -> None:
    (tmp_path / f"copy.db{suffix}").write_bytes(b"what a killed writer left")
    with pytest.raises(UsageError, match=f"copy.db{suffix}"):
        back_up(ledger, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_copy_that_somebody_uses_is_not_replaced(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    back_up(ledger, copy)
    with SqliteStore.open(copy, create=False) as user:
        user.append(1, records(8001, 8002))
        with pytest.raises(BusyError, match="found it open"):
            back_up(ledger, copy, force=True)
        user.append(1, records(8003, 8004))
    assert_holds(copy)
    assert back_up(ledger, copy, force=True).entries == 16_000


def test_a_copy_that_was_left_with_its_wal_is_replaced_with_it(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    back_up(ledger, copy)
    with Writer(copy, "run_3") as writer:
        writer.wait_for_more()
        writer.kill()
    assert (tmp_path / "copy.db-wal").stat().st_size
    assert back_up(ledger, copy, force=True).entries == 16_000
    assert_holds(copy)
    assert not (tmp_path / "copy.db-wal").exists()


def test_a_broken_copy_is_replaced(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    back_up(ledger, copy)
    copy.write_bytes(copy.read_bytes()[:5000])
    back_up(ledger, copy, force=True)
    assert_holds(copy)


# ---- disks -------------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_said(ledger: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="expected a folder"):
        back_up(ledger, tmp_path / "nowhere" / "copy.db")
    with pytest.raises(NotFoundError, match="no such file"):
        back_up(tmp_path / "nothing.db", tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_disk_without_room_is_said_before_anything_is_written(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000}))
    with pytest.raises(DiskError, match=r"bytes of free space, found 1,000; free some"):
        back_up(ledger, tmp_path / "copy.db")
    assert not [name for name in beside(ledger) if "copy" in name]


def test_a_disk_that_fills_up_meanwhile_leaves_nothing(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    unheard = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, limits[1]))
        with pytest.raises(DiskError, match=r"copy\.db: the file system refused"):
            back_up(ledger, copy)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, unheard)
    assert not [name for name in beside(ledger) if "copy" in name]
    back_up(ledger, copy)
    assert_holds(copy)


@pytest.mark.parametrize("wait", [0.0, 0.002, 0.01, 0.02, 0.05])
def test_a_backup_that_is_killed_leaves_no_half_copy(ledger: Path, tmp_path: Path, wait: float) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    script = (
        "import sys; from pathlib import Path; from ledger.log import backup;"
        "backup.PAGES_A_STEP = 1; print('ready', flush=True);"
        "backup.back_up(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    with spawn(script, ledger, folder / "copy.db") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(wait)
        process.kill()
    if (folder / "copy.db").exists():
        assert_holds(folder / "copy.db")
    else:
        back_up(ledger, folder / "copy.db")
    assert_holds(ledger)
