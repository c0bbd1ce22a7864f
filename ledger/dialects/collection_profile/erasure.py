"""What erased messages leave open about a checkpoint.

An erased body may have said anything, so nothing is guessed: a checkpoint is indeterminate where what was
erased could turn its verdict, and stands where it could not.
"""

from heapq import merge
from itertools import islice

from ledger.core.decision import Reason
from ledger.core.findings import LIST_LIMIT, show_name
from ledger.dialects.collection_profile.fate import Fate
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.rules.coverage import names_any_parent
from ledger.dialects.collection_profile.state import State


class ErasedBehind:
    """The erased control messages of a run, gone through once for all of its checkpoints.

    A report could hold a key that nothing accounts for. A gap could only account for a key that is at fault,
    but after a restart it would be owed. A skip matters where a failure is or may be certified, and after a
    restart.
    """

    def __init__(self, state: State, plan: Plan, fate: Fate) -> None:
        """Go through a folded run, its plan and its fate."""
        self._state = state
        self._plan = plan
        self._restart = fate.restart
        self._takes_skips = fate.certified or fate.restart
        everywhere = [*state.erased.gaps.values()] if fate.restart else []  # it may be owed to any checkpoint
        everywhere += state.erased.skips.values() if fate.uncertain else ()
        self._anywhere: dict[str, list[int]] = {}
        for stream, reports in state.erased.reports.items():
            if names_any_parent(state, plan.declared(stream)):
                self._anywhere[stream] = reports
                everywhere.append(reports)
        self._behind_all = frozenset(entry for entries in everywhere for entry in entries)
        self._first_behind_all = sorted(self._behind_all)[:LIST_LIMIT]
        self._reporting = frozenset(map(show_name, state.erased.reports))
        self._owing = frozenset(map(show_name, state.erased.gaps))

    def reason(self, checkpoint: str, reasons: tuple[Reason, ...]) -> Reason | None:
        """Return why a checkpoint cannot be decided; None where nothing erased could turn its verdict.

        Args:
            checkpoint: the checkpoint by stream.
            reasons: what the readable entries say against it.
        """
        own = self._behind(checkpoint, reasons)
        ruled_out = self._ruled_out(checkpoint)
        others = len(self._behind_all) - len(ruled_out)
        if not (own or others) or not all(map(self._could_undo, reasons)):
            return None
        behind_all = sorted(self._behind_all - ruled_out) if ruled_out else self._first_behind_all
        return Reason(
            code="entry_erased",
            clause="log/erasure",
            stream=show_name(checkpoint),
            entries=tuple(islice(merge(sorted(own), behind_all), LIST_LIMIT)),
            entries_total=len(own) + others,
        )

    def _behind(self, checkpoint: str, reasons: tuple[Reason, ...]) -> set[int]:
        """Return the erased entries that one checkpoint rests on, besides those that all do."""
        state, erased = self._state, self._state.erased
        staged = state.staged[checkpoint]
        entries = [staged.cursor_entry] if staged.erased else []
        at_fault = {reason.stream for reason in reasons if reason.keys}
        covered = self._plan.covered_by(checkpoint) if erased.entries.total else {}
        for stream in covered:
            if stream in erased.reports and self._may_report(stream, checkpoint):
                entries.extend(erased.reports[stream])
        for stream in dict.fromkeys((*covered, *state.reporting.get(checkpoint, ()))):
            if show_name(stream) in at_fault:
                entries.extend(erased.gaps.get(stream, ()))
            if self._takes_skips:
                entries.extend(erased.skips.get(stream, ()))
        return {entry for entry in entries if entry not in self._behind_all}

    def _may_report(self, stream: str, checkpoint: str) -> bool:
        """Tell whether an erased report of a stream could gate a checkpoint.

        It reports on a parent that the stream declares, and on each once; after a restart a checkpoint that
        is a detail stream owes its own reports, whatever they are about.
        """
        if self._plan.declares(stream, checkpoint):
            return (stream, checkpoint) not in self._state.reports
        return self._restart and stream == checkpoint

    def _ruled_out(self, checkpoint: str) -> frozenset[int]:
        """Return the erased reports that could be about any checkpoint but for this one, which has others."""
        reporting = self._state.reporting.get(checkpoint, ()) if self._anywhere else ()
        return frozenset(entry for stream in reporting for entry in self._anywhere.get(stream, ()))

    def _could_undo(self, reason: Reason) -> bool:
        """Tell whether an erased report or gap could have undone a reason."""
        if reason.code in ("coverage_missing", "restart_coverage_missing"):
            return reason.stream in self._reporting
        return bool(reason.keys) and reason.stream in self._owing
