"""A run of many lines is printed as it is read: the memory of it does not grow with the run."""

import subprocess
import sys
from pathlib import Path

import pytest

from ledger.core.entries import Entry
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow
from tests.cli.running import COMMAND, environment
from tests.dialects.collection_profile import runs as r
from tests.log.scripted import run_row

SHORT, LONG = 4_000, 60_000
MORE = 12 * 1024
"""KiB that a run fifteen times as long may take more; held whole, it would take 40 MiB."""

_PEAK = "import resource,subprocess,sys;subprocess.run(sys.argv[1:],check=True,stdout=subprocess.DEVNULL,"
_PEAK += "stderr=subprocess.DEVNULL);print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Ledgers of one run each, a short one and a long one."""
    folder = tmp_path_factory.mktemp("long")
    return {many: write(folder / f"{many}.db", many) for many in (SHORT, LONG)}


def write(path: Path, many: int) -> Path:
    whole = r.run(r.streams("p"), r.start("p"))
    line = r.to_line(r.record("p", data={"text": "x" * 200}))
    records = [Entry(seq, 0, "program", "", "RECORD", "p", line) for seq in range(3, many)]
    with SqliteStore.open(path, create=True) as store:
        documents = [DocumentRow(digest=d, media_type="", body=body) for d, body in whole.documents.items()]
        run = store.open_run(run_row(dialect="collection-profile"), whole.entries, documents)
        for at in range(0, len(records), 5000):
            store.append(run.run_no, records[at : at + 5000])
    return path


def peak(*words: str | Path) -> int:
    """Return the most memory that a command took, in KiB."""
    command = [sys.executable, "-c", _PEAK, *COMMAND, *map(str, words)]
    done = subprocess.run(command, env=environment(), capture_output=True, check=True, timeout=120)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform == "darwin", reason="ru_maxrss is in bytes there")
@pytest.mark.parametrize(
    "words",
    [
        ("log", "@1"),
        ("log", "@1", "-o", "jsonl"),
        ("log", "@1", "--type", "NOTHING"),
        ("show", "@1"),
        ("why", "@1"),
        ("export", "@1", "-"),
    ],
    ids=" ".join,
)
def test_memory_does_not_grow_with_a_run(ledgers: dict[int, Path], words: tuple[str, ...]) -> None:
    assert peak("-l", ledgers[LONG], *words) <= peak("-l", ledgers[SHORT], *words) + MORE
