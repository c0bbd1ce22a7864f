"""The log in one SQLite file.

Writes are short transactions that take the write lock at once (BEGIN IMMEDIATE) and wait for it; each holds
a batch and its tree head, or nothing. Reads are pages, each in a transaction of its own. What a ledger file
must be and how it is opened is :mod:`ledger.log.connecting` and :mod:`ledger.log.schema`.

A store belongs to the thread that opened it. Several processes may write to one file.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise, starmap
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import msgspec

from ledger.core.entries import OBSERVER, Entry
from ledger.core.merkle import Row, leaf_hash
from ledger.errors import BusyError, DiskError, IntegrityError, LedgerError, NotFoundError
from ledger.log import transactions
from ledger.log.batches import (
    Batch,
    check_erasable,
    checked_documents,
    conflict,
    grown_peaks,
    prepare,
)
from ledger.log.caches import clear_caches
from ledger.log.connecting import connect
from ledger.log.paging import ENTRY_COLUMNS, PAGE_ROWS, RUN_COLUMNS, read_page
from ledger.log.remains import empty_wal, may_have_remains
from ledger.log.schema import SEQ_BITS, SEQ_MASK
from ledger.log.sqlite_errors import BUSY, DAMAGED, primary_code, translated
from ledger.log.store import DocumentRow, Erasure, RunRow, TreeHead
from ledger.log.transactions import Wal, until_free, write_transaction

ROWS_A_STATEMENT = 50
"""A statement that a trigger may abort is a savepoint, which copies the pages that it changes: make few."""

_ENTRY_VALUES = "(? | ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_ONE = (
    "INSERT INTO entries (entry_id, at, origin, session, type, stream, body, salt) VALUES " + _ENTRY_VALUES
)
_INSERT_MANY = _INSERT_ONE + f", {_ENTRY_VALUES}" * (ROWS_A_STATEMENT - 1)
_LAST_HEAD = "SELECT size, peaks FROM tree_heads WHERE run_no = ? ORDER BY size DESC LIMIT 1"
_LEAF_FIELDS = "SELECT salt, origin, session, at, body FROM entries WHERE entry_id = ? AND body IS NOT NULL"
_ACCOUNTS = (
    f"SELECT entry_id & {SEQ_MASK} FROM entries"
    f" WHERE origin = '{OBSERVER}' AND type = ? AND stream = '' AND entry_id > ? AND entry_id <= ?"
)
_INSERT_ERASURE = "INSERT INTO erasures (entry_id, leaf, erased_by) VALUES (?, ?, ?)"


class SqliteStore:
    """A log in a file; keeps the contract of :class:`ledger.log.store.Store`."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self._wal = Wal(Path(path))

    @classmethod
    def open(cls, path: str | Path, *, create: bool, read_only: bool = False) -> "SqliteStore":
        """Open a ledger; :func:`ledger.log.connecting.connect` says what it raises.

        Args:
            path: the file.
            create: whether to make it where there is none.
            read_only: whether to open it so that nothing can be written.
        """
        return cls(connect(Path(path), create=create, read_only=read_only), str(path))

    def __enter__(self) -> "SqliteStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with translated(self._path):
            self._connection.close()

    # ---- writing ------------------------------------------------------------------------------------------

    def open_run(
        self,
        run: RunRow,
        entries: Sequence[Entry],
        documents: Iterable[DocumentRow] = (),
        *,
        erased: Iterable[Erasure] = (),
    ) -> RunRow:
        batch = prepare(entries, erased)
        if batch.first != 1:
            raise IntegrityError(f"run {run.run_id}: expected entry 1 first, found entry {batch.first}")
        with self._transaction() as connection:
            held = self.run(run.run_id)
            if held is not None:
                raise conflict(f"run {run.run_id}", expected=1, found=self.size(held.run_no) + 1)
            last = connection.execute("SELECT max(run_no) FROM runs").fetchone()[0]
            opened = msgspec.structs.replace(run, run_no=(last or 0) + 1)
            connection.execute(
                f"INSERT INTO runs ({RUN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                tuple(getattr(opened, name) for name in RunRow.__struct_fields__),
            )
            self._keep_documents(documents)
            self._keep(opened.run_no, batch, 0, b"")
        return opened

    def append(self, run_no: int, entries: Sequence[Entry], *, erased: Iterable[Erasure] = ()) -> None:
        batch = prepare(entries, erased)
        with self._transaction():
            size, peaks = self._head(run_no, batch.first)
            self._keep(run_no, batch, size, peaks)

    def erase(self, run_no: int, seqs: Iterable[int], account: Entry) -> int:
        with self._transaction():
            size, peaks = self._head(run_no, account.seq)
            accounts = self._accounts(run_no, account.type)
            wanted = check_erasable(f"{self._path}: run number {run_no}", seqs, size, accounts)
            erased = sum(self._erase(run_no << SEQ_BITS, seq, account.seq) for seq in wanted)
            if erased:
                clear_caches(self._connection, run_no)
                self._keep(run_no, prepare([account]), size, peaks)
        return erased

    def _accounts(self, run_no: int, type: str) -> set[int]:
        base = run_no << SEQ_BITS
        rows = self._connection.execute(_ACCOUNTS, (type, base, base | SEQ_MASK))
        return {seq for (seq,) in rows}

    def _erase(self, base: int, seq: int, account: int) -> bool:
        row = self._connection.execute(_LEAF_FIELDS, (base | seq,)).fetchone()
        if row is None:
            return False
        self._connection.execute(_INSERT_ERASURE, (base | seq, leaf_hash(*row), str(account)))
        return True

    def scrub(self) -> None:
        with translated(self._path):
            try:
                if may_have_remains(self._connection, self._path):
                    until_free(self._connection, transactions.BUSY_SECONDS, "VACUUM")
                    empty_wal(self._connection)
            except sqlite3.OperationalError as error:
                raise _unscrubbed(self._path, error) from error

    def _head(self, run_no: int, first: int) -> tuple[int, bytes]:
        """Return the size and the peaks of a run that is to grow by an entry of this number."""
        head = self._connection.execute(_LAST_HEAD, (run_no,)).fetchone()
        if head is None:
            raise NotFoundError(f"{self._path}: expected a run number {run_no}, found none")
        size, peaks = head
        if first != size + 1:
            raise conflict(f"run number {run_no}", expected=first, found=size + 1)
        return size, peaks

    def _keep(self, run_no: int, batch: Batch, size: int, peaks: bytes) -> None:
        peaks = grown_peaks(peaks, size, batch.leaves, f"{self._path}: run number {run_no}")
        self._insert(run_no << SEQ_BITS, batch.rows)
        self._connection.execute(
            "INSERT INTO tree_heads (run_no, size, peaks, at) VALUES (?, ?, ?, ?)",
            (run_no, batch.last, peaks, batch.at),
        )
        if batch.erased:
            base = run_no << SEQ_BITS
            rows = [(base | one.seq, one.leaf, one.erased_by) for one in batch.erased]
            self._connection.executemany(_INSERT_ERASURE, rows)

    def _insert(self, base: int, rows: list[Row]) -> None:
        whole = len(rows) - len(rows) % ROWS_A_STATEMENT
        for first in range(0, whole, ROWS_A_STATEMENT):
            some = rows[first : first + ROWS_A_STATEMENT]
            self._connection.execute(_INSERT_MANY, [value for row in some for value in (base, *row)])
        self._connection.executemany(_INSERT_ONE, ((base, *row) for row in rows[whole:]))

    def keep_documents(self, documents: Iterable[DocumentRow]) -> None:
        with self._transaction():
            self._keep_documents(documents)

    def _keep_documents(self, documents: Iterable[DocumentRow]) -> None:
        given = checked_documents(documents)
        held = self.documents(given)
        missing = [msgspec.structs.asdict(row) for name, row in given.items() if name not in held]
        if missing:
            # Slow to import, and rarely needed: most runs refer to documents that are held.
            from sqlite_utils import Database

            database = Database(self._connection, execute_plugins=False, recursive_triggers=False)
            database.table("documents").insert_all(missing)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with translated(self._path):
            with write_transaction(self._connection):
                yield self._connection
            self._wal.shorten(self._connection)

    # ---- reading ------------------------------------------------------------------------------------------

    def run(self, run_id: str) -> RunRow | None:
        rows = self._all(f"SELECT {RUN_COLUMNS} FROM runs WHERE run_id = ?", (run_id,))
        return _run_row(rows[0]) if rows else None

    def runs(self, *, program: str | None = None, since: int | None = None) -> Iterator[RunRow]:
        where = "(opened_at, run_no) < (?, ?)"
        fixed: tuple[Any, ...] = ()
        if program is not None:
            where, fixed = f"{where} AND program = ?", (*fixed, program)
        if since is not None:
            where, fixed = f"{where} AND opened_at >= ?", (*fixed, since)
        sql = (
            f"SELECT {RUN_COLUMNS} FROM runs WHERE {where}"
            f" ORDER BY opened_at DESC, run_no DESC LIMIT {PAGE_ROWS}"
        )
        before = (1 << 63) - 1, 1 << SEQ_BITS
        while rows := self._all(sql, (*before, *fixed)):
            self._check_order([(row[-1], row[0]) for row in reversed(rows)] + [before])
            yield from map(_run_row, rows)
            before = rows[-1][-1], rows[-1][0]

    def runs_as_appended(self) -> Iterator[RunRow]:
        sql = f"SELECT {RUN_COLUMNS} FROM runs WHERE run_no > ? ORDER BY run_no LIMIT {PAGE_ROWS}"
        after = 0
        while rows := self._all(sql, (after,)):
            yield from map(_run_row, rows)
            after = rows[-1][0]

    def runs_with_prefix(self, prefix: str, limit: int) -> list[RunRow]:
        # 0xff is in no UTF-8 text, so the bound is above every id that begins with the prefix.
        rows = self._all(
            f"SELECT {RUN_COLUMNS} FROM runs WHERE run_id >= ? AND run_id < CAST(? AS TEXT)"
            " ORDER BY run_id LIMIT ?",
            (prefix, prefix.encode("utf-8") + b"\xff", limit),
        )
        return [_run_row(row) for row in rows]

    def size(self, run_no: int) -> int:
        return self._all("SELECT max(size) FROM tree_heads WHERE run_no = ?", (run_no,))[0][0] or 0

    def entries(
        self, run_no: int, *, after: int = 0, through: int | None = None, salts: bool = False
    ) -> Iterator[Entry]:
        columns = f"{ENTRY_COLUMNS}, salt" if salts else ENTRY_COLUMNS
        sql = (
            f"SELECT {columns} FROM entries WHERE entry_id > ? AND entry_id <= ?"
            f" ORDER BY entry_id LIMIT {PAGE_ROWS}"
        )
        base = run_no << SEQ_BITS
        after = max(after, 0)
        while through is None or after < through:
            # What lies beyond the newest head was put there by somebody else: it is no part of the run.
            size = self.size(run_no)
            last = base | (size if through is None else min(through, size))
            if last <= base | after:
                return
            rows = self._page(sql, (base | after, last))
            if not rows or rows[-1][0] - after != len(rows):
                self._refuse_hole(run_no, [after, *(row[0] for row in rows)])
            after = rows[-1][0]
            yield from starmap(Entry, rows)
            del rows  # bodies may be long, and the next page is read before it is replaced

    def labelled(self, run_no: int, type: str, streams: Collection[str]) -> Iterator[Entry]:
        sql = (
            f"SELECT {ENTRY_COLUMNS} FROM entries WHERE entry_id > ? AND entry_id <= ? AND type = ?"
            f" AND stream IN (SELECT value FROM json_each(?)) ORDER BY entry_id LIMIT {PAGE_ROWS}"
        )
        base, named = run_no << SEQ_BITS, json.dumps(sorted(streams))
        after, last = base, base | self.size(run_no)
        while rows := self._page(sql, (after, last, type, named)):
            yield from starmap(Entry, rows)
            after = base | rows[-1][0]

    def observations(
        self, type: str, *, stream: str = "", run_no: int | None = None
    ) -> Iterator[tuple[int, Entry]]:
        sql = (
            f"SELECT entry_id, {ENTRY_COLUMNS} FROM entries"
            f" WHERE origin = '{OBSERVER}' AND type = ? AND stream = ? AND entry_id > ? AND entry_id <= ?"
            f" ORDER BY entry_id LIMIT {PAGE_ROWS}"
        )
        after = (run_no or 0) << SEQ_BITS
        last = (1 << 63) - 1 if run_no is None else after | SEQ_MASK
        while rows := self._all(sql, (type, stream, after, last)):
            self._check_order([after, *(row[0] for row in rows)])
            sizes = {number: self.size(number) for number in {row[0] >> SEQ_BITS for row in rows}}
            for entry_id, *columns in rows:
                if entry_id & SEQ_MASK <= sizes[entry_id >> SEQ_BITS]:
                    yield entry_id >> SEQ_BITS, Entry(*columns)
            after = rows[-1][0]

    def erasures(self, run_no: int, *, after: int = 0, through: int | None = None) -> Iterator[Erasure]:
        sql = (
            f"SELECT entry_id & {SEQ_MASK}, leaf, erased_by FROM erasures"
            f" WHERE entry_id > ? AND entry_id <= ? ORDER BY entry_id LIMIT {PAGE_ROWS}"
        )
        base = run_no << SEQ_BITS
        last = base | (SEQ_MASK if through is None else through)
        after = max(after, 0)
        while rows := self._all(sql, (base | after, last)):
            for seq, leaf, erased_by in rows:
                yield Erasure(seq=seq, leaf=leaf, erased_by=erased_by)
            after = rows[-1][0]

    def documents(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        found: dict[str, bytes] = {}
        for name in digests:
            found.update(self._all("SELECT digest, body FROM documents WHERE digest = ?", (name,)))
        return found

    def head(self, run_no: int) -> TreeHead | None:
        sql = "SELECT size, peaks, at FROM tree_heads WHERE run_no = ? ORDER BY size DESC LIMIT 1"
        rows = self._all(sql, (run_no,))
        return TreeHead(run_no=run_no, size=rows[0][0], peaks=rows[0][1], at=rows[0][2]) if rows else None

    def documents_of(self, media_type: str) -> Iterator[DocumentRow]:
        sql = (
            "SELECT digest, media_type, body FROM documents WHERE media_type = ? AND digest > ?"
            f" ORDER BY digest LIMIT {PAGE_ROWS}"
        )
        after = ""
        while rows := self._all(sql, (media_type, after)):
            self._check_order([after, *(row[0] for row in rows)])
            for digest, kind, body in rows:
                yield DocumentRow(digest=digest, media_type=kind, body=body)
            after = rows[-1][0]

    def heads(self, run_no: int) -> Iterator[TreeHead]:
        sql = (
            "SELECT size, peaks, at FROM tree_heads WHERE run_no = ? AND size > ?"
            f" ORDER BY size LIMIT {PAGE_ROWS}"
        )
        after = 0
        while rows := self._all(sql, (run_no, after)):
            self._check_order([after, *(row[0] for row in rows)])
            for size, peaks, at in rows:
                yield TreeHead(run_no=run_no, size=size, peaks=peaks, at=at)
            after = rows[-1][0]

    def _check_order(self, rising: Sequence[Any]) -> None:
        """Refuse rows that come out of order: a file that was damaged may give the same ones for ever."""
        if not all(before < after for before, after in pairwise(rising)):
            raise IntegrityError(f"{self._path}: expected rows in order, found them out of it; {DAMAGED}")

    def _refuse_hole(self, run_no: int, seqs: Sequence[int]) -> NoReturn:
        """Refuse a run that lacks an entry below its newest head; without it nothing can be decided."""
        self._check_order(seqs)
        missing = next((seq + 1 for seq, after in pairwise(seqs) if after != seq + 1), seqs[-1] + 1)
        raise IntegrityError(
            f"{self._path}: run number {run_no}: expected entry {missing}, found none; `runledger verify` "
            "names all that is broken; go back to a copy that is whole"
        )

    def _page(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        """Read one page of entries."""
        with translated(self._path):
            return read_page(self._connection, sql, values)[0]

    def _all(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        """Run one query to its end, so that no read transaction outlives it."""
        with translated(self._path):
            return self._connection.execute(sql, values).fetchall()


def _unscrubbed(path: str, error: sqlite3.OperationalError) -> LedgerError:
    """Return the error of a scrubbing that did not end; what was erased is erased in any case."""
    gone = "what was erased is gone from the log, yet its bytes may still be in"
    if primary_code(error) in BUSY:
        return BusyError(
            f"{path}: {gone} {Path(path).name}-wal and in free space of the file, as another process has "
            "the ledger open; end it, and run `runledger erase --finish`"
        )
    return DiskError(
        f"{path}: {gone} free space of the file, as it could not be rewritten ({error}); "
        "make room for a copy of it, also where temporary files go, and run `runledger erase --finish`"
    )


def _run_row(row: tuple[Any, ...]) -> RunRow:
    return RunRow(**dict(zip(RunRow.__struct_fields__, row, strict=True)))
