"""What a failed run is put down to, where the ruleset asks for it: it explains a failure and decides nothing.

What the runtime recorded outranks what the connector says it saw. By the connector's account alone a cause
unlocks nothing: the gate of a recovery hint looks at the runtime's records and never at this.
"""

from collections.abc import Iterable

import msgspec

from ledger.core.decision import Cause, Failure, Status
from ledger.core.findings import LIST_LIMIT, show_name
from ledger.dialects.collection_profile.state import FactKept, State

CONNECTOR_FAILED = ("run_failed", "streams_failed", "no_terminal")
"""The causes of a run whose connector said that it failed, or ended without a word."""


def put_down_to(state: State, status: Status, cause: Cause | None) -> Failure | msgspec.UnsetType:
    """Return what a run is put down to (failure/cause); unset where it did not fail, or nobody asks.

    Reading: a run that its owner cancelled, that broke the protocol, or of which a write failed did not fail
    at what the connector met; that is the runtime's record, and nothing that the connector met is behind it.
    A rejected submission is behind any other failure, whatever the connector says.
    """
    if status != "failed" or cause is None or state.ruleset.switches.failure_cause == "not_derived":
        return msgspec.UNSET
    if cause.code not in CONNECTOR_FAILED:
        return Failure(cause="unknown", by="runtime", basis=(), entries=cause.entries[:LIST_LIMIT])
    if state.submissions_rejected:
        return Failure(
            cause="auth_rejected", by="runtime", basis=(), entries=tuple(state.submissions_rejected)
        )
    return _by_account(state)


def _by_account(state: State) -> Failure:
    """Put a failure down to what DONE rests it on, else to every fact that no later one resolves.

    Reading: an element that was found as it was expected is no mismatch, and resolves itself. Where an
    OBSERVATION was erased that could count among these, or resolve one, the cause is not known.
    """
    named = state.done.error.basis if state.done is not None and state.done.error is not None else None
    basis = tuple(dict.fromkeys(named)) if named is not None else tuple(_unresolved(state))
    facts = [state.connector_facts[id_] for id_ in basis if id_ in state.connector_facts]
    is_certain = len(facts) == len(basis) and state.erased.doubtful_facts.isdisjoint(basis)
    if named is None and state.erased.facts:
        is_certain = False
    behind = [fact.entry for fact in facts] + ([] if is_certain else state.erased.facts)
    return Failure(
        cause="expectation_mismatch" if is_certain and any(map(_is_mismatch, facts)) else "unknown",
        by="program",
        basis=tuple(map(show_name, basis[:LIST_LIMIT])),
        entries=tuple(sorted(behind)[:LIST_LIMIT]),
    )


def _unresolved(state: State) -> Iterable[str]:
    resolved = {id_ for fact in state.connector_facts.values() for id_ in fact.resolves}
    return (
        id_
        for id_, fact in state.connector_facts.items()
        if id_ not in resolved and (fact.fact == "provider_message" or _is_mismatch(fact))
    )


def _is_mismatch(fact: FactKept) -> bool:
    return fact.fact != "provider_message" and fact.state != "matched"
