"""Histories decided again: many runs and one long run, in one process and in two, cold and with what is kept.

Each measurement is a process of its own that recomputes a whole ledger: it is what ``python -m
tests.bench.history LEDGER JOBS`` does. Cold, nothing is kept beforehand, and what is folded is kept; the
starting of workers counts, that of the interpreter does not.
"""

import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from ledger.core.entries import Entry
from ledger.core.observations import RunOpened, decode_observation, encode_observation
from ledger.log.decision_cache import NAME, DecisionCache
from ledger.log.sqlite_store import SqliteStore
from ledger.recompute.choosing import Choice
from ledger.recompute.recomputation import Recomputation, RunDecided
from ledger.recompute.workers import Workers
from tests.bench.limits import scan_and_decode
from tests.bench.lines import BATCH, documents, record_lines, run_entries, run_row
from tests.memory import peak

RUNS = 1000
LINES = 1000

_ROOT = Path(__file__).parent.parent.parent


class Recomputed(msgspec.Struct, frozen=True, kw_only=True):
    """What recomputing a ledger took: CPU seconds of all its processes, and seconds by the clock.

    Attributes:
        peak: bytes of memory at the peak of the process that gathers the decisions.
    """

    cpu: float
    wall: float
    peak: int


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What was found on one ledger.

    Attributes:
        scan: CPU seconds of one scan and typed decode of all its entries: the fold limit.
        cold: in one process, nothing kept.
        two: in two, nothing kept.
        kept: in one, everything kept.
    """

    runs: int
    lines: int
    scan: float
    cold: Recomputed
    two: Recomputed
    kept: Recomputed


def measure_histories(runs: int, lines: int, folder: Path, times: int) -> tuple[History, ...]:
    """Measure a ledger of many runs, one of a tenth as many, and one of a single run of all their lines.

    Args:
        runs: runs of the first ledger.
        lines: RECORD lines of each of them.
        folder: where to make the ledgers.
        times: how often each is measured; the quickest counts.
    """
    shapes = (runs, lines), (max(1, runs // 10), lines), (1, runs * lines)
    return tuple(_measure(*shape, folder, times) for shape in shapes)


def _measure(runs: int, lines: int, folder: Path, times: int) -> History:
    with TemporaryDirectory(dir=folder) as name:
        ledger = Path(name) / "history.db"
        _make(ledger, runs, lines)
        scans: list[float] = []
        cold: list[Recomputed] = []
        two: list[Recomputed] = []
        kept: list[Recomputed] = []
        for _ in range(times):
            before = time.process_time()
            scan_and_decode(ledger)
            scans.append(time.process_time() - before)
            for jobs, taken in ((2, two), (1, cold)):
                _forget(ledger)
                taken.append(_recomputed(ledger, jobs))
            kept.append(_recomputed(ledger, 1))
    return History(
        runs=runs, lines=lines, scan=min(scans), cold=_least(cold), two=_least(two), kept=_least(kept)
    )


def _least(taken: list[Recomputed]) -> Recomputed:
    return min(taken, key=lambda one: one.wall)


def _make(ledger: Path, runs: int, lines: int) -> None:
    """Make a ledger of equal runs."""
    with SqliteStore.open(ledger, create=True) as store:
        for number in range(runs):
            entries = _of_run(f"run_{number:07}", run_entries(record_lines(lines), lines, narrowed=False))
            row = msgspec.structs.replace(run_row(), run_id=f"run_{number:07}")
            run = store.open_run(row, list(islice(entries, BATCH)), documents())
            while batch := list(islice(entries, BATCH)):
                store.append(run.run_no, batch)


def _of_run(run_id: str, entries: Iterator[Entry]) -> Iterator[Entry]:
    first = next(entries)
    opened = decode_observation(first.body or b"")
    assert isinstance(opened, RunOpened)
    body = encode_observation(msgspec.structs.replace(opened, run_id=run_id))
    yield msgspec.structs.replace(first, body=body)
    yield from entries


def _forget(ledger: Path) -> None:
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute(f"DROP TABLE IF EXISTS {NAME}")


def _recomputed(ledger: Path, jobs: int) -> Recomputed:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.history", str(ledger), str(jobs)],
        cwd=_ROOT,
        capture_output=True,
        check=True,
        timeout=600,
    )
    return msgspec.json.decode(done.stdout, type=Recomputed)


def _recompute(ledger: Path, jobs: int) -> Recomputed:
    """Decide every run of a ledger again, and see that all of it was decided."""
    cpu, wall = time.process_time(), time.perf_counter()
    with SqliteStore.open(ledger, create=False, read_only=True) as store:
        folding = Workers(ledger, jobs)
        with DecisionCache.open(ledger, read_only=False) as cache, closing(folding):
            recomputation = Recomputation(store, Choice(None, None), folding, cache=cache)
            told = list(map(_is_decided, recomputation.decide(store.runs_as_appended())))
        if not all(told) or recomputation.unkept:
            raise AssertionError(f"expected every run decided and kept, found {recomputation.unkept!r}")
    wall = time.perf_counter() - wall
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() - cpu + used.ru_utime + used.ru_stime
    return Recomputed(cpu=cpu, wall=wall, peak=peak() * 1024)


def _is_decided(one: object) -> bool:
    return isinstance(one, RunDecided) and one.after.status == "succeeded"


if __name__ == "__main__":
    found = _recompute(Path(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.buffer.write(msgspec.json.encode(found))
