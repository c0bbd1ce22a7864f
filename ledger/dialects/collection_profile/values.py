"""What a member of a message may hold: one reader a kind of value.

A reader returns the value as the message's struct holds it, or raises :class:`Bad` with a code for what
belongs there. Where the specification gives only a type, the readers ask what the reference implementation
asks: strings that people read are not blank, counts are finite and not negative, an error code matches its
pattern.
"""

import re
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from math import inf
from typing import Any, TypeAlias, get_args

from ledger.core.ecmascript import number_to_string
from ledger.core.json_reader import Json, is_finite, is_number, printable, whole_number
from ledger.dialects.collection_profile import messages as m

MAX_COUNT = 9007199254740991
"""2**53 - 1, the largest count that STREAM_EVIDENCE and a continuation may carry."""

# White space as the reference implementation's language trims it.
_WHITE_SPACE = (
    "".join(
        map(
            chr,
            (
                9,
                10,
                11,
                12,
                13,
                32,
                0xA0,
                0x1680,
                *range(0x2000, 0x200B),
                0x2028,
                0x2029,
                0x202F,
                0x205F,
                0x3000,
            ),
        )
    )
    + "\ufeff"
)
_ERROR_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_RECOVERY_ACTIONS = get_args(m.RecoveryAction)


class Bad(Exception):
    """A value that does not belong where it stands; ``expected`` says what does, as a code."""

    def __init__(self, expected: str, *, member: str = "", clause: str = "") -> None:
        self.expected = expected
        self.member = member
        self.clause = clause


Reader: TypeAlias = Callable[[Json], Any]


def is_blank(text: str) -> bool:
    """Tell whether a string holds nothing but white space."""
    return not text.strip(_WHITE_SPACE)


def is_trimmed(text: str) -> bool:
    """Tell whether a string has no white space around it."""
    return text == text.strip(_WHITE_SPACE)


def read_string(value: Json) -> str:
    """A string, perhaps an empty one."""
    if not isinstance(value, str):
        raise Bad("string")
    return value


def read_words(value: Json) -> str:
    """A string that is not blank."""
    if not isinstance(value, str) or is_blank(value):
        raise Bad("non_blank_string")
    return value


def read_flag(value: Json) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        raise Bad("boolean")
    return value


def read_true(value: Json) -> bool:
    """``true`` and nothing else."""
    if value is not True:
        raise Bad("true")
    return True


def read_object(value: Json) -> dict[str, Json]:
    """An object."""
    if not isinstance(value, dict):
        raise Bad("object")
    return value


def read_object_map(value: Json) -> dict[str, Json]:
    """An object whose values are objects; a member that is null is absent."""
    if not isinstance(value, dict) or not all(
        item is None or isinstance(item, dict) for item in value.values()
    ):
        raise Bad("object_of_objects")
    return {name: item for name, item in value.items() if item is not None}


def read_cursor_map(value: Json) -> dict[str, Json]:
    """An object whose values are objects or null."""
    if not isinstance(value, dict) or not all(
        item is None or isinstance(item, dict) for item in value.values()
    ):
        raise Bad("object_of_cursors")
    return value


def read_anything(value: Json) -> Json:
    """Whatever is there."""
    return value


def read_measure(value: Json) -> Json:
    """A finite number, not negative."""
    if not is_finite(value) or value < 0:
        raise Bad("count")
    return value


def read_duration(value: Json) -> Json:
    """A finite number above zero."""
    if not is_finite(value) or value <= 0:
        raise Bad("positive_number")
    return value


def read_whole(value: Json) -> int:
    """A number that is whole by value (``2.0`` is), not negative."""
    number = whole_number(value)
    if number is None or number < 0:
        raise Bad("whole_number")
    return number


def read_safe_whole(value: Json) -> int:
    """A whole number from 0 to :data:`MAX_COUNT`."""
    number = whole_number(value)
    if number is None or not 0 <= number <= MAX_COUNT:
        raise Bad("safe_whole_number")
    return number


