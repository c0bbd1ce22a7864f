"""Lines of a transcript that are too long to be read like any other.

Pure. A wire line is JSON text within JSON text, and reading it makes two more copies of it. Here it is taken
out of the line piece by piece and cut as it comes, so that it is never held whole beside the line. Invariant:
what is read here is what :func:`ledger.exchange.transcript.parse_line` reads, cut to the limit; and that
function alone says what is wrong with a line.
"""

import binascii
from collections.abc import Iterator

import msgspec

from ledger.core.entries import OBSERVER
from ledger.core.line_cutting import CutLine, LineCutter, Search
from ledger.exchange.transcript import TranscriptLine, parse_line

_PIECE = 1024 * 1024

_LONGEST_ESCAPE = 12
"""Bytes of the longest spelling of one character: the escapes of two surrogates."""

_EMPTY = msgspec.Raw(b'""')

_Member = msgspec.Raw | msgspec.UnsetType


class _LongLine(msgspec.Struct, omit_defaults=True):
    origin: msgspec.Raw
    at: _Member = msgspec.UNSET
    session: _Member = msgspec.UNSET
    line: _Member = msgspec.UNSET
    b64: _Member = msgspec.UNSET
    observed: _Member = msgspec.UNSET
    salt: _Member = msgspec.UNSET
    erased: _Member = msgspec.UNSET
    transcript: _Member = msgspec.UNSET


class _NotSo(Exception):
    """The wire line cannot be taken out in pieces."""


_LONG = msgspec.json.Decoder(_LongLine)
_TEXT = msgspec.json.Decoder(str)
_ENCODER = msgspec.json.Encoder()


def parse_long_line(raw: bytes, number: int, limit: int, search: Search) -> TranscriptLine:
    """Read a line, and cut its wire line to the limit where it can be taken out in pieces.

    Args:
        raw: the line of the file, without its LF.
        number: its 1-based number in the file, for errors.
        limit: bytes of the longest wire line that is kept whole.
        search: tells a sign of a secret in a part of a line that is cut.

    Raises:
        TranscriptError: it is no line of a transcript.
    """
    try:
        long = _LONG.decode(raw)
        wire = _cut(long, limit, search)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, _NotSo):
        return parse_line(raw, number)
    rest = msgspec.structs.replace(long, **{name: _EMPTY for name in ("line", "b64") if _is_text(long, name)})
    line = parse_line(_ENCODER.encode(rest), number)
    if line.origin == OBSERVER:
        return parse_line(raw, number)
    if isinstance(wire, CutLine):
        return msgspec.structs.replace(line, body=wire.head, cut=wire)
    return msgspec.structs.replace(line, body=wire)


def _is_text(long: _LongLine, name: str) -> bool:
    member = getattr(long, name)
    return isinstance(member, msgspec.Raw) and bytes(memoryview(member)[:1]) == b'"'


def _cut(long: _LongLine, limit: int, search: Search) -> bytes | CutLine:
    cutter = LineCutter(limit, search)
    if _is_text(long, "line") == _is_text(long, "b64"):
        raise _NotSo
    pieces = _pieces_of_text(long.line) if _is_text(long, "line") else _pieces_of_base64(long.b64)
    for piece in pieces:
        if any(True for _ in cutter.push(piece)):  # a wire line holds no LF
            raise _NotSo
    return cutter.end() or b""


def _pieces_of_text(member: _Member) -> Iterator[bytes]:
    """Yield what a JSON string says, as UTF-8."""
    token = memoryview(member)  # type: ignore[arg-type]
    at, end = 1, len(token) - 1
    while at < end:
        stop = min(at + _PIECE, end)
        text = None
        while text is None:
            try:  # a cut within a character, an escape or a pair leaves no string
                text = _TEXT.decode(b'"' + token[at:stop] + b'"')
            except (msgspec.DecodeError, UnicodeDecodeError):
                stop -= 1
                if stop <= at or stop < min(at + _PIECE, end) - _LONGEST_ESCAPE:
                    raise _NotSo from None
        yield text.encode("utf-8")
        at = stop


def _pieces_of_base64(member: _Member) -> Iterator[bytes]:
    left = b""
    for piece in _pieces_of_text(member):
        if left.endswith(b"="):
            raise _NotSo
        left += piece
        whole = (len(left) - 1) // 4 * 4  # the last four wait, since only they may be padded
        yield _decoded(left[:whole])
        left = left[whole:]
    yield _decoded(left)


def _decoded(text: bytes) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        raise _NotSo from None
