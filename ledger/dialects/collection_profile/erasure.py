"""What erased messages leave open about a checkpoint.

An erased body may have said anything, so nothing is guessed: a checkpoint is indeterminate where what was
erased could turn its verdict, and stands where it could not.
"""

from collections.abc import Collection, Iterator

from ledger.core.decision import Reason
from ledger.core.findings import LIST_LIMIT
from ledger.core.json_reader import printable
from ledger.dialects.collection_profile.fate import Fate
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.rules.coverage import names_any_parent
from ledger.dialects.collection_profile.state import State


def entries_behind(
    state: State, plan: Plan, checkpoint: str, fate: Fate, reasons: tuple[Reason, ...]
) -> list[int]:
    """Return the erased control messages that the verdict on a checkpoint rests on.

    A report could hold a key that nothing accounts for. A gap could only account for a key that is at fault,
    but after a restart it would be owed. A skip matters where a failure is or may be certified, and after a
    restart.

    Args:
        state: the folded run.
        plan: its plan.
        checkpoint: the checkpoint by stream.
        fate: the run's fate.
        reasons: what the readable entries say against the checkpoint.
    """
    staged = state.staged[checkpoint]
    entries = [staged.cursor_entry] if staged.erased else []
    at_fault = {reason.stream for reason in reasons if reason.keys}
    covered = plan.covered_by(checkpoint)
    entries.extend(_reports_behind(state, plan, covered))
    for stream in dict.fromkeys((*covered, *state.reporting.get(checkpoint, ()))):
        if printable(stream) in at_fault:
            entries.extend(state.erased.gaps.get(stream, ()))
        if fate.certified or fate.restart:
            entries.extend(state.erased.skips.get(stream, ()))
    if fate.restart:  # any stream's gap may be owed to this checkpoint
        entries.extend(entry for gaps in state.erased.gaps.values() for entry in gaps)
    if fate.uncertain:
        entries.extend(entry for skips in state.erased.skips.values() for entry in skips)
    return sorted(set(entries))


def _reports_behind(state: State, plan: Plan, covered: Collection[str]) -> Iterator[int]:
    """Yield the erased reports that could gate a checkpoint which covers these streams."""
    for stream in covered:
        declared = plan.declared(stream)
        if declared is None or declared.state_stream is None:
            yield from state.erased.reports.get(stream, ())
    if state.ruleset.switches.undeclared_parent == "accept":
        for stream, reports in state.erased.reports.items():
            if stream not in covered and names_any_parent(state, plan.declared(stream)):
                yield from reports


def could_undo(state: State, reason: Reason) -> bool:
    """Tell whether an erased report or gap could have undone a reason."""
    if reason.code in ("coverage_missing", "restart_coverage_missing"):
        return any(printable(stream) == reason.stream for stream in state.erased.reports)
    return bool(reason.keys) and any(printable(stream) == reason.stream for stream in state.erased.gaps)


def reason_for(checkpoint: str, entries: list[int]) -> Reason:
    """Return the reason of a checkpoint that cannot be decided."""
    return Reason(
        code="entry_erased",
        clause="log/erasure",
        stream=printable(checkpoint),
        entries=tuple(entries[:LIST_LIMIT]),
        entries_total=len(entries),
    )
