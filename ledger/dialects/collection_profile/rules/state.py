"""STATE: a checkpoint, and which streams are one."""

import msgspec

from ledger.core.findings import Fault, rule, show_name
from ledger.dialects.collection_profile.messages import State as StateMessage
from ledger.dialects.collection_profile.state import State


@rule("state/cursor")
def cursor_is_an_object(state: State, message: StateMessage) -> Fault | None:
    """A checkpoint carries a cursor, which is an object.

    Reading: an absent or null cursor is no checkpoint.
    """
    if isinstance(message.cursor, dict):
        return None
    detail = {"type": "STATE", "member": "cursor", "expected": "object", "stream": show_name(message.stream)}
    return Fault(code="member_invalid", clause="state/cursor", detail=detail)


@rule("state/cursor")
def cursor_is_an_object_or_null(state: State, message: StateMessage) -> Fault | None:
    """A checkpoint carries a cursor, which is an object, or none.

    Reading: an absent or null cursor is a checkpoint at which nothing is stored.
    """
    if message.cursor is None or message.cursor is msgspec.UNSET:
        return None
    return cursor_is_an_object(state, message)


@rule("state/cursor")
def cursor_is_there(state: State, message: StateMessage) -> Fault | None:
    """A checkpoint has the member ``cursor``, be it null.

    Reading: that null is a cursor does not make the member optional, which no text says.
    """
    if message.cursor is not msgspec.UNSET:
        return None
    detail = {"type": "STATE", "member": "cursor", "expected": "present", "stream": show_name(message.stream)}
    return Fault(code="member_missing", clause="state/cursor", detail=detail)


@rule("state/stream")
def stream_is_a_checkpoint(state: State, message: StateMessage) -> Fault | None:
    """A STATE names a checkpoint: a self-mapped stream, or one that another stream names as its parent.

    Reading: the text does not say what becomes of another; a switch has it staged all the same.
    """
    if state.ruleset.switches.state_of_no_checkpoint == "stage":
        return None
    if state.plan is None or message.stream in state.plan.covers:
        return None
    detail = {"stream": show_name(message.stream)}
    return Fault(code="state_of_no_checkpoint", clause="state/stream", detail=detail)
