"""What verifying has to say, as values: where the log no longer holds what it held.

A finding here is about the log and never about what a program said. It names the run, the entries, what was
expected and what was found; its code is public and explained in ``docs/trust.md``.
"""

from collections.abc import Iterator

import msgspec

from ledger.core.json_reader import printable

FINDINGS_PER_RUN = 100
"""Findings about one run, or about the ledger as a whole, that are told before the rest is only counted."""

CODES = {
    "file_damaged": "SQLite's own check of the file fails.",
    "header_changed": "The application id or the format number in the file's header is another.",
    "schema_changed": "A table, index, trigger or view of the log is missing, changed or one too many.",
    "table_unreadable": "A table cannot be read as format 1 has it.",
    "document_changed": "The body of a document is not what its digest says.",
    "document_missing": "The manifest that a run was opened with is not there.",
    "document_unreferenced": "No run refers to a document.",
    "run_missing": "A run number is skipped: a run was taken out, or moved to another number.",
    "run_empty": "A run has neither entries nor heads.",
    "run_changed": "A column of a run's row is not what RUN_OPENED, its entry 1, says.",
    "opening_missing": "Entry 1 of a run is not RUN_OPENED, or it was erased.",
    "stray_rows": "Entries, heads or erasures belong to no run, or to no place of one.",
    "entry_missing": "Entries are missing within a run.",
    "entry_malformed": "A cell of an entry holds what no entry can hold.",
    "entries_unreadable": "SQLite cannot read the entries.",
    "entries_changed": "At least one of the entries is not what it was when its batch was appended.",
    "entries_unproved": "The tree cannot be recomputed over the entries: one is missing or unreadable.",
    "entries_beyond_head": "Entries lie beyond the newest head: their head is gone, or they were slipped in.",
    "label_changed": "The type or the stream of an entry is not what its body says.",
    "head_missing": "A run has entries and no head.",
    "head_changed": "A head is not what it was; the entries that it covers are.",
    "tree_broken": "A head and the entries before it disagree, and nothing tells which of them was changed.",
    "erasure_missing": "The body of an entry is gone, and no erasure took it.",
    "erasure_incomplete": "An erasure was recorded, and the entry still has its body or its salt.",
    "erasure_unexplained": "An entry was erased, and no ENTRIES_ERASED accounts for it as its erasure says;"
    " or it is one itself.",
    "erasure_undone": "An ENTRIES_ERASED names an entry whose body is there.",
    "known_run_missing": "A run that was known is not in the ledger.",
    "known_run_short": "A run has fewer entries than were known: its tail was cut.",
    "known_head_differs": "The entries do not give the root that was known: their history was rewritten.",
    "known_head_unproved": "The root that was known cannot be recomputed, as entries before it are missing.",
    "more_findings": "There are more findings than are told.",
}
"""Every code, and what it means."""


class IntegrityFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One place where the log does not hold.

    Attributes:
        code: one of :data:`CODES`.
        run_id: the run, None where it is about the ledger, or about rows of no run.
        first: the first entry that it is about, None where it is about none.
        last: the last one; of a range, any of the entries may be meant.
        expected: what was expected, in words.
        found: what was found.
    """

    code: str
    run_id: str | None = None
    first: int | None = None
    last: int | None = None
    expected: str
    found: str


class Findings:
    """The findings about one run, or about the ledger: the first hundred, and how many there were.

    Attributes:
        total: how many there were.
    """

    def __init__(self, run_id: str | None = None) -> None:
        self.total = 0
        self._run_id = None if run_id is None else printable(run_id)
        self._waiting: list[IntegrityFinding] = []

    def add(
        self, code: str, expected: str, found: str, *, first: int | None = None, last: int | None = None
    ) -> None:
        """Take a finding; ``last`` is ``first`` where it is left out."""
        self.total += 1
        if self.total <= FINDINGS_PER_RUN:
            self._waiting.append(
                IntegrityFinding(
                    code=code,
                    run_id=self._run_id,
                    first=first,
                    last=first if last is None else last,
                    expected=expected,
                    found=found,
                )
            )

    def take(self) -> Iterator[IntegrityFinding]:
        """Yield what came since the last time."""
        waiting, self._waiting = self._waiting, []
        yield from waiting

    def close(self) -> Iterator[IntegrityFinding]:
        """Yield what is left, and how many more there were."""
        yield from self.take()
        more = self.total - FINDINGS_PER_RUN
        if more > 0:
            yield IntegrityFinding(
                code="more_findings",
                run_id=self._run_id,
                expected=f"at most {FINDINGS_PER_RUN} findings to be told",
                found=f"{more} more",
            )
