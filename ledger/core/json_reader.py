"""The complete JSON reader: the only thing that may call a line malformed.

msgspec reads nearly every line, and fast. What it refuses comes here, because its refusals are not RFC 8259:
it takes neither lone surrogate escapes nor ``2.0`` for an integer, and its nesting limit moves with the
caller's stack. A text that the standard library's scanner reads is taken as read; whatever that refuses is
read once more by a reader of our own that uses no recursion, keeps no limit but :data:`MAX_NESTING`, and
names the byte at which a line stops being JSON. Integers are exact, whatever their size.
"""

import json
import re
from decimal import Decimal, InvalidOperation
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]
from math import isinf
from typing import Any, NamedTuple, TypeAlias

import msgspec

MAX_NESTING = 512
SHORT = 2 * MAX_NESTING
"""Bytes of a line that is too short to nest too deep; it needs no brackets counted."""

_TO_PARENTHESES = bytes.maketrans(b"[{]}", b"(())")
_NO_BRACKETS = bytes(one for one in range(256) if one not in b"[]{}")
_PIECE = 65536
_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_LARGEST = 1.7976931348623157e308
_INT_TEXT_LIMIT = 600  # longer text becomes a Decimal: int() refuses it past a limit that a user may set

Json: TypeAlias = Any
"""A JSON value: dict, list, str (perhaps with lone surrogates), int, float, Decimal, bool or None."""


class Malformed(msgspec.Struct, frozen=True):
    """A line that is no JSON text.

    Attributes:
        reason: what is wrong, as a code such as ``unexpected_character``.
        offset: the byte of the line, from 0, at which it goes wrong.
    """

    reason: str
    offset: int


class Document(NamedTuple):
    """A JSON text that was read.

    Attributes:
        value: its value; of members of one name the last is kept.
        repeated: the member names that occur more than once in one object, sorted.
    """

    value: Json
    repeated: tuple[str, ...]


class _Stop(Exception):
    def __init__(self, reason: str, position: int) -> None:
        self.reason = reason
        self.position = position


def read_json(line: bytes) -> Document | Malformed:
    """Read one JSON text; total, iterative, exact.

    Source: RFC 8259, with UTF-8 over the whole line, no byte-order mark, nesting at most
    :data:`MAX_NESTING`, and lone surrogate escapes allowed.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Malformed("invalid_utf8", error.start)
    if text.startswith("\ufeff"):
        return Malformed("byte_order_mark", 0)
    document = None if nests_too_deep(line) else _scan(text)
    if document is not None:
        return document
    try:
        return _read(text)
    except _Stop as stop:
        return Malformed(stop.reason, len(text[: stop.position].encode("utf-8")))


def nests_too_deep(line: bytes) -> bool:
    """Tell, on the bytes alone, whether a line could exceed :data:`MAX_NESTING`.

    Exact for a well-formed line; of any other the complete reader finds out why it is none.
    """
    if len(line) <= SHORT or line.count(b"[") + line.count(b"{") <= MAX_NESTING:
        return False
    brackets = _brackets(line)
    for _ in range(MAX_NESTING):  # each turn takes the innermost level away
        outer = brackets.replace(b"()", b"")
        if not outer or len(outer) == len(brackets):
            return bool(outer)
        brackets = outer
    return True


def _brackets(line: bytes) -> bytes:
    """Return the brackets and braces of a line that stand outside its strings, as parentheses."""
    if b"\\" in line:
        line = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    found: list[bytes] = []
    inside = 0  # whether a piece begins within a string
    for at in range(0, len(line), _PIECE):
        pieces = line[at : at + _PIECE].split(b'"')
        found.append(b"".join(pieces[inside::2]).translate(_TO_PARENTHESES, _NO_BRACKETS))
        inside ^= (len(pieces) - 1) & 1
    return b"".join(found)


def msgspec_may_read(line: bytes) -> bool:
    """Tell a line that msgspec reads as this reader would, or refuses; what it takes besides is kept from it.

    It checks UTF-8 nowhere inside ``msgspec.Raw``, and its nesting limit is not ours.
    """
    if len(line) > SHORT and nests_too_deep(line):  # short lines do not even ask
        return False
    if line.isascii():
        return True
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_number(value: Json) -> bool:
    """Tell a JSON number from everything else; ``true`` is none."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def is_finite(value: Json) -> bool:
    """Tell a number that a double can hold from one that overflows it."""
    return is_number(value) and -_LARGEST <= value <= _LARGEST


