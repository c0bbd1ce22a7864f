"""A ledger's runs decided again, in the order in which the log got them, under new rules and under old ones.

What is kept under a run's root is taken, the rest is folded and then kept: so a recomputation that was broken
off goes on where it stopped, and one over unchanged runs folds nothing. Memory is flat in the number of runs.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ledger.core.decision import Decision, decode_decision
from ledger.core.dialect import Ruleset
from ledger.dialects import DIALECTS
from ledger.log.decision_cache import DecisionCache
from ledger.log.store import RunRow, Store
from ledger.recompute.choosing import Choice
from ledger.recompute.folding import fold
from ledger.recompute.keeping import Found, Keeping
from ledger.recompute.planning import Plan, Planner, RunLeft
from ledger.recompute.tasks import Batch, Result, Unread
from ledger.recompute.workers import Folding

RUNS_A_BATCH = 64
ENTRIES_A_BATCH = 10_000
"""What one process folds at a time, whichever comes first; a run is not split."""


@dataclass(frozen=True, kw_only=True)
class RunDecided:
    """A run decided under both rulesets.

    Attributes:
        size: through which entry.
        recorded_under: the ruleset that the run itself names, None where it names none.
        rules_before: the old rules; None where the run names rules that are not known here.
        rules_after: the new ones.
        before: the decision under the old rules, where they are known.
        after: under the new rules, the very same decision where both are the same rules.
        exercised_before: the old rules and switches for which the run held an occasion.
        exercised_after: the new ones.
        reproduced: whether folding the run through its own DECIDED gives the decision whose digest that
            holds; None where it holds none, or rests on what was erased since.
        kept: how many of the decisions were kept from an earlier time.
        differing: of how many a kept decision is not what was folded now.
    """

    run: RunRow
    size: int
    recorded_under: str | None
    rules_before: Ruleset | None
    rules_after: Ruleset
    before: Decision | None
    after: Decision
    exercised_before: tuple[str, ...]
    exercised_after: tuple[str, ...]
    reproduced: bool | None
    kept: int
    differing: int


class _Step(NamedTuple):
    """A run on its way: its plan, and the rulesets that it is folded under, the others being kept."""

    plan: Plan | RunLeft
    folds: tuple[str, ...] = ()


class Recomputation:
    """One recomputation of a ledger.

    Attributes:
        folded: decisions that were folded so far.
        kept: decisions that were kept from an earlier time.
    """

    def __init__(
        self,
        store: Store,
        choice: Choice,
        folding: Folding,
        *,
        cache: DecisionCache | None,
        unkept: str = "",
        is_proof: bool = False,
    ) -> None:
        """Prepare it.

        Args:
            store: the ledger.
            choice: the rulesets.
            folding: where runs are folded.
            cache: what is kept; None to take nothing and keep nothing.
            unkept: why nothing more can be kept in it, '' where it can.
            is_proof: whether everything is folded, and held against what is kept instead of taking it.
        """
        self._store = store
        self._planner = Planner(store, choice)
        self._folding = folding
        self._keeping = Keeping(cache, unkept=unkept, is_proof=is_proof)
        self.folded = 0
        self.kept = 0

    @property
    def unkept(self) -> str:
        """Why decisions are not kept for the next time, '' where they are."""
        return self._keeping.unkept

    @property
    def compared(self) -> int:
        """How many decisions that are kept were held against what was folded now."""
        return self._keeping.compared

    def decide(self, runs: Iterable[RunRow]) -> Iterator[RunDecided | RunLeft]:
        """Decide runs, and yield what comes of each in the order in which they are given.

        Raises:
            LedgerError: the ledger can no longer be read, or no longer be folded.
        """
        waiting: deque[list[_Step]] = deque()

        def batches() -> Iterator[Batch]:
            for steps in _grouped(map(self._step, runs)):
                waiting.append(steps)
                yield _batch(steps)

        for results in self._folding.fold_all(batches()):
            folded = iter(results)
            done = [(plan, next(folded) if folds else ()) for plan, folds in waiting.popleft()]
            self._keeping.keep(
                (plan, one)
                for plan, result in done
                if isinstance(plan, Plan) and isinstance(result, tuple)
                for one in result
            )
            for plan, result in done:
                yield plan if isinstance(plan, RunLeft) else self._told(plan, result)

    def _step(self, run: RunRow) -> _Step:
        plan = self._planner.plan(run)
        if isinstance(plan, RunLeft):
            return _Step(plan)
        return _Step(plan, tuple(one for one in plan.rulesets() if not self._keeping.holds(plan, one)))

    def _told(self, plan: Plan, result: Result) -> RunDecided | RunLeft:
        """Put together what was folded of a run and what is kept of it."""
        if isinstance(result, Unread):
            return _unread(plan, result)
        found = {one.ruleset: Found(one, decode_decision(one.decision)) for one in result}
        taken = {name: self._keeping.take(plan, name) for name in plan.rulesets() if name not in found}
        gone = tuple(name for name, one in taken.items() if one is None)
        if gone:  # somebody dropped or damaged it
            again = fold(self._store, plan.rulesets(), plan.task(gone))
            if isinstance(again, Unread):
                return _unread(plan, again)
            self._keeping.keep((plan, one) for one in again)
            found |= {one.ruleset: Found(one, decode_decision(one.decision)) for one in again}
        kept = {name: one for name, one in taken.items() if one is not None}
        self.folded += len(found)
        self.kept += len(kept)
        differing = sum(self._keeping.differs(plan, one.folded) for one in found.values())
        return _decided(plan, found | kept, kept=len(kept), differing=differing)


def _unread(plan: Plan, unread: Unread) -> RunLeft:
    return RunLeft(run=plan.run, size=plan.size, why=unread.why, is_broken=True)


def _grouped(steps: Iterable[_Step]) -> Iterator[list[_Step]]:
    """Put runs together that one process folds at a time."""
    group: list[_Step] = []
    entries = 0
    for step in steps:
        group.append(step)
        if isinstance(step.plan, Plan) and step.folds:
            entries += step.plan.size
        if len(group) == RUNS_A_BATCH or entries >= ENTRIES_A_BATCH:
            yield group
            group, entries = [], 0
    if group:
        yield group


def _batch(steps: Iterable[_Step]) -> Batch:
    folded = [(plan, folds) for plan, folds in steps if isinstance(plan, Plan) and folds]
    rulesets = {name: one for plan, _ in folded for name, one in plan.rulesets().items()}
    shipped = {one.digest for dialect in DIALECTS.values() for one in dialect.rulesets.values()}
    return Batch(
        tasks=tuple(plan.task(folds) for plan, folds in folded),
        documents=tuple(one.document for name, one in rulesets.items() if name not in shipped),
    )


def _decided(plan: Plan, found: Mapping[str, Found], *, kept: int, differing: int) -> RunDecided:
    after = found[plan.after.digest]
    before = found[plan.before.digest] if plan.before is not None else None
    return RunDecided(
        run=plan.run,
        size=plan.size,
        recorded_under=plan.recorded.ruleset,
        rules_before=plan.before,
        rules_after=plan.after,
        before=before.decision if before is not None else None,
        after=after.decision,
        exercised_before=before.folded.exercised if before is not None else (),
        exercised_after=after.folded.exercised,
        reproduced=_reproduced(plan, found),
        kept=kept,
        differing=differing,
    )


def _reproduced(plan: Plan, found: Mapping[str, Found]) -> bool | None:
    """Tell whether the fold through the run's own cut gives the decision that it recorded."""
    cut = found.get(plan.cut_ruleset.digest) if plan.cut_ruleset is not None else None
    if cut is None or cut.folded.at_cut is None:
        return None
    same = cut.folded.at_cut == plan.recorded.decision
    erased = (one.entries for one in cut.decision.unknowns if one.what == "erased")
    rests_on_erased = any(entry <= plan.recorded.cut for entries in erased for entry in entries)
    return None if rests_on_erased and not same else same
