"""Signals at any moment of a command: the right status, no traceback, nothing half-done."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, environment, run
from tests.cli.transcripts import ROOT, record, said, start, write

INTERRUPTED = (130, b"", b"runledger: interrupted\n")

# Sends a signal to itself when a module is about to be imported.
STRUCK = """
import os, sys

_, module, number, *words = sys.argv

class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), int(number))

sys.meta_path.insert(0, Strike())
sys.argv = ["runledger", *words]
from cli.__main__ import main
main()
"""

# Sends a signal to itself so many seconds after it took over its signals.
STRUCK_LATER = """
import os, signal, sys

_, seconds, number, *words = sys.argv
from cli.__main__ import main
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), int(number)))
signal.setitimer(signal.ITIMER_REAL, float(seconds))
sys.argv = ["runledger", *words]
main()
"""


def struck(script: str, *words: object) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-c", script, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def begun(
    *words: str | Path, stdin: int | None = None, ignored: int | None = None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        cwd=ROOT,
        env=environment(),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=None if ignored is None else lambda: signal.signal(ignored, signal.SIG_IGN) and None,
    )


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    with process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize(
    "module", ["cli.main", "typer", "msgspec", "cli.commands.import_", "ledger.log.sqlite_store"]
)
def test_an_interrupt_while_python_still_imports_shows_no_traceback(samples: Path, module: str) -> None:
    assert struck(STRUCK, module, int(signal.SIGINT), "-l", samples, "runs") == INTERRUPTED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_ends_it_without_a_word(number: signal.Signals) -> None:
    process = begun("manifest", "check", "-", stdin=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(number)
    assert ended(process) == (-number, b"", b"")


def test_what_is_ignored_from_the_outset_stays_ignored(samples: Path) -> None:
    process = begun("manifest", "check", "-", stdin=subprocess.PIPE, ignored=signal.SIGHUP)
    time.sleep(0.5)
    process.send_signal(signal.SIGHUP)
    status, _, err = ended(process)
    assert status == 3
    assert b"Traceback" not in err


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transcript that takes a while."""
    lines = said(*(record("messages", f"msg_{number}", text="x" * 100) for number in range(60_000)))
    return write(tmp_path_factory.mktemp("long") / "long.jsonl", *start(), *lines)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_an_import_leaves_what_the_same_import_completes(
    tmp_path: Path, long: Path, number: signal.Signals
) -> None:
    words = ("-l", tmp_path / "ledger.db", "import", long)
    process = begun(*words)
    while not (tmp_path / "ledger.db").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(number)
    assert ended(process) == (INTERRUPTED if number == signal.SIGINT else (-number, b"", b""))
    assert run("-l", tmp_path / "ledger.db", "verify").status == 0
    again = run(*words)
    assert again.status == 0
    assert f"{60_000 + 3}" in again.out


@pytest.fixture(scope="module")
def imported(long: Path) -> Path:
    """A ledger that takes a while to read."""
    ledger = long.with_name("ledger.db")
    assert run("-l", ledger, "import", long).status == 0
    return ledger


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "words",
    [("verify",), ("why", "@latest"), ("export", "@latest", "out"), ("backup", "out/copy.db")],
    ids=lambda words: words[0],
)
def test_a_signal_at_any_moment_leaves_the_whole_or_nothing(
    tmp_path: Path, imported: Path, words: tuple[str, ...], number: signal.Signals
) -> None:
    (tmp_path / "out").mkdir()
    placed = [str(tmp_path / word) if word.startswith("out") else word for word in words]
    for delay in (0.01, 0.15, 0.25, 0.35):
        status, _, err = struck(STRUCK_LATER, delay, int(number), "-l", imported, *placed)
        assert b"Traceback" not in err
        if status != 0:
            assert (status, err) == (INTERRUPTED[::2] if number == signal.SIGINT else (-number, b""))
        for file in (tmp_path / "out").iterdir():
            assert file.suffix in (".jsonl", ".db"), "no part of one"
            file.unlink()
