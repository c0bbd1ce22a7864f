"""A transcript into a ledger.

The file is read twice, in flat memory. The first pass checks every line, so that nothing half-imported stays
behind; the second appends. Invariant: after an import the ledger holds the run as the transcript tells it,
or what it held before. An import that is killed between two batches leaves a prefix, and the same import
again completes it.

Import adds RUN_OPENED, made from the header, and for a whole file that lacks one RUN_CLOSED. It takes no
lock over the run: two imports of one file at once end with one of them told so (SequenceConflict).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from ledger.core.dialect import WireDialect
from ledger.core.entries import OBSERVER, Entry
from ledger.core.json_reader import Malformed, read_json
from ledger.core.observations import RunClosed, RunOpened, observation_type
from ledger.errors import DiffersError, TranscriptError
from ledger.exchange.files import SourceLine, open_transcript, read_lines
from ledger.exchange.json_members import excerpt
from ledger.exchange.opening import read_opening
from ledger.exchange.own_entries import CLOSED, OwnEntries, compare
from ledger.exchange.transcript import EXPECTED_HEADER, Header, TranscriptLine, parse_header, parse_line
from ledger.log.store import DocumentRow, RunRow, Store

BATCH_LINES = 1000
BATCH_BYTES = 8 * 1024 * 1024
"""A batch is closed by whichever comes first, so that long lines do not fill the memory."""

MANIFEST_TYPE = "application/json"

Progress = Callable[[int], None]


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
    """

    run: RunRow
    outcome: Literal["imported", "unchanged", "completed"]
    entries: int
    appended: int
    times_raised: int
    torn: int | None
    stopped: str | None


