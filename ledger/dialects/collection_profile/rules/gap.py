"""DETAIL_GAP: one detail that could not be fetched and is owed."""

from ledger.core.findings import Fault, rule, show_name
from ledger.dialects.collection_profile.messages import DetailGap
from ledger.dialects.collection_profile.state import State
from ledger.dialects.collection_profile.values import is_trimmed


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
    detail = {
        "type": "DETAIL_GAP",
        "member": "record_key",
        "expected": "trimmed_string",
        "stream": show_name(message.stream),
    }
    return Fault(code="member_invalid", clause="gap/record_key", detail=detail)
