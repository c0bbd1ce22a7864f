"""What the members of each message must hold, as tables.

:func:`shape_message` turns a decoded JSON object into a message by the table of its type, or says which
member is at fault and what belongs there. ``null`` is read as absent. Where the specification gives only a
type, the tables ask what the reference implementation asks: strings that people read are not blank, counts
are finite and not negative, an error code matches its pattern.

This is the complete judge of shape. ``decode`` has a shortcut for well-formed RECORDs, and nothing else.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, get_args

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


class Member(NamedTuple):
    """One row of a shape: a member, how its value is read, whether it must be there, and the clause."""

    name: str
    read: Reader
    clause: str
    required: bool = False


class Shape(NamedTuple):
    """The table of one message type or of an object inside a message."""

    build: Callable[..., Any]
    members: tuple[Member, ...]


def is_blank(text: str) -> bool:
    """Tell whether a string holds nothing but white space."""
    return not text.strip(_WHITE_SPACE)


# Readers: each returns the value as the struct holds it, or raises Bad.


def _string(value: Json) -> str:
    if not isinstance(value, str):
        raise Bad("string")
    return value


def _words(value: Json) -> str:
    if not isinstance(value, str) or is_blank(value):
        raise Bad("non_blank_string")
    return value


def _flag(value: Json) -> bool:
    if not isinstance(value, bool):
        raise Bad("boolean")
    return value


def _true(value: Json) -> bool:
    if value is not True:
        raise Bad("true")
    return True


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise Bad("object")
    return value


def _object_map(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise Bad("object_of_objects")
    return value


def _cursor_map(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict) or not all(
        item is None or isinstance(item, dict) for item in value.values()
    ):
        raise Bad("object_of_cursors")
    return value


def _anything(value: Json) -> Json:
    return value


def _measure(value: Json) -> Json:
    if not is_finite(value) or value < 0:
        raise Bad("count")
    return value


def _duration(value: Json) -> Json:
    if not is_finite(value) or value <= 0:
        raise Bad("positive_number")
    return value


def _whole(value: Json) -> int:
    number = whole_number(value)
    if number is None or number < 0:
        raise Bad("whole_number")
    return number


def _safe_whole(value: Json) -> int:
    number = whole_number(value)
    if number is None or not 0 <= number <= MAX_COUNT:
        raise Bad("safe_whole_number")
    return number


def _record_key(value: Json) -> str | tuple[str, ...]:
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise Bad("record_key")
    return tuple(value) if isinstance(value, list) else str(value)


def _key(value: Json) -> m.Key:
    if isinstance(value, str) or is_number(value):
        return value  # type: ignore[no-any-return]
    raise Bad("string_or_number")


def _keys(value: Json) -> tuple[m.Key, ...]:
    if not isinstance(value, list):
        raise Bad("array_of_keys")
    try:
        return tuple(_key(item) for item in value)
    except Bad:
        raise Bad("array_of_keys") from None


def _strings(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Bad("array_of_strings")
    return tuple(value)


def _names(value: Json) -> tuple[str, ...]:
    names = _strings(value)
    if any(is_blank(name) for name in names):
        raise Bad("array_of_names")
    return names


def _one_of(*allowed: str) -> Reader:
    def read(value: Json) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise Bad("one_of:" + ",".join(allowed))
        return value

    return read


def _error_code(value: Json) -> str:
    if not isinstance(value, str) or not _ERROR_CODE.fullmatch(value):
        raise Bad("error_code")
    return value


def _recovery_hint(value: Json) -> m.RecoveryHint:
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


def _nested(shape: Shape) -> Reader:
    def read(value: Json) -> Any:
        return _build(shape, _object(value))

    return read


def _list_of(shape: Shape, expected: str) -> Reader:
    read = _nested(shape)

    def read_all(value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Bad(expected)
        return tuple(read(item) for item in value)

    return read_all


def _build(shape: Shape, value: Mapping[str, Json]) -> Any:
    """Build a struct from an object by its shape.

    Raises:
        Bad: with the dotted path of the first member, in the table's order, that is missing or wrong.
    """
    read: dict[str, Any] = {}
    for name, reader, clause, required in shape.members:
        raw = value.get(name)
        if raw is None:
            if required:
                raise Bad("present", member=name, clause=clause)
            continue
        try:
            read[name] = reader(raw)
        except Bad as bad:
            path = f"{name}.{bad.member}" if bad.member else name
            raise Bad(bad.expected, member=path, clause=bad.clause or clause) from None
    return shape.build(**read)


# The tables. Order of rows is the order in which members are judged.

_CONTINUATION = Shape(
    lambda remaining, owner, **rest: m.Continuation(**rest),
    (
        Member("boundary", _words, "skip/continuation", True),
        Member("slice_start", _safe_whole, "skip/continuation", True),
        Member("slice_end", _safe_whole, "skip/continuation", True),
        Member("considered", _safe_whole, "skip/continuation", True),
        Member("covered", _safe_whole, "skip/continuation", True),
        Member("remaining", _true, "skip/continuation", True),
        Member("owner", _one_of("runtime"), "skip/continuation", True),
    ),
)


def _continuation(value: Json) -> m.Continuation:
    slice_: m.Continuation = _nested(_CONTINUATION)(value)
    if slice_.slice_end < slice_.slice_start:
        raise Bad("not_before_slice_start", member="slice_end")
    return slice_


_OUTCOMES = Shape(
    m.Outcomes,
    tuple(
        Member(name, _safe_whole, "evidence/4", True)
        for name in ("emitted", "unchanged", "gapped", "unaccounted")
    ),
)
_DONE_ERROR = Shape(
    m.DoneError,
    (
        Member("message", _words, "done/error", True),
        Member("retryable", _flag, "done/error"),
        Member("code", _error_code, "done/error"),
        Member("recovery_hint", _recovery_hint, "hint/1"),
    ),
)
_TIME_RANGE = Shape(
    m.TimeRange,
    (Member("since", _words, "start/time_range"), Member("until", _words, "start/time_range")),
)
_SCOPE_STREAM = Shape(
    m.ScopeStream,
    (
        Member("name", _string, "start/scope", True),
        Member("resources", _strings, "start/resources"),
        Member("time_range", _nested(_TIME_RANGE), "start/time_range"),
        Member("fields", _names, "start/fields"),
        Member("view", _anything, "start/view"),
        Member("necessity", _anything, "start/necessity"),
    ),
)
_SCOPE = Shape(
    lambda streams: streams,
    (Member("streams", _list_of(_SCOPE_STREAM, "array_of_streams"), "start/scope", True),),
)


def _build_done(error: Json = None, **rest: Any) -> m.Done:
    if error is None:
        return m.Done(**rest)
    known = {member.name for member in _DONE_ERROR.members}
    unknown = tuple(sorted(printable(name) for name in error if name not in known))
    return m.Done(error=_nested(_DONE_ERROR)(error), unknown_error_members=unknown, **rest)


PROGRAM_SHAPES: Mapping[str, Shape] = {
    "RECORD": Shape(
        m.Record,
        (
            Member("stream", _string, "record/stream", True),
            Member("key", _record_key, "record/key", True),
            Member("data", _object, "record/data"),
            Member("emitted_at", _words, "record/emitted_at", True),
            Member("op", _one_of("upsert", "delete"), "record/op"),
        ),
    ),
    "STATE": Shape(
        m.State,
        (Member("stream", _string, "state/stream", True), Member("cursor", _anything, "state/cursor")),
    ),
    "INTERACTION": Shape(
        m.Interaction,
        (
            Member("request_id", _words, "interaction/request_id", True),
            Member("kind", _one_of(*get_args(m.InteractionKind)), "interaction/kind", True),
            Member("message", _words, "interaction/message", True),
            Member("schema", _object, "interaction/schema"),
            Member("timeout_seconds", _duration, "interaction/timeout_seconds"),
        ),
    ),
    "SKIP_RESULT": Shape(
        m.SkipResult,
        (
            Member("stream", _words, "skip/stream"),
            Member("reason", _words, "skip/reason"),
            Member("message", _words, "skip/message"),
            Member("recovery_hint", _recovery_hint, "hint/1"),
            Member("continuation", _continuation, "skip/continuation"),
        ),
    ),
    "DETAIL_COVERAGE": Shape(
        m.DetailCoverage,
        (
            Member("reference_only", _true, "coverage/reference_only", True),
            Member("stream", _string, "coverage/stream", True),
            Member("state_stream", _string, "coverage/state_stream", True),
            Member("required_keys", _keys, "coverage/required_keys", True),
            Member("hydrated_keys", _keys, "coverage/hydrated_keys", True),
            Member("gap_keys", _keys, "coverage/gap_keys"),
            Member("optional_skip_keys", _anything, "coverage/keys"),
        ),
    ),
    "DETAIL_GAP": Shape(
        m.DetailGap,
        (
            Member("stream", _string, "gap/stream", True),
            Member("parent_stream", _words, "gap/parent_stream"),
            Member("record_key", _key, "gap/record_key"),
            Member("reason", _words, "gap/reason"),
            Member("retryable", _flag, "gap/retryable"),
            Member("detail_locator", _object, "gap/detail_locator"),
            Member("list_cursor", _object, "gap/list_cursor"),
            Member("last_error", _object, "gap/last_error"),
            Member("gap_id", _words, "gap/gap_id"),
            Member("lease_id", _words, "gap/lease_id"),
        ),
    ),
    "STREAM_EVIDENCE": Shape(
        m.StreamEvidence,
        (
            Member("reference_only", _true, "evidence/1", True),
            Member("stream", _string, "evidence/2", True),
            Member("considered", _safe_whole, "evidence/4", True),
            Member("outcomes", _nested(_OUTCOMES), "evidence/4", True),
        ),
    ),
    "PROGRESS": Shape(
        m.Progress,
        (
            Member("message", _words, "progress/message", True),
            Member("stream", _string, "progress/stream"),
            Member("count", _measure, "progress/count"),
            Member("total", _measure, "progress/total"),
        ),
    ),
    "DONE": Shape(
        _build_done,
        (
            Member("status", _one_of("succeeded", "failed", "cancelled"), "done/status", True),
            Member("records_emitted", _whole, "done/records_emitted", True),
            Member("error", _object, "done/error"),
        ),
    ),
}
"""What a connector may send, by type."""

RUNTIME_SHAPES: Mapping[str, Shape] = {
    "START": Shape(
        m.Start,
        (
            Member("run_id", _words, "start/run_id", True),
            Member("collection_mode", _one_of("full_refresh", "incremental"), "start/collection_mode", True),
            Member("scope", _nested(_SCOPE), "start/scope", True),
            Member("state", _cursor_map, "start/state"),
            Member("bindings", _object_map, "start/bindings"),
        ),
    ),
    "INTERACTION_RESPONSE": Shape(
        m.InteractionResponse,
        (
            Member("request_id", _string, "interaction/request_id", True),
            Member("status", _one_of("success", "cancelled", "timeout"), "interaction/status", True),
            Member("data", _anything, "interaction/data"),
        ),
    ),
}
"""What a runtime may send, by type."""


def shape_message(shapes: Mapping[str, Shape], value: Json) -> Any:
    """Read a JSON value as a message.

    Args:
        shapes: the types that this direction has.
        value: any JSON value.

    Returns:
        The message; :class:`~.messages.Unknown` for another type; :class:`~.messages.Misshapen` for a value
        that is no message, or for a member that is missing or wrong.
    """
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        expected = "object" if not isinstance(value, dict) else "string"
        member = "" if not isinstance(value, dict) else "type"
        return m.Misshapen(type="", member=member, expected=expected, clause="session/jsonl")
    shape = shapes.get(value["type"])
    if shape is None:
        return m.Unknown(type=printable(value["type"]))
    try:
        return _build(shape, value)
    except Bad as bad:
        stream = value.get("stream")
        return m.Misshapen(
            type=value["type"],
            member=bad.member,
            expected=bad.expected,
            clause=bad.clause,
            stream=stream if isinstance(stream, str) else "",
        )
