"""INTERACTION: questions to the owner, and their answers."""

from collections.abc import Iterator

from ledger.core.decision import Status
from ledger.core.findings import Fault, Tally, rule, show_name
from ledger.dialects.collection_profile.messages import Interaction, InteractionResponse
from ledger.dialects.collection_profile.state import State


@rule("interaction/binding")
def interactive_was_offered(state: State, message: Interaction) -> Fault | None:
    """A connector asks only a runtime that can answer.

    Reading: not checked where it is not known what the runtime offered.
    """
    if interaction_is_offered(state):
        return None
    detail = {"request_id": show_name(message.request_id)}
    return Fault(code="interaction_not_offered", clause="interaction/binding", detail=detail)


def interaction_is_offered(state: State) -> bool:
    """Tell whether the runtime offered to answer, or whether that is not known."""
    offered = state.opened.offered if state.opened is not None else None
    return offered is None or "interactive" in offered.bindings


@rule("session/response")
def answer_was_asked_for(state: State, message: InteractionResponse) -> Fault | None:
    """A runtime answers the one INTERACTION that waits, by its request id.

    Reading: where the question was erased, any answer is taken as its answer.
    """
    pending = state.pending
    if pending is not None and (pending.message is None or pending.message.request_id == message.request_id):
        return None
    detail = {"request_id": show_name(message.request_id)}
    return Fault(code="answer_not_asked_for", clause="session/response", by="runtime", detail=detail)


def any_was_asked(state: State, status: Status) -> bool:
    """Tell whether there was any question."""
    return state.asked_total > 0


@rule("runtime/4", when=any_was_asked)
def every_question_is_answered(state: State, status: Status) -> Iterator[Tally]:
    """A question is answered before the run ends, with ``timeout`` where nobody answers it.

    Reading: not asked where the connector broke the protocol meanwhile, or the owner cancelled.
    """
    asked = state.pending
    if asked is not None and not state.violations and status not in ("running", "refused", "cancelled"):
        fault = Fault(code="interaction_unanswered", clause="runtime/4", by="runtime")
        yield Tally(fault, asked.entry)
