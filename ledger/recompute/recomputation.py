"""A ledger's runs decided again, in the order in which the log got them, under new rules and under old ones.

What is kept under a run's root is taken, the rest is folded and then kept: so a recomputation that was broken
off goes on where it stopped, and one over unchanged runs folds nothing. Memory is flat in the number of runs.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from ledger.core.decision import Decision, decode_decision
from ledger.core.dialect import Ruleset
from ledger.core.merkle import root
from ledger.core.observations import Decided, decode_observation
from ledger.dialects import DIALECTS
from ledger.errors import BusyError, DiskError, IntegrityError
from ledger.log.decision_cache import DecisionCache, DecisionKey, KeptDecision
from ledger.log.store import RunRow, Store
from ledger.recompute.choosing import Choice, Recorded
from ledger.recompute.folding import fold
from ledger.recompute.tasks import Batch, Folded, Task, Unread
from ledger.recompute.workers import Folding
from ledger.replay.replay import opening

RUNS_A_BATCH = 64
ENTRIES_A_BATCH = 10_000
"""What one process folds at a time, whichever comes first; a run is not split."""

_DECIDED = "DECIDED"


@dataclass(frozen=True, kw_only=True)
class RunDecided:
    """A run decided under both rulesets.

    Attributes:
        size: through which entry.
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
    rules_before: Ruleset | None
    rules_after: Ruleset
    before: Decision | None
    after: Decision
    exercised_before: tuple[str, ...]
    exercised_after: tuple[str, ...]
    reproduced: bool | None
    kept: int
    differing: int


