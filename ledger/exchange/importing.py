"""A transcript, or a bare capture, into a ledger.

The file is read twice, in flat memory. The first pass checks every line, so that nothing half-imported stays
behind; the second appends. Invariant: after an import the ledger holds the run as the transcript tells it,
or what it held before. An import that is killed between two batches leaves a prefix, and the same import
again completes it.

Import adds RUN_OPENED, made from the header, and for a whole file that lacks one RUN_CLOSED. It takes no
lock over the run: of two imports of one file at once each appends what the other has not yet, and both end
with the whole run.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from ledger.core.dialect import WireDialect
from ledger.core.entries import Entry
from ledger.core.line_cutting import LINE_LIMIT
from ledger.errors import DiffersError, SequenceConflict
from ledger.exchange.captures import Known
from ledger.exchange.files import open_source
from ledger.exchange.own_entries import CLOSED, OwnEntries, compare
from ledger.exchange.survey import Progress, Reading, Survey, naming, read_again, survey
from ledger.log.batches import BATCH_BYTES, BATCH_LINES
from ledger.log.store import Erasure, RunRow, Store

_BATCHES_JOINED = 16
"""Batches that become one, at most, so that a run has not its end without what tells of its erasures."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did.

    Attributes:
        run: the run, as the ledger holds it.
        outcome: ``imported``; ``unchanged`` where the ledger held it all; ``completed`` where it held a
            part.
        entries: how many entries the run has now.
        appended: how many of them this import added.
        times_raised: times that went back, and were raised to the last one known.
        torn: the line of the file that is torn off, None where none is; it was kept, and the run not closed.
        stopped: why the import stopped before the end of the file, None where it did not; only with
            ``keep_partial``. The run was not closed.
        is_capture: whether the file was a bare capture.
        cuts: how many wire lines were too long, so that only their heads were kept.
        runtime_line: of a capture, the first entry that says what only a runtime says, None where none does.
        still_held: the entries that are erased in the file, while the ledger has their bodies. These stay,
            and nothing of the file is appended, as it tells of an erasure that was not made here.
    """

    run: RunRow
    outcome: Literal["imported", "unchanged", "completed"]
    entries: int
    appended: int
    times_raised: int
    torn: int | None
    stopped: str | None
    is_capture: bool
    cuts: int
    runtime_line: int | None
    still_held: tuple[int, ...]


def import_transcript(
    store: Store,
    path: Path,
    dialects: Mapping[str, WireDialect],
    *,
    keep_partial: bool = False,
    max_line: int = LINE_LIMIT,
    known: Known | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Import a transcript or a capture, or find that the ledger holds it; see :func:`read_transcript`.

    Raises:
        DiffersError: the ledger holds a run of this id with other content; nothing was appended.
    """
    with read_transcript(
        path, dialects, keep_partial=keep_partial, max_line=max_line, known=known, progress=progress
    ) as bring_into:
        return bring_into(store)


@contextmanager
def read_transcript(
    path: Path,
    dialects: Mapping[str, WireDialect],
    *,
    keep_partial: bool = False,
    max_line: int = LINE_LIMIT,
    known: Known | None = None,
    progress: Progress | None = None,
) -> Iterator[Callable[[Store], Imported]]:
    """Read a file through, and give the function that brings what it tells of into a store.

    Args:
        path: a transcript, or a bare capture of a program's stdout; plain, gzip or zstd; ``-`` for stdin.
        dialects: the dialects that are known, by name.
        keep_partial: import the lines before the first that cannot be read, instead of nothing.
        max_line: bytes of the longest wire line that is kept whole; of a longer one its head is.
        known: what is known beside a capture; None where nothing was said, so that the file is taken for
            one only where it looks like one.
        progress: told now and then how many bytes of the file were read so far; it is read twice, so the
            last number is twice its size.

    Raises:
        TranscriptError: the file is neither, or a line of it cannot be read.
        UsageError: something is said of a capture, and it is a transcript.
        DiskError: the file system refused.
    """
    reading = Reading(keep_partial, max_line, known, progress)
    with open_source(path) as source:
        found = survey(source, dialects, reading)

        def own() -> OwnEntries:
            dialect = dialects[found.header.dialect]
            lines = read_again(source, found, reading, dialect)
            return OwnEntries(found.opening, lines, dialect, cuts_last=found.capture is None)

        with naming(source.name):
            yield lambda store: _import(store, found, own)


