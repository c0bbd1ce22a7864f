"""A diagnosis names what is wrong and what to do, and changes nothing."""

import os
import shutil
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from ledger.core.observations import RunClosed
from ledger.log.diagnosing import CHECKS, Check, diagnose, files, inside, machine
from ledger.log.sqlite_store import SqliteStore
from tests.log.damages import open_run, opened, seen
from tests.log.writers import Writer, records, spawn

NOW = 1_800_000_000_000_000

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")

_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
connection.execute("SELECT count(*) FROM runs").fetchone()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger of one run, closed."""
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        number = open_run(store, opened("run_1", None), *records(2, 10))
        store.append(number, [seen(11, RunClosed())])
    return path


def found(path: Path, *, now: int = NOW) -> dict[str, Check]:
    return {check.check: check for check in diagnose(path, now)}


def only_fault(path: Path, *, now: int = NOW) -> Check:
    """The one check that is not ok."""
    (fault,) = (check for check in diagnose(path, now) if check.state != "ok")
    assert fault.found
    assert fault.advice
    return fault


class Holder:
    """A program of somebody else's that holds a transaction."""

    def __init__(self, path: Path, begin: str) -> None:
        self._process = spawn(_HOLD, path, begin)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"held\n"
        self.pid = self._process.pid

    def __enter__(self) -> "Holder":
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.communicate()


def bytes_of(path: Path) -> dict[str, bytes]:
    """The contents of the ledger's files, save for the index of the WAL, which readers share."""
    names = [path, Path(f"{path}-wal")]
    return {name.name: name.read_bytes() for name in names if name.exists() and name.stat().st_size}


def test_a_sound_ledger_has_nothing_wrong(ledger: Path) -> None:
    before = bytes_of(ledger)
    checks = list(diagnose(ledger, NOW))
    assert [(check.state, check.status, check.advice) for check in checks] == [("ok", 0, "")] * len(checks)
    assert len(checks) == len(CHECKS) + 1
    assert bytes_of(ledger) == before


def test_every_check_is_told_once_by_its_name(ledger: Path) -> None:
    names = [check.check for check in diagnose(ledger, NOW)]
    assert len(set(names)) == len(names)


# ---- no ledger, and broken ones ----------------------------------------------------------------------------


def test_no_ledger_is_a_problem_and_none_is_made(tmp_path: Path) -> None:
    fault = only_fault(tmp_path / "nothing.db")
    assert (fault.check, fault.status) == ("ledger", 4)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_file_is_a_problem(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    os.symlink("loop", tmp_path / "loop")
    os.symlink("nowhere", tmp_path / "dangling")
    (tmp_path / "folder").mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        where = os.getcwd()
        os.chdir(tmp_path)  # the name of a socket may not be long
        try:
            listening.bind("socket")
        finally:
            os.chdir(where)
        status = {name: only_fault(tmp_path / name).status for name in os.listdir(tmp_path)}
    assert status == {"fifo": 3, "loop": 3, "folder": 3, "socket": 3, "dangling": 4}


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("PRAGMA user_version = 2", 5),
        ("PRAGMA application_id = 7", 6),
        ("DROP TRIGGER entries_once", 6),
        ("DROP VIEW messages; CREATE TABLE other (id)", 6),
    ],
)
def test_another_format_or_schema_is_a_problem(ledger: Path, sql: str, status: int) -> None:
    with closing(sqlite3.connect(ledger)) as connection:
        connection.executescript(sql)
        if status == 5:
            connection.executescript("DROP TRIGGER entries_once")
    faults = [check for check in diagnose(ledger, NOW) if check.state != "ok"]
    assert {(fault.check, fault.status) for fault in faults} == {("ledger", status)}


