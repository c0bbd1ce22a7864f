"""A file that tells of runs, as bytes: opened here, unpacked, and cut into lines.

Knows the file system and nothing of what a line says. Whoever imports goes through :func:`open_source`, which
gives a :class:`Source` that can be read from its beginning as often as needed, also where the bytes come
through a pipe, and then through :func:`read_lines` or :func:`read_transcript_lines`. Invariant: one line at a
time is held, and none longer than the limit.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from tempfile import TemporaryFile, gettempdir
from typing import BinaryIO, Generic, NamedTuple, TypeAlias, TypeVar, cast

from ledger.core.line_cutting import CutLine, LineCutter
from ledger.errors import DiskError, TranscriptError
from ledger.exchange.packing import STEP, Unpacked, unpack

STDIN = Path("-")

ESCAPED = 6
"""Bytes that JSON may need for one byte of a wire line (``\\u0000``)."""

MEMBERS_LIMIT = 64 * 1024
"""Bytes that a line of a transcript may have beside its wire line."""

HEADER_LIMIT = 256 * 1024 * 1024
"""Bytes that the header of a transcript may have: it holds the manifest."""

_REPORT_EVERY = 1024 * 1024
_BLANK = b" \t\r\n\v\f"
_BLANKS = re.compile(rb"[ \t\r\n\v\f]*+")
_BLANK_RUN = re.compile(rb"\n[ \t\r\n\v\f]{16}")


Raw = TypeVar("Raw", bytes, bytes | CutLine)


class Line(NamedTuple, Generic[Raw]):
    """One line of a file.

    Attributes:
        number: 1-based.
        raw: its bytes without LF, or what is left of it where it was too long.
        end: how many bytes, unpacked, end with it.
        terminated: whether an LF ended it.
    """

    number: int
    raw: Raw
    end: int
    terminated: bool


RawLine: TypeAlias = Line[bytes | CutLine]
"""A line exactly as it stands there."""

SourceLine: TypeAlias = Line[bytes]
"""A line of a transcript: no blank one, whole, and without a CR before its LF."""


class Source:
    """A file that can be read again and again; ``name`` is what errors call it."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._file = file

    def begin(self) -> Unpacked:
        """Read from the beginning, unpacked."""
        return unpack(self._file, self.name)

    def first_line(self, size: int) -> tuple[bytes, bool]:
        """Return the first line that is not blank, at most its first bytes, and whether that is all of it.

        Raises:
            TranscriptError, DiskError: the file cannot be read that far.
        """
        stream = self.begin()
        held = b""
        while data := stream.read():
            held = (held + data).lstrip(_BLANK)
            line, ending, _ = held.partition(b"\n")
            if ending or len(held) > size:
                return line[:size], bool(ending) and len(line) <= size
        return held, True


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open a file for reading; what comes through a pipe is kept in an unnamed temporary file meanwhile.

    Args:
        path: a file or a pipe, or :data:`STDIN`.

    Raises:
        TranscriptError: there is no such file, or it is a directory.
        DiskError: the file system refused, or has no room for what comes through a pipe.
    """
    if path == STDIN:
        name = "standard input"
        with _rewindable(sys.stdin.buffer, name) as file:
            yield Source(file, name)
        return
    with _open(path) as opened, _rewindable(opened, str(path)) as file:
        yield Source(file, str(path))


def read_lines(
    source: Source,
    cutter: LineCutter,
    *,
    through: int | None = None,
    progress: Callable[[int], None] | None = None,
    taken: Callable[[bytes], object] | None = None,
    cuts: bool = True,
) -> Iterator[RawLine]:
    """Yield the lines of a source from its beginning.

    Args:
        source: what to read.
        cutter: cuts the lines; its limit may be changed between two of them.
        through: the byte, unpacked, at which to stop; None for the end.
        progress: told, about once a megabyte and at the end, how many bytes of the file were read.
        taken: told all bytes, unpacked, before they are cut.
        cuts: whether a line beyond the limit is cut, and every blank one given; if not, a long one is
            refused before it is read to its end, and blank ones are counted and may be left out.

    Raises:
        TranscriptError: a line is longer than the limit; or what is packed is broken, and at which byte.
        DiskError: the file system failed.
    """
    read = reported = 0
    numbered = _Numbering(cutter, cuts=cuts)
    stream = source.begin()
    try:
        while data := stream.read():
            data = data if through is None else data[: through - read]
            read += len(data)
            if taken is not None:
                taken(data)
            if cuts:
                yield from map(numbered, cutter.push(data))
            else:
                for part in numbered.pass_over_blanks(data):
                    yield from map(numbered, cutter.push(part))
            if cutter.pending > cutter.limit and not cuts:
                raise _too_long(numbered.number + 1, cutter.limit)
            if progress is not None and stream.position() - reported >= _REPORT_EVERY:
                reported = stream.position()
                progress(reported)
            if read == through:
                break
    except TranscriptError as error:
        if error.line_number is not None:
            raise
        number = numbered.number + 1
        raise TranscriptError(f"line {number}: {error}", line_number=number) from None
    last = cutter.end()
    if last is not None:
        yield Line(numbered.number + 1, last, read, False)
    if progress is not None:
        progress(stream.position())


def read_transcript_lines(
    source: Source,
    limit: int,
    *,
    through: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[SourceLine]:
    """Yield the lines of a transcript that are not blank; see :func:`read_lines`.

    Args:
        source: what to read.
        limit: bytes of the longest wire line that is to be kept whole; a line of the file may be longer.
        through: as there.
        progress: as there.
    """
    longest = ESCAPED * limit + MEMBERS_LIMIT
    cutter = LineCutter(max(longest, HEADER_LIMIT))

    def to_source_line(line: RawLine) -> SourceLine | None:
        number, raw, end, terminated = line
        assert isinstance(raw, bytes)
        if not raw or raw.isspace():
            return None
        cutter.limit = longest
        if terminated and raw.endswith(b"\r"):
            return Line(number, raw[:-1], end, terminated)
        return cast("SourceLine", line)

    lines = read_lines(source, cutter, through=through, progress=progress, cuts=False)
    yield from filter(None, map(to_source_line, lines))


class _Numbering:
    """Counts lines, and the bytes to their ends.

    Lines go through functions here, not through loops: a loop would keep a long line while the next is read.
    """

    def __init__(self, cutter: LineCutter, *, cuts: bool) -> None:
        self._cutter = cutter
        self._cuts = cuts
        self._end = 0
        self.number = 0

    def __call__(self, raw: bytes | CutLine) -> RawLine:
        self.number += 1
        if isinstance(raw, CutLine):
            if not self._cuts:
                raise _too_long(self.number, self._cutter.limit)
            self._end += raw.length + 1
        else:
            self._end += len(raw) + 1
        return Line(self.number, raw, self._end, True)

    def pass_over_blanks(self, data: bytes) -> Iterator[bytes]:
        """Yield the bytes without most of their blank lines, which are counted; to be cut as they come.

        A packed file of a few kilobytes may hold millions of them, so they are not looked at one by one.
        """
        at = 0
        while at < len(data):
            if not self._cutter.pending:
                blanks = _BLANKS.match(data, at)
                assert blanks is not None
                start, at = at, max(at, data.rfind(b"\n", at, blanks.end()) + 1)
                self.number += data.count(b"\n", start, at)
                self._end += at - start
            run = _BLANK_RUN.search(data, at)
            end = len(data) if run is None else run.start() + 1
            yield data[at:end]
            at = end


def _too_long(number: int, limit: int) -> TranscriptError:
    return TranscriptError(
        f"line {number}: expected at most {limit} bytes in a line of the file ({ESCAPED} times what a wire "
        "line may have), found more; raise --max-line",
        line_number=number,
    )


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise TranscriptError(f"{path}: expected a transcript, found no such file") from None
    except IsADirectoryError:
        raise TranscriptError(f"{path}: expected a transcript, found a directory; name its files") from None
    except OSError as error:
        raise DiskError(
            f"{path}: expected a transcript that can be read, found: {error.strerror}; check the file"
        ) from None


@contextmanager
def _rewindable(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Give the file itself where it can be wound back, else a copy that goes when it is closed."""
    if _is_regular(file):
        yield file
        return
    with _temporary(name) as copy:
        while data := _read(file, name):
            try:
                copy.write(data)
                copy.flush()
            except OSError as error:
                raise _no_room(name, error) from error
        yield copy


def _is_regular(file: BinaryIO) -> bool:
    """Tell a file on a disk that nobody has begun to read."""
    try:
        return S_ISREG(os.fstat(file.fileno()).st_mode) and file.tell() == 0
    except OSError:  # also what has no descriptor
        return False


@contextmanager
def _temporary(name: str) -> Iterator[BinaryIO]:
    try:
        file = TemporaryFile()  # noqa: SIM115 - closed below; only making it may lack room
    except OSError as error:
        raise _no_room(name, error) from error
    with file:
        yield file


def _read(file: BinaryIO, name: str) -> bytes:
    try:
        return file.read(STEP)
    except OSError as error:
        raise DiskError(f"{name}: cannot be read: {error.strerror or error}; check the file") from error


def _no_room(name: str, error: OSError) -> DiskError:
    return DiskError(
        f"{name}: expected room in {_temporary_folder()} to keep it while it is read twice, "
        f"found: {error.strerror or error}; set TMPDIR to a folder that has it"
    )


def _temporary_folder() -> str:
    try:
        return gettempdir()
    except OSError:
        return "a temporary folder"
