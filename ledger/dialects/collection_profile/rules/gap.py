"""DETAIL_GAP: one detail that could not be fetched and is owed."""

from ledger.core.findings import Fault, rule, show_name
from ledger.dialects.collection_profile.messages import DetailGap
from ledger.dialects.collection_profile.state import State
from ledger.dialects.collection_profile.values import is_blank, is_trimmed

REASONS = ("rate_limited", "retry_exhausted", "temporary_unavailable", "upstream_pressure")
"""Why a detail may be owed."""


def names_key(state: State, message: DetailGap) -> bool:
    """Tell whether a gap names a key."""
    return message.record_key is not None


@rule("gap/record_key", when=names_key)
def key_has_no_space_around(state: State, message: DetailGap) -> Fault | None:
    """A gap's key has no white space before or behind it.

    Reading: an empty key has none.
    """
    key = message.record_key
    if key is None or is_trimmed(key.text):
        return None
    return _fault("gap/record_key", message, "trimmed_string")


@rule("gap/reference_only")
def gap_is_reference_only(state: State, message: DetailGap) -> Fault | None:
    """A gap is marked reference_only."""
    return None if message.reference_only is True else _fault("gap/reference_only", message, "true")


@rule("gap/status")
def gap_is_pending(state: State, message: DetailGap) -> Fault | None:
    """A gap's status is ``pending``: it is told while it is owed."""
    return None if message.status == "pending" else _fault("gap/status", message, "one_of:pending")


@rule("gap/record_key")
def gap_names_its_key(state: State, message: DetailGap) -> Fault | None:
    """A gap names the key of the record whose detail is owed."""
    return None if message.record_key is not None else _fault("gap/record_key", message, "string_or_number")


@rule("gap/reason")
def gap_reason_is_one_of_four(state: State, message: DetailGap) -> Fault | None:
    """A gap's reason is one of the four for which a detail may be owed."""
    return None if message.reason in REASONS else _fault("gap/reason", message, "one_of:" + ",".join(REASONS))


@rule("gap/retryable")
def gap_can_be_retried(state: State, message: DetailGap) -> Fault | None:
    """A gap says that it can be tried again: what cannot is no gap."""
    return None if message.retryable is True else _fault("gap/retryable", message, "true")


@rule("gap/detail_locator")
def gap_locates_its_detail(state: State, message: DetailGap) -> Fault | None:
    """A gap's locator says of what kind it is.

    Reading: ``kind`` is a string that is not blank; what else the locator holds is the connector's own.
    """
    locator = message.detail_locator
    if locator is None:
        return _fault("gap/detail_locator", message, "object")
    kind = locator.get("kind")
    if isinstance(kind, str) and not is_blank(kind):
        return None
    detail = {"type": "DETAIL_GAP", "member": "detail_locator.kind", "stream": show_name(message.stream)}
    code = "member_missing" if kind is None else "member_invalid"
    expected = "present" if kind is None else "non_blank_string"
    return Fault(code=code, clause="gap/detail_locator", detail={**detail, "expected": expected})


def has_several_parents(state: State, message: DetailGap) -> bool:
    """Tell whether a gap's stream declares more than one parent."""
    declared = state.plan.declared(message.stream) if state.plan else None
    return declared is not None and len(declared.parents) > 1


@rule("gap/parent_stream", when=has_several_parents)
def gap_names_its_parent(state: State, message: DetailGap) -> Fault | None:
    """A gap of a stream with more than one parent names the one that it accounts to.

    Reading: parents are counted as declared, in scope or not. Naming one that is not declared is accepted, as
    before, and accounts to nothing.
    """
    if message.parent_stream is not None or not has_several_parents(state, message):
        return None
    return _fault("gap/parent_stream", message, "non_blank_string")


def _fault(clause: str, message: DetailGap, expected: str) -> Fault:
    """Return the fault of a member that is missing, or is there and wrong."""
    member = clause.removeprefix("gap/")
    missing = getattr(message, member) is None
    detail = {
        "type": "DETAIL_GAP",
        "member": member,
        "expected": "present" if missing else expected,
        "stream": show_name(message.stream),
    }
    return Fault(code="member_missing" if missing else "member_invalid", clause=clause, detail=detail)
