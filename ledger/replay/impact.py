"""What a change of rules does to a whole history: differences counted by their reason, run by run.

Memory is flat in the number of runs: a group holds its first few differences and a count. Whoever wants all
of them takes them as they come.
"""

from collections.abc import Collection, Iterable

import msgspec

from ledger.replay.differences import Difference, Kind


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A difference, and the run that it is about."""

    run_id: str
    program: str
    difference: Difference


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """All differences of one kind, from one verdict to another, for one reason.

    Attributes:
        differences: how many there are.
        runs: in how many runs.
        first: the first of them.
    """

    kind: Kind
    before: str | None
    after: str | None
    code: str
    clause: str
    differences: int
    runs: int
    first: tuple[Told, ...]


class BlastRadius(msgspec.Struct, frozen=True, kw_only=True):
    """How far a change of rules reaches.

    Attributes:
        runs: of which anything is decided otherwise for certain.
        programs: that these runs are of.
        checkpoints: that are decided otherwise.
        records: accepted records of the streams that those checkpoints cover.
    """

    runs: int
    programs: int
    checkpoints: int
    records: int


class Impact:
    """The differences of many runs, as they come.

    Attributes:
        runs: runs that were compared.
        checkpoints: checkpoints that the new decisions hold.
        indeterminate: runs of which an erased body leaves something open on one side and not on the other.
    """

    def __init__(self, shown: int) -> None:
        """Begin with nothing; each group holds its first ``shown`` differences."""
        self.runs = 0
        self.checkpoints = 0
        self.indeterminate = 0
        self._shown = shown
        self._groups: dict[tuple[Kind, str | None, str | None, str, str], _Counted] = {}
        self._flipped_runs = 0
        self._flipped_programs: set[str] = set()
        self._flipped_checkpoints = 0
        self._records = 0

    def add(self, run_id: str, program: str, checkpoints: int, differences: Collection[Difference]) -> None:
        """Add a run: how many checkpoints it has now, and everything that is decided otherwise."""
        self.runs += 1
        self.checkpoints += checkpoints
        for difference in differences:
            order = difference.kind == "order"  # which checkpoints are meant differs from run to run
            sides = (None, None) if order else (difference.before, difference.after)
            key = difference.kind, *sides, difference.why.code, difference.why.clause
            counted = self._groups.setdefault(key, _Counted())
            counted.add(Told(run_id=run_id, program=program, difference=difference), self.runs, self._shown)
        flips = [one for one in differences if one.is_flip]
        self.indeterminate += len(flips) < len(differences)
        if flips:
            self._flipped_runs += 1
            self._flipped_programs.add(program)
            self._flipped_checkpoints += sum(one.kind == "checkpoint" for one in flips)
            self._records += sum(one.records for one in flips)

    def radius(self) -> BlastRadius:
        """Return how far the change reaches."""
        return BlastRadius(
            runs=self._flipped_runs,
            programs=len(self._flipped_programs),
            checkpoints=self._flipped_checkpoints,
            records=self._records,
        )

    def groups(self) -> Iterable[Group]:
        """Yield the groups: checkpoints first, then runs, orders, and what is open; the largest first."""
        kinds: tuple[Kind, ...] = ("checkpoint", "run", "order", "indeterminate")
        found = sorted(
            self._groups.items(), key=lambda item: (kinds.index(item[0][0]), -item[1].total, str(item[0]))
        )
        for (kind, before, after, code, clause), counted in found:
            yield Group(
                kind=kind,
                before=before,
                after=after,
                code=code,
                clause=clause,
                differences=counted.total,
                runs=counted.runs,
                first=tuple(counted.first),
            )


class _Counted:
    """What a group holds while it is counted."""

    __slots__ = ("first", "last_run", "runs", "total")

    def __init__(self) -> None:
        self.first: list[Told] = []
        self.total = 0
        self.runs = 0
        self.last_run = 0

    def add(self, told: Told, run: int, shown: int) -> None:
        self.total += 1
        self.runs += run != self.last_run
        self.last_run = run
        if len(self.first) < shown:
            self.first.append(told)
