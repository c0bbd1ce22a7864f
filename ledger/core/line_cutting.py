"""Bytes cut into lines, with a bound on what is held of one: the one place for the rule about long lines.

Pure: whoever reads a pipe or a file pushes what it read, and takes lines. Of a line longer than the limit the
head is kept, its first ``limit`` bytes, and its length and digest are those of the whole; the rest is hashed,
searched for signs of a secret, and let go. In the log the head is the body of the line's entry, and LINE_CUT
names it. Invariant: what is held is the limit and one push, however long a line is.
"""

import hashlib
from collections.abc import Callable, Iterator
from io import BytesIO

import msgspec

from ledger.core.dialect import SIGN_LIMIT, LineReader
from ledger.core.entries import RUNTIME, Origin

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes of the longest wire line that is kept whole, unless the user says otherwise."""

Search = Callable[[bytes], bool]
"""Tells whether a part of a line has a sign of a secret; see ``LineReader.may_hold_secret``."""


def _everything(_: bytes) -> bool:
    return True


class CutLine(msgspec.Struct, frozen=True, gc=False):
    """A line that was longer than the limit, without its LF.

    Attributes:
        head: its first bytes, as many as the limit allows.
        length: bytes of the whole line.
        sha256: hex digest of the whole line.
        is_suspect: whether a sign of a secret stands anywhere in the whole line.
    """

    head: bytes
    length: int
    sha256: str
    is_suspect: bool


def cut_line(raw: bytes, limit: int, search: Search = _everything) -> CutLine | None:
    """Cut a line that is held whole; None where it is not too long. Without a search it is suspect."""
    if len(raw) <= limit:
        return None
    return CutLine(raw[:limit], len(raw), hashlib.sha256(raw).hexdigest(), search(raw))


def redact_cut(dialect: LineReader, origin: Origin, line: CutLine) -> tuple[bytes, str]:
    """Return the body that may be stored of a cut line, and its digest.

    What a line is may stand anywhere in it, so where the dialect sees no secret in the head, a sign in what
    was let go is enough to keep nothing of the head. The digest is then left empty: guesses could be tried
    against it. It is left empty for the runtime too, any line of which may be an answer.
    """
    body = dialect.redact(origin, line.head)
    if body != line.head:
        return body, ""
    if line.is_suspect:
        return dialect.mark(line.length), ""
    return line.head, "" if origin == RUNTIME else line.sha256


class LineCutter:
    """Cuts bytes at each LF.

    Attributes:
        limit: bytes of the longest line that is given whole; it may be changed between two lines.
        pending: bytes of the line under way.
    """

    def __init__(self, limit: int, search: Search = _everything) -> None:
        """Begin between two lines; without a search every line that is cut is suspect."""
        self.limit = limit
        self._search = search
        self.pending = 0
        self._head = BytesIO()  # its value is taken without a copy
        self._hash: hashlib._Hash | None = None
        self._is_suspect = False
        self._seam = b""

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
                self._look_into(self._head.getvalue())
                part = part[room:]
            self._hash.update(part)
            self._look_into(part)

    def _look_into(self, part: bytes) -> None:
        """Search the next part of a line that is cut; a sign may lie across the seam of two parts."""
        if not self._is_suspect:
            self._is_suspect = self._search(self._seam + part[:SIGN_LIMIT]) or self._search(part)
            self._seam = (self._seam + part[-SIGN_LIMIT:])[-SIGN_LIMIT:]

    def _take(self) -> bytes | CutLine:
        line: bytes | CutLine = self._head.getvalue()
        if self._hash is not None:
            line = CutLine(self._head.getvalue(), self.pending, self._hash.hexdigest(), self._is_suspect)
        self.pending, self._head, self._hash = 0, BytesIO(), None
        self._is_suspect, self._seam = False, b""
        return line