class RunLeft(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was not decided.

    Attributes:
        is_broken: whether that is because the log no longer holds what it held.
    """

    run: RunRow
    size: int
    why: str
    is_broken: bool


class _Plan(NamedTuple):
    """A run, the rulesets that it is held against, and which of them it is folded under.

    Attributes:
        may_keep: whether what is decided follows from the root alone.
    """

    run: RunRow
    size: int
    root: bytes
    manifest: str | None
    recorded: Recorded
    cut: Ruleset | None
    after: Ruleset
    before: Ruleset | None
    may_keep: bool
    folds: tuple[str, ...] = ()

    def rulesets(self) -> dict[str, Ruleset]:
        """Return both rulesets by digest, one where they are the same."""
        return {one.digest: one for one in (self.before, self.after) if one is not None}

    def key(self, ruleset: str) -> DecisionKey:
        """Return what the decision under one of them is kept under."""
        return DecisionKey(self.run.run_no, ruleset, DIALECTS[self.run.dialect].fold_version, self.root)

    def task(self, rulesets: tuple[str, ...]) -> Task:
        """Return what is to be done to fold the run under some of them."""
        cuts = self.cut is not None and self.cut.digest in rulesets
        return Task(
            run_no=self.run.run_no,
            dialect=self.run.dialect,
            size=self.size,
            manifest=self.manifest,
            rulesets=rulesets,
            cut=self.recorded.cut if cuts else 0,
            cut_ruleset=self.cut.digest if self.cut is not None and cuts else "",
        )


class Recomputation:
    """One recomputation of a ledger.

    Attributes:
        folded: decisions that were folded so far.
        kept: decisions that were kept from an earlier time.
        unkept: why decisions are no longer kept for the next time, '' where they are.
    """

    def __init__(
        self,
        store: Store,
        choice: Choice,
        folding: Folding,
        *,
        cache: DecisionCache | None,
        is_proof: bool = False,
    ) -> None:
        """Prepare it.

        Args:
            store: the ledger.
            choice: the rulesets.
            folding: where runs are folded.
            cache: what is kept; None to take nothing and keep nothing.
            is_proof: whether everything is folded, and held against what is kept instead of taking it.
        """
        self._store = store
        self._choice = choice
        self._folding = folding
        self._cache = cache
        self._is_proof = is_proof
        self._manifests: set[str] = set()
        self.folded = 0
        self.kept = 0
        self.unkept = ""

    def decide(self, runs: Iterable[RunRow]) -> Iterator[RunDecided | RunLeft]:
        """Decide runs, and yield what comes of each in the order in which they are given.

        Raises:
            LedgerError: the ledger can no longer be read, or no longer be folded.
        """
        waiting: deque[list[_Plan | RunLeft]] = deque()

        def batches() -> Iterator[Batch]:
            for plans in _grouped(map(self._plan, runs)):
                waiting.append(plans)
                yield _batch(plans)

        for results in self._folding.fold_all(batches()):
            plans = waiting.popleft()
            folded = iter(results)
            done = [(plan, next(folded) if _is_folded(plan) else ()) for plan in plans]
            self._keep(done)
            for plan, result in done:
                yield plan if isinstance(plan, RunLeft) else self._told(plan, result)

    # ---- before folding -----------------------------------------------------------------------------------

    def _plan(self, run: RunRow) -> "_Plan | RunLeft":
        head = self._store.head(run.run_no)
        size = head.size if head is not None else 0
        if run.dialect not in DIALECTS:
            return _left(run, size, f"the dialect {run.dialect!r} is not known to this version")
        after = self._choice.after(run.dialect)
        if after is None:
            return _left(run, size, f"the rules are not of its dialect, {run.dialect}")
        try:
            first = next(self._store.entries(run.run_no, through=1), None)
            opened = opening(first) if first is not None else None
            at = root(head.peaks, head.size) if head is not None else b""
            recorded = self._recorded(run, opened.ruleset if opened is not None else None)
        except (IntegrityError, ValueError) as error:
            return _left(run, size, str(error), is_broken=True)
        manifest = opened.manifest if opened is not None else None
        plan = _Plan(
            run=run,
            size=size,
            root=at,
            manifest=manifest,
            recorded=recorded,
            cut=self._choice.recorded(run.dialect, recorded) if recorded.cut else None,
            after=after,
            before=self._choice.before(run.dialect, recorded),
            may_keep=self._holds(manifest),
        )
        return plan._replace(folds=tuple(one for one in plan.rulesets() if not self._is_kept(plan, one)))

    def _recorded(self, run: RunRow, ruleset: str | None) -> Recorded:
        """Read how a run was decided by whoever recorded it: by its DECIDED, else by its opening."""
        for _, entry in self._store.observations(_DECIDED, run_no=run.run_no):
            decided = decode_observation(entry.body) if entry.body is not None else None
            if isinstance(decided, Decided) and 1 <= decided.through_seq < entry.seq:
                return Recorded(ruleset=decided.ruleset, cut=decided.through_seq, decision=decided.decision)
            break
        return Recorded(ruleset=ruleset)

    def _holds(self, manifest: str | None) -> bool:
        """Tell whether a run's manifest is here; one that comes later would change what is decided."""
        if manifest is not None and manifest not in self._manifests and self._store.documents([manifest]):
            self._manifests.add(manifest)
        return manifest is None or manifest in self._manifests

    def _is_kept(self, plan: _Plan, ruleset: str) -> bool:
        if self._cache is None or self._is_proof or not plan.may_keep:
            return False
        return self._cache.holds(plan.key(ruleset))

    # ---- after folding ------------------------------------------------------------------------------------

    def _keep(self, done: "list[tuple[_Plan | RunLeft, tuple[Folded, ...] | Unread]]") -> None:
        """Keep what was folded; where that cannot be done, say why and go on without."""
        if self._cache is None or self._is_proof or self.unkept:
            return
        new = [
            (plan.key(one.ruleset), KeptDecision(one.decision, one.exercised, one.at_cut))
            for plan, result in done
            if isinstance(plan, _Plan) and plan.may_keep and isinstance(result, tuple)
            for one in result
        ]
        try:
            if new:
                self._cache.keep(new)
        except (BusyError, DiskError) as error:
            self.unkept = str(error)

    def _told(self, plan: _Plan, result: tuple[Folded, ...] | Unread) -> RunDecided | RunLeft:
        if isinstance(result, Unread):
            return _left(plan.run, plan.size, result.why, is_broken=True)
        found = {one.ruleset: _read(one) for one in result}
        taken = {name: self._taken(plan, name) for name in plan.rulesets() if name not in found}
        for name, one in taken.items():
            if one is None:  # somebody dropped or damaged it meanwhile
                again = fold(self._store, plan.rulesets(), plan.task((name,)))
                if isinstance(again, Unread):
                    return _left(plan.run, plan.size, again.why, is_broken=True)
                found[name] = _read(again[0])
            else:
                found[name] = one
        kept = sum(one is not None for one in taken.values())
        self.folded += len(found) - kept
        self.kept += kept
        before, after = plan.before, found[plan.after.digest]
        old = found[before.digest] if before is not None else None
        return RunDecided(
            run=plan.run,
            size=plan.size,
            rules_before=before,
            rules_after=plan.after,
            before=old.decision if old is not None else None,
            after=after.decision,
            exercised_before=old.folded.exercised if old is not None else (),
            exercised_after=after.folded.exercised,
            reproduced=_reproduced(plan, found),
            kept=kept,
            differing=sum(self._differs(plan, one.folded) for one in found.values()),
        )

    def _taken(self, plan: _Plan, ruleset: str) -> "_Found | None":
        """Return a decision that is kept, None where it is none of this run any more."""
        kept = self._cache.get(plan.key(ruleset)) if self._cache is not None else None
        if kept is None:
            return None
        try:
            decision = decode_decision(kept.decision)
        except msgspec.DecodeError:
            return None
        of = (decision.run_id, decision.ruleset.digest, decision.through)
        if of != (plan.run.run_id, ruleset, plan.size):
            return None
        told = Folded(ruleset=ruleset, decision=kept.decision, exercised=kept.exercised, at_cut=kept.at_cut)
        return _Found(told, decision)

    def _differs(self, plan: _Plan, folded: Folded) -> bool:
        """Tell whether what is kept is another decision than what was folded now."""
        kept = self._cache.get(plan.key(folded.ruleset)) if self._is_proof and self._cache else None
        return kept is not None and kept.decision != folded.decision


class _Found(NamedTuple):
    """A decision as it was folded, and as it is read."""

    folded: Folded
    decision: Decision


def _read(folded: Folded) -> _Found:
    return _Found(folded, decode_decision(folded.decision))


def _left(run: RunRow, size: int, why: str, *, is_broken: bool = False) -> RunLeft:
    return RunLeft(run=run, size=size, why=why, is_broken=is_broken)


def _is_folded(plan: _Plan | RunLeft) -> bool:
    return isinstance(plan, _Plan) and bool(plan.folds)


def _grouped(plans: Iterable[_Plan | RunLeft]) -> Iterator[list[_Plan | RunLeft]]:
    """Put plans together that one process folds at a time."""
    group: list[_Plan | RunLeft] = []
    entries = 0
    for plan in plans:
        group.append(plan)
        entries += plan.size if _is_folded(plan) else 0
        if len(group) == RUNS_A_BATCH or entries >= ENTRIES_A_BATCH:
            yield group
            group, entries = [], 0
    if group:
        yield group


def _batch(plans: Iterable[_Plan | RunLeft]) -> Batch:
    folded = [plan for plan in plans if isinstance(plan, _Plan) and plan.folds]
    rulesets = {name: one for plan in folded for name, one in plan.rulesets().items()}
    shipped = {one.digest for dialect in DIALECTS.values() for one in dialect.rulesets.values()}
    return Batch(
        tasks=tuple(plan.task(plan.folds) for plan in folded),
        documents=tuple(one.document for name, one in rulesets.items() if name not in shipped),
    )


def _reproduced(plan: _Plan, found: Mapping[str, _Found]) -> bool | None:
    """Tell whether the fold through the run's own cut gives the decision that it recorded."""
    cut = found.get(plan.cut.digest) if plan.cut is not None else None
    if cut is None or cut.folded.at_cut is None:
        return None
    is_erased = any(one.what == "erased" for one in cut.decision.unknowns)
    same = cut.folded.at_cut == plan.recorded.decision
    return None if is_erased and not same else same
