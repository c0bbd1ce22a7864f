"""One run, from its first entry to its newest head: tree, columns, erasures, RUN_OPENED, known heads.

The run is read once, a page at a time. What is appended after the walk began is none of its business; what is
erased meanwhile is seen either before or after.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ledger.core.dialect import LineReader
from ledger.core.entries import OBSERVER
from ledger.core.json_reader import Malformed, read_json
from ledger.core.merkle import root as root_of_peaks
from ledger.core.observations import Decided, RunClosed, RunOpened, decode_observation, observation_type
from ledger.log.paging import AT, BODY, ORIGIN, SEQ, TYPE
from ledger.log.schema import SEQ_BITS, SEQ_MASK
from ledger.log.store import RunRow
from ledger.log.verifying.chain import Chain
from ledger.log.verifying.columns import check_labels, disagreements, leaves_of, opened_by, told
from ledger.log.verifying.erased import ERASED_TYPE, ErasureBook
from ledger.log.verifying.findings import Findings, IntegrityFinding
from ledger.log.verifying.pages import Page, Pages, Unreadable

_OPENED, _DECIDED = observation_type(RunOpened), observation_type(Decided)
_CLOSED = observation_type(RunClosed)


class RunWalk:
    """The verification of one run.

    Attributes:
        entries: entries that were read.
        heads: heads that were compared.
        erased: erased entries among them.
        known_held: heads kept elsewhere that the run still gives.
        is_opened: whether its RUN_OPENED was read.
        references: digests of the documents that the run names.
        unaccounted: erased entries of which an import that was cut short may yet bring the account.
        unchecked: what could not be checked, in words.
        found: how many findings there were.
    """

    def __init__(
        self, pages: Pages, run: RunRow, dialects: Mapping[str, LineReader], known: Mapping[int, bytes]
    ) -> None:
        self.entries = self.heads = self.erased = self.known_held = 0
        self.references: set[str] = set()
        self.unchecked: list[str] = []
        self.is_opened = False
        self.unaccounted = 0
        self._is_closed = False
        self._pages = pages
        self._run = run
        self._dialects = dialects
        self._dialect = dialects.get(run.dialect)
        self._known = known
        self._sizes = sorted(known)
        self._known_through = 0
        self._findings = Findings(run.run_id)
        self._add = self._findings.add
        self._chain = Chain(self._add)
        self._book = ErasureBook()
        self._through = 0

    @property
    def found(self) -> int:
        return self._findings.total

    def findings(self, advance: Callable[[int], None]) -> Iterator[IntegrityFinding]:
        """Walk the run, and yield what does not hold.

        Args:
            advance: told now and then how far the walk has come.
        """
        try:
            self._through = self._pages.size(self._run.run_no)
            after = 0
            while after < self._through:
                after = self._step(after)
                advance(after)
                yield from self._findings.take()
            self._close()
        except Unreadable as error:
            self._add("table_unreadable", "tables as format 1 has them", str(error))
        yield from self._findings.close()

    def _step(self, after: int) -> int:
        """Take the page after an entry; return the last entry that was dealt with."""
        run_no = self._run.run_no
        try:
            page = self._pages.page(run_no, after, self._through)
        except Unreadable as error:
            head = self._pages.next_head(run_no, after)
            end = self._through if head is None else min(head[0], self._through)
            try:
                page = self._pages.page(run_no, after, end)
            except Unreadable:
                return self._skip(after, end, head, str(error))
        self._take(after, page)
        return page.end

    def _skip(self, after: int, end: int, head: tuple[int, Any] | None, error: str) -> int:
        self._add("entries_unreadable", "entries that SQLite can read", error, first=after + 1, last=end)
        if after == 0:
            self.unchecked.append("its row, as RUN_OPENED could not be read")
        self._chain.skip(end)
        if head is not None:
            self._chain.hold(head[1] if isinstance(head[1], bytes) else b"")
        return end

    def _take(self, after: int, page: Page) -> None:
        rows = page.rows
        if after == 0:
            self._check_opening(rows[0] if rows and rows[0][SEQ] == 1 else None)
        leaves = leaves_of(rows, page.erasures, self._add)
        check_labels(rows, self._dialect, self._add)
        self._note_observations(rows)
        if page.erasures:
            for row in rows:
                if row[SEQ] in page.erasures:
                    is_account = row[ORIGIN] == OBSERVER and row[TYPE] == ERASED_TYPE
                    self._book.find(row[SEQ], page.erasures[row[SEQ]][1], is_account=is_account)
        self.entries += len(rows)
        self.erased += sum(row[BODY] is None for row in rows)
        self._tell_missing(after, page)
        self._grow(after, page, leaves)

    def _tell_missing(self, after: int, page: Page) -> None:
        if len(page.rows) == page.end - after:
            return
        before = after
        for seq in (*(row[SEQ] for row in page.rows), page.end + 1):
            if seq != before + 1:
                self._add("entry_missing", "an entry", "none", first=before + 1, last=seq - 1)
            before = seq

    def _grow(self, after: int, page: Page, leaves: list[bytes | None]) -> None:
        """Add the leaves to the tree, and stop wherever a head is kept, here or elsewhere."""
        seqs = [row[SEQ] for row in page.rows]
        known = self._sizes[bisect_right(self._sizes, after) : bisect_right(self._sizes, page.end)]
        start, at = 0, after
        for size in sorted({*page.heads, *known, page.end}):
            end = bisect_right(seqs, size)
            if end - start == size - at:
                self._chain.extend(leaves[start:end])
            else:
                self._chain.skip(size)
            peaks, head_at = page.heads.get(size, (None, None))
            if size in self._known:  # before a head, which may be all that the tree stands on after it
                self._check_known(size, self._known[size], peaks)
            if size in page.heads:
                entry_at = page.rows[end - 1][AT] if end and seqs[end - 1] == size else None
                self._check_head(size, peaks, head_at, entry_at)
            start, at = end, size

    def _check_head(self, size: int, peaks: Any, at: Any, entry_at: Any) -> None:
        self.heads += 1
        if entry_at is not None and at != entry_at:
            expected = f"a head at size {size} with the time of its last entry, {entry_at}"
            self._add("head_changed", expected, told(at), first=size)
        self._chain.hold(peaks if isinstance(peaks, bytes) else b"", self._known.get(size))

    def _check_known(self, size: int, root: bytes, peaks: Any) -> None:
        """Hold the tree against a root that was kept elsewhere, unless the log's own head tells as much."""
        roots = [*self._chain.roots()]
        if root not in roots and _root_of(peaks, size) == root:
            return
        if not roots:
            expected = f"the known root {root.hex()} at size {size}"
            found = "entries that are missing or unreadable, so that no root can be told"
            self._add("known_head_unproved", expected, found, first=self._known_through + 1, last=size)
        elif root in roots:
            self._known_through = size
            if root == roots[0] and self._chain.is_whole:
                self.known_held += 1
                self._chain.prove()
        else:
            expected, found = f"the known root {root.hex()} at size {size}", roots[0].hex()
            self._add("known_head_differs", expected, found, first=self._known_through + 1, last=size)

    def _check_opening(self, row: Any) -> None:
        """Hold the run's row against entry 1, and find the dialect that the run really speaks."""
        if row is None:
            return  # told as missing
        opened = opened_by(row)
        if opened is None:
            self._tell_no_opening(row)
            return
        self.is_opened = True
        self._dialect = self._dialects.get(opened.dialect)
        if self._dialect is None:
            name = told(opened.dialect)
            self.unchecked.append(f"types and streams of its lines, as the dialect {name} is not known")
        for column, expected, found in disagreements(self._run, opened, row[AT]):
            what = f"{column} {told(expected)}, as RUN_OPENED has it"
            self._add("run_changed", what, told(found), first=1)
        self._check_documents(opened)

    def _tell_no_opening(self, row: Any) -> None:
        if row[BODY] is None:
            self._add("opening_missing", "RUN_OPENED of the observer as entry 1", "it erased", first=1)
        elif row[ORIGIN] == OBSERVER and _type_of(row[BODY]) == _OPENED:
            self.unchecked.append("its row, as another version wrote RUN_OPENED")
        else:
            self._add("opening_missing", "RUN_OPENED of the observer as entry 1", told(row[TYPE]), first=1)

    def _check_documents(self, opened: RunOpened) -> None:
        self.references |= {name for name in (opened.manifest, opened.ruleset) if name is not None}
        if opened.manifest is None:
            return
        try:
            held = self._pages.one("SELECT 1 FROM documents WHERE digest = ?", opened.manifest)
        except Unreadable as error:
            self.unchecked.append(f"its manifest, as the documents cannot be read: {error}")
            return
        if held is None:
            expected = f"the manifest {opened.manifest} among the documents"
            self._add("document_missing", expected, "none", first=1)

    def _note_observations(self, rows: list[Any]) -> None:
        for row in rows:
            if row[ORIGIN] == OBSERVER:
                self._is_closed = self._is_closed or row[TYPE] == _CLOSED  # erased or not
                if row[TYPE] == ERASED_TYPE:
                    self._book.read([(row[SEQ], row[BODY])])
                elif row[TYPE] == _DECIDED and isinstance(row[BODY], bytes):
                    decided = decode_observation(row[BODY])
                    if isinstance(decided, Decided):
                        self.references.add(decided.ruleset)

    def _close(self) -> None:
        self._chain.close()
        self._check_beyond()
        newest = self._pages.size(self._run.run_no)
        self._book.close(
            lambda: self._erasures_told_since(newest),
            lambda seq: self._pages.has_body(self._run.run_no, seq),
            self._add,
            still_to_come=newest + 1 if self._may_go_on else None,
        )
        self.unaccounted = self._book.unaccounted
        if self.unaccounted:
            self.unchecked.append(
                "why entries are erased: the part of the run that tells is not imported yet"
            )
        for size, root in self._known.items():
            if size > self._through:
                expected = f"at least {size} entries, with the root {root.hex()}"
                self._add("known_run_short", expected, f"{self._through}: the tail was cut")

    @property
    def _may_go_on(self) -> bool:
        """Whether an import may bring more that tells of erasures; none leaves it out behind RUN_CLOSED."""
        return self._run.via == "imported" and not self._is_closed

    def _erasures_told_since(self, newest: int) -> Iterator[tuple[int, bytes | None]]:
        sql = (
            f"SELECT entry_id & {SEQ_MASK}, body FROM entries WHERE origin = '{OBSERVER}' AND type = ?"
            " AND entry_id > ? AND entry_id <= ?"
        )
        base = self._run.run_no << SEQ_BITS
        yield from self._pages.all(sql, ERASED_TYPE, base | self._through, base | newest)

    def _check_beyond(self) -> None:
        for beyond in self._pages.beyond(self._run.run_no):
            first, last = beyond.first, beyond.last
            if beyond.what != "entries" or not first:
                expected = f"{beyond.what} of places that a run has"
                self._add("stray_rows", expected, "others", first=first, last=last)
            elif self._through:
                expected = f"nothing beyond the newest head, at size {self._through}"
                self._add("entries_beyond_head", expected, "entries", first=first, last=last)
            else:
                self._add("head_missing", "a head over every entry", "none", first=first, last=last)
        for size in self._pages.heads_astray(self._run.run_no):
            at = size if isinstance(size, int) else None
            self._add("head_changed", "a head whose size a run can have", f"size {told(size)}", first=at)
        if not self._through and not self._findings.total:
            self._add("run_empty", "RUN_OPENED as entry 1, and a head", "neither")


def _root_of(peaks: Any, size: int) -> bytes | None:
    try:
        return root_of_peaks(peaks, size)
    except (TypeError, ValueError):
        return None


def _type_of(body: bytes) -> object:
    document = read_json(body)
    value = None if isinstance(document, Malformed) else document.value
    return value.get("type") if isinstance(value, dict) else None
