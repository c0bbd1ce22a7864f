"""A transcript's file, as bytes: opened here, and cut into lines here.

Knows the file system and nothing of what a line says. Whoever reads a transcript goes through
:func:`open_transcript`, which gives a binary stream that can be wound back, and :func:`read_lines`, which
cuts any such stream. Invariant: one line at a time is held, and none longer than the limit.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ledger.errors import DiskError, TranscriptError

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of the longest line that is read, without its LF."""

_REPORT_EVERY = 1024 * 1024


class SourceLine(NamedTuple):
    """One line of a file that is not blank.

    Attributes:
        number: 1-based, blank lines counted.
        raw: its bytes without LF and without a CR before it; a last line without LF as it stands.
        end: how many bytes of the file end with it.
        terminated: whether an LF ended it.
    """

    number: int
    raw: bytes
    end: int
    terminated: bool


def open_transcript(path: Path) -> BinaryIO:
    """Open a transcript for reading; the caller closes it.

    Raises:
        TranscriptError: there is no such file, or it is a directory or a pipe (it is read twice).
        DiskError: the file system refused.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise TranscriptError(f"{path}: expected a transcript, found no such file") from None
    except IsADirectoryError:
        raise TranscriptError(f"{path}: expected a transcript, found a directory; name its files") from None
    except OSError as error:
        raise DiskError(f"{path}: expected a transcript that can be read, found: {error.strerror}") from None
    if not file.seekable():
        file.close()
        raise TranscriptError(f"{path}: expected a file, found a pipe; save it first, since it is read twice")
    return file


def read_lines(
    file: BinaryIO,
    *,
    through: int | None = None,
    limit: int = LINE_LIMIT,
    progress: Callable[[int], None] | None = None,
) -> Iterator[SourceLine]:
    """Yield the lines of a stream from its beginning, blank ones skipped.

    Args:
        file: a stream that can be wound back.
        through: the byte at which to stop, None for the end of the stream.
        limit: bytes of the longest line allowed.
        progress: told, about once a megabyte and at the end, how many bytes were read.

    Raises:
        TranscriptError: a line is longer than the limit.
        DiskError: the file system failed.
    """
    number = end = reported = 0
    try:
        file.seek(0)
        while chunk := file.readline(limit + 1 if through is None else min(limit + 1, through - end)):
            number += 1
            end += len(chunk)
            if progress is not None and end - reported >= _REPORT_EVERY:
                progress(end)
                reported = end
            terminated = chunk.endswith(b"\n")
            if not terminated and len(chunk) > limit:
                raise TranscriptError(
                    f"line {number}: expected at most {limit} bytes in a line, found more",
                    line_number=number,
                )
            raw = chunk[: -2 if chunk.endswith(b"\r\n") else -1] if terminated else chunk
            if raw and not raw.isspace():
                yield SourceLine(number, raw, end, terminated)
    except OSError as error:
        raise DiskError(f"{file.name}, line {number + 1}: cannot be read: {error.strerror}") from None
    if progress is not None:
        progress(end)
