"""The large run: how much memory folding it takes, and how long `runledger why` does on it.

Both are measured on processes of their own. ``python -m tests.bench.large LEDGER`` is the one that folds.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from ledger.core.digests import digest
from ledger.core.entries import Entry
from ledger.dialects.collection_profile import DIALECT
from ledger.log.sqlite_store import SqliteStore
from ledger.replay.replay import replay
from tests.bench.lines import BATCH, MANIFEST, RUN_ID, documents, record_lines, run_entries, run_row
from tests.bench.rounds import Timing
from tests.memory import peak

LARGE_LINES = 1_000_000

_ROOT = Path(__file__).parent.parent.parent


class Large(msgspec.Struct, frozen=True, kw_only=True):
    """What was found on the large run.

    Attributes:
        lines: RECORD lines of the run.
        fold_peak: bytes of memory at the peak of a process that folds it.
        why: what `runledger why` takes, interpreter and all.
        help: the same of `runledger --help`, which reads no ledger.
    """

    lines: int
    fold_peak: int
    why: Timing
    help: Timing


def measure_large(lines: int, folder: Path, times: int) -> Large:
    """Make a ledger with one run of so many RECORD lines, and measure on it; the quickest of ``times``."""
    with TemporaryDirectory(dir=folder) as name:
        ledger = Path(name) / "large.db"
        _make(ledger, lines)
        fold_peak = int(_run("-m", "tests.bench.large", str(ledger)))
        why = _quickest("-l", str(ledger), "why", RUN_ID, times=times)
        help_ = _quickest("--help", times=times)
    return Large(lines=lines, fold_peak=fold_peak, why=why, help=help_)


def _make(ledger: Path, lines: int) -> None:
    entries = run_entries(record_lines(lines), lines, narrowed=False)
    with SqliteStore.open(ledger, create=True) as store:
        run = store.open_run(run_row(), list(islice(entries, BATCH)), documents())
        for batch in _batches(entries):
            store.append(run.run_no, batch)


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while batch := list(islice(entries, BATCH)):
        yield batch


def _quickest(*words: str, times: int) -> Timing:
    taken: list[Timing] = []
    for _ in range(times):
        cpu, wall = _children(), time.perf_counter()
        _run("-m", "cli", *words)
        taken.append(Timing(_children() - cpu, time.perf_counter() - wall))
    return min(taken, key=lambda timing: timing.wall)


def _children() -> float:
    """Return the CPU seconds of all processes that this one waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=_ROOT, capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout


def _fold(ledger: Path) -> None:
    with SqliteStore.open(ledger, create=False, read_only=True) as store:
        run = next(store.runs())
        decision = replay(DIALECT, store.entries(run.run_no), store.documents([digest(MANIFEST)]))
    if decision.status != "succeeded":
        raise AssertionError(f"expected a run that succeeded, found {decision.status}")


if __name__ == "__main__":
    _fold(Path(sys.argv[1]))
    print(peak() * 1024)
