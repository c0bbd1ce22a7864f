"""A copy of a ledger, made while others write to it.

SQLite's online backup, page by page and inside one read transaction: the copy is the ledger as it was at one
moment, between two batches. Without the transaction the copy begins anew whenever somebody appends, and may
never end; with it nobody waits for anybody, and the write-ahead log grows for as long as the copying takes.

Invariants: under the name that was asked for there is a whole copy or what was there before, also after a
power cut; the copy is one file, with nothing beside it; a file that is no ledger is never replaced. Free
pages are copied as they are, and they are empty, as the log is opened with ``secure_delete``.
"""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from secrets import token_hex

import msgspec

from ledger.errors import BusyError, DiskError, NotFoundError, UsageError
from ledger.log.connecting import connect
from ledger.log.paging import TOTAL_ENTRIES
from ledger.log.schema import APPLICATION_ID
from ledger.log.schema_check import check_schema
from ledger.log.sqlite_errors import BUSY, primary_code, translated

PAGES_A_STEP = 1024
"""Copied before progress is told, and before an interrupt is heard."""

_ASIDE = ("-wal", "-journal")
_APPLICATION_ID_AT = 68

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are copied."""


class BackedUp(msgspec.Struct, frozen=True, kw_only=True):
    """What a copy holds.

    Attributes:
        bytes: the size of the file.
    """

    path: str
    runs: int
    entries: int
    bytes: int


def back_up(source: Path, dest: Path, *, force: bool = False, progress: Progress | None = None) -> BackedUp:
    """Copy a ledger to a new file.

    Args:
        source: the ledger; others may write to it meanwhile.
        dest: the copy.
        force: replace an earlier copy that nobody uses.
        progress: told after each step.

    Raises:
        UsageError: there is something at the destination, and it is not to be or must not be replaced.
        NotFoundError: there is no ledger, or no folder for the copy.
        BusyError: another process uses what is to be replaced.
        DiskError: the file system refused; what was written is gone again.
        FormatError, IntegrityError: as for :func:`ledger.log.connecting.connect`.
    """
    with closing(connect(source, create=False, read_only=True)) as connection:
        _check_dest(source, dest, force=force)
        partial = dest.absolute().parent / f".{dest.name[:100]}-{token_hex(6)}.partial"
        try:
            _make_empty(partial, dest)
            _copy(connection, source, partial, dest, progress)
            made = _finish(partial, dest, stat.S_IMODE(source.stat().st_mode))
            _put_in_place(source, partial, dest, force=force)
        except OSError as error:
            raise DiskError(
                f"{dest}: cannot be written: {error.strerror or error}; nothing is there"
            ) from error
        finally:
            with suppress(OSError):
                partial.unlink()
    return made


def _refused(dest: Path, error: OSError) -> DiskError:
    why = error.strerror or str(error)
    return DiskError(f"{dest}: expected to write a copy there, found: {why}; nothing was kept, name another")


def _check_dest(source: Path, dest: Path, *, force: bool) -> None:
    if not dest.absolute().parent.is_dir():
        raise NotFoundError(f"expected a folder for {dest}, found none; make it first")
    if dest.is_dir():
        raise UsageError(
            f"expected the name of a file for the copy, found the folder {dest}; name a file in it"
        )
    if os.path.lexists(dest):
        if dest.exists() and dest.samefile(source):
            raise UsageError(f"expected another file than the ledger itself, found {dest}; name another")
        if not force:
            raise UsageError(f"{dest} is there already; name another, or use --force to replace it")
        if not _is_ledger(dest):
            raise UsageError(f"expected an earlier copy at {dest}, found something else; name another file")
    else:
        _check_alone(dest)


def _check_alone(dest: Path) -> None:
    """Refuse a name beside which lies what SQLite would take for a part of the copy."""
    for suffix in _ASIDE:
        aside = Path(f"{dest}{suffix}")
        if os.path.lexists(aside):
            raise UsageError(
                f"expected nothing that belongs to {dest}, found {aside}, left by another ledger of that "
                "name; move it away, or name another file"
            )


def _is_ledger(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)
    except sqlite3.DatabaseError:
        # Broken, perhaps. Only now: closing a file lets go of every lock that this process has on it.
        with path.open("rb") as file:
            header = file.read(_APPLICATION_ID_AT + 4)
        return header[_APPLICATION_ID_AT:] == APPLICATION_ID.to_bytes(4, "big")


def _make_empty(partial: Path, dest: Path) -> None:
    """Make an empty file that only its owner reads."""
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise _refused(dest, error) from error


def _copy(
    connection: sqlite3.Connection, source: Path, partial: Path, dest: Path, progress: Progress | None
) -> None:
    with translated(str(source)):
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute("BEGIN")
        pages = connection.execute("PRAGMA page_count").fetchone()[0]  # the read transaction begins here
    needed, free = pages * page_bytes, shutil.disk_usage(partial.parent).free
    if needed > free:
        raise DiskError(
            f"{dest}: expected {needed:,} bytes of free space, found {free:,}; free some, or name another"
        )

    def tell(status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress((total - remaining) * page_bytes, total * page_bytes)

    with translated(str(dest)), closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        # Nobody else sees this file: no journal, and one fsync at the end.
        copy.execute("PRAGMA journal_mode = OFF")
        copy.execute("PRAGMA synchronous = OFF")
        connection.backup(copy, pages=PAGES_A_STEP, progress=tell)
    with translated(str(source)):
        connection.execute("COMMIT")


def _finish(partial: Path, dest: Path, mode: int) -> BackedUp:
    """Make one file of the copy, read it, and bring it to the disk."""
    with translated(str(dest)), closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        copy.execute("PRAGMA trusted_schema = OFF")
        copy.execute("PRAGMA locking_mode = EXCLUSIVE")  # no -shm
        copy.execute("PRAGMA journal_mode = DELETE")  # the write-ahead log comes back with the first writer
        check_schema(copy, str(dest))
        runs = copy.execute("SELECT count(*) FROM runs").fetchone()[0]
        entries = copy.execute(TOTAL_ENTRIES).fetchone()[0]
    with partial.open("rb+") as file:
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
        size = os.fstat(file.fileno()).st_size
    return BackedUp(path=str(dest), runs=runs, entries=entries, bytes=size)


def _put_in_place(source: Path, partial: Path, dest: Path, *, force: bool) -> None:
    if force and os.path.lexists(dest):
        _check_dest(source, dest, force=True)
        _replace(dest, partial)
    else:
        _check_alone(dest)
        try:
            os.link(partial, dest)  # unlike a rename, refuses a name that somebody took meanwhile
        except FileExistsError:
            raise UsageError(f"{dest} is there already; name another, or use --force to replace it") from None
        except OSError:  # a file system without hard links
            if os.path.lexists(dest):
                raise
            partial.rename(dest)
    folder = os.open(dest.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _replace(dest: Path, partial: Path) -> None:
    """Put a copy in the place of an earlier one, as its sole user.

    A -wal that stayed would be read into the new copy, and who still had the old one open would write to it.
    """
    try:
        with closing(sqlite3.connect(dest, timeout=0, isolation_level=None)) as old:
            old.execute("PRAGMA journal_mode = DELETE")  # needs the file alone, and takes the -wal away
            old.execute("BEGIN EXCLUSIVE")
            partial.replace(dest)
            return
    except sqlite3.DatabaseError as error:
        if primary_code(error) in BUSY:
            raise BusyError(
                f"{dest}: expected an earlier copy that nobody uses, found it open; "
                "close what uses it, or name another file"
            ) from error
    _check_alone(dest)  # the earlier copy is broken
    partial.replace(dest)
