"""The log in memory: the twin of the SQLite store, for tests and for work that leaves no file."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import starmap

import msgspec

from ledger.core.entries import OBSERVER, Entry
from ledger.core.merkle import leaf_hash
from ledger.errors import IntegrityError, NotFoundError
from ledger.log.batches import Batch, check_erasable, checked_documents, conflict, grown_peaks, prepare
from ledger.log.store import DocumentRow, Erasure, RunRow, TreeHead


class MemoryStore:
    """A log that ends with its process; keeps the contract of :class:`ledger.log.store.Store`."""

    def __init__(self) -> None:
        self._runs: dict[int, RunRow] = {}
        self._entries: dict[int, list[Entry]] = {}
        self._heads: dict[int, list[TreeHead]] = {}
        self._erasures: dict[int, dict[int, Erasure]] = {}
        self._documents: dict[str, DocumentRow] = {}

    def __enter__(self) -> "MemoryStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release nothing: what is held goes with the object."""

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
        held = self.run(run.run_id)
        if held is not None:
            raise conflict(f"run {run.run_id}", expected=1, found=self.size(held.run_no) + 1)
        kept = checked_documents(documents)
        opened = msgspec.structs.replace(run, run_no=len(self._runs) + 1)
        self._documents = kept | self._documents
        self._runs[opened.run_no] = opened
        self._entries[opened.run_no] = []
        self._heads[opened.run_no] = []
        self._erasures[opened.run_no] = {}
        self._keep(opened.run_no, batch, b"")
        return opened

    def append(self, run_no: int, entries: Sequence[Entry], *, erased: Iterable[Erasure] = ()) -> None:
        batch = prepare(entries, erased)
        if run_no not in self._runs:
            raise NotFoundError(f"expected a run number {run_no}, found none")
        size = self.size(run_no)
        if batch.first != size + 1:
            raise conflict(f"run number {run_no}", expected=batch.first, found=size + 1)
        self._keep(run_no, batch, self._heads[run_no][-1].peaks)

    def erase(self, run_no: int, seqs: Iterable[int], account: Entry) -> int:
        size = self.size(run_no)
        if not size:
            raise NotFoundError(f"expected a run number {run_no}, found none")
        if account.seq != size + 1:
            raise conflict(f"run number {run_no}", expected=account.seq, found=size + 1)
        accounts = {entry.seq for _, entry in self.observations(account.type, run_no=run_no)}
        wanted = check_erasable(f"run number {run_no}", seqs, size, accounts)
        held = [entry for seq in wanted if (entry := self._entries[run_no][seq - 1]).body is not None]
        if held:
            self.append(run_no, [account])
            for entry in held:
                leaf = leaf_hash(entry.salt or b"", entry.origin, entry.session, entry.at, entry.body or b"")
                self._erase(run_no, Erasure(seq=entry.seq, leaf=leaf, erased_by=str(account.seq)))
        return len(held)

    def scrub(self) -> None:
        """Do nothing: there is no file."""

    def erasures(self, run_no: int, *, after: int = 0, through: int | None = None) -> Iterator[Erasure]:
        for seq, erasure in sorted(self._erasures.get(run_no, {}).items()):
            if after < seq and (through is None or seq <= through):
                yield erasure

    def _erase(self, run_no: int, erasure: Erasure) -> None:
        entries = self._entries[run_no]
        entries[erasure.seq - 1] = msgspec.structs.replace(entries[erasure.seq - 1], body=None, salt=None)
        self._erasures[run_no][erasure.seq] = erasure

    def _keep(self, run_no: int, batch: Batch, peaks: bytes) -> None:
        peaks = grown_peaks(peaks, self.size(run_no), batch.leaves, f"run number {run_no}")
        self._entries[run_no].extend(starmap(Entry, batch.rows))
        self._heads[run_no].append(TreeHead(run_no=run_no, size=batch.last, peaks=peaks, at=batch.at))
        for erasure in batch.erased:
            self._erase(run_no, erasure)

    def run(self, run_id: str) -> RunRow | None:
        return next((run for run in self._runs.values() if run.run_id == run_id), None)

    def runs(self, *, program: str | None = None, since: int | None = None) -> Iterator[RunRow]:
        for run in sorted(self._runs.values(), key=lambda run: (run.opened_at, run.run_no), reverse=True):
            if program in (None, run.program) and (since is None or run.opened_at >= since):
                yield run

    def runs_as_appended(self) -> Iterator[RunRow]:
        yield from self._runs.values()

    def runs_with_prefix(self, prefix: str, limit: int) -> list[RunRow]:
        found = [run for run in self._runs.values() if run.run_id.startswith(prefix)]
        return sorted(found, key=lambda run: run.run_id)[:limit]

    def size(self, run_no: int) -> int:
        return len(self._entries.get(run_no, ()))

    def entries(
        self, run_no: int, *, after: int = 0, through: int | None = None, salts: bool = False
    ) -> Iterator[Entry]:
        held = self._entries.get(run_no, [])
        at = max(after, 0)
        while at < (len(held) if through is None else min(through, len(held))):
            entry = held[at]
            yield entry if salts else msgspec.structs.replace(entry, salt=None)
            at += 1

    def labelled(self, run_no: int, type: str, streams: Collection[str]) -> Iterator[Entry]:
        wanted = frozenset(streams)
        return (one for one in self.entries(run_no) if one.type == type and one.stream in wanted)

    def observations(
        self, type: str, *, stream: str = "", run_no: int | None = None
    ) -> Iterator[tuple[int, Entry]]:
        for number in list(self._runs) if run_no is None else [run_no]:
            for entry in self.entries(number):
                if entry.origin == OBSERVER and (entry.type, entry.stream) == (type, stream):
                    yield number, entry

    def documents(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        return {name: self._documents[name].body for name in digests if name in self._documents}

    def head(self, run_no: int) -> TreeHead | None:
        return self._heads[run_no][-1] if run_no in self._heads else None

    def documents_of(self, media_type: str) -> Iterator[DocumentRow]:
        yield from (row for _, row in sorted(self._documents.items()) if row.media_type == media_type)

    def keep_documents(self, documents: Iterable[DocumentRow]) -> None:
        self._documents = checked_documents(documents) | self._documents

    def heads(self, run_no: int) -> Iterator[TreeHead]:
        yield from self._heads.get(run_no, ())
