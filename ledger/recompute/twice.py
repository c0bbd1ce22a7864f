"""Every run folded twice, by processes that hash with different seeds, and the bytes compared.

Whatever leaks the order of a set or of an address into a decision differs between the two. A decision must
not: it is the same on every machine.
"""

from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path

from ledger.recompute.tasks import Batch, Results
from ledger.recompute.workers import Workers

SEEDS = (1, 2)


class Twice:
    """Folds every batch twice; keeps the contract of :class:`ledger.recompute.workers.Folding`.

    Attributes:
        folded: runs that were folded twice.
        differing: the numbers of those runs of the newest batch of which the two differ.
    """

    def __init__(self, path: Path, count: int) -> None:
        """Prepare the processes: ``count`` of them for each of the two."""
        self._sides = [Workers(path, count, hash_seed=seed) for seed in SEEDS]
        self.folded = 0
        self.differing: frozenset[int] = frozenset()

    def close(self) -> None:
        for side in self._sides:
            side.close()

    def fold_all(self, batches: Iterable[Batch]) -> Iterator[Results]:
        given, first, second = tee(batches, 3)
        one, other = (side.fold_all(again) for side, again in zip(self._sides, (first, second), strict=True))
        for batch, results, again in zip(given, one, other, strict=True):
            self.folded += len(batch.tasks)
            compared = zip(batch.tasks, results, again, strict=True)
            self.differing = frozenset(task.run_no for task, here, there in compared if here != there)
            yield results
