"""How verifying reads a ledger: page by page, each page a snapshot of its own.

A page holds entries and whatever else the log says of the same entries, read in one transaction, so that a
writer who appends or erases meanwhile is never seen half-way. What SQLite cannot read is an
:class:`Unreadable`; text that is no UTF-8 is read with its bytes escaped, and is then what it is: wrong.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import ge
from typing import Any, NamedTuple, TypeVar

from ledger.core.json_reader import printable
from ledger.errors import BusyError
from ledger.log.paging import ENTRY_COLUMNS, PAGE_ROWS, RUN_COLUMNS, SEQ, read_page
from ledger.log.schema import SEQ_BITS, SEQ_MASK
from ledger.log.sqlite_errors import translate
from ledger.log.store import RunRow

_ENTRIES = (
    f"SELECT {ENTRY_COLUMNS}, salt FROM entries"
    f" WHERE entry_id > ? AND entry_id <= ? ORDER BY entry_id LIMIT {PAGE_ROWS}"
)
_HEADS = (
    "SELECT size, peaks, at FROM tree_heads WHERE run_no = ? AND size > ? AND size <= ?"
    f" ORDER BY size LIMIT {PAGE_ROWS}"
)
_ERASURES = (
    f"SELECT entry_id & {SEQ_MASK}, leaf, erased_by FROM erasures WHERE entry_id > ? AND entry_id <= ?"
    f" ORDER BY entry_id LIMIT {PAGE_ROWS}"
)

_Read = TypeVar("_Read")


class Unreadable(Exception):
    """SQLite cannot give what a ledger must have; says what it said."""


class Page(NamedTuple):
    """Everything that the log holds of some entries of one run.

    Attributes:
        end: the last entry that the page is about, whether it is there or not.
        rows: seq, at, origin, session, type, stream, body, salt.
        heads: by size: peaks, at.
        erasures: by seq: leaf, erased_by.
    """

    end: int
    rows: list[Any]
    heads: Mapping[int, tuple[Any, Any]]
    erasures: Mapping[int, tuple[Any, Any]]


class Beyond(NamedTuple):
    """What a run has outside of what its newest head covers: a first, a last, and a kind of rows."""

    first: int
    last: int
    what: str


class Pages:
    """Reads one ledger; never writes, and holds no transaction between two calls."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def page(self, run_no: int, after: int, through: int) -> Page:
        """Read what follows an entry, as far as a page goes.

        Raises:
            Unreadable: SQLite cannot.
        """
        base = run_no << SEQ_BITS
        with self.snapshot():
            rows, is_full = self._rows(base | after, base | through)
            _check_order(after, [row[SEQ] for row in rows])
            end = rows[-1][SEQ] if is_full or len(rows) == PAGE_ROWS else through
            heads = self._heads(run_no, after, end)
            end = heads[-1][0] if len(heads) == PAGE_ROWS else end
            erasures = self.all(_ERASURES, base | after, base | end)
            end = erasures[-1][0] if len(erasures) == PAGE_ROWS else end
        return Page(
            end,
            [row for row in rows if row[SEQ] <= end],
            {size: (peaks, at) for size, peaks, at in heads if size <= end},
            {seq: (leaf, by) for seq, leaf, by in erasures},
        )

    def runs(self) -> Iterator[RunRow]:
        """Yield runs in the order of their numbers, those that no run may have too."""
        sql = f"SELECT {RUN_COLUMNS} FROM runs WHERE run_no > ? ORDER BY run_no LIMIT {PAGE_ROWS}"
        after = -(1 << 63)
        while rows := self.all(sql, after):
            _check_order(after, [row[0] for row in rows])
            for number, run_id, *others in rows:
                name = printable(run_id) if isinstance(run_id, str) else repr(run_id)
                yield RunRow(**dict(zip(RunRow.__struct_fields__, (number, name, *others), strict=True)))
            after = rows[-1][0]

    def size(self, run_no: int) -> int:
        """Return the size at a run's newest head, 0 where it has none."""
        sql = "SELECT max(size) FROM tree_heads WHERE run_no = ? AND size BETWEEN 1 AND ?"
        return self.number(sql, run_no, SEQ_MASK) or 0

    def next_head(self, run_no: int, after: int) -> tuple[int, Any] | None:
        """Return the size and the peaks of the first head beyond a size."""
        heads = self._heads(run_no, after, SEQ_MASK)
        return (heads[0][0], heads[0][1]) if heads else None

    def beyond(self, run_no: int) -> Iterator[Beyond]:
        """Yield the rows of a run that its newest head, as it is now, does not cover."""
        base = run_no << SEQ_BITS
        with self.snapshot():
            size = self.size(run_no)
            for table in ("entries", "erasures"):
                where = f"FROM {table} WHERE entry_id > ? AND entry_id <= ?"
                first = self.number(f"SELECT min(entry_id) {where}", base | size, base | SEQ_MASK)
                last = self.number(f"SELECT max(entry_id) {where}", base | size, base | SEQ_MASK)
                if (first is None) != (last is None):  # read from its two ends, a broken table is two tables
                    raise Unreadable("its rows are out of order")
                if first is not None and last is not None:
                    yield Beyond(first & SEQ_MASK, last & SEQ_MASK, table)
                if self.one(f"SELECT 1 FROM {table} WHERE entry_id = ?", base) is not None:
                    yield Beyond(0, 0, table)

    def heads_astray(self, run_no: int) -> list[Any]:
        """Return sizes of heads that no run can have."""
        sql = "SELECT size FROM tree_heads WHERE run_no = ? AND size NOT BETWEEN 1 AND ? LIMIT ?"
        return [size for (size,) in self.all(sql, run_no, SEQ_MASK, PAGE_ROWS)]

    def next_document(self, after: str) -> tuple[str, Any, Any] | None:
        """Return digest, media type and body of the first document whose digest is beyond one."""
        sql = (
            "SELECT digest, media_type, body FROM documents WHERE digest > CAST(? AS TEXT)"
            " ORDER BY digest LIMIT 1"
        )
        for name, media_type, body in self.all(sql, after.encode("utf-8", "surrogateescape")):
            if not isinstance(name, str):
                raise Unreadable("a digest is no text")
            _check_order(after, [name])
            return name, media_type, body
        return None

    def has_body(self, run_no: int, seq: int) -> bool:
        """Tell whether an entry has its body, as things are now."""
        entry_id = run_no << SEQ_BITS | seq
        return bool(self.one("SELECT body IS NOT NULL FROM entries WHERE entry_id = ?", entry_id))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside from one state of the ledger."""
        self.all("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # a broken file may refuse also this; nothing was written
                self._connection.execute("ROLLBACK")

    def one(self, sql: str, *values: Any) -> Any:
        """Return the one cell that a query gives, None where it gives no row."""
        rows = self.all(sql, *values)
        return rows[0][0] if rows else None

    def number(self, sql: str, *values: Any) -> int | None:
        """Return the number that a query gives, None where it gives none.

        Raises:
            Unreadable: it gives something else.
        """
        found = self.one(sql, *values)
        if found is not None and not isinstance(found, int):
            raise Unreadable(f"a number is {type(found).__name__}")
        return found

    def all(self, sql: str, *values: Any) -> list[Any]:
        """Run one query to its end.

        Raises:
            Unreadable: SQLite cannot.
            BusyError: another process held the ledger for too long.
        """
        return self._tolerantly(lambda: self._connection.execute(sql, values).fetchall())

    def _heads(self, run_no: int, after: int, through: int) -> list[Any]:
        heads = self.all(_HEADS, run_no, after, through)
        if not all(isinstance(size, int) for size, _, _ in heads):
            raise Unreadable("the size of a head is no number")
        _check_order(after, [size for size, _, _ in heads])
        return heads

    def _rows(self, after: int, through: int) -> tuple[list[Any], bool]:
        return self._tolerantly(lambda: read_page(self._connection, _ENTRIES, (after, through)))

    def _tolerantly(self, read: Callable[[], _Read]) -> _Read:
        """Read; text that is no UTF-8 a second time, its bytes escaped."""
        try:
            try:
                return read()
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", None) is not None:  # SQLite's own; Python's has none
                    raise
                self._connection.text_factory = lambda body: body.decode("utf-8", "surrogateescape")
                try:
                    return read()
                finally:
                    self._connection.text_factory = str
        except sqlite3.Error as error:
            translated = translate(error, self._path)
            if isinstance(translated, BusyError):
                raise translated from error
            raise Unreadable(str(error)) from error
        except UnicodeDecodeError as error:  # what SQLite quotes of a broken file in its message
            raise Unreadable("SQLite names what is no UTF-8") from error


def _check_order(after: Any, keys: list[Any]) -> None:
    """Refuse keys that do not rise, as a broken file may give them, and for ever."""
    if any(map(ge, [after, *keys], keys)):
        raise Unreadable("its rows are out of order")