@pytest.mark.parametrize("body", [b"", b"no SQLite at all\n" * 50], ids=["empty", "text"])
def test_a_file_that_is_no_ledger_is_a_problem_and_stays_as_it_is(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "file.db"
    path.write_bytes(body)
    fault = only_fault(path)
    assert (fault.check, fault.status) == ("ledger", 5)
    assert path.read_bytes() == body


def test_a_ledger_that_is_cut_off_anywhere_is_a_problem(ledger: Path) -> None:
    whole = ledger.read_bytes()
    for length in (1, 15, 99, 100, 511, 4096, 8191, 8192, 8193, 20_000, len(whole) - 8192, len(whole) - 1):
        ledger.write_bytes(whole[:length])
        worst = max(check.status for check in diagnose(ledger, NOW))
        assert worst in (5, 6), f"cut off at {length}"


def test_pages_that_are_broken_are_a_problem(ledger: Path) -> None:
    body = bytearray(ledger.read_bytes())
    with closing(sqlite3.connect(ledger)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'entries_observed'"
        ).fetchone()
    body[(page - 1) * 8192 + 8 : page * 8192] = b"\xff" * (8192 - 8)
    ledger.write_bytes(body)
    assert found(ledger)["pages"].status == 6


def test_pages_of_a_large_ledger_are_left_to_verify(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "CHEAP_BYTES", 1000)
    assert "verify" in found(ledger)["pages"].found


# ---- other processes ---------------------------------------------------------------------------------------


def test_who_holds_the_write_lock_is_named(ledger: Path) -> None:
    with Holder(ledger, "BEGIN IMMEDIATE") as holder:
        checks = found(ledger)
    lock = checks["write lock"]
    assert (lock.state, lock.status) == ("problem", 5)
    if sys.platform == "linux":
        assert f"process {holder.pid} " in lock.found
        assert f"process {holder.pid} " in checks["in use"].found
    assert found(ledger)["write lock"].state == "ok"


def test_who_reads_in_one_long_transaction_is_named(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LONG_WAL", 100_000)
    with Holder(ledger, "BEGIN") as reader, Writer(ledger, "run_2") as writer:
        while Path(f"{ledger}-wal").stat().st_size < 200_000:
            writer.wait_for_more()
        wal = found(ledger)["write-ahead log"]
        assert (wal.state, wal.status) == ("note", 0)
        if sys.platform == "linux":
            assert f"process {reader.pid} " in wal.found
        assert "transaction" in wal.found + wal.advice


def test_what_a_killed_writer_left_is_told_and_left_as_it_is(ledger: Path) -> None:
    with Writer(ledger, "run_2") as writer:
        writer.wait_for_more()
        writer.kill()
    before = bytes_of(ledger)
    assert f"{ledger.name}-wal" in before
    checks = found(ledger)
    assert bytes_of(ledger) == before
    if sys.platform == "linux":
        assert checks["write-ahead log"].state == "note"
        assert "nothing is lost" in checks["write-ahead log"].advice
    assert "run_2" in checks["open runs"].found
    assert {check.status for check in checks.values()} == {0}


def test_a_journal_that_a_killed_writer_left_is_told(ledger: Path) -> None:
    Path(f"{ledger}-journal").write_bytes(b"\0" * 512)
    assert "killed" in found(ledger)["write-ahead log"].found


# ---- the disk and the machine ------------------------------------------------------------------------------


def test_a_disk_that_is_nearly_full_is_a_problem(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LITTLE_ROOM", 1 << 60)
    fault = only_fault(ledger)
    assert (fault.check, fault.status) == ("disk", 3)


def test_a_disk_without_room_for_a_copy_is_told(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WAL_BYTES", 1 << 60)
    fault = only_fault(ledger)
    assert (fault.check, fault.state) == ("disk", "note")


@pytest.mark.parametrize(
    ("kind", "state", "status"), [("nfs4", "problem", 3), ("9p", "problem", 3), ("tmpfs", "note", 0)]
)
def test_a_file_system_that_cannot_be_relied_on_is_told(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, state: str, status: int
) -> None:
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "mounts").write_text(f"root / ext4 rw 0 0\nplace {tmp_path} {kind} rw 0 0\nother /x xfs rw 0 0\n")
    real = machine.file_system
    monkeypatch.setattr(machine, "file_system", lambda path: real(path, proc))
    fault = only_fault(ledger)
    assert (fault.check, fault.state, fault.status) == ("file system", state, status)


def test_the_mount_that_holds_a_file_is_the_longest_and_the_last(tmp_path: Path) -> None:
    place = os.path.realpath(tmp_path)
    (tmp_path / "a b").mkdir()
    (tmp_path / "mounts").write_text(
        f"r / rootfs rw 0 0\nr / overlay rw 0 0\np {place} ext4 rw 0 0\nq {place}/a\\040b nfs rw 0 0\n"
        f"s {place}/a xfs rw 0 0\n"
    )
    assert machine.file_system(tmp_path / "ledger.db", tmp_path) == "ext4"
    assert machine.file_system(tmp_path / "a b" / "ledger.db", tmp_path) == "nfs"
    assert machine.file_system(Path("/nowhere"), tmp_path) == "overlay"


def test_a_system_that_tells_nothing_is_no_problem(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none = Path("/nowhere/proc")
    assert (machine.file_system(ledger, none), machine.users(ledger, none)) == (None, None)
    assert machine.locks(ledger, none) is None
    for name in ("file_system", "users", "locks"):
        monkeypatch.setattr(machine, name, lambda path: None)
    checks = found(ledger)
    assert {check.state for check in checks.values()} == {"ok"}
    assert "cannot be told" in checks["file system"].found


def test_a_ledger_that_everybody_may_change_is_told(ledger: Path) -> None:
    ledger.chmod(0o666)
    fault = only_fault(ledger)
    assert (fault.check, fault.state) == ("permissions", "note")


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder that can be read only, where the user is not one who may write everywhere."""
    with TemporaryDirectory() as name:
        yield Path(name)
        Path(name).chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_ledger_that_can_only_be_read_is_told(ledger: Path, read_only: Path) -> None:
    shutil.copyfile(ledger, read_only / "ledger.db")
    read_only.chmod(0o500)
    checks = found(read_only / "ledger.db")
    assert checks["permissions"].state == "note"
    assert "not tried" in checks["write lock"].found
    assert {check.status for check in checks.values()} == {0}


def test_a_clock_that_is_behind_the_log_is_told(ledger: Path) -> None:
    with SqliteStore.open(ledger, create=False) as store:
        number = open_run(store, opened("run_2", None), *records(2, 2))
        store.append(number, [msgspec.structs.replace(seen(3, RunClosed()), at=NOW)])
    assert only_fault(ledger, now=NOW - 3_600_000_000).check == "clock"
    assert found(ledger, now=NOW - 1_000_000)["clock"].state == "ok"


# ---- growth ------------------------------------------------------------------------------------------------


def test_growth_counts_runs_entries_and_bytes(ledger: Path) -> None:
    with SqliteStore.open(ledger, create=False) as store:
        open_run(store, opened("run_2", None), *records(2, 4))
    checks = found(ledger)
    assert checks["growth"].found.startswith("2 runs, 15 entries, ")
    assert checks["open runs"].state == "note"
    assert checks["open runs"].found == "1 run without RUN_CLOSED, the newest run_2"


def test_counting_that_takes_long_is_given_up(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "COUNT_SECONDS", -1.0)
    monkeypatch.setattr(inside, "_STEPS", 1)
    checks = found(ledger)
    assert checks["growth"].found.startswith("1 run, ")
    assert "entries" not in checks["growth"].found
    assert checks["open runs"].found == "not counted, as there are many runs"
    assert {check.state for check in checks.values()} == {"ok"}
