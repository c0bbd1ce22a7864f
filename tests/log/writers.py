"""Processes that write to a ledger while a test looks at it."""

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from ledger.core.entries import Entry
from ledger.dialects import DIALECTS
from ledger.log.verifying import Verification
from tests.log.damages import said

ROOT = Path(__file__).parents[2]

_APPEND = """
import sys
from ledger.log.sqlite_store import SqliteStore
from tests.log.damages import open_run, opened
from tests.log.writers import records
path, name = sys.argv[1:]
with SqliteStore.open(path, create=True) as store:
    run_no = open_run(store, opened(name, None))
    size = 1
    while True:
        store.append(run_no, records(size + 1, size + 50))
        size += 50
        print(size, flush=True)
"""


def records(first: int, last: int) -> list[Entry]:
    """Lines of a program, of which :func:`assert_holds` can check all that is to be checked."""
    return [said(seq) for seq in range(first, last + 1)]


def assert_holds(path: Path) -> int:
    """Verify a ledger, and return how many entries it has."""
    with Verification(path, DIALECTS) as verification:
        assert list(verification.findings()) == []
        return verification.summary.entries


def spawn(script: str, *words: str | Path) -> "subprocess.Popen[bytes]":
    """Start a script that can import the project and its tests."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


class Writer:
    """A process that appends batches of 50 without a pause, and is killed in the end."""

    def __init__(self, path: Path, run_id: str) -> None:
        self._process = spawn(_APPEND, path, run_id)

    def __enter__(self) -> "Writer":
        self.wait_for_more()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def wait_for_more(self) -> int:
        """Wait until it tells of one batch more, and return the size of its run then."""
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        if not told:
            assert self._process.stderr is not None
            raise AssertionError(self._process.stderr.read().decode())
        return int(told)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()
