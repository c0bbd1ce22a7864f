"""INTERACTION: questions to the owner, and their answers."""

from collections.abc import Iterator
from typing import get_args

from ledger.core.decision import Status
from ledger.core.findings import Fault, Tally, rule, show_name
from ledger.dialects.collection_profile.messages import Interaction, InteractionKind, InteractionResponse
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


@rule("interaction/declared")
def kind_is_declared(state: State, message: Interaction) -> Fault | None:
    """A connector asks only the kinds of question that its manifest declares.

    Reading: ``capabilities.human_interaction`` declares them; absent, or no array, it declares none. Asking
    is no binding, so what the runtime offered is not asked.
    """
    if may_ask(state, message.kind):
        return None
    detail = {"request_id": show_name(message.request_id), "kind": message.kind}
    return Fault(code="interaction_kind_undeclared", clause="interaction/declared", detail=detail)


def may_ask(state: State, kind: str) -> bool:
    """Tell whether the manifest declares a kind of question, or whether there is none known."""
    manifest = state.manifest.manifest if state.manifest is not None else None
    return manifest is None or kind in manifest.human_interaction


def why_nothing_may_be_asked(state: State) -> Fault | None:
    """Return what any question would break, whatever it asks; None where there is one that may be asked."""
    rules = state.ruleset.message_rules["INTERACTION"]
    if interactive_was_offered in rules and not interaction_is_offered(state):
        return Fault(code="interaction_not_offered", clause="interaction/binding")
    if kind_is_declared in rules and not any(may_ask(state, kind) for kind in get_args(InteractionKind)):
        return Fault(code="interaction_kind_undeclared", clause="interaction/declared")
    return None


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
    is_cancelled = status == "cancelled" or (status == "failed" and state.cancelled is not None)
    is_due = status not in ("running", "refused") and not is_cancelled
    if asked is not None and not state.violations and is_due:
        fault = Fault(code="interaction_unanswered", clause="runtime/4", by="runtime")
        yield Tally(fault, asked.entry)
