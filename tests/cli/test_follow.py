"""``log --follow``: what there is, then what other processes append, until the run is closed."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledger.core.entries import PROGRAM
from ledger.core.observations import ProgramExited, RunClosed, RunOpened, Trigger
from ledger.dialects import DIALECTS
from ledger.log.recorder import RunRecorder
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import COMMAND, call, environment, run
from tests.cli.transcripts import ROOT

PROFILE = DIALECTS["collection-profile"]
OPENED = RunOpened(
    run_id="run_live",
    dialect="collection-profile",
    program="odd",
    manifest=None,
    trigger=Trigger(kind="proactive"),
    namespace="global",
    via="recorded",
    recorder="tests",
)


class Follower:
    """The command as a process, and the lines that it prints."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._held = b""

    def line(self) -> str:
        """The next line, waited for."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + 30
        while b"\n" not in self._held:
            left = deadline - time.monotonic()
            assert left > 0, "nothing came"
            if select.select([self.process.stdout], [], [], left)[0]:
                some = os.read(self.process.stdout.fileno(), 65536)
                assert some, "the command has ended"
                self._held += some
        line, _, self._held = self._held.partition(b"\n")
        return line.decode()

    def rest(self) -> list[str]:
        out, _ = self.process.communicate(timeout=30)
        return (self._held + out).decode().splitlines()


@contextmanager
def following(ledger: Path, *words: str) -> Iterator[Follower]:
    process = subprocess.Popen(
        [*COMMAND, "-l", str(ledger), "log", "--follow", *words],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Follower(process)
    finally:
        process.kill()
        process.communicate(timeout=30)


@pytest.fixture
def store(into: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(into, create=True) as opened:
        yield opened


@pytest.fixture
def recorder(store: SqliteStore) -> RunRecorder:
    return RunRecorder(store, PROFILE, OPENED, at=0, clock=lambda: 0.0)


def say(recorder: RunRecorder, line: bytes) -> None:
    recorder.line(0, PROGRAM, "", line)
    recorder.flush()


def test_entries_are_printed_as_they_are_appended_until_the_end(into: Path, recorder: RunRecorder) -> None:
    with following(into, "run_live", "-o", "jsonl") as follower:
        assert json.loads(follower.line())["type"] == "RUN_OPENED"
        for number in range(3):
            say(recorder, b'{"type":"RECORD","stream":"a","n":%d}' % number)
            assert json.loads(follower.line())["seq"] == number + 2
        recorder.observe(0, ProgramExited(code=0))
        recorder.observe(0, RunClosed())
        assert [json.loads(line)["type"] for line in follower.rest()] == ["PROGRAM_EXITED", "RUN_CLOSED"]
        assert follower.process.returncode == 0


@pytest.mark.parametrize("form", ["text", "csv"])
def test_each_form_prints_line_by_line(into: Path, recorder: RunRecorder, form: str) -> None:
    with following(into, "run_live", "-o", form) as follower:
        assert "seq" in follower.line().lower()
        assert "RUN_OPENED" in follower.line()
        say(recorder, b'{"type":"STATE","stream":"a","cursor":1}')
        assert "STATE" in follower.line()


def test_raw_lines_are_followed_byte_for_byte(into: Path, recorder: RunRecorder) -> None:
    with following(into, "run_live", "--raw", "--origin", "program") as follower:
        for line in (b"one", b'{"type":"RECORD"}', b""):
            say(recorder, line)
            assert follower.line().encode() == line


def test_a_filter_holds_for_what_comes_too(into: Path, recorder: RunRecorder) -> None:
    with following(into, "run_live", "-o", "jsonl", "--type", "STATE", "--to", "4") as follower:
        say(recorder, b'{"type":"RECORD","stream":"a"}')
        say(recorder, b'{"type":"STATE","stream":"a"}')
        assert json.loads(follower.line())["seq"] == 3
        say(recorder, b'{"type":"STATE","stream":"b"}')
        assert [json.loads(line)["stream"] for line in follower.rest()] == ["b"], "and --to ends it"
        assert follower.process.returncode == 0


def test_ctrl_c_ends_it(into: Path, recorder: RunRecorder) -> None:
    with following(into, "run_live", "-o", "jsonl") as follower:
        follower.line()
        follower.process.send_signal(signal.SIGINT)
        assert follower.rest() == []
        assert follower.process.returncode == 130


def test_a_run_that_is_closed_is_printed_and_ends(samples: Path) -> None:
    for words in (("-o", "jsonl"), ("-o", "csv"), ("--raw",)):
        whole = run("-l", samples, "log", "run_ical-1", *words)
        assert run("-l", samples, "log", "run_ical-1", "--follow", *words).raw == whole.raw
    page = run("-l", samples, "log", "run_ical-1", "--follow")
    assert page.status == 0
    assert len(page.lines) == len(run("-l", samples, "log", "run_ical-1").lines)
    beyond = run("-l", samples, "log", "run_ical-1", "-f", "--from", "900", "-o", "jsonl")
    assert (beyond.status, beyond.raw) == (0, b"")


def test_a_json_document_that_would_never_end_is_wrong_usage(samples: Path) -> None:
    done = call("-l", samples, "log", "run_ical-1", "--follow", "-o", "json")
    assert (done.status, done.out) == (2, "")
    assert "jsonl" in done.err


def test_a_reader_who_leaves_ends_it_without_a_word(into: Path, recorder: RunRecorder) -> None:
    with following(into, "run_live", "-o", "jsonl") as follower:
        follower.line()
        assert follower.process.stdout is not None
        follower.process.stdout.close()
        say(recorder, b'{"type":"RECORD","stream":"a"}')
        assert follower.process.wait(30) == 0
        assert follower.process.stderr is not None
        assert follower.process.stderr.read() == b""
