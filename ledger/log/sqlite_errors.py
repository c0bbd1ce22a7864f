"""SQLite's errors in our words: the one seam at which they are translated."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from ledger.errors import BusyError, DiskError, FormatError, IntegrityError, LedgerError

BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
"""Codes that say that somebody else is in the way."""

_FOREIGN = {sqlite3.SQLITE_NOTADB}
_BROKEN = {sqlite3.SQLITE_CORRUPT}
_DISK = {
    sqlite3.SQLITE_FULL: "free some space and run it again",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or only read",
    sqlite3.SQLITE_IOERR: "check the disk, its free space and your quota",
    sqlite3.SQLITE_CANTOPEN: "check that the file and its folder may be read and written",
    sqlite3.SQLITE_PERM: "check that the file and its folder may be read and written",
    sqlite3.SQLITE_AUTH: "check that the file and its folder may be read and written",
    sqlite3.SQLITE_NOLFS: "use a file system that holds large files",
    sqlite3.SQLITE_TOOBIG: "split the run: one value is larger than SQLite holds",
}
DAMAGED = "the file is damaged; go back to a good copy"
_NO_TEXT = f"expected text that is UTF-8, found other bytes; {DAMAGED}"


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise what SQLite raises as an error of ours that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error
    except UnicodeDecodeError as error:  # a message of SQLite's that quotes what is no text
        raise IntegrityError(f"{path}: {_NO_TEXT}") from error


def primary_code(error: sqlite3.Error) -> int | None:
    """Return what kind of error SQLite says that it is, None where Python itself raised it."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def translate(error: sqlite3.Error, path: str) -> LedgerError | sqlite3.Error:
    """Return our error for one of SQLite's; what is our own bug stays what it was."""
    primary = primary_code(error)
    if primary is None:
        return IntegrityError(f"{path}: {_NO_TEXT}") if _is_undecodable(error) else error
    if primary in BUSY:
        return BusyError(
            f"{path}: expected to get hold of the ledger, found that others hold it ({error}); try again "
            "later, `runledger doctor` names who it is"
        )
    if primary in _FOREIGN:
        return FormatError(
            f"{path}: expected a ledger, found a file that is no SQLite database; name another"
        )
    if primary in _BROKEN:
        return IntegrityError(f"{path}: expected a sound SQLite file, found: {error}; go back to a good copy")
    if primary == sqlite3.SQLITE_ERROR and str(error).startswith("no such "):
        return IntegrityError(f"{path}: expected the log's tables and columns, found {error}; verify it")
    if primary in _DISK:
        said = f"{path}: the file system refused: {error}; {_DISK[primary]}"
        return DiskError(said, of_ledger=True)
    if primary == sqlite3.SQLITE_ERROR and str(error) == "unsupported file format":
        hint = "use a newer SQLite, or go back to a good copy"
        return FormatError(f"{path}: expected a file that this SQLite reads, found another format; {hint}")
    if primary == sqlite3.SQLITE_CONSTRAINT:
        return IntegrityError(f"{path}: the log refused a write: {error}; nothing of it was kept")
    return error


def _is_undecodable(error: sqlite3.Error) -> bool:
    """Tell Python's own complaint about text that is no UTF-8; it quotes the text, which may be anything."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")
