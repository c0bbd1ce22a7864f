"""What comes of recomputing a history, counted as it goes, and what its sums say to whoever asked for it."""

import sys
from collections.abc import Iterable, Iterator, Mapping

from cli.page import count_of, some_of
from cli.progress import Advance
from cli.recompute_rows import difference_row, group_row, plain_row
from cli.render import Row
from ledger.log.store import RunRow
from ledger.recompute.planning import RunLeft
from ledger.recompute.recomputation import Recomputation, RunDecided
from ledger.recompute.twice import Twice
from ledger.replay.differences import Difference, differences
from ledger.replay.evidence import Evidence
from ledger.replay.impact import Impact

NAMED = 20
"""Runs that are named of those with which something is wrong, before they are counted."""


class Named:
    """Runs that are counted, the first of them named."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.total = 0

    def add(self, run: RunRow, note: str = "") -> None:
        """Count one more; the note stands behind its name."""
        self.total += 1
        if len(self.first) < NAMED:
            self.first.append(f"{run.run_id} ({note})" if note else run.run_id)

    def __str__(self) -> str:
        return some_of(self.first, self.total)


class Recomputed:
    """A recomputation as it goes.

    Attributes:
        runs: runs that were gone through.
        entries: their entries.
        impact: what is decided otherwise.
        evidence: which of the changed rules were exercised.
        rules_after: the ids of the new rules that were met, by digest, in order.
        rules_before: those of the old ones.
        demands: what each clause demands that a difference names, in words.
        left: the first runs that were not decided, of ``left_total``.
        broken_total: how many of these are broken.
        reproduced: runs whose recorded decision is that of the fold through its own cut.
        unreproduced: those of which it is another.
        without_old_rules: runs that are held against nothing.
        checkpoints_before: checkpoints that the old decisions hold; the new ones where there are none.
        shows_all: whether nothing is left out of a list for its length.
        differing: runs of which a kept decision is not what was folded now.
        twice_differing: runs that were folded twice, to different bytes.
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
        self.shows_all = shown == sys.maxsize
        self.checkpoints_before = 0
        self.evidence = Evidence()
        self.runs = 0
        self.entries = 0
        self.rules_after: dict[str, str] = {}
        self.rules_before: dict[str, str] = {}
        self.demands: dict[str, str] = {}
        self.left: list[RunLeft] = []
        self.left_total = 0
        self.broken_total = 0
        self.reproduced = 0
        self.without_old_rules = Named()
        self.unreproduced = Named()
        self.differing = Named()
        self.twice_differing = Named()

    def rows(self, runs: Iterable[RunRow], advance: Advance) -> Iterator[Row]:
        """Go through the runs, and yield a row for everything that differs."""
        for one in self.recomputation.decide(runs):
            self.runs += 1
            self.entries += one.size
            if isinstance(one, RunLeft):
                yield self._left(one)
            else:
                yield from self._compared(one)
                yield from self._checked(one)
            advance(one.run.run_id, self.entries)

    def _left(self, left: RunLeft) -> Row:
        self.left_total += 1
        self.broken_total += left.is_broken
        if len(self.left) < NAMED:
            self.left.append(left)
        code = "log_broken" if left.is_broken else "not_decided"
        return plain_row(left.run, kind="left", code=code, says=left.why)

    def _compared(self, decided: RunDecided) -> Iterator[Row]:
        """Yield a row for everything that is decided otherwise."""
        run, before, after = decided.run, decided.rules_before, decided.rules_after
        self.rules_after[after.digest] = after.id
        found: tuple[Difference, ...] = ()
        if before is None or decided.before is None:
            self.without_old_rules.add(run, decided.recorded_under or "")
            says = f"recorded under {decided.recorded_under}" if decided.recorded_under else ""
            yield plain_row(run, kind="unheld", code="old_rules_unknown", says=says)
        else:
            self.rules_before[before.digest] = before.id
            if decided.before is not decided.after:
                found = tuple(differences(decided.before, decided.after))
                self.evidence.add(before, after, decided.exercised_before, decided.exercised_after)
        self.checkpoints_before += len((decided.before or decided.after).checkpoints)
        self.impact.add(run.run_id, run.program, len(decided.after.checkpoints), found)
        for one in found:
            rules = before if one.why.basis == "before" and before is not None else after
            says = self.demands.setdefault(one.why.clause, rules.catalogue.demand(one.why.clause))
            yield difference_row(run, one, says)

    def _checked(self, decided: RunDecided) -> Iterator[Row]:
        """Yield a row for everything that is not as it was, whatever the rules."""
        run = decided.run
        if decided.reproduced:
            self.reproduced += 1
        elif decided.reproduced is not None:
            self.unreproduced.add(run)
            yield plain_row(run, kind="recorded", code="recorded_decision_not_reproduced")
        if decided.differing:
            self.differing.add(run)
            yield plain_row(run, kind="kept", code="kept_decision_differs")
        if self.twice is not None and run.run_no in self.twice.differing:
            self.twice_differing.add(run)
            yield plain_row(run, kind="twice", code="folded_to_other_bytes")

    def summary(self) -> Row:
        """Return the sums: what was decided, how far the change reaches, and what nothing is known about."""
        return {
            "kind": "summary",
            "schema": "recomputation/1",
            "rulesets": self.names(self.rules_after),
            "against": self.names(self.rules_before),
            "runs": self.runs,
            "entries": self.entries,
            "checkpoints": self.impact.checkpoints,
            "checkpoints_before": self.checkpoints_before,
            "decisions_folded": self.recomputation.folded,
            "decisions_kept": self.recomputation.kept,
            "blast_radius": self.impact.radius(),
            "groups": [group_row(one) for one in self.impact.groups()],
            "indeterminate_runs": self.impact.indeterminate,
            "changed_rules": self.evidence.changed,
            "never_exercised": self.evidence.never_exercised(),
            "recorded_decisions": {
                "reproduced": self.reproduced,
                "not_reproduced": self.unreproduced.total,
            },
            "runs_left": self.left_total,
            "runs_broken": self.broken_total,
            "runs_without_old_rules": self.without_old_rules.total,
            "kept_decisions_compared": self.recomputation.compared,
            "kept_decisions_differing": self.differing.total,
            "folded_twice": self.twice.folded if self.twice else None,
            "twice_differing": self.twice_differing.total if self.twice else None,
        }

    def names(self, rules: Mapping[str, str]) -> list[str]:
        """Return what names rules: their ids, or their digests where others that were met have one's id."""
        all_of_them = list((self.rules_after | self.rules_before).values())
        return [digest if all_of_them.count(own) > 1 else own for digest, own in rules.items()]

    def stopped(self, *, is_kept: bool) -> str:
        """Say how far it came, for somebody who broke it off, and how to go on."""
        done = f"stopped after {count_of(self.runs, 'run')}"
        if not is_kept:
            return f"{done}; nothing of it is kept"
        if self.recomputation.unkept:
            return f"{done}; not all that was decided is kept: {self.recomputation.unkept}"
        return f"{done}; what was decided is kept: the same command goes on from there"

    def warnings(self, *, has_page: bool) -> Iterator[str]:
        """Yield what is to be said beside the data; a page says some of it itself."""
        if not self.runs:
            yield "the ledger holds no run"
        if self.recomputation.unkept:
            yield f"decisions are not kept for the next time: {self.recomputation.unkept}"
        if self.broken_total:
            yield f"{count_of(self.broken_total, 'run')} could not be read; `runledger verify` says more"
        if self.unreproduced.total and not has_page:
            wrong = count_of(self.unreproduced.total, "recorded decision")
            yield (
                f"{wrong} not reproduced: {self.unreproduced}; other rules or another fold decided, or the "
                "log is not what it was"
            )
        if self.differing.total:
            yield (
                f"what is kept of {count_of(self.differing.total, 'run')} is not what the entries fold to: "
                f"{self.differing}; somebody changed it, or the fold changed without its version; drop the "
                "table aux_cached_decisions"
            )
        if self.twice_differing.total:
            yield (
                f"{count_of(self.twice_differing.total, 'run')} folded twice to different bytes: "
                f"{self.twice_differing}; a bug in runledger: please report it with one of them"
            )

    @property
    def flips(self) -> bool:
        """Whether anything is decided otherwise for certain."""
        return self.impact.radius().runs > 0

    @property
    def has_other_rules(self) -> bool:
        """Whether runs were held against rules of another name than the new ones."""
        return bool(self.rules_before.keys() - self.rules_after.keys())

    @property
    def is_broken(self) -> bool:
        """Whether the log, or what is kept beside it, is not what it should be."""
        return self.broken_total > 0 or self.differing.total > 0
