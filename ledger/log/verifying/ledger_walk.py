"""The whole ledger: its file, its schema, its documents, every run, and what belongs to none."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType

import msgspec

from ledger.core.dialect import LineReader
from ledger.core.digests import digest
from ledger.core.json_reader import printable
from ledger.log.connecting import connect_to_inspect
from ledger.log.paging import TOTAL_ENTRIES
from ledger.log.schema import SEQ_BITS
from ledger.log.sqlite_errors import translated
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import RULESET_MEDIA_TYPE, RunRow, Store
from ledger.log.verifying.chain import Add
from ledger.log.verifying.columns import told
from ledger.log.verifying.findings import Findings, IntegrityFinding
from ledger.log.verifying.known_heads import KnownHeads
from ledger.log.verifying.pages import Pages, Unreadable
from ledger.log.verifying.run_walk import RunWalk

Progress = Callable[[str, int], None]
"""Told what is being verified, and how many entries of all that there are were read."""

_LAST_RUN = (1 << 31) - 1
_LAST_KEY = (1 << 63) - 1
_KEYED_BY_RUN = (
    ("entries", "entry_id", SEQ_BITS),
    ("tree_heads", "run_no", 0),
    ("erasures", "entry_id", SEQ_BITS),
)
_FILE_FAULTS = 20  # that SQLite tells of a file; what is ours to tell needs room too
_WHOLE_FILE = "the file"
_DOCUMENTS = "documents"


class Summary(msgspec.Struct, kw_only=True):
    """What a verification has done so far.

    Attributes:
        runs: runs that were walked.
        broken_runs: those of them with findings.
        incomplete_runs: those that are imported in part, with erased entries that nothing accounts for yet.
        entries: entries that were read.
        erased: entries without a body among them.
        heads: heads that the log keeps, compared with the recomputed tree.
        documents: documents whose digest was recomputed.
        known_heads: heads kept elsewhere that were asked about.
        known_heads_held: those of them that the entries still give.
        findings: how many there were, also those that were only counted.
        unchecked: what could not be checked, by run id.
    """

    runs: int = 0
    broken_runs: int = 0
    incomplete_runs: int = 0
    entries: int = 0
    erased: int = 0
    heads: int = 0
    documents: int = 0
    known_heads: int = 0
    known_heads_held: int = 0
    findings: int = 0
    unchecked: dict[str, tuple[str, ...]] = {}


class Verification:
    """One verification of one ledger.

    Attributes:
        store: the ledger, for finding runs by name; only for reading.
        summary: what was done, and found, so far.
    """

    def __init__(
        self,
        path: Path,
        dialects: Mapping[str, LineReader],
        *,
        known: KnownHeads | None = None,
    ) -> None:
        """Open the ledger.

        Args:
            path: the ledger.
            dialects: the dialects that are known, by name; those of others are checked less.
            known: heads that were kept elsewhere; of the runs that are verified, or of all.

        Raises:
            NotFoundError, FormatError, BusyError, DiskError: as for :func:`ledger.log.connecting.connect`.
            IntegrityError: the file is so broken that nothing can be read.
        """
        self._path = str(path)
        self._connection, *self._schema_faults = connect_to_inspect(path)
        self._pages = Pages(self._connection, self._path)
        self._dialects = dialects
        self._known = {} if known is None else known
        self._progress: Progress = lambda what, done: None
        self._documents: set[str] = set()
        self._references: set[str] = set()
        self._unopened = 0
        self.store: Store = SqliteStore(self._connection, self._path)
        self.summary = Summary()

    def __enter__(self) -> "Verification":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the ledger."""
        with translated(self._path):
            self._connection.close()

    def total_entries(self, runs: Iterable[RunRow] | None = None) -> int:
        """Return how many entries there are to read, of some runs or of all; 0 where that cannot be told."""
        try:
            if runs is not None:
                return sum(self._pages.size(run.run_no) for run in runs)
            return self._pages.number(TOTAL_ENTRIES) or 0
        except Unreadable:
            return 0

    def findings(
        self, runs: Iterable[RunRow] | None = None, *, progress: Progress | None = None
    ) -> Iterator[IntegrityFinding]:
        """Verify, and yield what does not hold, as it is found.

        Args:
            runs: which runs to verify, each against its own heads alone; None for the whole ledger.
            progress: told how far the work is.

        Raises:
            BusyError: another process held the ledger for too long.
        """
        self._progress = progress or self._progress
        ledger = Findings()
        yield from self._told(ledger, self._check_schema)
        if runs is not None:
            for run in runs:
                yield from self._walk(run)
        else:
            yield from self._told(ledger, self._check_file)
            yield from self._told(ledger, self._check_documents)
            yield from self._every_run(ledger)
            yield from self._told(ledger, self._check_unreferenced)
        self.summary.findings += ledger.total
        yield from ledger.close()

    def _told(self, ledger: Findings, check: Callable[[Add], None]) -> Iterator[IntegrityFinding]:
        """Check something of the ledger, and yield what was found; what cannot be read is a finding."""
        try:
            check(ledger.add)
        except Unreadable as error:
            ledger.add("table_unreadable", "tables as format 1 has them", str(error))
        yield from ledger.take()

    # ---- the file and its schema --------------------------------------------------------------------------

    def _check_schema(self, add: Add) -> None:
        header, objects = self._schema_faults
        for code, faults in (("header_changed", header), ("schema_changed", objects)):
            for fault in faults:
                add(code, fault.expected, fault.found)

    def _check_file(self, add: Add) -> None:
        self._progress(_WHOLE_FILE, 0)
        try:
            said = [text for (text,) in self._pages.all(f"PRAGMA integrity_check({_FILE_FAULTS})")]
        except Unreadable as error:
            said = [str(error)]
        for text in said:
            if text != "ok":
                add("file_damaged", "a sound SQLite file", text)

    # ---- documents ----------------------------------------------------------------------------------------

    def _check_documents(self, add: Add) -> None:
        """Hold every document against its digest, one at a time, as one may be large."""
        after = ""
        while (document := self._pages.next_document(after)) is not None:
            after, media_type, body = document
            self._progress(_DOCUMENTS, 0)
            found = digest(body) if isinstance(body, bytes) else told(body)
            if found != after:
                add("document_changed", f"a document {printable(after)}", f"one that is {found}")
            if media_type != RULESET_MEDIA_TYPE:  # which no run need refer to
                self._documents.add(after)
            self.summary.documents += 1

    def _check_unreferenced(self, add: Add) -> None:
        if self._unopened:  # a run whose RUN_OPENED cannot be read may name any of them
            return
        for name in sorted(self._documents - self._references):
            add("document_unreferenced", f"a run that names the document {printable(name)}", "none")

    # ---- runs ---------------------------------------------------------------------------------------------

    def _every_run(self, ledger: Findings) -> Iterator[IntegrityFinding]:
        seen: set[str] = set()
        expected = 1
        try:
            for run in self._pages.runs():
                if not 1 <= run.run_no <= _LAST_RUN:
                    ledger.add("stray_rows", f"run numbers from 1 to {_LAST_RUN}", f"a run {run.run_no}")
                    continue
                if run.run_no != expected:
                    yield from self._told(ledger, partial(self._check_gap, expected, run.run_no - 1))
                expected = run.run_no + 1
                if run.run_id in self._known:
                    seen.add(run.run_id)
                yield from self._walk(run)
        except Unreadable as error:
            ledger.add("table_unreadable", "a table of runs as format 1 has it", str(error))
        yield from self._told(ledger, partial(self._check_stray, expected, _LAST_RUN))
        yield from self._told(ledger, self._check_below)
        for run_id in self._known:
            if run_id not in seen:
                yield self._missing(run_id)

    def _walk(self, run: RunRow) -> Iterator[IntegrityFinding]:
        known = self._known.get(run.run_id, {})
        walk = RunWalk(self._pages, run, self._dialects, known)
        before = self.summary.entries
        yield from walk.findings(lambda done: self._progress(run.run_id, before + done))
        self.summary.runs += 1
        self.summary.broken_runs += walk.found > 0
        self.summary.findings += walk.found
        self.summary.entries += walk.entries
        self.summary.erased += walk.erased
        self.summary.incomplete_runs += walk.unaccounted > 0
        self.summary.heads += walk.heads
        self.summary.known_heads += len(known)
        self.summary.known_heads_held += walk.known_held
        self._references |= walk.references
        self._unopened += not walk.is_opened
        if walk.unchecked:
            self.summary.unchecked[run.run_id] = tuple(walk.unchecked)

    def _missing(self, run_id: str) -> IntegrityFinding:
        known = self._known[run_id]
        size, root = max(known.items())
        self.summary.known_heads += len(known)
        self.summary.findings += 1
        return IntegrityFinding(
            code="known_run_missing",
            run_id=run_id,
            expected=f"the run with at least {size} entries, with the root {root.hex()}",
            found="no run of this id",
        )

    # ---- rows that belong to no run -----------------------------------------------------------------------

    def _check_gap(self, first: int, last: int, add: Add) -> None:
        many = f"run numbers {first} to {last}" if last > first else f"run number {first}"
        add("run_missing", f"a run for {many}", "none")
        self._check_stray(first, last, add)

    def _check_stray(self, first: int, last: int, add: Add) -> None:
        """Tell entries, heads and erasures under numbers that no run has."""
        for table, column, bits in _KEYED_BY_RUN:
            number = self._stray(table, column, bits, first, last)
            while number is not None:
                add("stray_rows", f"a run for number {number}, of which there are {table}", "none")
                number = self._stray(table, column, bits, number + 1, last)

    def _check_below(self, add: Add) -> None:
        """Tell rows under numbers below those of runs; the log's own constraints keep them out."""
        for table, column, bits in _KEYED_BY_RUN:
            found = self._pages.number(f"SELECT min({column}) FROM {table}")
            if found is not None and found < 1 << bits:
                add("stray_rows", f"a run for number {found >> bits}, of which there are {table}", "none")

    def _stray(self, table: str, column: str, bits: int, first: int, last: int) -> int | None:
        """Return the first run number in a table that no run has, as things are now."""
        with self._pages.snapshot():
            if last == _LAST_RUN:  # runs may have been opened meanwhile
                first = max(first, 1 + (self._pages.number("SELECT max(run_no) FROM runs") or 0))
                last = _LAST_KEY >> bits  # also numbers that no run may have
            if first > last:
                return None
            sql = f"SELECT min({column}) FROM {table} WHERE {column} >= ? AND {column} <= ?"
            found = self._pages.number(sql, first << bits, (last + 1 << bits) - 1)
        if found is not None and found >> bits < first:
            raise Unreadable("its rows are out of order")
        return None if found is None else found >> bits
