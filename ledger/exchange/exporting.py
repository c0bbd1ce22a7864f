"""A run out of a ledger, as a transcript.

Streams: one entry is held at a time. Invariant: export then import is the identity, that is the same run id,
the same entries with their salts byte for byte, and so the same root at every size. What a transcript cannot
carry makes the export fail, with nothing to be trusted of what was written until then.

RUN_OPENED is no line of a transcript, it is rebuilt from the header. So that it is rebuilt byte for byte by
any later version too (a dialect may come to read a program's id in another way, and RUN_OPENED may grow
members), the header carries its exact bytes beside the readable facts.
"""

from collections.abc import Callable
from typing import BinaryIO

from ledger.core.entries import OBSERVER, Entry
from ledger.core.observations import RunOpened, decode_observation
from ledger.errors import BusyError, FormatError, IntegrityError, UsageError
from ledger.exchange.erased_lines import ERASED, ErasuresSeen
from ledger.exchange.opening import write_opening
from ledger.exchange.transcript import Header
from ledger.exchange.transcript_writer import write_header, write_line
from ledger.log.remarks import is_closed
from ledger.log.store import Erasure, RunRow, Store

_REPORT_EVERY = 1000


def export_run(
    store: Store, run: RunRow, out: BinaryIO, *, progress: Callable[[int], None] | None = None
) -> int:
    """Write a run as a transcript; of a run that is growing, what there was when the export began.

    Args:
        store: the log that holds the run.
        run: the run, as the store gave it.
        out: a binary stream to write to; it is not closed.
        progress: told now and then, and at the end, how many entries were written.

    Returns:
        How many entries the transcript stands for, RUN_OPENED included.

    Raises:
        UsageError: entry 1 is erased, by other means than ours.
        FormatError: another version wrote RUN_OPENED in a way that this one cannot read.
        IntegrityError: the log lacks the manifest, holds what no transcript can carry, or does not tell of
            an erasure.
        BusyError: an entry was erased meanwhile.
    """
    size = store.size(run.run_no)
    first = next(store.entries(run.run_no, through=1, salts=True), None)
    if first is None:
        raise IntegrityError(f"run {run.run_id}: expected RUN_OPENED as entry 1, found no entry")
    out.write(write_header(_header(store, run, first, size)))
    told = ErasuresSeen()
    erasures = _Erasures(store, run)
    for entry in store.entries(run.run_no, after=1, through=size, salts=True):
        if entry.body is None:
            erasure = erasures.of(entry.seq)
            told.take_erased(entry.seq, entry.origin, entry.type, erasure.erased_by if erasure else "")
            out.write(write_line(entry, erasure))
        else:
            if entry.type == ERASED and entry.origin == OBSERVER:
                told.take(entry.seq, decode_observation(entry.body))
            out.write(write_line(entry))
        if progress is not None and entry.seq % _REPORT_EVERY == 0:
            progress(entry.seq)
    _check_told(store, run, told, size)
    if progress is not None:
        progress(size)
    return size


class _Erasures:
    """The erasures of a run, read beside its entries; an entry may be erased after its page was read."""

    def __init__(self, store: Store, run: RunRow) -> None:
        self._store = store
        self._run = run
        self._ahead = store.erasures(run.run_no)
        self._next = next(self._ahead, None)

    def of(self, seq: int) -> Erasure | None:
        """Return what is kept of an entry; asked in rising order."""
        while self._next is not None and self._next.seq < seq:
            self._next = next(self._ahead, None)
        if self._next is not None and self._next.seq == seq:
            return self._next
        return next(self._store.erasures(self._run.run_no, after=seq - 1, through=seq), None)


def _check_told(store: Store, run: RunRow, told: ErasuresSeen, size: int) -> None:
    difference = told.difference()
    if difference is None:
        return
    if store.size(run.run_no) > size and any(
        entry.seq > size for _, entry in store.observations(ERASED, run_no=run.run_no)
    ):
        raise BusyError(
            f"run {run.run_id}: expected it to stay as it was, found that entries were erased while it was "
            "exported; export it again"
        )
    raise IntegrityError(f"run {run.run_id}: expected {difference}; verify the ledger")


def _header(store: Store, run: RunRow, first: Entry, size: int) -> Header:
    if first.body is None:
        raise UsageError(
            f"run {run.run_id}: expected RUN_OPENED as entry 1, found it erased; nothing else says what "
            "the run is, so it cannot be exported"
        )
    opening = decode_observation(first.body)
    if not isinstance(opening, RunOpened) or first.origin != OBSERVER or first.session:
        raise FormatError(
            f"run {run.run_id}: expected RUN_OPENED as entry 1, found what this version cannot read"
        )
    return Header(
        dialect=opening.dialect,
        run_id=opening.run_id,
        trigger=opening.trigger,
        manifest=_manifest(store, run, opening.manifest),
        offered=opening.offered,
        ruleset=opening.ruleset,
        whole=is_closed(store, run.run_no, through=size),
        opened=write_opening(opening, first.body, at=first.at, salt=first.salt),
    )


def _manifest(store: Store, run: RunRow, digest: str | None) -> bytes | None:
    if digest is None:
        return None
    manifest = store.documents([digest]).get(digest)
    if manifest is None:
        raise IntegrityError(f"run {run.run_id}: expected its manifest {digest} in the log, found none")
    return manifest
