"""Write transactions that wait their turn, and the write-ahead log (WAL) kept short.

SQLite's own ways are not used for two things. *Waiting*: its busy handler sleeps inside C, so that nothing
can interrupt it, and longer each time, so that who has waited longest is the least likely to be next.
*Checkpoints*: the automatic one runs without the write lock, beside other writers; SQLite before 3.51.3
(3.50.7, 3.44.6) can then, very rarely, damage the file ("WAL-reset bug"). Ours holds the write lock.

Invariant: a transaction is committed whole or leaves nothing.
"""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ledger.log.sqlite_errors import primary_code

BUSY_SECONDS = 30.0
"""How long whoever needs the ledger waits for those who hold it."""

WAL_BYTES = 32 * 1024 * 1024
"""The length of the WAL from which a writer copies it into the main file and empties it."""

_LONGEST_NAP = 0.01
_ANOTHER_IS_AT_IT = -1
"""The number of frames that SQLite gives of a checkpoint which did not begin."""

_PAUSE = 0.05
"""How long a writer lets the one that is at it come to the write lock."""

_STEPS_DEAF = 10_000
"""Steps of SQLite's machine, some milliseconds, after which Python may look for signals."""

_CHECKPOINT_SECONDS = 0.5
"""How long a checkpoint waits, the write lock in hand, for readers of an older state of the ledger."""


@contextmanager
def write_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the write lock, waiting for it; commit in the end, and roll back whatever is raised.

    Raises:
        sqlite3.OperationalError: others held the ledger for longer than the busy time (SQLITE_BUSY), or the
            file system refused.
    """
    take_write_lock(connection, BUSY_SECONDS)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back already (a full disk does that).
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def take_write_lock(connection: sqlite3.Connection, seconds: float) -> None:
    """Begin a write transaction; every process that waits is as likely as any other to be next.

    Raises:
        sqlite3.OperationalError: others held it for longer than so many seconds (SQLITE_BUSY).
    """
    until_free(connection, seconds, "BEGIN IMMEDIATE")


def until_free(connection: sqlite3.Connection, seconds: float, statement: str) -> list[Any]:
    """Run a statement, again as long as others are in its way; return its rows.

    A checkpoint does not raise where others are in its way, but says so in its first column. A statement that
    takes long (VACUUM) is given up on a signal.

    Raises:
        KeyboardInterrupt: a signal whose handler raises came in the middle of it.
        sqlite3.OperationalError: they were for longer than so many seconds (SQLITE_BUSY), or it failed.
    """
    deadline = time.monotonic() + seconds
    is_checkpoint = statement.startswith("PRAGMA wal_checkpoint")
    with _waiting(connection, 0.0), _hearing_signals(connection):
        while True:
            try:
                rows = connection.execute(statement).fetchall()
                if is_checkpoint and rows[0][0]:
                    raise _busy("the write-ahead log is being read")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                    raise KeyboardInterrupt from error  # SQLite's binding lost what was raised
                if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(0, _LONGEST_NAP))
            else:
                return rows


def _busy(why: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(why)
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error


def wal_of(path: Path) -> Path:
    """Return where SQLite puts the WAL of a ledger: beside what a link points to."""
    return Path(f"{path.resolve()}-wal")


def wal_bytes(wal: Path) -> int:
    """Return how long a WAL is, 0 where there is none."""
    try:
        return wal.stat().st_size
    except OSError:
        return 0


class Wal:
    """The WAL beside a ledger, as one writer sees it.

    Whoever reads for long (another program, in a transaction of its own) holds the WAL back: it grows until
    the reader is done. Then a writer tries again only when it has grown by half, as trying stops the others.
    """

    def __init__(self, path: Path) -> None:
        self._file = wal_of(path)
        self._due = WAL_BYTES

    def shorten(self, connection: sqlite3.Connection) -> None:
        """Copy the WAL into the main file and empty it, where it has grown long and nobody reads from it.

        What is in the WAL is safe there: where this fails, the next writer tries again. Where another is at
        it, SQLite says so at once; that one needs the write lock, so this one leaves it alone for a while.
        """
        if wal_bytes(self._file) < self._due:
            return
        frames = 0
        try:
            with _waiting(connection, _CHECKPOINT_SECONDS):
                _, frames, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            pass  # a full disk, say: whoever appends is told
        if frames == _ANOTHER_IS_AT_IT:
            time.sleep(_PAUSE)
        else:
            self._due = max(WAL_BYTES, wal_bytes(self._file) * 3 // 2)


@contextmanager
def _hearing_signals(connection: sqlite3.Connection) -> Iterator[None]:
    """Let Python look for signals in the middle of a statement; a handler that raises ends it."""
    connection.set_progress_handler(lambda: 0, _STEPS_DEAF)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


@contextmanager
def _waiting(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Let SQLite's own waiting last so long, for a while."""
    connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