def whole_number(value: Json) -> int | None:
    """Return a number as an integer where it is one by value (``2.0``, ``1e3``), else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def json_type(value: Json) -> str:
    """Return the JSON name of a value's type, such as ``array``."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str):
        return "string"
    if is_number(value):
        return "number"
    return "object" if isinstance(value, dict) else "array"


def minified(value: object) -> str:
    """Return a value as JSON without white space, a number that only a Decimal holds as text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def printable(text: str) -> str:
    """Return the text with lone surrogates spelled out, so that it can be encoded as UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _scan(text: str) -> Document | None:
    """Read with the standard library's scanner; None where it balks, for whatever reason."""
    repeated: set[str] = set()

    def to_dict(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) != len(pairs):
            seen: set[str] = set()
            repeated.update(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        return members

    try:
        value = json.loads(
            text,
            object_pairs_hook=to_dict,
            parse_int=_read_int,
            parse_float=_read_float,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError):
        return None
    return Document(value, tuple(sorted(repeated)))


def _refuse_constant(name: str) -> Json:
    raise ValueError(name)


def _read(text: str) -> Document:
    repeated: set[str] = set()
    stack: list[tuple[dict[str, Json] | list[Json], str]] = []
    container: dict[str, Json] | list[Json] | None = None
    name = ""
    at = _skip_blank(text, 0)
    while True:
        # One value begins here.
        first = text[at : at + 1]
        if first == "{" or first == "[":
            if len(stack) + (container is not None) >= MAX_NESTING:
                raise _Stop("nesting_too_deep", at)
            if container is not None:
                stack.append((container, name))
            container = {} if first == "{" else []
            at = _skip_blank(text, at + 1)
            if text[at : at + 1] != ("}" if first == "{" else "]"):
                if first == "{":
                    name, at = _read_name(text, at)
                continue
            value: Json = container
            at += 1
            container, name = stack.pop() if stack else (None, "")
        else:
            value, at = _read_scalar(text, at, first)
        # The value is complete: put it where it belongs, and close what ends with it.
        while True:
            at = _skip_blank(text, at)
            if container is None:
                if at != len(text):
                    raise _Stop("trailing_data", at)
                return Document(value, tuple(sorted(repeated)))
            if isinstance(container, dict):
                if name in container:
                    repeated.add(name)
                container[name] = value
                closing = "}"
            else:
                container.append(value)
                closing = "]"
            after = text[at : at + 1]
            if after == ",":
                at = _skip_blank(text, at + 1)
                if closing == "}":
                    name, at = _read_name(text, at)
                break
            if after != closing:
                raise _Stop("unexpected_character" if after else "unexpected_end", at)
            at += 1
            value = container
            container, name = stack.pop() if stack else (None, "")


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _read_name(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise _Stop("unexpected_character" if at < len(text) else "unexpected_end", at)
    name, at = _read_string(text, at)
    at = _skip_blank(text, at)
    if text[at : at + 1] != ":":
        raise _Stop("unexpected_character" if at < len(text) else "unexpected_end", at)
    return name, _skip_blank(text, at + 1)


def _read_string(text: str, at: int) -> tuple[str, int]:
    try:
        value: tuple[str, int] = scanstring(text, at + 1, True)
        return value
    except JSONDecodeError as error:
        reason = "unexpected_end" if error.msg.startswith("Unterminated") else "invalid_string"
        raise _Stop(reason, len(text) if reason == "unexpected_end" else error.pos) from None


def _read_scalar(text: str, at: int, first: str) -> tuple[Json, int]:
    if first == '"':
        return _read_string(text, at)
    if first in _LITERALS:
        word, value = _LITERALS[first]
        if text.startswith(word, at):
            return value, at + len(word)
    else:
        match = _NUMBER.match(text, at)
        if match:
            return _read_number(match), match.end()
    raise _Stop("unexpected_character" if first else "unexpected_end", at)


def _read_number(match: re.Match[str]) -> int | float | Decimal:
    whole = match.group(1) is None and match.group(2) is None
    return _read_int(match.group()) if whole else _read_float(match.group())


def _read_int(digits: str) -> int | Decimal:
    return int(digits) if len(digits) < _INT_TEXT_LIMIT else Decimal(digits)


def _read_float(digits: str) -> float | Decimal:
    number = float(digits)
    if not isinf(number):
        return number
    try:
        return Decimal(digits)
    except InvalidOperation:
        return number
