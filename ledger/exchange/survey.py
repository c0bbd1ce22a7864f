"""The first reading of a file that is imported: what it is, whether all of it can be read, how far it goes.

A transcript and a bare capture are told apart here, by looking; what comes after sees a header and lines, and
no difference but where it is asked for. Invariant: the second reading gives the lines that the first let
through, and fails where the file was changed in between.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from ledger.core.dialect import WireDialect
from ledger.core.entries import OBSERVER, Entry
from ledger.core.json_reader import Malformed, read_json
from ledger.core.line_cutting import LINE_LIMIT, LineCutter, Search, cut_line
from ledger.core.observations import RunOpened, observation_type
from ledger.errors import TranscriptError, UsageError
from ledger.exchange.captures import (
    LOOKED_AT,
    Digest,
    Known,
    capture_line,
    header_of,
    is_transcript,
    spoken_dialect,
    start_line,
)
from ledger.exchange.erased_lines import ErasuresSeen
from ledger.exchange.files import RawLine, Source, SourceLine, read_lines, read_transcript_lines
from ledger.exchange.json_members import excerpt
from ledger.exchange.long_lines import parse_long_line
from ledger.exchange.opening import read_opening
from ledger.exchange.own_entries import is_closing
from ledger.exchange.transcript import EXPECTED_HEADER, Header, TranscriptLine, parse_header, parse_line
from ledger.log.store import DocumentRow, RunRow

MANIFEST_TYPE = "application/json"

Progress = Callable[[int], None]


class Reading(NamedTuple):
    """How a file is to be read.

    Attributes:
        keep_partial: import the lines before the first that cannot be read, instead of nothing.
        max_line: bytes of the longest wire line that is kept whole.
        known: what is known beside a bare capture; None where nothing was said, so that only a file that
            looks like one is taken for one.
        progress: told now and then how many bytes of the file were read.
    """

    keep_partial: bool = False
    max_line: int = LINE_LIMIT
    known: Known | None = None
    progress: Progress | None = None


class Survey(msgspec.Struct, kw_only=True):
    """What the first reading learnt.

    Attributes:
        header: of the transcript, or as the capture's transcript would have it.
        opening: entry 1.
        run: the run's row.
        documents: the manifest.
        through: the byte, unpacked, at which the last line that is imported ends.
        read: bytes of the file that were read, packed as it is.
        closes: whether an import may close the run.
        torn: the line that is torn off at the end of a transcript.
        stopped: why the reading stopped before the end of the file.
        capture: the digest of a capture; None for a transcript.
    """

    header: Header
    opening: Entry
    run: RunRow
    documents: tuple[DocumentRow, ...]
    through: int
    read: int
    closes: bool
    torn: int | None = None
    stopped: str | None = None
    capture: str | None = None


def survey(source: Source, dialects: Mapping[str, WireDialect], reading: Reading) -> Survey:
    """Read a file for the first time.

    Raises:
        TranscriptError: it is neither a transcript nor a capture, or a line of it cannot be read.
        UsageError: something was said of a capture, and it is a transcript.
        DiskError: the file system refused.
    """
    with naming(source.name):
        first, is_whole = source.first_line(LOOKED_AT)
        if not is_transcript(first, is_whole=is_whole and reading.known is None):
            dialect = spoken_dialect(first, dialects, is_sure=reading.known is not None)
            if dialect is not None:
                return _survey_capture(source, dialect, dialects[dialect], reading)
        elif reading.known is not None:
            raise UsageError(
                f"{source.name}: expected a bare capture, since something is said of one, found a "
                "transcript; its header says it all, so import it by itself"
            )
        return _survey_transcript(source, dialects, reading)


def read_again(
    source: Source, found: Survey, reading: Reading, dialect: WireDialect
) -> Iterator[TranscriptLine]:
    """Read the lines that the first reading let through, and no byte that came after them.

    Raises:
        TranscriptError: the file was changed in between.
    """
    progress = reading.progress
    tell = None if progress is None else lambda read: progress(found.read + read)
    if found.capture is None:
        yield from _transcript_again(source, found, _Reader(reading.max_line, dialect.may_hold_secret), tell)
    else:
        yield from _capture_again(source, found, reading, dialect.may_hold_secret, tell)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say of an error about a line which file the line is in."""
    try:
        yield
    except TranscriptError as error:
        raise TranscriptError(f"{name}, {error}", line_number=error.line_number) from None


