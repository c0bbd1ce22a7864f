"""The measurements, one round after another.

Everything is measured once a round, what is compared right after what it is compared with, so that a machine
that slows down slows both sides of a ratio. A ledger is made anew in every round, in a folder of its own.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import msgspec

from ledger.core.digests import digest
from ledger.core.entries import Entry
from ledger.dialects import DIALECTS
from ledger.dialects.collection_profile import DIALECT
from ledger.exchange.exporting import export_run
from ledger.exchange.importing import import_transcript
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import RunRow
from ledger.log.verifying import Verification
from ledger.replay.replay import replay
from tests.bench import limits
from tests.bench.lines import BATCH, MANIFEST, Workload, documents, run_row

_Result = TypeVar("_Result")

HAS_EVENTSOURCING = find_spec("eventsourcing") is not None


class Timing(msgspec.Struct, frozen=True):
    """What one measurement took, in seconds: CPU time of this process, user and system, and by the clock."""

    cpu: float
    wall: float


class Rounds:
    """Timings by what was measured, one a round."""

    def __init__(self) -> None:
        self.timings: dict[str, list[Timing]] = {}

    def measure(self, what: str, work: Callable[[], _Result]) -> _Result:
        """Run a piece of work once, and keep what it took."""
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        took = Timing(time.process_time() - cpu, time.perf_counter() - wall)
        self.timings.setdefault(what, []).append(took)
        return result


def run_round(rounds: Rounds, workload: Workload, folder: Path) -> None:
    """Measure everything once."""
    with TemporaryDirectory(dir=folder) as name:
        here = Path(name)
        rounds.measure("decode", lambda: limits.decode_all(workload.records))
        rounds.measure("sha256", lambda: limits.hash_all(workload.records))
        _write(rounds, workload, here)
        if HAS_EVENTSOURCING:
            _compare(rounds, workload, here)
        _read(rounds, workload, here)


def append_run(store: SqliteStore, entries: list[Entry]) -> RunRow:
    """Append a run as a recorder does: 1,000 entries a batch, every guard on."""
    run = store.open_run(run_row(), entries[:BATCH], documents())
    for first in range(BATCH, len(entries), BATCH):
        store.append(run.run_no, entries[first : first + BATCH])
    return run


def _write(rounds: Rounds, workload: Workload, here: Path) -> None:
    rounds.measure("append limit", lambda: limits.append_bare(here / "limit.db", workload.records))
    with SqliteStore.open(here / "ledger.db", create=True) as store:
        rounds.measure("append", lambda: append_run(store, workload.entries))
    transcript = here / "run.jsonl"
    transcript.write_bytes(workload.transcript)
    with SqliteStore.open(here / "imported.db", create=True) as store:
        rounds.measure("import", lambda: import_transcript(store, transcript, DIALECTS))
    with SqliteStore.open(here / "narrowed.db", create=True) as store:
        append_run(store, workload.narrowed)


def _compare(rounds: Rounds, workload: Workload, here: Path) -> None:
    from tests.bench.eventsourcing_package import append_all, open_application, replay_all

    lines = [line.decode() for line in workload.records]
    with open_application(here / "eventsourcing.db") as application:
        run = rounds.measure("eventsourcing append", lambda: append_all(application, lines))
        counted = rounds.measure("eventsourcing replay", lambda: replay_all(application, run))
    if counted != len(lines):
        raise AssertionError(f"expected {len(lines)} records from eventsourcing, found {counted}")


def _read(rounds: Rounds, workload: Workload, here: Path) -> None:
    rounds.measure("fold limit", lambda: limits.scan_and_decode(here / "ledger.db"))
    with _opened(here / "ledger.db") as (store, run):
        rounds.measure("fold", lambda: _fold(store, run, len(workload.records)))
    with _opened(here / "narrowed.db") as (store, run):
        rounds.measure("fold narrowed", lambda: _fold(store, run, len(workload.records)))
    with Verification(here / "ledger.db", DIALECTS) as verification:
        findings = rounds.measure("verify", lambda: list(verification.findings()))
    if findings:
        raise AssertionError(f"expected a ledger that verifies, found {findings[0]}")
    with _opened(here / "ledger.db") as (store, run), (here / "export.jsonl").open("wb") as out:
        rounds.measure("export", lambda: export_run(store, run, out))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[SqliteStore, RunRow]]:
    with SqliteStore.open(path, create=False, read_only=True) as store:
        yield store, next(store.runs())


def _fold(store: SqliteStore, run: RunRow, records: int) -> None:
    """Fold and decide, and see that all of it was taken: a run that broke a rule would be folded faster."""
    decision = replay(DIALECT, store.entries(run.run_no), store.documents([digest(MANIFEST)]))
    accepted = sum(stream.accepted for stream in decision.records)
    if (decision.status, accepted) != ("succeeded", records):
        raise AssertionError(f"expected {records} records accepted, found {decision.status}, {accepted}")
