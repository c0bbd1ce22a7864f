"""A ledger that is written to while it is verified gives no false alarm."""

import subprocess
import sys
from pathlib import Path

import pytest

from ledger.core.observations import EntriesErased
from ledger.dialects import DIALECTS
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import Verification
from ledger.log.verifying import pages as reading
from tests.log.damages import (
    MANIFEST,
    open_run,
    opened,
    said,
    seen,
)
from tests.log.verifying.asking import findings, known_heads

ROOT = Path(__file__).parents[3]


WRITER = """
import sys
from itertools import count
from ledger.core.observations import EntriesErased
from ledger.log.sqlite_store import SqliteStore
from tests.log.damages import OTHER_MANIFEST, open_run, opened, said, seen

def erase(store, run_no, seq, next_seq):
    store.erase(run_no, [seq], seen(next_seq, EntriesErased(entries=(seq,), reason="")))

with SqliteStore.open(sys.argv[1], create=False) as store:
    print("ready", flush=True)
    for number in count():
        run = opened(f"other_{number}", OTHER_MANIFEST)
        run_no = open_run(store, run, said(2), documents=[OTHER_MANIFEST])
        for first in range(3, 303, 30):
            store.append(run_no, [said(seq) for seq in range(first, first + 29)])
            erase(store, run_no, first + 1, first + 29)
            if number < 40:
                erase(store, 4, 2 + number * 10 + first // 30, 502 + number * 10 + first // 30)
"""


def test_a_ledger_that_is_written_to_meanwhile_gives_no_false_alarm(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        open_run(store, opened("run_4", None), *map(said, range(2, 502)))
    command = [sys.executable, "-c", WRITER, str(path)]
    sizes = set()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            for _ in range(25):
                with Verification(path, DIALECTS, known=known_heads(path)) as verification:
                    assert list(verification.findings()) == []
                    sizes.add(verification.summary.entries)
            assert writer.poll() is None
        finally:
            writer.kill()
    assert len(sizes) > 3
    assert findings(path) == []


def test_what_is_erased_and_appended_between_two_pages_is_no_finding(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_ENTRIES", reading._ENTRIES.rsplit(" ", 1)[0] + " 2")
    monkeypatch.setattr(reading, "PAGE_ROWS", 2)
    acted: list[int] = []

    def act(what: str, done: int) -> None:
        if what == "run_3" and not acted:
            with SqliteStore.open(path, create=False) as store:
                store.append(3, [said(6), said(7)])
                store.erase(3, [2, 4], seen(8, EntriesErased(entries=(2, 4), reason="asked")))
                open_run(store, opened("run_4", MANIFEST), said(2), documents=[MANIFEST])
            acted.append(done)

    with Verification(path, DIALECTS) as verification:
        assert list(verification.findings(progress=act)) == []
    assert acted == [17]  # entries 1 and 2 of the run were read before, as they were
    assert findings(path) == []
