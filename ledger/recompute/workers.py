"""Where runs are folded: in this process, or in several, among which batches are dealt out.

Invariant: results come in the order of the batches, whichever process was done first, and a bounded number
of them wait.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol

from ledger.recompute.folding import BatchFolder
from ledger.recompute.tasks import Batch, Results
from ledger.recompute.worker_processes import WorkerProcesses

WAITING = 8
WAITING_BYTES = 64 * 1024 * 1024
"""Batches for each that others may hold, and bytes of decisions, whose results wait for one before them.

So much that this process need not stop while another one is starting.
"""


def usable_cores() -> int:
    """Return how many processes can work at once here."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Folding(Protocol):
    """Something that folds batches of runs."""

    def fold_all(self, batches: Iterable[Batch]) -> Iterator[Results]:
        """Yield the results of each batch, in order; batches are taken some time before they are folded.

        Raises:
            UnavailableError: a worker ended before its work did.
            LedgerError: the ledger can no longer be read.
        """
        ...

    def close(self) -> None:
        """Stop folding."""
        ...


class Workers:
    """A number of processes that fold: this one, and others that are started when there is enough to fold."""

    def __init__(self, path: Path, count: int, *, hash_seed: int | None = None) -> None:
        """Prepare them.

        Args:
            path: the ledger.
            count: how many.
            hash_seed: what their dictionaries and sets are hashed with; then this process, which has a seed
                already, is none of them.
        """
        self._here = BatchFolder(path) if hash_seed is None else None
        others = count - (self._here is not None)
        self._others = WorkerProcesses(path, others, hash_seed=hash_seed)

    def close(self) -> None:
        """End the others, in the middle of a run where they have not done all of it."""
        self._others.close()
        if self._here is not None:
            self._here.close()

    def fold_all(self, batches: Iterable[Batch]) -> Iterator[Results]:
        coming, done = _Ahead(batches), _InOrder()
        for number, batch in enumerate(coming):
            if not batch.tasks:
                done.put(number, ())
            else:
                if self._others.can_be_started and (self._here is None or not coming.is_at_end()):
                    self._others.start()
                yield from self._let_catch_up(number, done)
                self._deal(number, batch, done, coming)
            yield from done.ready()
        while self._others.owe_any:
            self._take_answers(done, block=True)
            yield from done.ready()

    def _let_catch_up(self, number: int, done: "_InOrder") -> Iterator[Results]:
        """Take answers until a batch can be folded somewhere, and few results wait for those before them."""
        self._take_answers(done, block=False)
        yield from done.ready()
        while done.is_full(number, WAITING * self._others.room) or not self._can_fold:
            self._take_answers(done, block=True)
            yield from done.ready()

    @property
    def _can_fold(self) -> bool:
        return self._here is not None or self._others.can_take_one

    def _deal(self, number: int, batch: Batch, done: "_InOrder", coming: "_Ahead") -> None:
        """Give a batch to another process that can take one, else fold it here, as the last one anyhow."""
        if self._here is not None and (not self._others.can_take_one or coming.is_at_end()):
            done.put(number, self._here.fold(batch))
        else:
            self._others.give(number, batch)

    def _take_answers(self, done: "_InOrder", *, block: bool) -> None:
        for number, results in self._others.answers(block=block):
            done.put(number, results)


class _Ahead:
    """Batches, of which it can be told whether one is the last."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._batches = iter(batches)
        self._next: deque[Batch] = deque()

    def __iter__(self) -> Iterator[Batch]:
        while not self.is_at_end():
            yield self._next.popleft()

    def is_at_end(self) -> bool:
        """Tell whether there are no more."""
        self._next.extend(islice(self._batches, 1 - len(self._next)))
        return not self._next


class _InOrder:
    """Results by number, given out in order."""

    def __init__(self) -> None:
        self._following = 0
        self._held: dict[int, Results] = {}
        self._bytes = 0

    def put(self, number: int, results: Results) -> None:
        self._held[number] = results
        self._bytes += _bytes_of(results)

    def is_full(self, number: int, limit: int) -> bool:
        """Tell whether too much waits for a result before it, so that none of this number may be added."""
        ahead = number - self._following
        return ahead > 0 and (ahead >= limit or self._bytes >= WAITING_BYTES)

    def ready(self) -> Iterator[Results]:
        while self._following in self._held:
            results = self._held.pop(self._following)
            self._bytes -= _bytes_of(results)
            yield results
            self._following += 1


def _bytes_of(results: Results) -> int:
    return sum(len(one.decision) for result in results if isinstance(result, tuple) for one in result)
