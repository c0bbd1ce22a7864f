"""The seam between the log and everybody else: what a store of runs offers.

Two stores keep this contract, :class:`ledger.log.sqlite_store.SqliteStore` and its in-memory twin
:class:`ledger.log.memory_store.MemoryStore`; ``tests/log/`` runs one suite over both. A store never reads
what a body means. Writes go run by run, and each write names the sequence number that it expects, so that a
run cannot fork. Reads are paged in short transactions, so that no reader holds the log back.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from ledger.core.entries import MOST_ENTRIES, Entry
from ledger.core.merkle import root
from ledger.core.observations import RunOpened
from ledger.errors import IntegrityError

_DIGITS = len(str(MOST_ENTRIES))


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is fixed about a run at its opening, for finding it again.

    Attributes:
        run_no: the run's number in this ledger, from 1; 0 before the log has given it one.
        namespace: '' where the run commits nothing.
        trigger: the trigger's kind.
        via: how the run reached this ledger: ``recorded``, ``tapped`` or ``imported``.
        opened_at: microseconds since the epoch, UTC; 0 where unknown.
    """

    run_no: int = 0
    run_id: str
    dialect: str
    program: str
    namespace: str
    trigger: str
    via: str
    opened_at: int

    @classmethod
    def of(cls, opened: RunOpened, at: int, *, via: str) -> "RunRow":
        """Return the row of a run that was opened so, at a time in microseconds since the epoch, UTC."""
        return cls(
            run_id=opened.run_id,
            dialect=opened.dialect,
            program=opened.program,
            namespace=opened.namespace or "",
            trigger=opened.trigger.kind,
            via=via,
            opened_at=at,
        )


