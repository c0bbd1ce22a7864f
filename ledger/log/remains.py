"""What an erased body leaves behind in the files of a ledger, and whether it did.

The row is empty once the erasure is committed; its bytes may still be in two places. The write-ahead log
holds the pages as they were. And ``secure_delete``, which overwrites a cell that is deleted, does not
overwrite the copy that stays where SQLite moved a cell to another page, as it does where runs grow side by
side and where long rows are emptied. So the WAL is emptied, and the unused parts of the main file are looked
through; only where anything is in them need SQLite write the whole file anew (VACUUM).

Invariant: the main file is read, and never written to behind SQLite's back.
"""

import os
import sqlite3
import time
from pathlib import Path
from struct import Struct

from ledger.log import transactions

_CHUNK_PAGES = 128

# The SQLite file format, §1.3 to §1.6.
_FILE_HEADER = 100
_PAGE_SIZE_AT = 16
_FREELIST_AT = 32
_CELL_POINTER = 2
_TABLE_LEAF = 0x0D
"""The first byte of the pages that hold rows. SQLite clears a page before it makes any other kind of it, and
leaves bytes of no row in the gaps of those, even where it has just written them anew."""

_LEAF_HEADER = 8
_PAGE_HEADER = Struct(">BHHH").unpack_from
_FREE_BLOCK = Struct(">HH").unpack_from
_TRUNK = Struct(">II").unpack_from
_PAGE_NUMBER = Struct(">I")

_looked_through: dict[tuple[int, int], int] = {}
"""File descriptors by device and inode, never closed: closing any descriptor of a file lets go of all the
locks that this process, and so SQLite in it, holds on the file."""


def may_have_remains(connection: sqlite3.Connection, path: str) -> bool:
    """Tell whether erased bytes may be left in the main file; what was in the WAL is not in it any more.

    Args:
        connection: a writer's, outside a transaction.
        path: the ledger.

    Raises:
        sqlite3.OperationalError: others kept the WAL from being emptied for as long as we wait (SQLITE_BUSY),
            or the file system refused.
    """
    main = Path(path).resolve()  # SQLite follows links too
    deadline = time.monotonic() + transactions.BUSY_SECONDS
    while time.monotonic() <= deadline:
        empty_wal(connection)
        transactions.take_write_lock(connection, deadline - time.monotonic())
        try:
            # Where it is empty, nobody has anything to write to the main file meanwhile.
            if _size(transactions.wal_of(main)) == 0:
                return has_remains(_descriptor(main))
        finally:
            connection.execute("ROLLBACK")
    return True  # written to without a pause


def empty_wal(connection: sqlite3.Connection) -> None:
    """Bring what is in the WAL into the main file, and cut the WAL to nothing.

    Raises:
        sqlite3.OperationalError: others kept it from being emptied for as long as we wait (SQLITE_BUSY), or
            the file system refused.
    """
    transactions.until_free(connection, transactions.BUSY_SECONDS, "PRAGMA wal_checkpoint(TRUNCATE)")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _descriptor(main: Path) -> int:
    status = main.stat()
    key = status.st_dev, status.st_ino
    if key not in _looked_through:
        _looked_through[key] = os.open(main, os.O_RDONLY | os.O_CLOEXEC)
    return _looked_through[key]


def has_remains(file: int) -> bool:
    """Tell whether anything is left where a SQLite file holds nothing: between rows, and in free pages.

    What cannot be made sense of counts as remains. Overflow pages are not looked at: SQLite clears a page
    before it takes one into use, and the bytes beyond the end of a value stay clear.

    Args:
        file: a descriptor of the main file of a ledger whose WAL is empty and which nobody writes to.

    Source: the description of SQLite's file format.
    """
    header = os.pread(file, _FILE_HEADER, 0)
    if len(header) < _FILE_HEADER:
        return False
    page_size = int.from_bytes(header[_PAGE_SIZE_AT : _PAGE_SIZE_AT + 2], "big")
    page_size = 65536 if page_size == 1 else page_size
    zeros = bytes(page_size)
    if _freelist_has_remains(file, page_size, int.from_bytes(header[_FREELIST_AT : _FREELIST_AT + 4], "big")):
        return True
    number = 0
    while chunk := os.pread(file, _CHUNK_PAGES * page_size, number * page_size):
        for start in range(0, len(chunk), page_size):
            page = chunk[start : start + page_size]
            if _page_has_remains(page, zeros, _FILE_HEADER if number == 0 else 0):
                return True
            number += 1
    return False


def _page_has_remains(page: bytes, zeros: bytes, header: int) -> bool:
    if page[header] != _TABLE_LEAF:
        return False
    _, block, cells, content = _PAGE_HEADER(page, header)
    gap = header + _LEAF_HEADER + _CELL_POINTER * cells
    content = content or 65536
    if not gap <= content <= len(page) or page[gap:content] != zeros[: content - gap]:
        return True
    while block:
        if not content <= block <= len(page) - 4:
            return True
        following, length = _FREE_BLOCK(page, block)
        if length < 4 or page[block + 4 : block + length] != zeros[: length - 4]:
            return True
        if following and following <= block:
            return True
        block = following
    return False


def _freelist_has_remains(file: int, page_size: int, trunk: int) -> bool:
    zeros = bytes(page_size)
    seen = 0
    while trunk:
        page = os.pread(file, page_size, (trunk - 1) * page_size)
        if len(page) < page_size or seen > page_size:
            return True
        trunk, leaves = _TRUNK(page)
        end = 8 + 4 * leaves
        if end > page_size or page[end:] != zeros[end:]:
            return True
        for (leaf,) in _PAGE_NUMBER.iter_unpack(page[8:end]):
            if os.pread(file, page_size, (leaf - 1) * page_size) != zeros:
                return True
        seen += 1
    return False
