"""``runledger backup``: what it prints, and how it ends where it cannot copy."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, at_terminal, call, environment
from tests.cli.transcripts import ROOT, record, said, start, write


def test_what_was_copied_is_told_as_data(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    done = call("-l", ledger, "backup", copy, "-o", "json")
    entries = sum(row["entries"] for row in call("-l", ledger, "runs", "-n", "0", "-o", "json").json)
    runs = len(call("-l", ledger, "runs", "-n", "0", "-o", "json").json)
    assert (done.status, done.err) == (0, "")
    assert done.json == [{"path": str(copy), "runs": runs, "entries": entries, "bytes": copy.stat().st_size}]
    assert call("-l", copy, "verify").status == 0
    assert call("-l", copy, "heads").out == call("-l", ledger, "heads").out


def test_a_table_is_printed_for_people(ledger: Path, tmp_path: Path) -> None:
    done = call("-l", ledger, "backup", tmp_path / "copy.db")
    assert done.lines[0].split() == ["PATH", "RUNS", "ENTRIES", "BYTES"]
    assert len(done.lines) == 2


@pytest.mark.parametrize(
    ("dest", "status"),
    [("ledger.db", 2), (".", 2), ("notes.txt", 2), ("nowhere/copy.db", 4), ("notes.txt/copy.db", 4)],
)
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["plain", "force"])
def test_a_copy_goes_where_nothing_else_is(
    ledger: Path, dest: str, status: int, force: tuple[str, ...]
) -> None:
    (ledger.parent / "notes.txt").write_text("mine")
    done = call("-l", ledger, "backup", ledger.parent / dest, *force)
    assert (done.status, done.out) == (status, "")
    assert len(done.err.splitlines()) == 1
    assert (ledger.parent / "notes.txt").read_text() == "mine"


def test_an_earlier_copy_is_replaced_by_force_alone(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert call("-l", ledger, "backup", copy).status == 0
    again = call("-l", ledger, "backup", copy)
    assert (again.status, again.out) == (2, "")
    assert "--force" in again.err
    assert call("-l", ledger, "backup", copy, "--force").status == 0


def test_no_ledger_is_not_found(tmp_path: Path) -> None:
    done = call("-l", tmp_path / "nothing.db", "backup", tmp_path / "copy.db")
    assert (done.status, done.out) == (4, "")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of some 25 MB."""
    folder = tmp_path_factory.mktemp("large")
    lines = said(*(record("messages", f"msg_{number}", text="x" * 2000) for number in range(10_000)))
    done = call("-l", folder / "ledger.db", "import", write(folder / "run.jsonl", *start(), *lines))
    assert done.status == 0
    return folder / "ledger.db"


def test_a_terminal_sees_how_far_it_is(large: Path, tmp_path: Path) -> None:
    status, sent = at_terminal("-l", large, "backup", tmp_path / "copy.db")
    assert status == 0
    assert b"copy.db" in sent
    assert b"MB" in sent


@pytest.mark.parametrize(
    ("told", "status", "words"),
    [(signal.SIGINT, 130, b"runledger: interrupted\n"), (signal.SIGTERM, -signal.SIGTERM, b"")],
)
def test_an_interrupted_copy_leaves_nothing(
    large: Path, tmp_path: Path, told: signal.Signals, status: int, words: bytes
) -> None:
    script = (
        "import sys, ledger.log.backup as b; b.PAGES_A_STEP = 1;"
        "from cli.__main__ import main; sys.argv[0] = 'runledger'; main()"
    )
    process = subprocess.Popen(
        [COMMAND[0], "-c", script, "-l", large, "backup", tmp_path / "copy.db"],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        while not any(tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(told)
        out, err = process.communicate(timeout=30)
    if process.returncode == 0:
        pytest.skip("it was done before the signal came")
    assert (process.returncode, out, err) == (status, b"", words)
    assert os.listdir(tmp_path) == []


def test_a_copy_is_a_file_and_not_stdout(samples: Path) -> None:
    done = call("-l", samples, "backup", "-")
    assert (done.status, "found -" in done.err) == (2, True)
