"""Waiting for the write lock, and how long the WAL gets while others read."""

import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ledger.log import transactions
from ledger.log.sqlite_store import SqliteStore
from tests.log.scripted import line, run_row

LIMIT = 256 * 1024
BATCH_BYTES = 64 * 1024


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with one entry, whose WAL is soon too long."""
    monkeypatch.setattr(transactions, "WAL_BYTES", LIMIT)
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), [line(1)])
    return path


def wal_bytes(path: Path) -> int:
    return Path(f"{path}-wal").stat().st_size


def append(store: SqliteStore, batches: int) -> int:
    """Append batches, and return the length that the WAL had at its longest."""
    longest = 0
    for _ in range(batches):
        store.append(1, [line(store.size(1) + 1, b"x" * BATCH_BYTES)])
        longest = max(longest, wal_bytes(Path(store._path)))
    return longest


@contextmanager
def outside_reader(path: Path) -> Iterator[None]:
    """Somebody else who reads in one long transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM entries").fetchone()
        yield


def test_the_wal_is_emptied_whenever_it_has_grown_long(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        assert LIMIT < append(store, 60) + 2 * BATCH_BYTES < 3 * LIMIT


def test_a_reader_of_ours_that_stays_open_does_not_hold_it_back(path: Path) -> None:
    with (
        SqliteStore.open(path, create=False) as store,
        SqliteStore.open(path, create=False, read_only=True) as reader,
    ):
        append(store, 4)
        entries = reader.entries(1)
        next(entries)
        assert append(store, 60) < 3 * LIMIT


def test_a_reader_of_somebody_elses_holds_it_back_until_it_is_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_CHECKPOINT_SECONDS", 0.01)
    with SqliteStore.open(path, create=False) as store:
        append(store, 1)
        with outside_reader(path):
            append(store, 60)
            assert wal_bytes(path) > 60 * BATCH_BYTES
        append(store, 40)
        assert wal_bytes(path) < 3 * LIMIT


def test_the_wal_of_a_ledger_behind_a_link_is_found(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with SqliteStore.open(link, create=False) as store:
        for _ in range(60):
            store.append(1, [line(store.size(1) + 1, b"x" * BATCH_BYTES)])
        assert wal_bytes(path) < 3 * LIMIT


def test_whoever_waits_for_the_write_lock_can_be_interrupted(path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with SqliteStore.open(path, create=False) as store, closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            begun = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                store.append(1, [line(2)])
            assert time.monotonic() - begun < transactions.BUSY_SECONDS / 2
            other.rollback()
            store.append(1, [line(2)])
    finally:
        signal.signal(signal.SIGALRM, before)


FOREVER = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_statement_that_takes_long_can_be_interrupted(path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                transactions.until_free(connection, 0.0, FOREVER)
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        signal.signal(signal.SIGALRM, before)
