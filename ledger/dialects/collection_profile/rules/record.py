"""RECORD: what one holds by itself and against its stream's declaration, whatever the scope."""

from ledger.core.ecmascript import number_to_string
from ledger.core.findings import Detail, Fault, rule, show_name
from ledger.core.instants import is_iso_8601
from ledger.core.json_reader import Json, is_number, minified, printable
from ledger.dialects.collection_profile.decode import record_value
from ledger.dialects.collection_profile.messages import Record
from ledger.dialects.collection_profile.plan import StreamPlan
from ledger.dialects.collection_profile.rules.scope import canonical_key
from ledger.dialects.collection_profile.values import MAX_COUNT, Bad, read_key

_SHOWN = 80


@rule("record/emitted_at")
def emitted_at_is_a_time(plan: StreamPlan, record: Record) -> Fault | None:
    """``emitted_at`` is a time of ISO 8601.

    Reading: a calendar date, alone or with a time of day, extended or basic; with or without an offset, as
    only the form is demanded. Dates by week and by day of the year are not taken.
    """
    if is_iso_8601(record.emitted_at):
        return None
    shown = printable(record.emitted_at)[:_SHOWN]
    return _fault("emitted_at_unreadable", "record/emitted_at", plan, {"value": shown})


def deletes_any(plan: StreamPlan) -> bool:
    """Tell whether the run deleted a record of the stream."""
    return plan.deletes > 0


@rule("record/semantics", needs="append_only", when=deletes_any)
def append_only_stream_deletes_nothing(plan: StreamPlan, record: Record) -> Fault | None:
    """A stream that is declared append_only has no deletion."""
    if record.op != "delete":
        return None
    return _fault(
        "delete_of_append_only", "record/semantics", plan, {"key": show_name(canonical_key(record.key))}
    )


@rule("record/delete", needs="primary_key", when=deletes_any)
def delete_carries_its_key(plan: StreamPlan, record: Record) -> Fault | None:
    """A deletion carries in ``data`` every field of the primary key.

    Reading: null carries nothing, and a deletion without ``data`` lacks every field.
    """
    if record.op != "delete":
        return None
    data = record.data or {}
    for field in plan.declared.primary_key:
        if record_value(data.get(field)) is None:
            return _fault("delete_without_key_field", "record/delete", plan, {"field": show_name(field)})
    return None


@rule("record/primary_key", needs="primary_key")
def key_agrees_with_data(plan: StreamPlan, record: Record) -> Fault | None:
    """A record's key is what its data holds in the fields of the primary key, in their order.

    Reading: canonical keys are compared, so the key of one field is a string, and that of several an array of
    strings or its minified JSON. A whole number is its digits, exact at any size (``1.0`` is ``1``), another
    one its shortest digits as ECMAScript writes them, a boolean its word; an object and an array are no part
    of a key. A record without a field of its key does not agree; of a deletion another rule demands the
    fields, and this one only that those agree which it has.
    """
    data, fields = record.data, plan.declared.primary_key
    if data is None or (len(fields) == 1 and record_value(data.get(fields[0])) == record.key):
        return None  # nearly every record, at little cost
    parts: list[str] = []
    for field in fields:
        value = record_value(data.get(field))
        if value is None:
            if record.op == "delete":
                return None
            return _fault("record_without_key_field", "record/primary_key", plan, {"field": show_name(field)})
        text = _key_text(value)
        if text is None:
            return _disagreement(plan, record, field)
        parts.append(text)
    return None if _spells(record.key, parts) else _disagreement(plan, record, *fields)


def _key_text(value: Json) -> str | None:
    """Return what a value is in a canonical key, None where it can be no part of one."""
    if isinstance(value, bool):
        return minified(value)
    if isinstance(value, int) and abs(value) <= MAX_COUNT:
        return str(value)
    if isinstance(value, float) and not value.is_integer():
        return number_to_string(value)
    if not isinstance(value, str) and not is_number(value):
        return None
    try:
        return read_key(value).text
    except Bad:
        return None


def _spells(key: str | tuple[str, ...], parts: list[str]) -> bool:
    """Tell whether a key is made of these parts, without writing the canonical key where it need not be."""
    if len(parts) == 1 or isinstance(key, tuple):
        return key == (parts[0] if len(parts) == 1 else tuple(parts))
    return key == minified(parts)


def _disagreement(plan: StreamPlan, record: Record, *fields: str) -> Fault:
    detail: Detail = {"key": show_name(canonical_key(record.key)), "fields": tuple(map(show_name, fields))}
    return _fault("key_disagrees", "record/primary_key", plan, detail)


def _fault(code: str, clause: str, plan: StreamPlan, detail: Detail) -> Fault:
    return Fault(code=code, clause=clause, detail={"stream": show_name(plan.declared.name), **detail})
