"""What must never reach the log: answers of the owner, and the values of binding descriptors.

Runs before append, on every line of both directions; it is the only step that comes before the log. A line
without secrets is returned as it came. In a line with secrets :data:`MARK` stands in place of each secret
value; member names stay, and so does every other byte. Where a member name is repeated, each of its values is
replaced. Text in which an answer or a START is quoted is replaced as a whole. Of the runtime whatever is no
START counts as an answer. What may be an answer and cannot be read is replaced whole by a mark with its
length: this fails closed.
"""

import json
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ledger.core.entries import RUNTIME, Origin
from ledger.core.json_reader import Malformed, read_json

MARK = "[redacted]"

_ANSWER = "INTERACTION_RESPONSE"
_ANSWER_BYTES = _ANSWER.encode()
_START = "START"
_OPEN_MEMBERS = ("type", "request_id", "status")
# A program's line is worth reading when it spells one of the two types, or may spell one in escapes.
_SUSPECT = re.compile(rb'INTERACTION_RESPONSE|START\\*"|\\u00[45][0-9a-fA-F]')
# The same, of a part of a line; bounded, where what follows START may be any number of backslashes.
_SIGN = re.compile(rb'INTERACTION_RESPONSE|START["\\]|\\u00[45][0-9a-fA-F]')
_ESCAPE = re.compile(rb"\\u00([0-7][0-9a-fA-F])")
_QUOTED_START = re.compile(r'START\\+"')
_TEXT_ESCAPE = re.compile(r"\\+u00([0-7][0-9a-fA-F])")
_MARKED = re.compile(rb'\{(?:"type":"INTERACTION_RESPONSE",)?"redacted":\{"length":[0-9]+\}\}')
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]]|[^\s,:{}\[\]"]++')


def redact(origin: Origin, line: bytes) -> bytes:
    """Take the secrets out of a line; total, and doing it twice is doing it once.

    Args:
        origin: who spoke; every line of the runtime is read, of the program only those that may matter.
        line: the line without its LF.

    Source: runtime/9; that descriptors count as secrets is a choice of the ledger.
    """
    if origin != RUNTIME and not _is_suspect(line):
        return line
    if _MARKED.fullmatch(line):
        return line
    if isinstance(read_json(line), Malformed):
        return _replace_unreadable(origin, line)
    text = line.decode("utf-8")
    return _apply(text, sorted(_secrets(text, is_runtime=origin == RUNTIME))).encode("utf-8")


def may_hold_secret(part: bytes) -> bool:
    """Tell whether a part of a program's line has a sign without which :func:`redact` takes nothing out."""
    return _is_worth_it(part) and _SIGN.search(part) is not None


def mark(length: int) -> bytes:
    """Return what stands in place of a whole line, whose type is not known."""
    return b'{"redacted":{"length":%d}}' % length


def _is_suspect(line: bytes) -> bool:
    return _is_worth_it(line) and _SUSPECT.search(line) is not None


def _is_worth_it(line: bytes) -> bool:
    """Tell whether a regular expression may find anything: three plain searches, at half of its price."""
    return line.find(b"START") >= 0 or line.find(_ANSWER_BYTES) >= 0 or line.find(b"\\u00") >= 0


def _replace_unreadable(origin: Origin, line: bytes) -> bytes:
    if not line.strip():
        return line
    length = f'"redacted":{{"length":{len(line)}}}'
    if _spells(line, _ANSWER):
        return f'{{"type":"{_ANSWER}",{length}}}'.encode()
    return f"{{{length}}}".encode() if origin == RUNTIME or _spells(line, _START) else line


def _spells(line: bytes, word: str) -> bool:
    plain = _ESCAPE.sub(lambda match: bytes((int(match.group(1), 16),)), line)
    return word.encode() in plain


class _Value(NamedTuple):
    """A JSON value by its place in the text; an object has its members, in order, repeated ones too."""

    start: int
    end: int
    kind: Literal["object", "array", "string", "other"]
    members: tuple[tuple[str, "_Value"], ...] = ()


def _secrets(text: str, *, is_runtime: bool) -> Iterator[tuple[int, int]]:
    """Yield where the secret values of a JSON text stand; inner ones may lie within outer ones."""
    for value, is_whole in _values(text):
        if value.kind == "object":
            yield from _secrets_of_object(text, value, is_answer=is_runtime and is_whole)
        elif is_runtime and is_whole:
            yield from _whole(text, value)
        elif value.kind == "string" and _quotes_a_secret(text[value.start : value.end]):
            yield value.start, value.end


def _secrets_of_object(text: str, value: _Value, *, is_answer: bool) -> Iterator[tuple[int, int]]:
    types = {text[v.start : v.end] for name, v in value.members if name == "type" and v.kind == "string"}
    spelled = {json.loads(type_) for type_ in types}
    if _ANSWER in spelled or (is_answer and _START not in spelled):
        for name, member in value.members:
            if not (name in _OPEN_MEMBERS and member.kind == "string"):
                yield from _inner(text, member)
    elif _START in spelled:
        for name, member in value.members:
            if name == "bindings":
                yield from _descriptors(text, member)


def _quotes_a_secret(token: str) -> bool:
    """Tell a string in which the JSON of an answer, or of a START with bindings, is quoted."""
    if "{" not in token:
        return False
    quoted = _TEXT_ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), token)
    return _ANSWER in quoted or ("bindings" in quoted and _QUOTED_START.search(quoted) is not None)


def _descriptors(text: str, bindings: _Value) -> Iterator[tuple[int, int]]:
    if bindings.kind != "object":
        yield from _whole(text, bindings)
    for _, descriptor in bindings.members:
        yield from _inner(text, descriptor)


def _inner(text: str, value: _Value) -> Iterator[tuple[int, int]]:
    """The values of an object's members, or the value itself."""
    if value.kind != "object":
        yield from _whole(text, value)
    for _, member in value.members:
        yield from _whole(text, member)


def _whole(text: str, value: _Value) -> Iterator[tuple[int, int]]:
    if text[value.start : value.end] != "null":
        yield value.start, value.end


def _values(text: str) -> Iterator[tuple[_Value, bool]]:
    """Yield every value of a well-formed JSON text, inner ones first, and whether it is the whole of it."""
    frames: list[tuple[int, list[tuple[str, _Value]], bool]] = []
    name: list[str | None] = [None]
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first in "{[":
            frames.append((token.start(), [], first == "{"))
            name.append(None)
            continue
        if first in "}]":
            start, members, is_object = frames.pop()
            name.pop()
            value = _Value(start, token.end(), "object" if is_object else "array", tuple(members))
        elif first == '"' and frames and frames[-1][2] and name[-1] is None:
            name[-1] = json.loads(token.group())
            continue
        else:
            value = _Value(token.start(), token.end(), "string" if first == '"' else "other")
        yield value, not frames
        if frames and frames[-1][2]:
            frames[-1][1].append((name[-1] or "", value))
            name[-1] = None


def _apply(text: str, places: list[tuple[int, int]]) -> str:
    """Put the mark in place of each value; a place within an earlier one is part of it."""
    parts: list[str] = []
    done = 0
    for start, end in places:
        if start >= done:
            parts += [text[done:start], f'"{MARK}"']
            done = end
    return "".join([*parts, text[done:]])
