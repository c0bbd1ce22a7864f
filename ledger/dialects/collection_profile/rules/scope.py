"""Scope: what a RECORD may be about, and which streams a message may name."""

from collections.abc import Iterator
from typing import Any

from ledger.core.decision import Status
from ledger.core.ecmascript import number_to_string, time_value
from ledger.core.findings import Fault, Tally, rule, show_name
from ledger.core.instants import read_instant, to_milliseconds
from ledger.core.json_reader import Json, is_number, json_type, minified, printable
from ledger.dialects.collection_profile.decode import record_value
from ledger.dialects.collection_profile.messages import Record
from ledger.dialects.collection_profile.plan import StreamPlan
from ledger.dialects.collection_profile.ruleset import MessageRule
from ledger.dialects.collection_profile.state import State


def names_stream_in_scope(clause: str) -> MessageRule:
    """Make the rule, for one kind of message, that the stream which it names is in the run's scope.

    Reading: a message that names no stream (PROGRESS, SKIP_RESULT) is about the run.
    """

    @rule(clause)
    def stream_in_scope(state: State, message: Any) -> Fault | None:
        """The stream that the message names, if any, is in the run's scope."""
        if message.stream is None or is_in_scope(state, message.stream):
            return None
        return Fault(code="stream_out_of_scope", clause=clause, detail={"stream": show_name(message.stream)})

    return stream_in_scope


def is_in_scope(state: State, stream: str) -> bool:
    """Tell whether a stream is in the scope of the run; without a manifest nothing is known not to be."""
    return state.plan is None or stream in state.plan.streams


def canonical_key(key: str | tuple[str, ...]) -> str:
    """Return the canonical key string: a simple key itself, a compound one as a minified JSON array.

    Source: core specification, as restated in the tables of the profile.
    """
    return key if isinstance(key, str) else minified(key)


@rule("scope/2", needs="resources")
def within_resources(plan: StreamPlan, record: Record) -> Fault | None:
    """A record's canonical key is one of the resources that were asked for, deletions too.

    Reading: ``resources`` are canonical keys; ``selection.resource_field`` is not read.
    """
    key = canonical_key(record.key)
    if plan.resources is None or key in plan.resources:
        return None
    return _fault("record_outside_resources", "scope/2", plan, {"key": show_name(key)})


@rule("scope/2", needs="resources")
def within_resources_by_field(plan: StreamPlan, record: Record) -> Fault | None:
    """A record's canonical key, or its ``selection.resource_field``, is one of the resources asked for.

    Reading: the field holds a string, or a number that is compared as ECMAScript writes it.
    """
    fault = within_resources(plan, record)
    field = plan.declared.resource_field
    if fault is None or field is None or record.data is None or plan.resources is None:
        return fault
    value = record_value(record.data.get(field))
    text = number_to_string(value) if is_number(value) else value
    return None if isinstance(text, str) and text in plan.resources else fault


@rule("scope/3", needs="fields")
def no_extra_field(plan: StreamPlan, record: Record) -> Fault | None:
    """A record's data has no top-level field beyond those asked for and those that must be there.

    Reading: the schema's required fields and the primary key must be there, and the consent time where a
    range is set. A deletion without data has no fields.
    """
    if plan.fields is None or record.data is None or record.data.keys() <= plan.fields:
        return None
    extra = next(name for name in record.data if name not in plan.fields)
    return _fault("record_with_extra_field", "scope/3", plan, {"field": show_name(extra)})


@rule("scope/2", needs="time_range")
def within_time_range(plan: StreamPlan, record: Record) -> Fault | None:
    """A record's consent time lies in the range: at or after ``since``, before ``until``.

    Reading: the time is an instant with its offset, or a date alone (midnight UTC). A time that is absent,
    empty, unreadable or a number is outside every range. A deletion without data is not asked.
    """
    if record.data is None:
        return None
    field = plan.declared.consent_time_field or ""
    value = record_value(record.data.get(field))
    instant = read_instant(value) if isinstance(value, str) else None
    if instant is None:
        return _out_of_range(plan, field, "time_unreadable", value)
    if plan.since is not None and instant < plan.since:
        return _out_of_range(plan, field, "before_since", value)
    if plan.until is not None and instant >= plan.until:
        return _out_of_range(plan, field, "not_before_until", value)
    return None


@rule("scope/2", needs="time_range")
def every_record_is_within_time_range(plan: StreamPlan, record: Record) -> Fault | None:
    """While a range is set, every record has its consent time, in the range; deletions too.

    Reading: a deletion without data has no time. Otherwise as :func:`within_time_range` reads it.
    """
    if record.data is None:
        return _out_of_range(plan, plan.declared.consent_time_field or "", "time_unreadable", None)
    return within_time_range(plan, record)


@rule("scope/2", needs="time_range")
def within_time_range_in_milliseconds(plan: StreamPlan, record: Record) -> Fault | None:
    """A record's consent time lies in the range: at or after ``since``, before ``until``.

    Reading: as dates of ECMAScript. A number is milliseconds since the epoch; what is finer than a
    millisecond is cut off, of the bounds too. Otherwise as :func:`within_time_range` reads it.
    """
    if record.data is None:
        return None
    field = plan.declared.consent_time_field or ""
    value = record_value(record.data.get(field))
    time = _milliseconds(value)
    if time is None:
        return _out_of_range(plan, field, "time_unreadable", value)
    if plan.since is not None and time < to_milliseconds(plan.since):
        return _out_of_range(plan, field, "before_since", value)
    if plan.until is not None and time >= to_milliseconds(plan.until):
        return _out_of_range(plan, field, "not_before_until", value)
    return None


def _milliseconds(value: Json) -> int | None:
    if is_number(value):
        return time_value(value)
    instant = read_instant(value) if isinstance(value, str) else None
    return to_milliseconds(instant) if instant is not None else None


def _out_of_range(plan: StreamPlan, field: str, why: str, value: Json) -> Fault:
    shown = printable(value)[:80] if isinstance(value, str) else json_type(value)
    return _fault(
        "record_outside_time_range", "scope/2", plan, {"field": show_name(field), "why": why, "value": shown}
    )


def _fault(code: str, clause: str, plan: StreamPlan, detail: dict[str, str]) -> Fault:
    return Fault(code=code, clause=clause, detail={"stream": show_name(plan.declared.name), **detail})


def any_is_skipped(state: State, status: Status) -> bool:
    """Tell whether there is any skip."""
    return state.skips_total > 0


@rule("scope/4", when=any_is_skipped)
def skipped_scope_sends_nothing(state: State, status: Status) -> Iterator[Tally]:
    """A stream that was skipped as ``scope_not_supported`` sends no record after that.

    Reading: a skip may be about a part of the stream, so this is shown and decides nothing.
    """
    for name, skip in state.newest_skips.items():
        plan = state.plan.streams.get(name) if state.plan is not None and name is not None else None
        is_late = plan is not None and plan.last_record > skip.entry
        if skip.message.reason == "scope_not_supported" and plan is not None and is_late:
            detail = {"stream": show_name(plan.declared.name)}
            fault = Fault(code="record_after_scope_skip", clause="scope/4", detail=detail)
            yield Tally(fault, skip.entry, plan.last_record)
