"""The switches: choices of a ruleset that lie in the machinery and not in a rule of their own.

Each names the clause that leaves the choice open, and says what it decides; where a value does nothing unless
some rule is asked too, it names that rule. Defaults are the specification's text as we read it. A ruleset
that was released keeps its digest when a switch is added: see :func:`switches_in_digest`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import inspect


def _about(clause: str, says: str, **needs: str) -> msgspec.Meta:
    """Describe a switch; ``needs`` names, by value, the rule without which the value does nothing."""
    return msgspec.Meta(description=says, extra={"clause": clause, "needs": needs})


class Switches(msgspec.Struct, frozen=True, kw_only=True):
    """The choices that the text leaves open; each names the clause that leaves it so."""

    out_of_scope_record: Annotated[
        Literal["violate", "discard"],
        _about("runtime/12", "What a RECORD outside the scope does to the run."),
    ] = "violate"
    state_of_no_checkpoint: Annotated[
        Literal["ignore", "violate", "stage"],
        _about(
            "state/stream",
            "What a STATE of a stream that is no checkpoint does.",
            ignore="stream_is_a_checkpoint",
            violate="stream_is_a_checkpoint",
        ),
    ] = "ignore"
    unknown_message: Annotated[
        Literal["violate", "ignore", "ignore_inherited_names"],
        _about("session/unknown", "What a message of an unknown type does."),
    ] = "violate"
    evidence_closure: Annotated[
        Literal["off", "on", "equal"],
        _about(
            "evidence/closure",
            "Whether STREAM_EVIDENCE must agree with what was counted, or equal it.",
            on="evidence_agrees_with_counts",
            equal="evidence_equals_counts",
        ),
    ] = "off"
    stream_evidence: Annotated[
        Literal["known", "unknown"],
        _about(
            "session/unknown",
            "Whether STREAM_EVIDENCE is a type that the runtime knows.",
            known="evidence_is_of_a_child",
        ),
    ] = "known"
    spelled_out_upsert: Annotated[
        Literal["accept", "violate"],
        _about("record/op", "What a RECORD does whose op says upsert, which is the default."),
    ] = "accept"
    unknown_error_member: Annotated[
        Literal["accept", "violate"],
        _about("done/error", "What a member of DONE.error does that the profile does not name."),
    ] = "accept"
    unknown_hint_member: Annotated[
        Literal["accept", "violate"],
        _about("hint/1", "What a member of a recovery hint does that the profile does not name."),
    ] = "accept"
    key_equality: Annotated[
        Literal["typed", "text"],
        _about("coverage/keys", "Whether a number and a text can be one key, as text."),
    ] = "typed"
    optional_skip_keys: Annotated[
        Literal["ignore", "credit"],
        _about("coverage/keys", "Whether a required key in optional_skip_keys is accounted for."),
    ] = "ignore"
    undeclared_parent: Annotated[
        Literal["violate", "accept"],
        _about(
            "precedence/3",
            "What a report does of a stream without parents on another's checkpoint.",
            violate="self_mapped_stream_reports_on_itself",
        ),
    ] = "violate"
    unlisted_gap: Annotated[
        Literal["unaccounted", "accounted"],
        _about("eligible/3", "What a required key is that a DETAIL_GAP names and gap_keys leave out."),
    ] = "unaccounted"
    unscoped_gap: Annotated[
        Literal["own_boundary", "any_boundary"],
        _about(
            "gap/parent_stream",
            "Which boundary a gap without parent_stream is of, if its stream has no parents.",
        ),
    ] = "own_boundary"
    commit_order: Annotated[
        Literal["first_state", "integers_first"],
        _about("eligible/4", "The order in which checkpoints are committed."),
    ] = "first_state"
    connector_facts: Annotated[
        Literal["unknown", "known"],
        _about(
            "session/unknown",
            "Whether OBSERVATION is known, and DONE.error.basis, to who declares it.",
            known="fact_has_an_id",
        ),
    ] = "unknown"
    controller_loss: Annotated[
        Literal["weigh", "withhold"],
        _about(
            "restart/1",
            "Whether a run whose controller was lost may commit anything.",
            weigh="nothing_is_owed",
        ),
    ] = "weigh"
    owner_cancellation: Annotated[
        Literal["cancelled", "failed"],
        _about("done/cancellation", "What a run is that its owner cancelled."),
    ] = "cancelled"
    recovery_hints: Annotated[
        Literal["authoritative", "gated"],
        _about("hint/gate", "Whether a recovery hint is acted on for itself, or with what was recorded."),
    ] = "authoritative"
    failure_cause: Annotated[
        Literal["not_derived", "derived"],
        _about("failure/cause", "Whether a failure is put down to what was recorded of it."),
    ] = "not_derived"
    manifest_declarations: Annotated[
        Literal["optional", "required"],
        _about(
            "manifest/shape",
            "Whether a manifest must declare what the later profile made mandatory.",
            required="semantics_are_declared",
        ),
    ] = "optional"


_FIRST = ("out_of_scope_record", "state_of_no_checkpoint", "unknown_message", "evidence_closure")
"""The switches of the first release, which every digest covers."""

_DEFAULTS = msgspec.to_builtins(Switches())


def switches_in_digest(switches: Switches) -> dict[str, str]:
    """Return what a ruleset's digest covers: the first switches, and of later ones those that are turned."""
    values: dict[str, str] = msgspec.to_builtins(switches)
    return {name: value for name, value in values.items() if name in _FIRST or value != _DEFAULTS[name]}


class Switch(NamedTuple):
    """What there is to know of a switch; ``needs`` names, by value, a rule without which it does nothing."""

    clause: str
    says: str
    values: tuple[str, ...]
    default: str
    needs: Mapping[str, str]


def _described(field: inspect.Field) -> Switch:
    described = field.type
    assert isinstance(described, inspect.Metadata)
    assert isinstance(described.type, inspect.LiteralType)
    extra, schema = described.extra or {}, described.extra_json_schema or {}
    values = tuple(map(str, described.type.values))
    return Switch(extra["clause"], schema["description"], values, _DEFAULTS[field.name], extra["needs"])


def _every_switch() -> Mapping[str, Switch]:
    struct = inspect.type_info(Switches)
    assert isinstance(struct, inspect.StructType)
    return {field.name: _described(field) for field in struct.fields}


SWITCHES: Mapping[str, Switch] = _every_switch()
"""Every switch by its name, in the order in which they are declared."""
