"""The long fuzz: ``make fuzz``, or ``python -m tests.fuzz.hunt --seed 1 --count 1000000``.

``--count`` says how many damaged lines are read; of the other kinds, which take longer, there are fewer. The
work is done in processes, each watched by this one, so that a hang in foreign code is found too.
What fails is made small, written to a file, and can be tried again with ``--replay FILE``.
"""

import argparse
import multiprocessing
import os
import sys
import time
from functools import partial
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.fuzz.inputs import KINDS, LINES_AT_ONCE, kind_of
from tests.fuzz.shrinking import shrink
from tests.fuzz.trial import Fault, hold, make, working_in

KEPT_IN = Path(".fuzz")
STALE_SECONDS = 300.0
"""After so long without a finished input a process counts as hanging."""

SHARES = {
    "lines": LINES_AT_ONCE,
    "transcript": 20,
    "capture": 50,
    "manifest": 10,
    "command": 500,
    "ledger": 500,
}
"""Of each kind there is one input for so many lines."""


class Work(NamedTuple):
    """The inputs of one kind that one process takes: number ``first``, every ``step``-th, before ``end``."""

    kind: str
    seed: int
    first: int
    end: int
    step: int


def main(words: list[str] | None = None) -> int:
    """Hunt, or replay one input; 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hunt", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1_000_000, help="how many lines; others in proportion")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try one input again")
    asked = parser.parse_args(words)
    if asked.replay is not None:
        return replay(asked.replay)
    failed = False
    for kind in asked.kind or KINDS:
        count = max(1, asked.count // SHARES[kind])
        failed |= hunt(kind, asked.seed, count, min(asked.jobs, count))
    return int(failed)


def replay(path: Path) -> int:
    """Try a kept input again."""
    body = path.read_bytes()
    with TemporaryDirectory() as folder, working_in(Path(folder)):
        fault = hold(kind_of(path), body)
    print(f"{path}: all that is claimed holds" if fault is None else fault.told)
    return int(fault is not None)


def hunt(kind: str, seed: int, count: int, jobs: int) -> bool:
    """Hold so many inputs of a kind; tell whether one failed."""
    started = time.monotonic()
    workers = [_Worker(Work(kind, seed, job, count, jobs)) for job in range(jobs)]
    failed = False
    while any(worker.process.is_alive() for worker in workers):
        time.sleep(1.0)
        done = sum(worker.done.value for worker in workers)
        for worker in workers:
            failed |= worker.is_stopped_for_hanging()
        _show_progress(kind, done, count, started)
    done = sum(worker.done.value for worker in workers)
    failed |= any(worker.process.exitcode for worker in workers)
    print(
        f"{kind}: {done} inputs in {time.monotonic() - started:.0f} s, {'FAILED' if failed else 'all held'}"
    )
    return failed


class _Worker:
    """A process at work, and how far it is."""

    def __init__(self, work: Work) -> None:
        context = multiprocessing.get_context("spawn")
        self.work = work
        self.done: Synchronized[int] = context.Value("q", 0)
        self.process = context.Process(target=_work, args=(work, self.done, Path.cwd()))
        self.process.start()
        self._seen, self._since = -1, time.monotonic()

    def is_stopped_for_hanging(self) -> bool:
        """End the process, and tell so, where it has not finished an input for long."""
        if self.done.value != self._seen:
            self._seen, self._since = self.done.value, time.monotonic()
        if not self.process.is_alive() or time.monotonic() - self._since < STALE_SECONDS:
            return False
        self.process.kill()
        number = self.work.first + self.done.value * self.work.step
        body = make(self.work.kind, self.work.seed, number)
        _keep(Path.cwd(), self.work, number, body, Fault("hang", f"no end after {STALE_SECONDS:.0f} s\n"))
        return True


def _work(work: Work, done: "Synchronized[int]", home: Path) -> None:
    """Hold the inputs of one process; stop at the first that fails, made small."""
    with TemporaryDirectory() as folder, working_in(Path(folder)):
        for number in range(work.first, work.end, work.step):
            body = make(work.kind, work.seed, number)
            fault = hold(work.kind, body)
            if fault is not None:
                small = shrink(body, partial(_fails_alike, work.kind, fault.where))
                _keep(home, work, number, small, hold(work.kind, small) or fault)
                sys.exit(1)
            done.value += 1


def _fails_alike(kind: str, where: str, body: bytes) -> bool:
    fault = hold(kind, body)
    return fault is not None and fault.where == where


def _keep(home: Path, work: Work, number: int, body: bytes, fault: Fault) -> None:
    """Write an input that fails to a file, and say how to try it again."""
    kept = home / KEPT_IN / f"{work.kind}-{work.seed}-{number}{KINDS[work.kind].suffix}"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(body)
    print(
        f"{fault.told}\n{fault.where}; {len(body)} bytes kept in {kept}; try it again with", file=sys.stderr
    )
    print(f"  python -m tests.fuzz.hunt --replay {kept.relative_to(home)}", file=sys.stderr)


def _show_progress(kind: str, done: int, count: int, started: float) -> None:
    rate = done / max(0.001, time.monotonic() - started)
    end = "\r" if sys.stdout.isatty() else "\n"
    if sys.stdout.isatty() or int(time.monotonic() - started) % 30 == 0:
        print(f"{kind}: {done} of {count}, {rate:.0f} a second  ", end=end, flush=True)


if __name__ == "__main__":
    sys.exit(main())
