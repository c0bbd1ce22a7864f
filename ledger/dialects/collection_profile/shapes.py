"""What each message must be, as tables.

:func:`shape_message` turns a decoded JSON object into a message by the table of its type, or says which
member is at fault and what belongs there. ``null`` is read as absent, but for a cursor. This is the complete
judge of shape; ``decode`` has a shortcut for well-formed RECORDs, and nothing else.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

from ledger.core.json_reader import Json, printable
from ledger.dialects.collection_profile import messages as m
from ledger.dialects.collection_profile import values as v


class Member(NamedTuple):
    """One row of a shape: a member, how its value is read, whether it must be there, and the clause.

    ``null`` is read as absent, unless the row keeps it as a value of its own.
    """

    name: str
    read: v.Reader
    clause: str
    required: bool = False
    keeps_null: bool = False


class Shape(NamedTuple):
    """The table of one message type or of an object inside a message."""

    build: Callable[..., Any]
    members: tuple[Member, ...]


def _nested(shape: Shape) -> v.Reader:
    def read(value: Json) -> Any:
        return _build(shape, v.read_object(value))

    return read


def _list_of(shape: Shape, expected: str) -> v.Reader:
    read = _nested(shape)

    def read_all(value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise v.Bad(expected)
        return tuple(read(item) for item in value)

    return read_all


def _build(shape: Shape, value: Mapping[str, Json]) -> Any:
    """Build a struct from an object by its shape.

    Raises:
        Bad: with the dotted path of the first member, in the table's order, that is missing or wrong.
    """
    read: dict[str, Any] = {}
    for name, reader, clause, required, keeps_null in shape.members:
        raw = value.get(name)
        if raw is None and not (keeps_null and name in value):
            if required:
                raise v.Bad("present", member=name, clause=clause)
            continue
        try:
            read[name] = reader(raw)
        except v.Bad as bad:
            path = f"{name}.{bad.member}" if bad.member else name
            raise v.Bad(bad.expected, member=path, clause=bad.clause or clause) from None
    return shape.build(**read)


# The tables. Order of rows is the order in which members are judged.

_CONTINUATION = Shape(
    lambda remaining, owner, **rest: m.Continuation(**rest),
    (
        Member("boundary", v.read_words, "skip/continuation", True),
        Member("slice_start", v.read_safe_whole, "skip/continuation", True),
        Member("slice_end", v.read_safe_whole, "skip/continuation", True),
        Member("considered", v.read_safe_whole, "skip/continuation", True),
        Member("covered", v.read_safe_whole, "skip/continuation", True),
        Member("remaining", v.read_true, "skip/continuation", True),
        Member("owner", v.reader_of("runtime"), "skip/continuation", True),
    ),
)


def _continuation(value: Json) -> m.Continuation:
    slice_: m.Continuation = _nested(_CONTINUATION)(value)
    if slice_.slice_end < slice_.slice_start:
        raise v.Bad("not_before_slice_start", member="slice_end")
    return slice_


_OUTCOMES = Shape(
    m.Outcomes,
    tuple(
        Member(name, v.read_safe_whole, "evidence/4", True)
        for name in ("emitted", "unchanged", "gapped", "unaccounted")
    ),
)
DONE_ERROR = Shape(
    m.DoneError,
    (
        Member("message", v.read_words, "done/error", True),
        Member("retryable", v.read_flag, "done/error"),
        Member("code", v.read_error_code, "done/error"),
        Member("recovery_hint", v.read_recovery_hint, "hint/1"),
    ),
)
_TIME_RANGE = Shape(
    m.TimeRange,
    (Member("since", v.read_words, "start/time_range"), Member("until", v.read_words, "start/time_range")),
)
_SCOPE_STREAM = Shape(
    m.ScopeStream,
    (
        Member("name", v.read_string, "start/scope", True),
        Member("resources", v.read_strings, "start/resources"),
        Member("time_range", _nested(_TIME_RANGE), "start/time_range"),
        Member("fields", v.read_names, "start/fields"),
        Member("view", v.read_anything, "start/view"),
        Member("necessity", v.read_anything, "start/necessity"),
    ),
)
_SCOPE = Shape(
    lambda streams: streams,
    (Member("streams", _list_of(_SCOPE_STREAM, "array_of_streams"), "start/scope", True),),
)


def _build_record(data: Json = None, op: Json = None, **rest: Any) -> m.Record:
    if data is None and op != "delete":
        raise v.Bad("present", member="data", clause="record/data")
    return m.Record(data=data, op=op, **rest)


def done_builder(error_shape: Shape, *, closed: bool = False) -> Callable[..., m.Done]:
    """Make what builds a DONE, whose error is read by a shape; closed, it holds nothing else."""

    def build(error: Json = None, **rest: Any) -> m.Done:
        if error is None:
            return m.Done(**rest)
        try:
            read = _build(error_shape, error)
            if closed:
                v.refuse_other_members(error, [member.name for member in error_shape.members], "done/error")
        except v.Bad as bad:
            raise v.Bad(bad.expected, member=f"error.{bad.member}", clause=bad.clause) from None
        return m.Done(error=read, **rest)

    return build


PROGRAM_SHAPES: Mapping[str, Shape] = {
    "RECORD": Shape(
        _build_record,
        (
            Member("stream", v.read_string, "record/stream", True),
            Member("key", v.read_record_key, "record/key", True),
            Member("data", v.read_object, "record/data"),
            Member("emitted_at", v.read_words, "record/emitted_at", True),
            Member("op", v.reader_of("upsert", "delete"), "record/op"),
        ),
    ),
    "STATE": Shape(
        m.State,
        (
            Member("stream", v.read_string, "state/stream", True),
            Member("cursor", v.read_anything, "state/cursor", keeps_null=True),
        ),
    ),
    "INTERACTION": Shape(
        m.Interaction,
        (
            Member("request_id", v.read_words, "interaction/request_id", True),
            Member("kind", v.reader_of(*get_args(m.InteractionKind)), "interaction/kind", True),
            Member("message", v.read_words, "interaction/message", True),
            Member("schema", v.read_object, "interaction/schema"),
            Member("timeout_seconds", v.read_duration, "interaction/timeout_seconds"),
        ),
    ),
    "SKIP_RESULT": Shape(
        m.SkipResult,
        (
            Member("stream", v.read_words, "skip/stream"),
            Member("reason", v.read_words, "skip/reason"),
            Member("message", v.read_words, "skip/message"),
            Member("recovery_hint", v.read_recovery_hint, "hint/1"),
            Member("continuation", _continuation, "skip/continuation"),
        ),
    ),
    "DETAIL_COVERAGE": Shape(
        m.DetailCoverage,
        (
            Member("reference_only", v.read_true, "coverage/reference_only", True),
            Member("stream", v.read_string, "coverage/stream", True),
            Member("state_stream", v.read_string, "coverage/state_stream", True),
            Member("required_keys", v.read_keys, "coverage/required_keys", True),
            Member("hydrated_keys", v.read_keys, "coverage/hydrated_keys", True),
            Member("gap_keys", v.read_keys, "coverage/gap_keys"),
            Member("optional_skip_keys", v.read_anything, "coverage/keys"),
        ),
    ),
    "DETAIL_GAP": Shape(
        m.DetailGap,
        (
            Member("stream", v.read_string, "gap/stream", True),
            Member("parent_stream", v.read_words, "gap/parent_stream"),
            Member("record_key", v.read_key, "gap/record_key"),
            Member("reason", v.read_words, "gap/reason"),
            Member("retryable", v.read_flag, "gap/retryable"),
            Member("detail_locator", v.read_object, "gap/detail_locator"),
            Member("list_cursor", v.read_object, "gap/list_cursor"),
            Member("last_error", v.read_object, "gap/last_error"),
            Member("gap_id", v.read_words, "gap/gap_id"),
            Member("lease_id", v.read_words, "gap/lease_id"),
            Member("reference_only", v.read_anything, "gap/reference_only"),
            Member("status", v.read_anything, "gap/status"),
        ),
    ),
    "STREAM_EVIDENCE": Shape(
        m.StreamEvidence,
        (
            Member("reference_only", v.read_true, "evidence/1", True),
            Member("stream", v.read_string, "evidence/2", True),
            Member("considered", v.read_safe_whole, "evidence/4", True),
            Member("outcomes", _nested(_OUTCOMES), "evidence/4", True),
        ),
    ),
    "PROGRESS": Shape(
        m.Progress,
        (
            Member("message", v.read_words, "progress/message", True),
            Member("stream", v.read_string, "progress/stream"),
            Member("count", v.read_measure, "progress/count"),
            Member("total", v.read_measure, "progress/total"),
        ),
    ),
    "DONE": Shape(
        done_builder(DONE_ERROR),
        (
            Member("status", v.reader_of("succeeded", "failed", "cancelled"), "done/status", True),
            Member("records_emitted", v.read_whole, "done/records_emitted", True),
            Member("error", v.read_object, "done/error"),
        ),
    ),
}
"""What a connector may send, by type."""

CONNECTOR_FACT = Shape(
    m.ConnectorFact,
    tuple(
        Member(name, v.read_anything, "observation/" + name)
        for name in ("id", "fact", "step", "attrs", "evidence_ref", "resolves")
    ),
)
"""OBSERVATION, which only a ruleset that knows it reads; see ``wire``."""

BASIS = Member("basis", v.read_names, "done/basis")
"""What DONE's error may hold under such a ruleset."""

RUNTIME_SHAPES: Mapping[str, Shape] = {
    "START": Shape(
        m.Start,
        (
            Member("run_id", v.read_words, "start/run_id", True),
            Member(
                "collection_mode", v.reader_of("full_refresh", "incremental"), "start/collection_mode", True
            ),
            Member("scope", _nested(_SCOPE), "start/scope", True),
            Member("state", v.read_cursor_map, "start/state"),
            Member("bindings", v.read_object_map, "start/bindings"),
            Member("now", v.read_anything, "start/now"),
        ),
    ),
    "INTERACTION_RESPONSE": Shape(
        m.InteractionResponse,
        (
            Member("request_id", v.read_string, "interaction/request_id", True),
            Member("status", v.reader_of("success", "cancelled", "timeout"), "interaction/status", True),
            Member("data", v.read_anything, "interaction/data"),
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
    except v.Bad as bad:
        stream = value.get("stream")
        return m.Misshapen(
            type=value["type"],
            member=bad.member,
            expected=bad.expected,
            clause=bad.clause,
            stream=stream if isinstance(stream, str) else "",
        )
