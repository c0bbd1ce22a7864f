"""What must never reach the log: answers of the owner, and the values of binding descriptors.

Runs before append, on every line of both directions; it is the only step that comes before the log. A line
without secrets is returned as it came, byte for byte. In a line with secrets :data:`MARK` stands in place of
each secret value, member names stay, and the other members keep their bytes. Whatever may be an answer and
cannot be read is replaced whole by a mark with its length: this fails closed.
"""

import json
import re
from decimal import Decimal
from typing import Any

import msgspec

from ledger.core.entries import RUNTIME, Origin
from ledger.core.json_reader import Json, Malformed, read_json

MARK = "[redacted]"

_ANSWER = "INTERACTION_RESPONSE"
_OPEN_MEMBERS = ("type", "request_id", "status")
# A program's line is worth reading when it spells one of the two types, or may spell one in escapes.
_SUSPECT = re.compile(rb'INTERACTION_RESPONSE|"START"|\\u00[45][0-9a-fA-F]')
_ESCAPE = re.compile(rb"\\u00([0-7][0-9a-fA-F])")


def redact(origin: Origin, line: bytes) -> bytes:
    """Take the secrets out of a line; total, and doing it twice is doing it once.

    Args:
        origin: who spoke; every line of the runtime is read, of the program only those that may matter.
        line: the line without its LF.

    Source: runtime/9, and the design's rule for binding descriptors.
    """
    if origin != RUNTIME and not _SUSPECT.search(line):
        return line
    document = read_json(line)
    if isinstance(document, Malformed):
        return _replace_unreadable(origin, line)
    if "type" in document.repeated and _spells(line, _ANSWER):
        return _mark(line, _ANSWER)
    clean = _cleaned(document.value)
    if clean == document.value and not (document.repeated and _holds_secrets(document.value)):
        return line
    return _rewritten(line, document.value, clean)


def _replace_unreadable(origin: Origin, line: bytes) -> bytes:
    if not line.strip():
        return line
    if _spells(line, _ANSWER):
        return _mark(line, _ANSWER)
    return _mark(line, "") if origin == RUNTIME or _spells(line, "START") else line


def _spells(line: bytes, word: str) -> bool:
    plain = _ESCAPE.sub(lambda match: bytes((int(match.group(1), 16),)), line)
    return word.encode() in plain


def _mark(line: bytes, type_: str) -> bytes:
    length = {"redacted": {"length": len(line)}}
    return _encode({"type": type_, **length} if type_ else length)


def _holds_secrets(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") in (_ANSWER, "START")


def _cleaned(value: Json) -> Json:
    """Return the value with every answer and every START in it, at whatever depth, without secrets."""
    holder: list[Json] = [value]
    stack: list[tuple[Any, Any]] = [(holder, 0)]
    while stack:
        container, place = stack.pop()
        item = container[place]
        if isinstance(item, dict):
            container[place] = item = _cleaned_object(item)
            stack.extend((item, name) for name, inner in item.items() if isinstance(inner, dict | list))
        elif isinstance(item, list):
            container[place] = item = list(item)
            stack.extend((item, index) for index, inner in enumerate(item) if isinstance(inner, dict | list))
    return holder[0]


def _cleaned_object(value: dict[str, Json]) -> dict[str, Json]:
    match value.get("type"):
        case "INTERACTION_RESPONSE" if not _is_mark(value):
            return {name: _cleaned_answer(name, member) for name, member in value.items()}
        case "START" if value.get("bindings") is not None:
            return {**value, "bindings": _names_only(value["bindings"], _names_only)}
        case _:
            return dict(value)


def _cleaned_answer(name: str, member: Json) -> Json:
    if name in _OPEN_MEMBERS and isinstance(member, str):
        return member
    return None if member is None else _names_only(member, lambda _: MARK)


def _names_only(value: Json, inner: Any) -> Json:
    """Keep the member names of an object and give each value to ``inner``; anything else is the mark."""
    if not isinstance(value, dict):
        return MARK
    if inner is _names_only:
        return {name: _names_only(member, lambda _: MARK) for name, member in value.items()}
    return {name: inner(member) for name, member in value.items()}


def _is_mark(value: dict[str, Json]) -> bool:
    redacted = value.get("redacted")
    return (
        value.keys() == {"type", "redacted"}
        and isinstance(redacted, dict)
        and redacted.keys() == {"length"}
        and type(redacted["length"]) is int
    )


def _rewritten(line: bytes, value: Json, clean: Json) -> bytes:
    """Encode the cleaned value; top-level members that did not change keep the bytes that they had."""
    try:
        members = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return _encode(clean)
    if not isinstance(clean, dict) or members.keys() != clean.keys():
        return _encode(clean)
    parts = (
        _encode(name) + b":" + (bytes(raw) if clean[name] == value[name] else _encode(clean[name]))
        for name, raw in members.items()
    )
    return b"{" + b",".join(parts) + b"}"


def _encode(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":"), default=_number).encode("ascii")


def _number(value: object) -> float | str:
    return str(value) if isinstance(value, Decimal) else MARK
