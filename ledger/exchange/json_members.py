"""One JSON object on one line, decoded into a msgspec struct, with the reason where that cannot be done.

Pure. msgspec reads nearly every line. What it refuses goes to the complete reader of the core, which alone
says *malformed* and at which byte, and which takes what msgspec wrongly refuses (lone surrogate escapes
inside a value that is kept raw). Invariant: a member that the struct keeps as ``msgspec.Raw`` is the exact
text of the line, whichever reader read it.
"""

import re
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args

import msgspec

from ledger.core.json_reader import Malformed, msgspec_may_read, read_json
from ledger.errors import TranscriptError

_EXCERPT_SIZE = 24
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]', re.DOTALL)

_Shape = TypeVar("_Shape", bound=msgspec.Struct)


class Place(NamedTuple):
    """Where we are in a file, and what ought to be there.

    Attributes:
        number: the 1-based number of the line.
        expected: what the line ought to be, in words.
    """

    number: int
    expected: str

    def fault(self, found: str, expected: str | None = None) -> TranscriptError:
        """Return the error that says what was found instead; the caller raises it."""
        message = f"line {self.number}: expected {expected or self.expected}, found {found}"
        return TranscriptError(message, line_number=self.number)


def decode_members(raw: bytes, shape: type[_Shape], place: Place) -> _Shape:
    """Decode a JSON object into a struct; members that the struct does not name are ignored.

    Raises:
        TranscriptError: the line is no JSON, no object, or a member is of the wrong kind.
    """
    if msgspec_may_read(raw):
        try:
            fast: _Shape = _decoder(shape).decode(raw)
        except (msgspec.DecodeError, RecursionError):
            pass
        else:
            return fast
    return _decode_completely(raw, shape, place)


def member_tokens(text: bytes) -> dict[bytes, bytes]:
    """Return an object's own members without reading it: each name, and the first token of its value.

    Both as they are spelled; a value that is a number or a word is told as b"". Of a text that is cut, what
    there is of it; of a text that is no object, nothing.
    """
    members: dict[bytes, bytes] = {}
    depth, name, before = 0, None, b""
    for token in _TOKEN.finditer(text) if text.startswith(b"{") else ():
        found = token[0]
        if depth == 1 and name is not None:
            members[name] = b"" if found in (b",", b"}") else found
            name = None
        elif depth == 1 and found == b":":
            name = before[1:-1]
        depth += (found in (b"{", b"[")) - (found in (b"}", b"]"))
        before = found
    return members


def excerpt(found: str) -> str:
    """Quote the beginning of a word of the format itself, printable and short.

    What a line carries is never quoted: it was not redacted, and an error may be read by anybody.
    """
    quoted = ascii(found[:_EXCERPT_SIZE])
    return quoted + "…" if len(found) > _EXCERPT_SIZE else quoted


@cache
def _decoder(shape: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


@cache
def _raw_members(shape: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(
        field.name
        for field in msgspec.structs.fields(shape)
        if msgspec.Raw in (field.type, *get_args(field.type))
    )


def _decode_completely(raw: bytes, shape: type[_Shape], place: Place) -> _Shape:
    document = read_json(raw)
    if isinstance(document, Malformed):
        reason, offset = document.reason.replace("_", " "), document.offset
        raise place.fault(f"no JSON: {reason} at byte {offset}")
    if not isinstance(document.value, dict):
        raise place.fault("another JSON value")
    texts = _member_texts(raw)
    members: dict[str, Any] = {}
    for name in shape.__struct_fields__:
        if name not in document.value:
            continue
        if name in _raw_members(shape):
            members[name] = msgspec.Raw(texts[name])
        else:
            members[name] = _encodable(name, document.value[name], place)
    try:
        return msgspec.convert(members, shape)
    except msgspec.ValidationError as error:
        raise place.fault(f"a member that does not fit: {error}") from None


def _encodable(name: str, value: Any, place: Place) -> Any:
    """Refuse text that no UTF-8 can carry: it would have to be changed before it could be kept."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        hint = '; what is not UTF-8 goes into "b64"' if name == "line" else ""
        raise place.fault(f'a lone surrogate in "{name}"{hint}') from None
    return value


def _member_texts(raw: bytes) -> dict[str, bytes]:
    """Return the exact text of each member of a well-formed JSON object; of one name the last is kept."""
    texts: dict[str, bytes] = {}
    depth, start, name, before = 0, 0, "", b""
    for token in _TOKEN.finditer(raw):
        text = token[0]
        depth += (text in (b"{", b"[")) - (text in (b"}", b"]"))
        if depth == 1 and text == b":":
            document = read_json(before)
            start, name = token.end(), "" if isinstance(document, Malformed) else document.value
        elif start and (depth == 0 or (depth == 1 and text == b",")):
            texts[name] = raw[start : token.start()].strip(b" \t\r\n")
            start = 0
        before = text
    return texts
