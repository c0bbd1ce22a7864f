"""A run of long lines is read a few at a time, by whatever reads it."""

from pathlib import Path

import pytest

from ledger.core.entries import Entry
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow
from tests.dialects.collection_profile import runs as r
from tests.log.scripted import run_row
from tests.memory import growth

LINES, BYTES = 60, 3 * 1024 * 1024
MIB = 80
"""That a command may take more; held whole, the run would take 180 MiB."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wide") / "ledger.db"
    whole = r.run(r.streams("p"), r.start("p"))
    line = r.to_line(r.record("p", data={"text": "x" * BYTES}))
    with SqliteStore.open(path, create=True) as store:
        documents = [DocumentRow(digest=d, media_type="", body=body) for d, body in whole.documents.items()]
        row = run_row("run_1", dialect="collection-profile", program="")
        run = store.open_run(row, whole.entries, documents)
        for seq in range(3, LINES):
            store.append(run.run_no, [Entry(seq, 0, "program", "", "RECORD", "p", line)])
    return path


@pytest.mark.parametrize(
    "words",
    [("verify",), ("why", "run_1"), ("log", "run_1"), ("erase", "run_1", "--stream", "p", "--dry-run")],
    ids=" ".join,
)
def test_memory_does_not_grow_with_the_bytes_of_a_run(ledger: Path, words: tuple[str, ...]) -> None:
    setup = "import contextlib, io\nfrom cli.main import main"
    code = "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()"
    grown, _ = growth(setup, code, "-l", ledger, *words)
    assert grown < MIB
