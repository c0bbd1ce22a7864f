"""Where runs are folded: in this process, or in several, each with the ledger open for itself.

A worker ends when the process that started it does, however that ends and in the middle of a run too, and
takes no notice of Ctrl-C, which a terminal sends to all of them: whoever started them ends them. Invariant:
results come in the order of the batches, whichever worker was done first, and a bounded number of them wait.
"""

import os
import signal
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Protocol, TypeAlias

import msgspec

from ledger import errors
from ledger.errors import LedgerError, UnavailableError
from ledger.log.sqlite_store import SqliteStore
from ledger.recompute.choosing import RulesetsByDigest
from ledger.recompute.folding import fold
from ledger.recompute.tasks import Batch, Folded, Unread

BATCHES_AHEAD = 2
"""Batches that a worker is given at a time, so that it never waits for the next one."""

SECONDS_TO_END = 2.0

Results: TypeAlias = tuple[tuple[Folded, ...] | Unread, ...]
"""What came of each task of a batch."""

_SPAWN = get_context("spawn")  # a fork would share the connections to the ledger


def usable_cores() -> int:
    """Return how many processes can work at once here."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Answer(msgspec.Struct, frozen=True):
    """What a worker says of a batch.

    Attributes:
        error: the type of what stopped it, '' where nothing did.
        text: what that says.
        trace: where it was raised, '' where it was raised on purpose.
    """

    results: Results = ()
    error: str = ""
    text: str = ""
    trace: str = ""


_encode = msgspec.msgpack.Encoder().encode
_read_batch = msgspec.msgpack.Decoder(Batch).decode
_read_answer = msgspec.msgpack.Decoder(_Answer).decode


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
        self._path = path
        self._hash_seed = hash_seed
        self._here = _Here(path) if hash_seed is None else None
        self._others = count - (self._here is not None)
        self._processes: dict[Connection, BaseProcess] = {}

    def close(self) -> None:
        """End them, in the middle of a run where they have not done all of it."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join(SECONDS_TO_END)
        if self._here is not None:
            self._here.close()

    def fold_all(self, batches: Iterable[Batch]) -> Iterator[Results]:
        given: dict[Connection, deque[int]] = {}
        free: deque[Connection] = deque()
        waiting = _InOrder()
        coming = _Ahead(batches)
        for number, batch in enumerate(coming):
            if not batch.tasks:
                waiting.put(number, ())
            elif not given and self._others and not (self._here is not None and coming.is_at_end()):
                given = {connection: deque() for connection in self._start()}
                free.extend([*given] * BATCHES_AHEAD)
            while batch.tasks:
                is_far_ahead = number - waiting.following >= 2 * BATCHES_AHEAD * len(given) > 0
                can_go_on = not is_far_ahead and (free or self._here is not None)
                free.extend(self._receive(given, waiting, block=not can_go_on))
                yield from waiting.ready()
                if is_far_ahead:
                    continue
                if free:
                    connection = free.popleft()
                    self._send(connection, batch)
                    given[connection].append(number)
                    break
                if self._here is not None:
                    waiting.put(number, self._here.fold(batch))
                    break
            yield from waiting.ready()
        while any(given.values()):
            self._receive(given, waiting, block=True)
            yield from waiting.ready()

    def _start(self) -> Iterable[Connection]:
        with _as_a_worker_starts(self._hash_seed):
            for _ in range(self._others):
                here, there = _SPAWN.Pipe()
                process = _SPAWN.Process(target=_work, args=(there, self._path), daemon=True)
                process.start()
                there.close()
                self._processes[here] = process
        return self._processes

    def _receive(
        self, given: dict[Connection, deque[int]], waiting: "_InOrder", *, block: bool
    ) -> list[Connection]:
        """Take the answers that are there, or wait for one; file them, and return who gave them."""
        asked = [connection for connection in given if given[connection]]
        answering = [one for one in wait(asked, None if block else 0) if isinstance(one, Connection)]
        for connection in answering:
            try:
                answer = _read_answer(connection.recv_bytes())
            except (EOFError, OSError):
                raise self._ended(connection) from None
            if answer.error:
                raise _raised(answer)
            waiting.put(given[connection].popleft(), answer.results)
        return answering

    def _send(self, connection: Connection, batch: Batch) -> None:
        try:
            connection.send_bytes(_encode(batch))
        except OSError:
            raise self._ended(connection) from None

    def _ended(self, connection: Connection) -> Exception:
        """Return why a worker is there no more: what it said last, else how it ended."""
        with suppress(EOFError, OSError):
            while connection.poll():
                answer = _read_answer(connection.recv_bytes())
                if answer.error:
                    return _raised(answer)
        process = self._processes[connection]
        process.join(SECONDS_TO_END)
        return UnavailableError(
            f"expected worker {process.pid} to go on folding, found that it ended ({process.exitcode}), as "
            "one does that somebody kills or that runs out of memory; run it again, with --jobs 1 if need be"
        )


class _Here:
    """Folding in this process."""

    def __init__(self, path: Path) -> None:
        self._store = SqliteStore.open(path, create=False, read_only=True)
        self._rulesets = RulesetsByDigest()

    def fold(self, batch: Batch) -> Results:
        for document in batch.documents:
            self._rulesets.add(document)
        return tuple(fold(self._store, self._rulesets, task) for task in batch.tasks)

    def close(self) -> None:
        self._store.close()


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
        self.following = 0
        self._held: dict[int, Results] = {}

    def put(self, number: int, results: Results) -> None:
        self._held[number] = results

    def ready(self) -> Iterator[Results]:
        while self.following in self._held:
            yield self._held.pop(self.following)
            self.following += 1


@contextmanager
def _as_a_worker_starts(hash_seed: int | None) -> Iterator[None]:
    """Hold Ctrl-C back, which what is started then inherits, and set the seed that it begins with."""
    before = os.environ.get("PYTHONHASHSEED")
    if hash_seed is not None:
        os.environ["PYTHONHASHSEED"] = str(hash_seed)
    masked = hasattr(signal, "pthread_sigmask")
    held_back = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if masked else set()
    try:
        yield
    finally:
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, held_back)
        if hash_seed is not None:
            os.environ.pop("PYTHONHASHSEED")
            if before is not None:
                os.environ["PYTHONHASHSEED"] = before


def _work(connection: Connection, path: Path) -> None:
    """Fold batches until there are no more, or nobody wants them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        try:
            with closing(_Here(path)) as here:
                while True:
                    batch = _read_batch(connection.recv_bytes())
                    connection.send_bytes(_encode(_Answer(here.fold(batch))))
        except LedgerError as error:
            connection.send_bytes(_encode(_Answer(error=type(error).__name__, text=str(error))))
        except Exception as error:
            if isinstance(error, EOFError | OSError):
                raise
            told = _Answer(error=type(error).__name__, text=str(error), trace=traceback.format_exc())
            connection.send_bytes(_encode(told))


def _end_with_parent() -> None:
    """End this process once the one that started it has ended, whatever it is at."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _raised(answer: _Answer) -> Exception:
    """Return what stopped a worker, as if it had been raised here."""
    if not answer.trace:
        raised: LedgerError = getattr(errors, answer.error)(answer.text)
        return raised
    bug = RuntimeError(f"{answer.error} in a worker: {answer.text}")
    bug.add_note(answer.trace)
    return bug