class _Done(msgspec.Struct, kw_only=True):
    """What this import has appended so far, and whether it opened the run."""

    appended: int = 0
    opened: bool = False


def _import(store: Store, found: Survey, own_entries: Callable[[], OwnEntries]) -> Imported:
    """Import, and compare again where another import of the run got on meanwhile."""
    done, reached = _Done(), 0
    while True:
        own = own_entries()
        held = store.run(found.run.run_id)
        try:
            if held is None:
                run = _import_new(store, found, own, done)
            else:
                run = _import_again(store, held, found, own, done)
        except SequenceConflict as error:
            if error.found <= reached:  # nobody got on, so trying again would never end
                raise
            reached = error.found
        else:
            return _imported(run, store.size(run.run_no), done, found, own)


def _import_new(store: Store, found: Survey, own: OwnEntries, done: _Done) -> RunRow:
    batches = _batches(_with_closing(own, found.closes, held=0), own)
    first = next(batches)
    run = store.open_run(found.run, first, found.documents, erased=_erased_of(first, own))
    done.opened, done.appended = True, len(first)
    del first  # while the next is filled
    _append(store, run, batches, own, done)
    return run


def _import_again(store: Store, run: RunRow, found: Survey, own: OwnEntries, done: _Done) -> RunRow:
    before = store.size(run.run_no)
    held = store.entries(run.run_no, through=before, salts=True)

    def erasure_of(seq: int) -> Erasure | None:
        return next(store.erasures(run.run_no, after=seq - 1, through=seq), None)

    beyond = [entry.type for entry in compare(held, own, run.run_id, erasure_of)]
    closes = found.closes and CLOSED not in beyond
    if own.still_held:
        return run
    if run.via == "imported":
        _append(store, run, _batches(_with_closing(own, closes, held=before), own), own, done)
    elif next(own, None) is not None:
        raise DiffersError(
            f"run {run.run_id}: expected the {before} entries that this ledger {run.via} itself, found more "
            "in the file; nothing was imported; import it into another ledger"
        )
    return run


def _append(store: Store, run: RunRow, batches: Iterator[list[Entry]], own: OwnEntries, done: _Done) -> None:
    for batch in batches:
        store.append(run.run_no, batch, erased=_erased_of(batch, own))
        done.appended += len(batch)
        del batch  # while the next is filled


def _imported(run: RunRow, size: int, done: _Done, found: Survey, own: OwnEntries) -> Imported:
    return Imported(
        run=run,
        outcome="imported" if done.opened else "completed" if done.appended else "unchanged",
        entries=size,
        appended=done.appended,
        times_raised=own.times.raised,
        torn=found.torn,
        stopped=found.stopped,
        is_capture=found.capture is not None,
        cuts=own.cuts,
        runtime_line=own.runtime_line if found.capture is not None else None,
        still_held=tuple(own.still_held),
    )


def _erased_of(batch: list[Entry], own: OwnEntries) -> list[Erasure]:
    return [own.erased.pop(entry.seq) for entry in batch if entry.body is None]


def _with_closing(own: OwnEntries, closes: bool, *, held: int) -> Iterator[Entry]:
    yield from own
    if closes:
        yield own.closing(max(own.seq, held) + 1)


def _batches(entries: Iterator[Entry], own: OwnEntries) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = joined = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry.body or b"")
        del entry
        if len(batch) >= BATCH_LINES * (joined + 1) or size >= BATCH_BYTES * (joined + 1):
            joined += 1
            if not own.may_break_off and joined < _BATCHES_JOINED:
                continue
            full, batch = batch, []
            size = joined = 0
            yield full
            del full
    if batch:
        yield batch
