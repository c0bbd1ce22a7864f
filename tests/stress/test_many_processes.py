"""Eight writers and four readers on one ledger: nothing lost, nobody refused, the WAL bounded."""

import json
import time
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ledger.core.digests import digest
from ledger.core.entries import PROGRAM, RUNTIME, Entry
from ledger.core.observations import ProgramExited, RunClosed, RunOpened, Trigger
from ledger.dialects import DIALECTS
from ledger.exchange import importing
from ledger.exchange.importing import import_transcript
from ledger.log import recorder, transactions
from ledger.log.recorder import RunRecorder
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow, RunRow, Store
from ledger.replay.replay import opening, replay
from tests.cli.transcripts import MANIFEST, record, said, start, write
from tests.stress.children import FORK, IS_FULL, SECONDS, assert_sound, begin

WRITERS = 8
READERS = 4
WAL_BYTES = transactions.WAL_BYTES if IS_FULL else 2 * 1024 * 1024
MANIFEST_BODY = json.dumps(MANIFEST).encode()
DIALECT = DIALECTS["collection-profile"]


class Told(NamedTuple):
    """What a child has to say when it is done: what it wrote, or read; or what went wrong."""

    name: str
    sizes: dict[str, int]
    reads: int
    error: str


def telling(work: Callable[[Path, str, float], tuple[dict[str, int], int]]) -> Callable[..., None]:
    """Make of some work a child that always says how it went."""

    def child(ledger: Path, name: str, until: float, told: "Queue[Told]") -> None:
        try:
            sizes, reads = work(ledger, name, until)
            told.put(Told(name, sizes, reads, ""))
        except BaseException as error:
            told.put(Told(name, {}, 0, repr(error)))

    return child


def record_runs(ledger: Path, name: str, until: float) -> tuple[dict[str, int], int]:
    """Record one run after the other, each flushed now and then; return how long each became."""
    sizes: dict[str, int] = {}
    with SqliteStore.open(ledger, create=True) as store:
        while time.monotonic() < until:
            run_id = f"{name}_{len(sizes)}"
            with RunRecorder(
                store,
                DIALECT,
                opened(run_id),
                at=1,
                clock=time.monotonic,
                documents=[DocumentRow(digest=digest(MANIFEST_BODY), media_type="", body=MANIFEST_BODY)],
            ) as run:
                run.line(2, RUNTIME, "", wire(start(run_id)))
                for number in range(400):
                    run.line(3, PROGRAM, "", wire(said(record("messages", f"m{number}", text="x" * 200))))
                run.observe(4, ProgramExited(code=0))
                run.observe(5, RunClosed())
                sizes[run_id] = run.seq
    return sizes, 0


def import_runs(ledger: Path, name: str, until: float) -> tuple[dict[str, int], int]:
    """Import one transcript after the other."""
    sizes: dict[str, int] = {}
    with SqliteStore.open(ledger, create=True) as store:
        while time.monotonic() < until:
            run_id = f"{name}_{len(sizes)}"
            lines = said(*(record("messages", f"m{number}", text="x" * 200) for number in range(400)))
            path = write(ledger.parent / f"{name}.jsonl", *start(run_id), *lines, run_id=run_id)
            sizes[run_id] = import_transcript(store, path, DIALECTS).entries
    return sizes, 0


def read_all(ledger: Path, name: str, until: float) -> tuple[dict[str, int], int]:
    """Read everything again and again with one store, and keep one read unfinished all the while."""
    reads = 0
    with SqliteStore.open(ledger, create=False, read_only=True) as store:
        unfinished: Iterator[Entry] = iter(())
        while time.monotonic() < until:
            for run in islice(store.runs(), 20):
                size = store.size(run.run_no)
                seqs = [entry.seq for entry in store.entries(run.run_no)]
                assert seqs == list(range(1, len(seqs) + 1))
                assert len(seqs) >= size
                decide(store, run)
                unfinished = store.entries(run.run_no)
                next(unfinished, None)
                reads += 1
            closed = [run_no for run_no, _ in store.observations("RUN_CLOSED")]
            assert closed == sorted(closed)
    return {}, reads