def read_record_key(value: Json) -> str | tuple[str, ...]:
    """A non-empty string, or a non-empty array of non-empty strings."""
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise Bad("record_key")
    return tuple(value) if isinstance(value, list) else str(value)


def read_key(value: Json) -> m.Key:
    """A string or a number."""
    if isinstance(value, str):
        return m.Key(value, False)
    if is_number(value) and value not in (inf, -inf):  # beyond what even a Decimal holds
        return m.Key(_digits(value), True)
    raise Bad("string_or_number")


def read_key_as_text(value: Json) -> m.Key:
    """A string or a number, which is one key with the text that ECMAScript makes of it."""
    if is_number(value):
        return m.Key(number_to_string(value), False)
    return read_key(value)


def _digits(number: Json) -> str:
    """Return one text for all spellings of a number, exact at any size."""
    if isinstance(number, float) or is_finite(number):
        whole = whole_number(number)
        return repr(number) if whole is None else str(whole)
    sign, digits, exponent = Decimal(number).as_tuple()
    text = "".join(map(str, digits))
    significant = text.rstrip("0")
    return f"{'-' * sign}{significant}e{int(exponent) + len(text) - len(significant)}"


def keys_reader(read_one: Callable[[Json], m.Key]) -> Reader:
    """Make the reader of an array of keys."""

    def read(value: Json) -> tuple[m.Key, ...]:
        if not isinstance(value, list):
            raise Bad("array_of_keys")
        try:
            return tuple(read_one(item) for item in value)
        except Bad:
            raise Bad("array_of_keys") from None

    return read


read_keys = keys_reader(read_key)
read_keys_as_text = keys_reader(read_key_as_text)


def read_strings(value: Json) -> tuple[str, ...]:
    """An array of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Bad("array_of_strings")
    return tuple(value)


def read_names(value: Json) -> tuple[str, ...]:
    """An array of strings that are not blank."""
    names = read_strings(value)
    if any(is_blank(name) for name in names):
        raise Bad("array_of_names")
    return names


def reader_of(*allowed: str) -> Reader:
    """Make the reader of one of these strings."""

    def read(value: Json) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise Bad("one_of:" + ",".join(allowed))
        return value

    return read


def read_error_code(value: Json) -> str:
    """A bounded identifier in snake case."""
    if not isinstance(value, str) or not _ERROR_CODE.fullmatch(value):
        raise Bad("error_code")
    return value


def read_closed_recovery_hint(value: Json) -> m.RecoveryHint:
    """Read a hint whose object form holds an action, perhaps ``retryable``, and nothing else."""
    hint = read_recovery_hint(value)
    if isinstance(value, dict):
        refuse_other_members(value, ("action", "retryable"), "hint/1")
    return hint


def refuse_other_members(value: Mapping[str, Json], known: Collection[str], clause: str) -> None:
    """Refuse an object that holds more than the members that are known; null is absent.

    Raises:
        Bad: with the first member that is not known.
    """
    for name, item in value.items():
        if item is not None and name not in known:
            raise Bad("absent", member=printable(name), clause=clause)


def read_recovery_hint(value: Json) -> m.RecoveryHint:
    """Read the bare string or the object form; the action is mandatory in both (hint/1..3)."""
    if isinstance(value, str) and value in _RECOVERY_ACTIONS:
        return m.RecoveryHint(action=value)  # type: ignore[arg-type]
    if not isinstance(value, dict):
        raise Bad("recovery_hint", clause="hint/1")
    action, retryable = value.get("action"), value.get("retryable")
    if action is None:
        raise Bad("recovery_action", member="action", clause="hint/2")
    if not isinstance(action, str) or action not in _RECOVERY_ACTIONS:
        raise Bad("recovery_action", member="action", clause="hint/3")
    if retryable is not None and not isinstance(retryable, bool):
        raise Bad("boolean", member="retryable", clause="hint/1")
    return m.RecoveryHint(action=action, retryable=retryable)  # type: ignore[arg-type]
