"""What a recomputation takes of the decisions that a ledger keeps, and what it adds for the next time.

Invariant: a decision is taken only as what it is, one about this run through this entry under these rules;
whatever else stands in its place is folded again.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ledger.core.decision import Decision, decode_decision
from ledger.errors import BusyError, DiskError
from ledger.log.decision_cache import DecisionCache, DecisionKey, KeptDecision
from ledger.recompute.planning import Plan
from ledger.recompute.tasks import Folded


class Found(NamedTuple):
    """A decision as it is encoded, and as it is read."""

    folded: Folded
    decision: Decision


class Keeping:
    """The decisions that are kept, as one recomputation uses them.

    Attributes:
        unkept: why decisions are not kept for the next time, '' where they are.
        compared: how many decisions that are kept were held against what was folded now.
    """

    def __init__(self, cache: DecisionCache | None, *, unkept: str, is_proof: bool) -> None:
        """Prepare it; :class:`ledger.recompute.recomputation.Recomputation` says what each of these is."""
        self.unkept = unkept
        self.compared = 0
        self._cache = cache
        self._is_proof = is_proof

    def holds(self, plan: Plan, ruleset: str) -> bool:
        """Tell whether a decision is kept that may be taken."""
        if self._cache is None or self._is_proof or not plan.may_keep:
            return False
        return self._cache.holds(plan.key(ruleset))

    def take(self, plan: Plan, ruleset: str) -> Found | None:
        """Return a decision that is kept, None where it is none of this run, or does not say all."""
        kept = self._cache.get(plan.key(ruleset)) if self._cache is not None else None
        if kept is None or (kept.at_cut is None and plan.is_cut_under(ruleset)):
            return None
        try:
            decision = decode_decision(kept.decision)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        about = (decision.run_id, decision.ruleset.digest, decision.through)
        if about != (plan.run_id, ruleset, plan.size):
            return None
        told = Folded(ruleset=ruleset, decision=kept.decision, exercised=kept.exercised, at_cut=kept.at_cut)
        return Found(told, decision)

    def keep(self, folded: Iterable[tuple[Plan, Folded]]) -> None:
        """Keep what was folded; where that cannot be done, say why in ``unkept`` and go on without."""
        if self._cache is None or self._is_proof or self.unkept:
            return
        new: list[tuple[DecisionKey, KeptDecision]] = [
            (plan.key(one.ruleset), KeptDecision(one.decision, one.exercised, one.at_cut))
            for plan, one in folded
            if plan.may_keep
        ]
        try:
            if new:
                self._cache.keep(new)
        except (BusyError, DiskError) as error:
            self.unkept = str(error)

    def differs(self, plan: Plan, folded: Folded) -> bool:
        """Tell, where a proof is asked for, whether what is kept is another decision than was folded now."""
        key = plan.key(folded.ruleset)
        if not self._is_proof or self._cache is None or not self._cache.holds(key):
            return False
        kept = self._cache.get(key)
        self.compared += 1
        return kept is None or (kept.decision, kept.exercised) != (folded.decision, folded.exercised)