class TreeHead(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run's Merkle tree after one batch.

    Attributes:
        size: leaves, and so entries, covered.
        peaks: the roots of the perfect subtrees, largest first, 32 bytes each.
        at: the ``at`` of the batch's last entry.
    """

    run_no: int
    size: int
    peaks: bytes
    at: int


def root_of(run: RunRow, head: TreeHead) -> bytes:
    """Return the root that one of a run's tree heads stands for, 32 bytes.

    Raises:
        IntegrityError: its peaks are those of no tree of its size.
    """
    try:
        return root(head.peaks, head.size)
    except ValueError as error:
        raise IntegrityError(f"run {run.run_id}: {error}; verify the ledger") from error


class Erasure(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of an entry whose body and salt are gone.

    Attributes:
        seq: the entry's place in its run.
        leaf: its hash in the run's tree, 32 bytes.
        erased_by: the seq of the ENTRIES_ERASED that tells why, as text.
    """

    seq: int
    leaf: bytes
    erased_by: str


def account_of(erased_by: object) -> int:
    """Return the seq of the account that an erasure names, 0 where it names none that a run can have."""
    if not (isinstance(erased_by, str) and erased_by.isascii() and erased_by.isdecimal()):
        return 0
    return int(erased_by) if len(erased_by) <= _DIGITS and int(erased_by) <= MOST_ENTRIES else 0


RULESET_MEDIA_TYPE = "application/vnd.run-ledger.ruleset+json"
"""Of the documents of rulesets, which no run need refer to."""


class DocumentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A content-addressed document: a manifest or a ruleset."""

    digest: str
    media_type: str
    body: bytes


class Store(Protocol):
    """An append-only log of runs."""

    def open_run(
        self,
        run: RunRow,
        entries: Sequence[Entry],
        documents: Iterable[DocumentRow] = (),
        *,
        erased: Iterable[Erasure] = (),
    ) -> RunRow:
        """Open a run and append its first batch in one transaction.

        Args:
            run: what is fixed at opening; its ``run_no`` is ignored.
            entries: the first batch, seq 1 onward. Entries without a salt are given one.
            documents: documents that the run refers to; those already held are left alone.
            erased: what is known of the entries of the batch that have no body, as they were erased before
                they came here.

        Returns:
            The row with the number that the log gave it.

        Raises:
            SequenceConflict: a run of this id is already open.
            BusyError: another process held the ledger for longer than the busy timeout.
            IntegrityError: the batch has a hole, or does not begin at 1; an entry has no body and no erasure,
                or both; a document is not what its digest says.
            ValueError: the batch is empty.
        """
        ...

    def append(self, run_no: int, entries: Sequence[Entry], *, erased: Iterable[Erasure] = ()) -> None:
        """Append a batch to a run, in one transaction with its tree head.

        The batch's first seq is the sequence number that the writer expects to be next; ``erased`` is as for
        :meth:`open_run`.

        Raises:
            SequenceConflict: the run has grown past it, or has not reached it.
            NotFoundError: there is no such run.
            BusyError: as for :meth:`open_run`.
            IntegrityError, ValueError: as for :meth:`open_run`.
        """
        ...

    def erase(self, run_no: int, seqs: Iterable[int], account: Entry) -> int:
        """Take the bodies and salts out of entries, and append the account of it, in one transaction.

        The leaves stay, so that the run's tree is what it was. What was cached of the run is dropped. What is
        erased already is passed over; where nothing is left to erase, nothing is appended. Until
        :meth:`scrub` the store's files may still hold the bytes.

        Args:
            run_no: the run.
            seqs: the entries; not entry 1, which says what the run is, and no ENTRIES_ERASED.
            account: the ENTRIES_ERASED, at the sequence number that the writer expects to be next.

        Returns:
            How many entries were erased.

        Raises:
            NotFoundError: there is no such run, or no such entry of it.
            UsageError: entry 1 or an ENTRIES_ERASED is among them.
            SequenceConflict, BusyError: as for :meth:`append`.
        """
        ...

    def scrub(self) -> None:
        """Leave in the store's files nothing of what was erased, by whomever; rewrites them where it must.

        Raises:
            BusyError: others kept it from finishing; says what is left, and to do.
            DiskError: there was no room for the rewriting; what was erased is erased in any case.
        """
        ...

    def erasures(self, run_no: int, *, after: int = 0, through: int | None = None) -> Iterator[Erasure]:
        """Yield what is kept of a run's erased entries, in order, of the range that :meth:`entries` takes."""
        ...

    def run(self, run_id: str) -> RunRow | None:
        """Return the run of this id."""
        ...

    def runs(self, *, program: str | None = None, since: int | None = None) -> Iterator[RunRow]:
        """Yield runs, newest first: those of one program, those opened at or after a time (microseconds).

        Runs opened at one time come in the order in which the log got them, last first; those opened at an
        unknown time come last.
        """
        ...

    def runs_as_appended(self) -> Iterator[RunRow]:
        """Yield runs in the order in which the log got them, first first."""
        ...

    def runs_with_prefix(self, prefix: str, limit: int) -> list[RunRow]:
        """Return up to ``limit`` runs whose id begins with ``prefix``, in order of id."""
        ...

    def size(self, run_no: int) -> int:
        """Return how many entries a run has; none where there is no such run."""
        ...

    def entries(
        self, run_no: int, *, after: int = 0, through: int | None = None, salts: bool = False
    ) -> Iterator[Entry]:
        """Yield a run's entries in order, as far as its newest tree head goes.

        Args:
            run_no: the run; one that is not there has no entries.
            after: the seq after which to begin.
            through: the last seq to yield; None for all that there are when the read reaches the end.
            salts: whether to read the salts too.
        """
        ...

    def labelled(self, run_no: int, type: str, streams: Collection[str]) -> Iterator[Entry]:
        """Yield a run's entries of one type about some streams, in order, as far as ``entries`` does.

        Args:
            run_no: the run; one that is not there has no entries.
            type: the type as it was read at append, such as ``RECORD``.
            streams: the streams as they were read at append.
        """
        ...

    def observations(
        self, type: str, *, stream: str = "", run_no: int | None = None
    ) -> Iterator[tuple[int, Entry]]:
        """Yield (run_no, entry) for the observer's entries of one type about one stream, oldest first.

        Args:
            type: the observation's type, such as ``CHECKPOINT_COMMITTED``.
            stream: the stream that it names, '' for a type that names none.
            run_no: the one run to look in, None for all.
        """
        ...

    def documents(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        """Return the bodies of those of the documents that the log holds."""
        ...

    def head(self, run_no: int) -> TreeHead | None:
        """Return a run's newest tree head, None where there is no such run."""
        ...

    def documents_of(self, media_type: str) -> Iterator[DocumentRow]:
        """Yield the documents of a media type, in order of digest."""
        ...

    def keep_documents(self, documents: Iterable[DocumentRow]) -> None:
        """Keep documents that no run refers to, all or none; those already held are left alone.

        Raises:
            BusyError: as for :meth:`open_run`.
            IntegrityError: a document is not what its digest says.
        """
        ...

    def heads(self, run_no: int) -> Iterator[TreeHead]:
        """Yield a run's tree heads, smallest first."""
        ...

    def close(self) -> None:
        """Release the store; closing twice is no error."""
        ...