def import_transcript(
    store: Store,
    path: Path,
    dialects: Mapping[str, WireDialect],
    *,
    keep_partial: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Import a transcript, or find that the ledger holds it; see :func:`read_transcript`.

    Raises:
        DiffersError: the ledger holds a run of this id with other content; nothing was appended.
        SequenceConflict: somebody else appended to the run meanwhile.
    """
    with read_transcript(path, dialects, keep_partial=keep_partial, progress=progress) as bring_into:
        return bring_into(store)


@contextmanager
def read_transcript(
    path: Path,
    dialects: Mapping[str, WireDialect],
    *,
    keep_partial: bool = False,
    progress: Progress | None = None,
) -> Iterator[Callable[[Store], Imported]]:
    """Read a transcript through, and give the function that brings it into a store.

    Args:
        path: a ``.jsonl`` file.
        dialects: the dialects that are known, by name.
        keep_partial: import the lines before the first that cannot be read, instead of nothing.
        progress: told now and then how many bytes were read so far; the file is read twice, so the last
            number is twice its size.

    Raises:
        TranscriptError: the file is no transcript, or a line of it is not.
        DiskError: the file system refused.
    """
    with open_transcript(path) as file, _naming(path):
        survey = _survey(file, dialects, keep_partial=keep_partial, progress=progress)
        if survey.stopped is not None:
            survey.stopped = f"{path}, {survey.stopped}"
        own = OwnEntries(
            survey.opening, _lines_again(file, survey, progress), dialects[survey.header.dialect]
        )
        yield lambda store: _import(store, survey, own)


def _import(store: Store, survey: "_Survey", own: OwnEntries) -> Imported:
    held = store.run(survey.run.run_id)
    return _import_new(store, survey, own) if held is None else _import_again(store, held, survey, own)


# ---- the first pass ---------------------------------------------------------------------------------------


class _Survey(msgspec.Struct, kw_only=True):
    """What the first pass learnt; ``through`` is the byte at which the last line that is imported ends."""

    header: Header
    opening: Entry
    run: RunRow
    documents: tuple[DocumentRow, ...]
    through: int
    closes: bool
    torn: int | None
    stopped: str | None


class _Checked(msgspec.Struct):
    """What reading all lines after the header found."""

    through: int
    first_at: int = 0
    closed: bool = False
    torn: int | None = None
    stopped: str | None = None


def _survey(
    file: BinaryIO, dialects: Mapping[str, WireDialect], *, keep_partial: bool, progress: Progress | None
) -> _Survey:
    lines = read_lines(file, progress=progress)
    first = next(lines, None)
    if first is None:
        raise TranscriptError(f"line 1: expected {EXPECTED_HEADER}, found an empty file", line_number=1)
    header = parse_header(first.raw, first.number)
    dialect = _dialect(header, dialects, first.number)
    opened, body = read_opening(header, dialect, line_number=first.number)
    checked = _check(lines, _Checked(first.end), keep_partial=keep_partial)
    opening = _opening_entry(header, opened, body, checked.first_at)
    return _Survey(
        header=header,
        opening=opening,
        run=RunRow.of(opened, opening.at, via="imported"),
        documents=_documents(header, opened),
        through=checked.through,
        closes=header.whole and not (checked.closed or checked.torn or checked.stopped),
        torn=checked.torn,
        stopped=checked.stopped,
    )


def _check(lines: Iterator[SourceLine], checked: _Checked, *, keep_partial: bool) -> _Checked:
    is_first = True
    try:
        for source in lines:
            line = _read(source)
            if line is None:
                checked.torn = source.number
            else:
                checked.closed = checked.closed or isinstance(line.observation, RunClosed)
                checked.first_at = line.at if is_first else checked.first_at
            is_first = False
            checked.through = source.end
    except TranscriptError as error:
        if not keep_partial:
            raise
        checked.stopped = str(error)
    return checked


def _read(source: SourceLine) -> TranscriptLine | None:
    """Read a line; None where it is the torn end of the file."""
    try:
        return parse_line(source.raw, source.number)
    except TranscriptError:
        if source.terminated or not isinstance(read_json(source.raw), Malformed):
            raise
        return None


def _dialect(header: Header, dialects: Mapping[str, WireDialect], number: int) -> WireDialect:
    dialect = dialects.get(header.dialect)
    if dialect is None:
        raise TranscriptError(
            f'line {number}: expected "dialect" to be one of {", ".join(dialects)}, '
            f"found {excerpt(header.dialect)}",
            line_number=number,
        )
    return dialect


def _opening_entry(header: Header, opened: RunOpened, body: bytes, first_at: int) -> Entry:
    at = header.opened.at if header.opened is not None else None
    salt = header.opened.salt if header.opened is not None else None
    return Entry(1, first_at if at is None else at, OBSERVER, "", observation_type(opened), "", body, salt)


def _documents(header: Header, opened: RunOpened) -> tuple[DocumentRow, ...]:
    if header.manifest is None or opened.manifest is None:
        return ()
    return (DocumentRow(digest=opened.manifest, media_type=MANIFEST_TYPE, body=header.manifest),)


# ---- the second pass --------------------------------------------------------------------------------------


def _lines_again(file: BinaryIO, survey: _Survey, progress: Progress | None) -> Iterator[TranscriptLine]:
    """Read the lines that the first pass let through, and no byte that came after them."""
    tell = None if progress is None else lambda read: progress(survey.through + read)
    end = 0
    for index, source in enumerate(read_lines(file, through=survey.through, progress=tell)):
        if index > 0:
            line = _read(source)
            yield TranscriptLine(0, OBSERVER, "", source.raw) if line is None else line
        end = source.end
    if end != survey.through:
        raise TranscriptError(
            f"byte {end}: expected the {survey.through} bytes that were checked, found fewer; the file was "
            "changed while it was read; import it again"
        )


def _import_new(store: Store, survey: _Survey, own: OwnEntries) -> Imported:
    batches = _batches(_with_closing(own, survey.closes, held=0))
    run = store.open_run(survey.run, next(batches), survey.documents)
    for batch in batches:
        store.append(run.run_no, batch)
    size = store.size(run.run_no)
    return _imported(run, "imported", size, size, survey, own)


def _import_again(store: Store, run: RunRow, survey: _Survey, own: OwnEntries) -> Imported:
    before = store.size(run.run_no)
    beyond = [entry.type for entry in compare(store.entries(run.run_no, through=before), own, run.run_id)]
    closes = survey.closes and CLOSED not in beyond
    if run.via == "imported":
        for batch in _batches(_with_closing(own, closes, held=before)):
            store.append(run.run_no, batch)
    elif next(own, None) is not None:
        raise DiffersError(
            f"run {run.run_id}: expected the {before} entries that this ledger {run.via} itself, found more "
            "in the file; nothing was imported; import it into another ledger"
        )
    size = store.size(run.run_no)
    outcome: Literal["unchanged", "completed"] = "unchanged" if size == before else "completed"
    return _imported(run, outcome, size, size - before, survey, own)


def _imported(
    run: RunRow,
    outcome: Literal["imported", "unchanged", "completed"],
    entries: int,
    appended: int,
    survey: _Survey,
    own: OwnEntries,
) -> Imported:
    return Imported(
        run=run,
        outcome=outcome,
        entries=entries,
        appended=appended,
        times_raised=own.times.raised,
        torn=survey.torn,
        stopped=survey.stopped,
    )


def _with_closing(own: OwnEntries, closes: bool, *, held: int) -> Iterator[Entry]:
    yield from own
    if closes:
        yield own.closing(max(own.seq, held) + 1)


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry.body or b"")
        if len(batch) == BATCH_LINES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say of an error about a line which file the line is in."""
    try:
        yield
    except TranscriptError as error:
        raise TranscriptError(f"{path}, {error}", line_number=error.line_number) from None
