"""Where a line names a key: what a person who erases a record has to look at besides.

Pure, and of no dialect: any value of a line may name the key of a record that stands in another. Two kinds
are told apart: a *value* is the key itself, or a compound key's parts as an array; a *text* has it as a word
among others. Decoded values are compared, so that a text that JSON spells in two ways is one.
"""

import json
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from ledger.core.json_reader import Json, Malformed, is_number, printable, read_json, whole_number

PLACE_LIMIT = 200
"""Longest place told, in characters."""


class Mention(msgspec.Struct, frozen=True):
    """One place of a line that names a key.

    Attributes:
        where: the path to it, such as ``required_keys[2]``; '' is the whole line.
        how: as a value of its own, or as a word in a longer text.
    """

    where: str
    how: Literal["value", "text"]


class KeyNamed:
    """A key, ready to be looked for in many lines."""

    def __init__(self, key: str) -> None:
        """Read the key.

        Args:
            key: a canonical key: the text of a simple one, the minified JSON array of a compound one.
        """
        self._key = key
        self._parts = _parts(key)
        self._word = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")
        sought = self._parts[0] if self._parts else key
        self._bytes = b"" if _is_digits(key) else sought.encode("utf-8", "surrogatepass")

    def found_in(self, body: bytes) -> Mention | None:
        """Return the first place of a line that names the key; total."""
        if self._bytes not in body and b"\\" not in body:
            return None
        document = read_json(body)
        if isinstance(document, Malformed):
            text = body.decode("utf-8", "replace")
            return Mention("", "text") if self._word.search(text) else None
        first = self._in_repeated(body) if document.repeated else None
        for mention in self._mentions(document.value):
            if mention.how == "value":
                return mention
            first = first or mention
        return first

    def names(self, text: str) -> bool:
        """Tell whether a text is the key, or has it as a word."""
        return self._how(text) is not None

    def _in_repeated(self, body: bytes) -> Mention | None:
        """Look at the line as it stands: of members of one name, only the last was read."""
        return Mention("", "text") if self._word.search(body.decode("utf-8", "replace")) else None

    def _mentions(self, document: Json) -> Iterator[Mention]:
        waiting: list[tuple[str, Json]] = [("", document)]
        while waiting:
            where, value = waiting.pop()
            how = self._how(value)
            if how is not None:
                yield Mention(_shown(where), how)
            elif isinstance(value, list):
                waiting += [(f"{where}[{at}]", one) for at, one in reversed(list(enumerate(value)))]
            elif isinstance(value, dict):
                inside = f"{where}." if where else ""
                waiting += [(f"{inside}{name}", one) for name, one in reversed(value.items())]
                yield from (
                    Mention(_shown(f"{inside}{name}"), "value") for name in value if name == self._key
                )

    def _how(self, value: Json) -> Literal["value", "text"] | None:
        if isinstance(value, str):
            if value == self._key:
                return "value"
            return "text" if self._word.search(value) else None
        if is_number(value):
            whole = whole_number(value)
            return "value" if self._key == str(value if whole is None else whole) else None
        return (
            "value" if isinstance(value, list) and self._parts is not None and value == self._parts else None
        )


def _parts(key: str) -> list[str] | None:
    """Return the parts of a compound key, None of a simple one."""
    if not key.startswith("["):
        return None
    try:
        parts = json.loads(key)
    except ValueError:
        return None
    is_compound = isinstance(parts, list) and parts and all(isinstance(part, str) for part in parts)
    return parts if is_compound else None


def canonical_key(key: str) -> str:
    """Return a key in its canonical text: the array of a compound one minified, however it was spelled."""
    parts = _parts(key)
    return key if parts is None else json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def _is_digits(key: str) -> bool:
    """Tell a key that a number may spell in another way, such as 1e2."""
    return key.lstrip("-").isdecimal()


def _shown(where: str) -> str:
    shown = printable(where)
    return shown if len(shown) <= PLACE_LIMIT else shown[: PLACE_LIMIT - 1] + "…"
