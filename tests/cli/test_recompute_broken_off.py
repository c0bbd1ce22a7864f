"""``recompute`` broken off at any moment: no process is left, and the same command goes on from there."""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ledger.log.decision_cache import NAME
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import COMMAND, Done, call, environment
from tests.cli.transcripts import ROOT
from tests.recompute.histories import CREDITED, GOOD, REFERENCE, keep
from tests.recompute.processes import assert_all_end, children_of, workers_of
from tests.stress.children import IS_FULL

RUNS = 1500
KILLS = 60 if IS_FULL else 3
WORDS = ("recompute", "--against", REFERENCE, "--jobs", "3", "-o", "jsonl")
STOPPED = r"runledger: stopped after [\d,]+ runs?; "
KEPT = STOPPED + r"what was decided is kept: the same command goes on from there\n"
NOT_KEPT = STOPPED + r"nothing of it is kept\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that takes more than a second to recompute, and of which nothing is kept."""
    path = tmp_path_factory.mktemp("many") / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store._connection.execute("PRAGMA synchronous = OFF")
        for number in range(RUNS):
            keep(store, CREDITED if number % 2 else GOOD, f"run_{number:05d}")
    return path


@pytest.fixture(scope="module")
def expected(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a recomputation of it tells that nobody breaks off."""
    path = Path(shutil.copyfile(whole, tmp_path_factory.mktemp("expected") / "ledger.db"))
    return told(call("-l", path, *WORDS))[0]


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(whole, tmp_path / "ledger.db"))


@pytest.fixture
def moments() -> random.Random:
    """Draws when something happens; another draw every time."""
    return random.Random()


def told(done: Done) -> tuple[list[dict[str, Any]], int]:
    """Return the rows, without what only says how much was kept, and that."""
    assert (done.status, done.err) == (0, "")
    rows = [json.loads(line) for line in done.lines]
    del rows[-1]["decisions_folded"]
    return rows, rows[-1].pop("decisions_kept")


def begin(path: Path, *words: str, out: int | None = None) -> "subprocess.Popen[bytes]":
    """Start the command as a terminal starts one: in a group of processes of its own.

    It prints to a file beside the ledger, so that it never waits for a reader, unless there is to be one.
    """
    with path.with_suffix(".out").open("wb") as file:
        return subprocess.Popen(
            [*COMMAND, "-l", str(path), *WORDS, *words],
            cwd=ROOT,
            env=environment(),
            stdout=file if out is None else out,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def workers_at_work(process: "subprocess.Popen[bytes]") -> list[int]:
    """Wait until all workers are there."""
    while len(workers := workers_of(process.pid)) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    return workers


def wait_for(path: Path, process: "subprocess.Popen[bytes]", decisions: int) -> int:
    """Wait until so many decisions are kept, or the command has ended; return how many are."""
    while True:
        kept = 0
        with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.OperationalError):
            kept = connection.execute(f"SELECT count(*) FROM {NAME}").fetchone()[0]
        if kept >= decisions or process.poll() is not None:
            return kept
        time.sleep(0.01)


def ended(path: Path, process: "subprocess.Popen[bytes]", all_of_them: list[int]) -> Done:
    """Wait for a command that something happened to; every process that it started has to end by itself."""
    with process:
        _, err = process.communicate(timeout=60)
    assert_all_end(all_of_them)
    return Done(process.returncode, path.with_suffix(".out").read_bytes(), err.decode())


def goes_on(path: Path, expected: list[dict[str, Any]]) -> int:
    """Run the command again, hold what it tells against the whole, and return how much was kept."""
    rows, kept = told(call("-l", path, *WORDS, "--jobs", "1"))
    assert rows == expected
    return kept


def test_killed_at_any_moment_it_ends_with_the_same_when_run_again(
    whole: Path, tmp_path: Path, expected: list[dict[str, Any]], moments: random.Random
) -> None:
    for attempt in range(KILLS):
        path = Path(shutil.copyfile(whole, tmp_path / f"{attempt}.db"))
        process = begin(path)
        least = wait_for(path, process, moments.randrange(RUNS) if attempt else 0)
        time.sleep(moments.uniform(0, 0.1))
        started = children_of(process.pid)
        process.kill()
        ended(path, process, started)
        assert goes_on(path, expected) >= least


def test_a_worker_that_is_killed_is_told_of_and_nothing_else_is_left(
    path: Path, expected: list[dict[str, Any]]
) -> None:
    process = begin(path)
    workers = workers_at_work(process)
    started = children_of(process.pid)
    os.kill(workers[0], signal.SIGKILL)
    done = ended(path, process, started)
    assert done.status == 5
    assert re.fullmatch(
        KEPT
        + rf"runledger: expected worker {workers[0]} to go on folding, found that it ended \(-9\), as one "
        r"does that somebody kills or that runs out of memory; run it again, with --jobs 1 if need be\n",
        done.err,
    )
    goes_on(path, expected)


Send: TypeAlias = Callable[["subprocess.Popen[bytes]", signal.Signals], None]


def to_all(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    os.killpg(process.pid, number)


def to_it_alone(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    process.send_signal(number)


@pytest.mark.parametrize(
    ("send", "number"),
    [
        (to_all, signal.SIGINT),
        (to_it_alone, signal.SIGINT),
        (to_all, signal.SIGTERM),
        (to_it_alone, signal.SIGTERM),
        (to_all, signal.SIGHUP),
    ],
)
def test_a_signal_in_the_midst_of_it_says_how_to_go_on_and_leaves_no_process(
    path: Path, expected: list[dict[str, Any]], send: Send, number: signal.Signals
) -> None:
    process = begin(path)
    workers_at_work(process)
    started = children_of(process.pid)
    send(process, number)
    done = ended(path, process, started)
    interrupted = number == signal.SIGINT
    assert done.status == (130 if interrupted else -number)
    assert re.fullmatch(KEPT + ("runledger: interrupted\n" if interrupted else ""), done.err)
    assert all(json.loads(line) in expected for line in done.lines), "of what was printed no line is half"
    if send is to_all:
        goes_on(path, expected)


def test_a_signal_while_workers_are_started_leaves_no_process_and_no_traceback(
    path: Path, moments: random.Random
) -> None:
    for _ in range(KILLS):
        process = begin(path)
        while not children_of(process.pid):
            assert process.poll() is None
        time.sleep(moments.uniform(0, 0.1))
        started = children_of(process.pid)
        to_all(process, signal.SIGINT)
        done = ended(path, process, started)
        assert done.status in (0, 130)
        assert "Traceback" not in done.err
        assert len(done.err.splitlines()) <= 2


@pytest.mark.parametrize("word", ["--no-cache", "--twice"])
def test_what_keeps_nothing_does_not_say_that_it_did(path: Path, word: str) -> None:
    process = begin(path, word)
    workers_at_work(process)
    started = children_of(process.pid)
    to_all(process, signal.SIGINT)
    done = ended(path, process, started)
    assert done.status == 130
    assert re.fullmatch(NOT_KEPT + r"runledger: interrupted\n", done.err)


def test_a_reader_who_has_seen_enough_ends_it_without_a_word(path: Path) -> None:
    process = begin(path, out=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    started = children_of(process.pid)
    process.stdout.close()
    process.stdout = None
    done = ended(path, process, started)
    assert (done.status, done.err) == (0, "")