# ---- transcripts ------------------------------------------------------------------------------------------


class _Checked(msgspec.Struct):
    """What reading all lines after the header found."""

    through: int
    first_at: int = 0
    closed: bool = False
    torn: int | None = None
    stopped: str | None = None


def _survey_transcript(source: Source, dialects: Mapping[str, WireDialect], reading: Reading) -> Survey:
    tally = _Tally(reading.progress)
    lines = read_transcript_lines(source, reading.max_line, progress=tally)
    first = next(lines, None)
    if first is None:
        raise TranscriptError(f"line 1: expected {EXPECTED_HEADER}, found an empty file", line_number=1)
    header = parse_header(first.raw, first.number)
    dialect = _dialect(header, dialects, first.number)
    opened, body = read_opening(header, dialect, line_number=first.number)
    reader = _Reader(reading.max_line, dialect.may_hold_secret)
    checked = _check(lines, _Checked(first.end), source.name, reading, reader)
    opening = _opening_entry(header, opened, body, checked.first_at)
    return Survey(
        header=header,
        opening=opening,
        run=RunRow.of(opened, opening.at, via="imported"),
        documents=_documents(header, opened),
        through=checked.through,
        read=tally.read,
        closes=header.whole and not (checked.closed or checked.torn or checked.stopped),
        torn=checked.torn,
        stopped=checked.stopped,
    )


def _check(
    lines: Iterator[SourceLine], checked: _Checked, name: str, reading: Reading, read: "_Reader"
) -> _Checked:
    told, last, cuts = ErasuresSeen(), 1, 0
    try:
        for seq, source in enumerate(lines, start=2):
            line = read(source)
            if line is None:
                checked.torn = source.number
            else:
                checked.closed = checked.closed or is_closing(line)
                checked.first_at = line.at if seq == 2 else checked.first_at
                cuts += line.cut is not None  # a LINE_CUT for each will follow
                told.take(seq, line.observation)
                if line.erased is not None:
                    told.take_erased(seq, line.origin, line.erased.type, line.erased.by)
            last, checked.through = seq, source.end
            del source, line  # they may be long, and the next line is read before they are replaced
    except TranscriptError as error:
        if not reading.keep_partial:
            raise
        checked.stopped = f"{name}, {error}"
    is_whole = checked.torn is None and checked.stopped is None
    # Of a run that holds RUN_CLOSED verifying takes what tells of its erasures to be there.
    difference = told.difference(told_after=None if is_whole or checked.closed else last + cuts)
    if difference is not None:
        raise TranscriptError(f"read to its end: expected {difference}")
    return checked


class _Reader(NamedTuple):
    """Reads lines of a transcript.

    Attributes:
        limit: bytes of the longest wire line that is kept whole.
        search: tells a sign of a secret in a part of a line that is cut.
    """

    limit: int
    search: Search

    def __call__(self, source: SourceLine) -> TranscriptLine | None:
        """Read a line; None where it is the torn end of the file."""
        try:
            if len(source.raw) > self.limit:
                line = parse_long_line(source.raw, source.number, self.limit, self.search)
                self._check_label(line, source.number)
                return self._cut(line)
            return parse_line(source.raw, source.number)
        except TranscriptError:
            if source.terminated or not isinstance(read_json(source.raw), Malformed):
                raise
            return None

    def _check_label(self, line: TranscriptLine, number: int) -> None:
        """Refuse what an erased line is said to have been where no wire line has room for it."""
        if line.erased is None or line.origin == OBSERVER:
            return
        size = len(line.erased.type.encode()) + len(line.erased.stream.encode())
        if size > self.limit:
            raise TranscriptError(
                f'line {number}: expected "type" and "stream" of an erased line to have at most the '
                f"{self.limit} bytes that its wire line may have had, found {size}; raise --max-line",
                line_number=number,
            )

    def _cut(self, line: TranscriptLine) -> TranscriptLine:
        """Cut a line that was too odd to be cut while it was read."""
        if line.origin == OBSERVER or len(line.body) <= self.limit:
            return line
        cut = cut_line(line.body, self.limit, self.search)
        return line if cut is None else msgspec.structs.replace(line, body=cut.head, cut=cut)


