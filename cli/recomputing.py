"""What comes of recomputing a history: counted as it goes, and told as rows."""

from collections.abc import Iterable, Iterator

import msgspec

from cli.page import count_of
from cli.progress import Advance
from cli.render import Row
from ledger.core.json_reader import printable
from ledger.dialects import DIALECTS
from ledger.log.store import RunRow
from ledger.recompute.recomputation import Recomputation, RunDecided, RunLeft
from ledger.recompute.twice import Twice
from ledger.replay.differences import Difference, differences
from ledger.replay.evidence import Evidence
from ledger.replay.impact import Group, Impact

COLUMNS = ("run_id", "stream", "kind", "before", "after", "code", "entries")

LEFT_NAMED = 20
"""Runs that were not decided, or whose recorded decision was not reproduced, that are named."""


class Recomputed:
    """A recomputation as it goes.

    Attributes:
        runs: runs that were gone through.
        entries: their entries.
        impact: what is decided otherwise.
        evidence: which of the changed rules were exercised.
        rulesets: the ids of the new rules and of the old ones that were met, each in order.
        left: the first runs that were not decided, of ``left_total``.
        unreproduced: the first runs whose recorded decision is not that of the fold through its own cut.
    """

    def __init__(self, recomputation: Recomputation, *, shown: int, twice: Twice | None = None) -> None:
        """Begin with nothing.

        Args:
            recomputation: what decides the runs.
            shown: how many differences of a group are kept to be shown.
            twice: where they are folded, if they are folded twice.
        """
        self.recomputation = recomputation
        self.twice = twice
        self.impact = Impact(shown)
        self.evidence = Evidence()
        self.runs = 0
        self.entries = 0
        self.rulesets: tuple[dict[str, None], dict[str, None]] = ({}, {})
        self.left: list[RunLeft] = []
        self.left_total = 0
        self.broken_total = 0
        self.reproduced = 0
        self.unreproduced: list[RunDecided] = []
        self.unreproduced_total = 0
        self.without_old_rules = 0
        self.differing = 0

    def rows(self, runs: Iterable[RunRow], advance: Advance) -> Iterator[Row]:
        """Go through the runs, and yield a row for everything that differs."""
        for one in self.recomputation.decide(runs):
            self.runs += 1
            self.entries += one.size
            yield from self._left(one) if isinstance(one, RunLeft) else self._decided(one)
            advance(one.run.run_id, self.entries)

    def _left(self, left: RunLeft) -> Iterator[Row]:
        self.left_total += 1
        self.broken_total += left.is_broken
        if len(self.left) < LEFT_NAMED:
            self.left.append(left)
        code = "log_broken" if left.is_broken else "not_decided"
        yield _row(left.run, kind="left", code=code, says=left.why)

    def _decided(self, decided: RunDecided) -> Iterator[Row]:
        self.rulesets[0][decided.rules_after.id] = None
        self.differing += decided.differing
        found: tuple[Difference, ...] = ()
        if decided.before is None or decided.rules_before is None:
            self.without_old_rules += 1
        else:
            self.rulesets[1][decided.rules_before.id] = None
            if decided.before is not decided.after:
                found = tuple(differences(decided.before, decided.after))
                exercised = decided.exercised_before, decided.exercised_after
                self.evidence.add(decided.rules_before, decided.rules_after, *exercised)
        run = decided.run
        self.impact.add(run.run_id, run.program, len(decided.after.checkpoints), found)
        catalogue = DIALECTS[run.dialect].catalogue
        for one in found:
            yield difference_row(run, one, catalogue.demand(one.why.clause))
        if decided.reproduced:
            self.reproduced += 1
        elif decided.reproduced is not None:
            self.unreproduced_total += 1
            if len(self.unreproduced) < LEFT_NAMED:
                self.unreproduced.append(decided)
            yield _row(run, kind="recorded", code="recorded_decision_not_reproduced")

    def summary(self) -> Row:
        """Return the sums: what was decided, how far the change reaches, and what nothing is known about."""
        after, before = (list(ids) for ids in self.rulesets)
        return {
            "kind": "summary",
            "schema": "recomputation/1",
            "rulesets": after,
            "against": before,
            "runs": self.runs,
            "entries": self.entries,
            "checkpoints": self.impact.checkpoints,
            "decisions_folded": self.recomputation.folded,
            "decisions_kept": self.recomputation.kept,
            "blast_radius": self.impact.radius(),
            "groups": [_group(one) for one in self.impact.groups()],
            "indeterminate_runs": self.impact.indeterminate,
            "changed_rules": self.evidence.changed,
            "never_exercised": self.evidence.never_exercised(),
            "recorded_decisions": {
                "reproduced": self.reproduced,
                "not_reproduced": self.unreproduced_total,
            },
            "runs_left": self.left_total,
            "runs_broken": self.broken_total,
            "runs_without_old_rules": self.without_old_rules,
            "kept_decisions_differing": self.differing,
            "folded_twice": self.twice.folded if self.twice else None,
            "twice_differing": self.twice.differing_total if self.twice else None,
        }

    def stopped(self, *, is_kept: bool) -> str:
        """Say how far it came, for somebody who broke it off, and how to go on."""
        done = f"stopped after {count_of(self.runs, 'run')}"
        if is_kept:
            return f"{done}; what was decided is kept: the same command goes on from there"
        return f"{done}; nothing of it is kept"

    def warnings(self) -> Iterator[str]:
        """Yield what whoever reads only the data should know."""
        if self.recomputation.unkept:
            yield f"decisions are not kept for the next time: {self.recomputation.unkept}"
        if self.broken_total:
            yield f"{count_of(self.broken_total, 'run')} could not be read; `runledger verify` says more"
        if self.differing:
            yield (
                f"{count_of(self.differing, 'kept decision')} differ from what the entries fold to: somebody "
                "changed them, or the fold changed without its version; drop the table aux_cached_decisions"
            )
        if self.twice is not None and self.twice.differing_total:
            yield (
                f"{count_of(self.twice.differing_total, 'run')} folded twice to different bytes: a bug in "
                "runledger; please report it with one of them"
            )

    @property
    def flips(self) -> bool:
        """Whether anything is decided otherwise for certain."""
        return self.impact.radius().runs > 0

    @property
    def differs_when_repeated(self) -> bool:
        """Whether folding a run a second time gave other bytes."""
        return self.twice is not None and self.twice.differing_total > 0

    @property
    def is_broken(self) -> bool:
        """Whether the log, or what is kept beside it, is not what it should be."""
        return self.broken_total > 0 or self.differing > 0


def _group(group: Group) -> Row:
    """Return a group without its first differences, which have rows of their own."""
    return {name: value for name, value in msgspec.structs.asdict(group).items() if name != "first"}


def difference_row(run: RunRow, difference: Difference, says: str) -> Row:
    """Return a difference of a run as a row."""
    why = difference.why
    return _row(
        run,
        kind=difference.kind,
        stream=difference.stream,
        before=difference.before,
        after=difference.after,
        code=why.code,
        clause=why.clause,
        says=says,
        basis=why.basis,
        at_fault=why.stream,
        keys=why.keys,
        keys_total=why.keys_total,
        entries=why.entries,
        entries_total=why.entries_total,
        records=difference.records,
    )


_NOTHING: Row = {
    "stream": None,
    "before": None,
    "after": None,
    "code": "",
    "clause": "",
    "says": "",
    "basis": None,
    "at_fault": None,
    "keys": (),
    "keys_total": 0,
    "entries": (),
    "entries_total": 0,
    "records": 0,
}


def _row(run: RunRow, *, kind: str, **members: object) -> Row:
    named = {"run_id": printable(run.run_id), "program": printable(run.program)}
    return {"kind": kind, **named, **_NOTHING, **members}
