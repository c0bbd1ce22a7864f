"""Processes that fold, each with the ledger open for itself, and what goes between them and this one.

A worker ends when the process that started it does, however that ends and in the middle of a run too, and
takes no notice of Ctrl-C, which a terminal sends to all of them: whoever started them ends them. What stops
one is raised here as what it is.
"""

import os
import signal
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread

import msgspec

from ledger import errors
from ledger.errors import LedgerError, UnavailableError
from ledger.recompute.folding import BatchFolder
from ledger.recompute.tasks import Batch, Results

BATCHES_AHEAD = 2
"""Batches that a worker is given at a time, so that it never waits for the next one."""

SECONDS_TO_END = 2.0

_SPAWN = get_context("spawn")  # a fork would share the connections to the ledger


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


class WorkerProcesses:
    """Processes that are given batches by number, and answer each some time."""

    def __init__(self, path: Path, count: int, *, hash_seed: int | None = None) -> None:
        """Prepare them.

        Args:
            path: the ledger.
            count: how many.
            hash_seed: what their dictionaries and sets are hashed with, None for what each begins with.
        """
        self._path = path
        self._count = count
        self._hash_seed = hash_seed
        self._processes: dict[Connection, BaseProcess] = {}
        self._given: dict[Connection, deque[int]] = {}
        self._free: deque[Connection] = deque()

    @property
    def can_be_started(self) -> bool:
        """Whether there are any, and they were not started yet."""
        return self._count > 0 and not self._processes

    def start(self) -> None:
        """Start them."""
        with _as_a_worker_starts(self._hash_seed):
            for _ in range(self._count):
                here, there = _SPAWN.Pipe()
                process = _SPAWN.Process(target=_work, args=(there, self._path), daemon=True)
                process.start()
                there.close()
                self._processes[here] = process
        self._given = {connection: deque() for connection in self._processes}
        self._free = deque([*self._processes] * BATCHES_AHEAD)

    @property
    def room(self) -> int:
        """Batches that those which were started hold at most, all together."""
        return BATCHES_AHEAD * len(self._processes)

    @property
    def can_take_one(self) -> bool:
        """Whether one of them can be given another batch."""
        return bool(self._free)

    @property
    def owe_any(self) -> bool:
        """Whether any of them has not answered all that it was given."""
        return any(self._given.values())

    def give(self, number: int, batch: Batch) -> None:
        """Give one that can take it a batch.

        Raises:
            UnavailableError, LedgerError: as for :meth:`answers`.
        """
        connection = self._free.popleft()
        try:
            connection.send_bytes(_encode(batch))
        except OSError:
            raise self._ended(connection) from None
        self._given[connection].append(number)

    def answers(self, *, block: bool) -> Iterator[tuple[int, Results]]:
        """Yield the answers that are there, each with the number of its batch; ``block`` waits for one.

        Raises:
            UnavailableError: one of them ended before its work did.
            LedgerError: the ledger can no longer be read.
        """
        asked = [connection for connection, numbers in self._given.items() if numbers]
        for connection in wait(asked, None if block else 0):
            assert isinstance(connection, Connection)
            try:
                answer = _read_answer(connection.recv_bytes())
            except (EOFError, OSError):
                raise self._ended(connection) from None
            if answer.error:
                raise _raised(answer)
            self._free.append(connection)
            yield self._given[connection].popleft(), answer.results

    def close(self) -> None:
        """End them, in the middle of a run where they have not done all of it."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join(SECONDS_TO_END)
            if process.is_alive():  # somebody stopped it: it would only hear of the end once it goes on
                process.kill()
                process.join()

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


@contextmanager
def _as_a_worker_starts(hash_seed: int | None) -> Iterator[None]:
    """Hold Ctrl-C back, which what is started then inherits, and set the seed that it begins with.

    It takes no module from the folder where the command is run, which may have one called ``signal``.
    """
    given = {"PYTHONSAFEPATH": "1"} | ({"PYTHONHASHSEED": str(hash_seed)} if hash_seed is not None else {})
    before = {name: os.environ.pop(name, None) for name in given}
    os.environ.update(given)
    masked = hasattr(signal, "pthread_sigmask")
    if masked:
        resource_tracker.ensure_running()  # the first worker would start it, which lets Ctrl-C through again
    held_back = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if masked else set()
    try:
        yield
    finally:
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, held_back)
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _work(connection: Connection, path: Path) -> None:
    """Fold batches until there are no more, or nobody wants them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        try:
            with closing(BatchFolder(path)) as here:
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
