"""What there is to know of a run before it is folded: its root, the rules, how it was decided by others."""

from typing import NamedTuple

import msgspec

from ledger.core.dialect import Ruleset
from ledger.core.observations import Decided, decode_observation, observation_type
from ledger.dialects import DIALECTS
from ledger.errors import IntegrityError
from ledger.log.decision_cache import DecisionKey
from ledger.log.store import RunRow, Store, root_of
from ledger.recompute.choosing import Choice, Recorded
from ledger.recompute.openings import manifests, opening_of
from ledger.recompute.tasks import Task

_DECIDED = observation_type(Decided)


class RunLeft(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is not decided.

    Attributes:
        is_broken: whether that is because the log no longer holds what it held.
    """

    run: RunRow
    size: int
    why: str
    is_broken: bool = False


class Plan(NamedTuple):
    """A run, and the rulesets that it is held against.

    Attributes:
        size: through which entry.
        root: the root of the run's tree at that size.
        run_id: as its opening gives it, '' where that cannot be read: the id that a decision has.
        manifest: the digest of the one that it was opened with.
        recorded: how it was decided by whoever recorded it.
        cut_ruleset: the ruleset of that decision; None where there was none, or where nobody knows it here.
        may_keep: whether what is decided follows from the root alone.
    """

    run: RunRow
    size: int
    root: bytes
    run_id: str
    manifest: str | None
    recorded: Recorded
    cut_ruleset: Ruleset | None
    after: Ruleset
    before: Ruleset | None
    may_keep: bool

    def rulesets(self) -> dict[str, Ruleset]:
        """Return both rulesets by digest, one where they are the same."""
        return {one.digest: one for one in (self.before, self.after) if one is not None}

    def key(self, ruleset: str) -> DecisionKey:
        """Return what the decision under one of them is kept under."""
        return DecisionKey(self.run.run_no, ruleset, DIALECTS[self.run.dialect].fold_version, self.root)

    def is_cut_under(self, ruleset: str) -> bool:
        """Tell whether it is under this ruleset that the run was decided when it was recorded."""
        return self.cut_ruleset is not None and self.cut_ruleset.digest == ruleset

    def task(self, rulesets: tuple[str, ...]) -> Task:
        """Return what is to be done to fold the run under some of them."""
        cut_ruleset = next(filter(self.is_cut_under, rulesets), "")
        return Task(
            run_no=self.run.run_no,
            dialect=self.run.dialect,
            size=self.size,
            manifest=self.manifest,
            rulesets=rulesets,
            cut=self.recorded.cut if cut_ruleset else 0,
            cut_ruleset=cut_ruleset,
        )


class Planner:
    """Plans the runs of one ledger."""

    def __init__(self, store: Store, choice: Choice) -> None:
        self._store = store
        self._choice = choice
        self._manifests: set[str] = set()

    def plan(self, run: RunRow) -> Plan | RunLeft:
        """Return the plan for a run as it stands, or why it cannot be decided."""
        if run.dialect not in DIALECTS:
            why = f"the dialect {run.dialect!r} is not known to this version"
            return RunLeft(run=run, size=self._store.size(run.run_no), why=why)
        after = self._choice.after(run.dialect)
        if after is None:
            why = f"the rules are not of its dialect, {run.dialect}"
            return RunLeft(run=run, size=self._store.size(run.run_no), why=why)
        try:
            return self._planned(run, after)
        except IntegrityError as error:
            return RunLeft(run=run, size=self._store.size(run.run_no), why=str(error), is_broken=True)

    def _planned(self, run: RunRow, after: Ruleset) -> Plan:
        size, root = self._head(run)
        opened = opening_of(self._store, run)
        recorded = self._recorded(run, size, opened.ruleset if opened is not None else None)
        return Plan(
            run=run,
            size=size,
            root=root,
            run_id=opened.run_id if opened is not None else "",
            manifest=next(iter(manifests(opened)), None),
            recorded=recorded,
            cut_ruleset=self._choice.recorded_under(run.dialect, recorded) if recorded.cut else None,
            after=after,
            before=self._choice.before(run.dialect, recorded),
            may_keep=all(map(self._holds, manifests(opened))),
        )

    def _head(self, run: RunRow) -> tuple[int, bytes]:
        """Return the size and the root of a run; what is appended meanwhile is left for another time."""
        head = self._store.head(run.run_no)
        if head is None:
            raise IntegrityError(f"run {run.run_id}: expected a tree head, found none; verify the ledger")
        return head.size, root_of(run, head)

    def _recorded(self, run: RunRow, size: int, ruleset: str | None) -> Recorded:
        """Read how a run was decided by whoever recorded it: by its DECIDED, else by its opening."""
        _, entry = next(self._store.observations(_DECIDED, run_no=run.run_no), (0, None))
        decided = decode_observation(entry.body) if entry is not None and entry.body is not None else None
        if entry is None or entry.seq > size or not isinstance(decided, Decided):
            return Recorded(ruleset=ruleset)
        if not 1 <= decided.through_seq < entry.seq:
            return Recorded(ruleset=ruleset)
        return Recorded(ruleset=decided.ruleset, cut=decided.through_seq, decision=decided.decision)

    def _holds(self, manifest: str) -> bool:
        """Tell whether a manifest is here; one that comes later would change what is decided."""
        if manifest not in self._manifests and self._store.documents([manifest]):
            self._manifests.add(manifest)
        return manifest in self._manifests
