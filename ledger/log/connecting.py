"""From a path to a connection on a ledger of format 1, or to a clear refusal.

Invariants: a file that is no ledger is never written to; a new file becomes a ledger in one transaction, so
that two processes that create it at once end with one ledger and both of them with a connection to it.
"""

import os
import sqlite3
import stat
import time
from pathlib import Path

from ledger.errors import DiskError, FormatError, InputError, IntegrityError, NotFoundError, UnavailableError
from ledger.log import transactions
from ledger.log.schema import create_schema, is_empty
from ledger.log.schema_check import SchemaFault, check_schema, inspect_schema
from ledger.log.sqlite_errors import primary_code, translated

_RETRY_SECONDS = 0.01
SQLITE_NEEDED = (3, 37)
_PAGE_BYTES = 8192
"""Twice SQLite's default: appends cost 6% less, and fewer lines need overflow pages."""

# The writer's make SQLite read the file, which a reader may need a second way of opening for.
# secure_delete: what is erased is overwritten, not only unlinked. wal_autocheckpoint: see transactions.
_PRAGMAS = ("trusted_schema = OFF", "foreign_keys = ON")
_WRITER_PRAGMAS = ("synchronous = FULL", "secure_delete = ON", "wal_autocheckpoint = 0")

# Why SQLite cannot put its -shm, the index of the write-ahead log, beside a ledger: not let, or no room.
_NO_INDEX = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)
_NO_ROOM = (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMMAP)


def connect(path: Path, *, create: bool, read_only: bool) -> sqlite3.Connection:
    """Open a ledger.

    Args:
        path: the file.
        create: make the file, or make a ledger of an empty one, where there is none.
        read_only: open it in a way that cannot write, also from a place that cannot be written to.

    Raises:
        NotFoundError: there is no such file, and it was not to be created.
        FormatError: the file is no ledger of this format.
        IntegrityError: its schema was changed.
        UnavailableError: the SQLite of this Python is too old.
        BusyError, DiskError: as they say.
    """
    _look_at(path, create=create and not read_only)
    name = str(path)
    with translated(name):
        connection = _open(path, "ro" if read_only else "rwc" if create else "rw")
        try:
            if read_only:
                connection = _readable(connection, path)
            _prepare(connection, name, create=create, read_only=read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_to_inspect(path: Path) -> tuple[sqlite3.Connection, list[SchemaFault], list[SchemaFault]]:
    """Open a ledger for reading, also one whose schema was changed.

    Returns:
        The connection, what is wrong with the header of the file, and what with its schema.

    Raises:
        NotFoundError, FormatError, UnavailableError, BusyError, DiskError: as for :func:`connect`.
        IntegrityError: SQLite cannot read the file at all.
    """
    _look_at(path, create=False)
    name = str(path)
    with translated(name):
        connection = _open(path, "ro")
        try:
            connection = _readable(connection, path)
            if is_empty(connection):
                raise _not_a_ledger(name)
            return connection, *inspect_schema(connection, name)
        except BaseException:
            connection.close()
            raise


def _look_at(path: Path, *, create: bool) -> None:
    """Refuse what SQLite would refuse less clearly, and a SQLite that is too old."""
    if sqlite3.sqlite_version_info < SQLITE_NEEDED:
        raise UnavailableError(
            f"expected SQLite 3.37 or newer, for STRICT tables, found {sqlite3.sqlite_version}; "
            "use a newer Python"
        )
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if not create:
            raise NotFoundError(
                f"expected a ledger at {path}, found no such file; name another, or import a run"
            ) from None
        if not path.absolute().parent.is_dir():
            raise NotFoundError(f"expected a folder for {path}, found none; make it first") from None
    except OSError as error:
        raise DiskError(f"{path}: the file system refused: {error.strerror}; check the path") from None
    else:
        if not stat.S_ISREG(found.st_mode):
            what = "a folder" if stat.S_ISDIR(found.st_mode) else "something else"
            raise InputError(f"expected a file at {path}, found {what}; name a file")
        if found.st_size == 1:  # SQLite takes it for an empty file
            raise FormatError(f"{path}: expected a ledger, found a file of one byte; name another")


def _open(path: Path, mode: str, *, immutable: bool = False) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}" + ("&immutable=1" if immutable else "")
    connection = sqlite3.connect(uri, uri=True, timeout=transactions.BUSY_SECONDS, isolation_level=None)
    try:
        for pragma in _PRAGMAS if mode == "ro" else _PRAGMAS + _WRITER_PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _readable(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Return a connection that can read, also where SQLite cannot put its -shm beside the file.

    Reading past the WAL is right only where there is none to read: nobody is writing, and nobody was killed
    while writing.
    """
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        if primary_code(error) not in _NO_INDEX and error.sqlite_errorcode not in _NO_ROOM:
            raise
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK:
            raise UnavailableError(
                f"{path}: expected a whole ledger, found that a process was stopped while it made one; "
                "import a run, which clears that up"
            ) from error
        wal = transactions.wal_of(path)
        if transactions.wal_bytes(wal):
            raise DiskError(
                f"{path}: expected to read {wal.name} beside it, found a folder that SQLite "
                "cannot write to, or a full disk; make room, or copy both files to another folder"
            ) from error
        connection.close()
        return _open(path, "ro", immutable=True)
    return connection


def _prepare(connection: sqlite3.Connection, name: str, *, create: bool, read_only: bool) -> None:
    if is_empty(connection):
        if read_only or not create:
            raise _not_a_ledger(name)
        _create(connection)
    check_schema(connection, name)
    _check_whole(connection, Path(name))
    if not read_only:
        _enable_wal(connection, name)


def _not_a_ledger(name: str) -> FormatError:
    return FormatError(f"{name}: expected a ledger, found an empty file; name another, or import a run")


def _check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that ends within a page, which SQLite notices only where it reads that page.

    Raises:
        IntegrityError: it was cut off.
    """
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    for _ in range(2):  # a checkpoint may just be writing
        if path.stat().st_size % page == 0 or transactions.wal_bytes(transactions.wal_of(path)):
            return
        time.sleep(_RETRY_SECONDS)
    raise IntegrityError(
        f"{path}: expected pages of {page} bytes, found that the file was cut off within one; "
        "go back to a good copy"
    )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    with transactions.write_transaction(connection):
        if is_empty(connection):
            create_schema(connection)


def _enable_wal(connection: sqlite3.Connection, name: str) -> None:
    """Switch to the write-ahead log; SQLite does not wait for others here, so we do."""
    rows = transactions.until_free(connection, transactions.BUSY_SECONDS, "PRAGMA journal_mode = WAL")
    mode = rows[0][0]
    if mode != "wal":
        raise DiskError(
            f"{name}: expected SQLite's write-ahead log to work here, found that it stays in mode "
            f"{mode!r}; move the ledger to a local disk"
        )