def _dialect(header: Header, dialects: Mapping[str, WireDialect], number: int) -> WireDialect:
    dialect = dialects.get(header.dialect)
    if dialect is None:
        raise TranscriptError(
            f'line {number}: expected "dialect" to be one of {", ".join(dialects)}, '
            f"found {excerpt(header.dialect)}",
            line_number=number,
        )
    return dialect


def _transcript_again(
    source: Source, found: Survey, reader: _Reader, progress: Progress | None
) -> Iterator[TranscriptLine]:
    end = 0

    def to_line(read: SourceLine) -> TranscriptLine:
        nonlocal end
        end = read.end
        line = reader(read)
        return TranscriptLine(0, OBSERVER, "", read.raw) if line is None else line

    lines = read_transcript_lines(source, reader.limit, through=found.through, progress=progress)
    header = next(lines, None)
    end = header.end if header is not None else 0
    yield from map(to_line, lines)
    if end != found.through:
        raise _changed(end, found.through)


# ---- captures ---------------------------------------------------------------------------------------------


def _survey_capture(source: Source, name: str, dialect: WireDialect, reading: Reading) -> Survey:
    digest, tally, stopped = Digest(), _Tally(reading.progress), None
    try:
        stream = source.begin()
        while data := stream.read():
            digest(data)
            tally(stream.position())
    except TranscriptError as error:
        if not reading.keep_partial:
            raise
        stopped = f"{source.name}, {error}"
    header = header_of(reading.known or Known(), name, digest.hex())
    opened, body = read_opening(header, dialect, line_number=1)
    opening = _opening_entry(header, opened, body, 0)
    return Survey(
        header=header,
        opening=opening,
        run=RunRow.of(opened, 0, via="imported"),
        documents=_documents(header, opened),
        through=digest.size,
        read=tally.read,
        closes=stopped is None,
        stopped=stopped,
        capture=digest.hex(),
    )


def _capture_again(
    source: Source, found: Survey, reading: Reading, search: Search, progress: Progress | None
) -> Iterator[TranscriptLine]:
    start = (reading.known or Known()).start
    if start is not None:
        yield start_line(start)
    digest = Digest()
    cutter = LineCutter(reading.max_line, search)
    lines: Iterator[RawLine] = read_lines(
        source, cutter, through=found.through, progress=progress, taken=digest
    )
    for line in lines:
        yield capture_line(line.raw, is_terminated=line.terminated)
    if digest.hex() != found.capture:
        raise _changed(digest.size, found.through)


# ---- both -------------------------------------------------------------------------------------------------


class _Tally:
    """Passes progress on, and remembers the last that was told."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.read = 0

    def __call__(self, read: int) -> None:
        self.read = read
        if self._progress is not None:
            self._progress(read)


def _opening_entry(header: Header, opened: RunOpened, body: bytes, first_at: int) -> Entry:
    at = header.opened.at if header.opened is not None else None
    salt = header.opened.salt if header.opened is not None else None
    return Entry(1, first_at if at is None else at, OBSERVER, "", observation_type(opened), "", body, salt)


def _documents(header: Header, opened: RunOpened) -> tuple[DocumentRow, ...]:
    if header.manifest is None or opened.manifest is None:
        return ()
    return (DocumentRow(digest=opened.manifest, media_type=MANIFEST_TYPE, body=header.manifest),)


def _changed(found: int, expected: int) -> TranscriptError:
    what = "fewer" if found < expected else "others"
    return TranscriptError(
        f"byte {found}: expected the {expected} bytes that were checked, found {what}; the file was "
        "changed while it was read; import it again"
    )