def decide(store: Store, run: RunRow) -> None:
    first = next(store.entries(run.run_no))
    said_first = opening(first)
    assert said_first is not None
    manifests = [said_first.manifest] if said_first.manifest is not None else []
    decision = replay(DIALECT, store.entries(run.run_no), store.documents(manifests))
    assert decision.status in ("running", "failed", "abandoned", "succeeded")


def opened(run_id: str) -> RunOpened:
    return RunOpened(
        run_id=run_id,
        dialect="collection-profile",
        program="mail",
        manifest=digest(MANIFEST_BODY),
        trigger=Trigger(kind="proactive"),
        namespace="global",
        via="recorded",
        recorder="tests",
    )


def wire(lines: list[dict[str, Any]]) -> bytes:
    return str(lines[0]["line"]).encode()


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseProcess]]:
    """The children of a test, ended with it; they have small batches and a short WAL."""
    monkeypatch.setattr(transactions, "WAL_BYTES", WAL_BYTES)
    monkeypatch.setattr(importing, "BATCH_LINES", 100)
    monkeypatch.setattr(recorder, "BATCH_LINES", 100)
    begun: list[BaseProcess] = []
    yield begun
    for child in begun:
        child.kill()
        child.join()


def test_eight_writers_and_four_readers_lose_nothing_and_nobody_is_refused(
    tmp_path: Path, children: list[BaseProcess]
) -> None:
    ledger, until = tmp_path / "ledger.db", time.monotonic() + SECONDS
    SqliteStore.open(ledger, create=True).close()
    told: Queue[Told] = FORK.Queue()
    work = [record_runs, import_runs] * (WRITERS // 2) + [read_all] * READERS
    for number, one in enumerate(work):
        children.append(begin(telling(one), ledger, f"{one.__name__}_{number}", until, told))
    longest_wal = watch_wal(ledger, until)
    done = [told.get(timeout=transactions.BUSY_SECONDS) for _ in work]
    for child in children:
        child.join()

    assert [one.error for one in done if one.error] == []
    sizes = {run_id: size for one in done for run_id, size in one.sizes.items()}
    assert sum(bool(one.sizes) for one in done) == WRITERS, "nobody starved"
    assert sum(bool(one.reads) for one in done) == READERS
    assert_sound(ledger)
    with SqliteStore.open(ledger, create=False, read_only=True) as store:
        assert {run.run_id: store.size(run.run_no) for run in store.runs()} == sizes
    assert longest_wal < 2 * WAL_BYTES + 8 * 1024 * 1024


def watch_wal(ledger: Path, until: float) -> int:
    """Return the length that the WAL had at its longest."""
    wal, longest = Path(f"{ledger}-wal"), 0
    while time.monotonic() < until:
        if wal.exists():
            longest = max(longest, wal.stat().st_size)
        time.sleep(0.02)
    return longest


def bring_in(ledger: Path, name: str, until: float) -> tuple[dict[str, int], int]:
    """Import one file, at the same moment as the others."""
    while time.monotonic() < until:
        time.sleep(0.001)
    with SqliteStore.open(ledger, create=True) as store:
        done = import_transcript(store, ledger.parent / "same.jsonl", DIALECTS)
    return {name: done.appended}, done.entries


def test_imports_of_one_file_at_once_all_end_with_the_whole_run(
    folder: Path, children: list[BaseProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_LINES", 10)
    lines = said(*(record("messages", f"m{number}") for number in range(300)))
    write(folder / "same.jsonl", *start(), *lines)
    for attempt in range(20 if IS_FULL else 3):
        ledger, until = folder / f"{attempt}.db", time.monotonic() + 0.2
        told: Queue[Told] = FORK.Queue()
        for number in range(4):
            children.append(begin(telling(bring_in), ledger, f"import_{number}", until, told))
        done = [told.get(timeout=transactions.BUSY_SECONDS) for _ in range(4)]
        assert [(one.error, one.reads) for one in done] == [("", 303)] * 4
        assert sum(appended for one in done for appended in one.sizes.values()) == 303
        assert_sound(ledger)
