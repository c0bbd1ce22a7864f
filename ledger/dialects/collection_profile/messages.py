"""The wire messages of the Collection Profile, in both directions: the protocol on a few screens.

Each message is a frozen struct with the wire's own member names. What its members may hold stands in
``shapes.py``. Members that the profile does not name are never fatal; the log keeps them.
"""

from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec

from ledger.core.findings import show_name
from ledger.core.json_reader import Malformed


class Key(NamedTuple):
    """A key in coverage and gap messages: ``1`` and ``1.0`` are one key, ``1`` and ``"1"`` are two.

    Attributes:
        text: a string itself, a number as its shortest digits.
        is_number: which of the two it was.
    """

    text: str
    is_number: bool


def show_key(key: Key) -> str:
    """Return a key as decisions print it."""
    return show_name(key.text)


InteractionKind: TypeAlias = Literal["credentials", "otp", "manual_action"]

RecoveryAction: TypeAlias = Literal[
    "retry_by_runtime",
    "retry_on_connector_upgrade",
    "refresh_credentials",
    "manual_action_required",
    "update_selector",
    "upstream_unblock",
    "not_retriable",
    "unknown",
]

_NonEmpty: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """The shared shape of messages and of the objects inside them."""


class RecoveryHint(_Part, frozen=True):
    """What the connector wants its owner to do; the bare string form has no ``retryable``."""

    action: RecoveryAction
    retryable: bool | None = None


class Continuation(_Part, frozen=True):
    """One proven slice of a longer walk that the runtime goes on with; never complete history."""

    boundary: str
    slice_start: int
    slice_end: int
    considered: int
    covered: int


class Outcomes(_Part, frozen=True):
    """A partition of the keys that an enumeration considered."""

    emitted: int
    unchanged: int
    gapped: int
    unaccounted: int


class DoneError(_Part, frozen=True):
    """Why a run did not succeed, in the connector's words."""

    message: str
    retryable: bool | None = None
    code: str | None = None
    recovery_hint: RecoveryHint | None = None
    basis: tuple[str, ...] | None = None


class TimeRange(_Part, frozen=True):
    """``since`` inclusive, ``until`` exclusive."""

    since: str | None = None
    until: str | None = None


class ScopeStream(_Part, frozen=True):
    """One stream of a scope, and what narrows it."""

    name: str
    resources: tuple[str, ...] | None = None
    time_range: TimeRange | None = None
    fields: tuple[str, ...] | None = None
    view: Any = None
    necessity: Any = None


class Start(_Part, frozen=True):
    """Runtime to connector, once, first."""

    run_id: str
    collection_mode: Literal["full_refresh", "incremental"]
    scope: tuple[ScopeStream, ...]
    state: dict[str, Any] | None = None
    bindings: dict[str, dict[str, Any]] = {}
    now: Any = None


class InteractionResponse(_Part, frozen=True):
    """Runtime to connector: the answer to one INTERACTION."""

    request_id: str
    status: Literal["success", "cancelled", "timeout"]
    data: Any = None


class Record(_Part, frozen=True, tag_field="type", tag="RECORD"):
    """A record or its deletion; values in ``data`` may still be undecoded, see ``decode.record_value``."""

    stream: str
    key: _NonEmpty | Annotated[tuple[_NonEmpty, ...], msgspec.Meta(min_length=1)]
    emitted_at: str
    data: dict[str, msgspec.Raw] | None = None
    op: Literal["upsert", "delete"] | None = None


class State(_Part, frozen=True):
    """A checkpoint; ``cursor`` is opaque, and unset where the member is not there."""

    stream: str
    cursor: Any = msgspec.UNSET


class Interaction(_Part, frozen=True):
    """A question to the owner; the connector blocks until it is answered."""

    request_id: str
    kind: InteractionKind
    message: str
    schema: dict[str, Any] | None = None
    timeout_seconds: float | None = None


class SkipResult(_Part, frozen=True):
    """A stream, or part of one, that was left out on purpose."""

    stream: str | None = None
    reason: str | None = None
    message: str | None = None
    recovery_hint: RecoveryHint | None = None
    continuation: Continuation | None = None


class DetailCoverage(_Part, frozen=True):
    """How completely a detail stream was fetched under one parent boundary."""

    reference_only: Literal[True]
    stream: str
    state_stream: str
    required_keys: tuple[Key, ...]
    hydrated_keys: tuple[Key, ...]
    gap_keys: tuple[Key, ...] = ()
    optional_skip_keys: Any = None


class DetailGap(_Part, frozen=True):
    """One detail that could not be fetched and is owed."""

    stream: str
    parent_stream: str | None = None
    record_key: Key | None = None
    reason: str | None = None
    retryable: bool | None = None
    detail_locator: dict[str, Any] | None = None
    list_cursor: dict[str, Any] | None = None
    last_error: dict[str, Any] | None = None
    gap_id: str | None = None
    lease_id: str | None = None
    reference_only: Any = None
    status: Any = None


class StreamEvidence(_Part, frozen=True):
    """What became of every key that a child stream considered; gates nothing."""

    reference_only: Literal[True]
    stream: str
    considered: int
    outcomes: Outcomes


class ConnectorFact(_Part, frozen=True):
    """An OBSERVATION: something that the connector says it saw.

    Its members are whatever is there: a bad one breaks nothing, so the rules judge it, and not its shape.

    Attributes:
        length: bytes of the line, without what ended it.
    """

    id: Any = None
    fact: Any = None
    step: Any = None
    attrs: Any = None
    evidence_ref: Any = None
    resolves: Any = None
    length: int = 0


class Progress(_Part, frozen=True):
    """Something to show while a run goes on."""

    message: str
    stream: str | None = None
    count: float | None = None
    total: float | None = None


class Done(_Part, frozen=True):
    """The last message of a connector."""

    status: Literal["succeeded", "failed", "cancelled"]
    records_emitted: int
    error: DoneError | None = None


# What a line can be besides a message.


class Blank(_Part, frozen=True):
    """A line of nothing but white space; hosts skip it."""


class Unknown(_Part, frozen=True):
    """A JSON object whose type this direction of the profile does not have."""

    type: str


class Misshapen(_Part, frozen=True):
    """A message of a known type, or a JSON value, that does not have the shape it must have.

    Attributes:
        type: the message type, '' where the line holds no message at all.
        member: the member at fault, '' for the whole.
        expected: what belongs there, as a code.
        clause: the clause that says so.
        stream: the stream it names, where it names one.
    """

    type: str
    member: str
    expected: str
    clause: str
    stream: str = ""


class Repeated(_Part, frozen=True):
    """A message in which member names occur twice; the last of each was read."""

    message: Any
    names: tuple[str, ...]


ProgramMessage: TypeAlias = (
    Record
    | State
    | Interaction
    | SkipResult
    | DetailCoverage
    | DetailGap
    | StreamEvidence
    | ConnectorFact
    | Progress
    | Done
    | Blank
    | Unknown
    | Misshapen
    | Repeated
    | Malformed
)
RuntimeMessage: TypeAlias = Start | InteractionResponse | Blank | Unknown | Misshapen | Repeated | Malformed
