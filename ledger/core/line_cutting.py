"""Bytes cut into lines, with a bound on what is held of one: the one place for the rule about long lines.

Pure: whoever reads a pipe or a file pushes what it read, and takes lines. Of a line longer than the limit the
head is kept, its first ``limit`` bytes, and its length and digest are those of the whole; the rest is hashed
and let go. In the log the head is the body of the line's entry, and LINE_CUT names it. Invariant: what is
held is the limit and one push, however long a line is.
"""

import hashlib
from collections.abc import Iterator
from io import BytesIO

import msgspec

from ledger.core.dialect import LineReader
from ledger.core.entries import Origin

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes of the longest wire line that is kept whole, unless the user says otherwise."""

_TAIL = 1024


class CutLine(msgspec.Struct, frozen=True, gc=False):
    """A line that was longer than the limit, without its LF.

    Attributes:
        head: its first bytes, as many as the limit allows.
        tail: its last bytes, a few at most, none of which are in the head.
        length: bytes of the whole line.
        sha256: hex digest of the whole line.
    """

    head: bytes
    tail: bytes
    length: int
    sha256: str


def cut_line(raw: bytes, limit: int) -> CutLine | None:
    """Cut a line that is held whole; None where it is not too long."""
    if len(raw) <= limit:
        return None
    tail = raw[max(limit, len(raw) - _TAIL) :]
    return CutLine(raw[:limit], tail, len(raw), hashlib.sha256(raw).hexdigest())


def redact_cut(dialect: LineReader, origin: Origin, line: CutLine) -> tuple[bytes, str]:
    """Return the body that may be stored of a cut line, and its digest.

    What a line is may stand at its end, so the head is also shown to the dialect with the tail behind it.
    Where the dialect sees a secret, the digest is left empty: guesses could be tried against it.
    """
    body = dialect.redact(origin, line.head)
    if body != line.head:
        return body, ""
    ends = line.head + line.tail
    redacted = dialect.redact(origin, ends)
    if redacted != ends:
        return dialect.redact(origin, redacted[: len(line.head)]), ""
    return line.head, line.sha256


class LineCutter:
    """Cuts bytes at each LF.

    Attributes:
        limit: bytes of the longest line that is given whole; it may be changed between two lines.
        pending: bytes of the line under way.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.pending = 0
        self._head = BytesIO()  # its value is taken without a copy
        self._hash: hashlib._Hash | None = None
        self._tail = b""

    def push(self, data: bytes) -> Iterator[bytes | CutLine]:
        """Take some bytes, and yield the lines that end in them, without their LF; take all of them."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self.pending or len(line) > self.limit:
                self._hold(line)
                yield self._take()
            else:
                yield line
        if rest:
            self._hold(rest)

    def end(self) -> bytes | CutLine | None:
        """Return what stands after the last LF; None where nothing does."""
        return self._take() if self.pending else None

    def _hold(self, part: bytes) -> None:
        room = self.limit - self.pending
        self.pending += len(part)
        if room > 0:
            self._head.write(part[:room])
        if self.pending > self.limit:
            if self._hash is None:
                self._hash = hashlib.sha256(self._head.getbuffer())
                part = part[room:]
            self._hash.update(part)
            self._tail = (self._tail + part[-_TAIL:])[-_TAIL:]

    def _take(self) -> bytes | CutLine:
        line: bytes | CutLine = self._head.getvalue()
        if self._hash is not None:
            line = CutLine(self._head.getvalue(), self._tail, self.pending, self._hash.hexdigest())
        self.pending, self._head, self._hash, self._tail = 0, BytesIO(), None, b""
        return line
