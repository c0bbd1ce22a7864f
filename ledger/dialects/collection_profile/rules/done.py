"""DONE: the last message, and whether it agrees with what was counted and with how the program ended."""

from collections.abc import Iterator

from ledger.core.decision import Status
from ledger.core.findings import Fault, Tally, rule, show_name
from ledger.core.observations import ProgramExited
from ledger.dialects.collection_profile.messages import Done
from ledger.dialects.collection_profile.rules.connector_fact import facts_are_known
from ledger.dialects.collection_profile.state import State

STREAM_FAILURE = "stream_collection_failed"
"""The error code, and the skip reason, that together certify a failure of some streams."""


@rule("done/outcome")
def outcome_is_success_or_failure(state: State, message: Done) -> Fault | None:
    """A DONE says that the run succeeded or failed, and never that it was cancelled."""
    if message.status != "cancelled":
        return None
    return Fault(code="done_says_cancelled", clause="done/outcome")


@rule("done/error")
def success_has_no_error(state: State, message: Done) -> Fault | None:
    """A run that says it succeeded reports no error."""
    if message.status != "succeeded" or message.error is None:
        return None
    return Fault(code="success_with_error", clause="done/error")


def has_error(state: State, message: Done) -> bool:
    """Tell whether a DONE carries an error."""
    return message.error is not None


@rule("done/error", when=has_error)
def error_says_whether_to_retry(state: State, message: Done) -> Fault | None:
    """An error carries ``retryable``."""
    if message.error is None or message.error.retryable is not None:
        return None
    detail = {"type": "DONE", "member": "error.retryable", "expected": "present"}
    return Fault(code="member_missing", clause="done/error", detail=detail)


@rule("done/records_emitted")
def count_is_right(state: State, message: Done) -> Fault | None:
    """``records_emitted`` is the number of RECORDs that the connector sent, deletions too."""
    if message.records_emitted == state.counted:
        return None
    detail = {"records_emitted": _bounded(message.records_emitted), "counted": state.counted}
    return Fault(code="records_emitted_wrong", clause="done/records_emitted", detail=detail)


def names_a_basis(state: State, message: Done) -> bool:
    """Tell whether a DONE says which OBSERVATIONs its error rests on."""
    return message.error is not None and message.error.basis is not None


@rule("done/basis", when=names_a_basis)
def basis_is_of_accepted_facts(state: State, message: Done) -> Fault | None:
    """An error's ``basis`` names OBSERVATIONs of the run, where the connector declares that capability.

    Reading: accepted ones. Naming none, or one twice, is no fault. One that is not known may have been
    erased, if any was.
    """
    basis = message.error.basis if message.error is not None else None
    if basis is None:
        return None
    if not facts_are_known(state):
        return Fault(code="basis_without_capability", clause="done/basis")
    missing = next((id_ for id_ in basis if id_ not in state.connector_facts), None)
    if missing is None or state.erased.facts:
        return None
    return Fault(code="basis_not_accepted", clause="done/basis", detail={"id": show_name(missing)})


@rule("connector/8")
def exit_agrees(done: Done, exited: ProgramExited) -> Fault | None:
    """A connector that succeeded exits with 0, any other exits otherwise.

    Reading: an end by a signal is an exit other than 0; an end of which neither is known is not asked.
    """
    if exited.signal is None and exited.code is None:
        return None
    ended_well = exited.signal is None and exited.code == 0
    if ended_well == (done.status == "succeeded"):
        return None
    how = exited.signal or str(exited.code)
    return Fault(code="exit_disagrees", clause="connector/8", detail={"status": done.status, "exit": how})


def _bounded(count: int) -> int | str:
    return count if count < 10**18 else f"{count:.3e}" if count < 10**300 else "over 1e300"


def names_failed_stream(state: State, status: Status) -> bool:
    """Tell whether a skip named a failed stream."""
    return bool(state.failed_streams)


@rule("done/certification/2", when=names_failed_stream)
def success_names_no_failed_stream(state: State, status: Status) -> Iterator[Tally]:
    """A run that says it succeeded has not named a failed stream.

    Reading: the skip has no effect on a success, and is shown.
    """
    for stream, failed in state.failed_streams.items() if status == "succeeded" else ():
        detail = {"stream": show_name(stream)}
        clause = "done/certification/2"
        yield failed.retold(Fault(code="failed_stream_in_success", clause=clause, detail=detail))
