"""How the tests call the command: as a process, in this process, and at a terminal."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.main import app
from tests.cli.transcripts import ROOT

COMMAND = [sys.executable, "-m", "cli"]
RUNNER = CliRunner()


class Done:
    """How a command ended, and what it printed."""

    def __init__(self, status: int, out: bytes, err: str) -> None:
        self.status = status
        self.raw = out
        self.err = err

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def lines(self) -> list[str]:
        return self.out.removesuffix("\n").split("\n") if self.raw else []


def environment(**more: str | None) -> dict[str, str]:
    """The environment of a command: no ledger, no wish about colour, a page of 100 columns."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RUNLEDGER")}
    clean |= {"COLUMNS": "100", "PYTHONPATH": str(ROOT)}
    clean.pop("NO_COLOR", None)
    return clean | {name: value for name, value in more.items() if value is not None}


def run(*words: str | Path, cwd: Path = ROOT, stdin: bytes = b"", **env: str | None) -> Done:
    """Run the command as a process."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=cwd,
        env=environment(**env),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "backslashreplace"))


def call(*words: str | Path, stdin: bytes | None = None, **env: str) -> Done:
    """Call the command in this process, where neither signals nor terminals matter."""
    result = RUNNER.invoke(
        app, list(map(str, words)), input=stdin, env={"COLUMNS": "100", "RUNLEDGER": None, **env}
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout_bytes, result.stderr)


def page_of(done: Done) -> str:
    """The page on one line, so that where it wraps does not matter."""
    assert done.status == 0, done.err
    return " ".join(done.out.split())


def why(ledger: Path, *words: str) -> str:
    return page_of(call("-l", ledger, "why", *words))


def explained(ledger: Path, *words: str) -> Any:
    return call("-l", ledger, "why", *words, "-o", "json").json


def bring(ledger: Path, path: Path) -> None:
    """Import a transcript."""
    done = call("-l", ledger, "import", path)
    assert done.status == 0, done.err


def at_terminal(
    *words: str | Path, cwd: Path = ROOT, answer: bytes = b"", **env: str | None
) -> tuple[int, bytes]:
    """Run the command at a terminal of its own, and return its status and all that the terminal was sent.

    The answer is typed before anything is asked.
    """
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    try:
        process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            cwd=cwd,
            env=environment(TERM="xterm-256color", **env),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            close_fds=True,
        )
    finally:
        os.close(theirs)
    sent = bytearray()
    deadline = time.monotonic() + 60
    with process:
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    some = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not some:
                    break
                sent += some
        os.close(ours)
        status = process.wait(timeout=10)
    return status, bytes(sent)
