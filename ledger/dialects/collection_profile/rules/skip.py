"""SKIP_RESULT: a stream, or part of one, that was left out on purpose."""

from ledger.core.findings import Detail, Fault, rule, show_name
from ledger.dialects.collection_profile.messages import SkipResult
from ledger.dialects.collection_profile.state import State


@rule("skip/stream")
def skip_names_its_stream(state: State, message: SkipResult) -> Fault | None:
    """A skip names the stream that it is about."""
    return None if message.stream is not None else _missing("stream", "skip/stream", message)


@rule("skip/reason")
def skip_gives_its_reason(state: State, message: SkipResult) -> Fault | None:
    """A skip gives its reason."""
    return None if message.reason is not None else _missing("reason", "skip/reason", message)


@rule("skip/message")
def skip_has_words(state: State, message: SkipResult) -> Fault | None:
    """A skip has words for people."""
    return None if message.message is not None else _missing("message", "skip/message", message)


def _missing(member: str, clause: str, message: SkipResult) -> Fault:
    detail: Detail = {"type": "SKIP_RESULT", "member": member, "expected": "present"}
    if message.stream:
        detail = {**detail, "stream": show_name(message.stream)}
    return Fault(code="member_missing", clause=clause, detail=detail)
