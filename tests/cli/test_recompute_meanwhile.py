"""``recompute`` beside others at work on the ledger, and where nothing can be written."""

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.log.decision_cache import NAME
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import Done, call
from tests.cli.test_bad_places import obeying, obeys, on_a_small_disk, small_disk
from tests.dialects.collection_profile import runs as r
from tests.recompute.histories import CREDITED, GOOD, REFERENCE, erase, keep, made
from tests.stress.children import assert_sound, begin

RUNS = 200
WORDS = ("recompute", "--against", REFERENCE, "-o", "jsonl")

SECRET = "secret-of-somebody"
TELLING = r.run(
    r.streams("p", d=r.detail("p")),
    r.start("p", "d"),
    r.coverage("d", "p", [SECRET], optional_skip_keys=[SECRET]),
    r.state("p"),
    r.done(0),
    r.exited(0),
)
"""A run whose decision quotes what its third entry says."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("some") / "ledger.db"
    with made(path, *[GOOD, TELLING] * (RUNS // 2)):
        pass
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return Path(shutil.copyfile(whole, tmp_path / "place" / "ledger.db"))


def recompute(path: Path, *words: str) -> list[dict[str, Any]]:
    """Recompute, and return the rows; nothing may be said besides."""
    done = call("-l", path, *WORDS, *words)
    assert (done.status, done.err) == (0, "")
    return rows_of(done)


def rows_of(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.lines]


def flips(rows: list[dict[str, Any]]) -> list[str]:
    return [row["run_id"] for row in rows if row["kind"] == "checkpoint"]


def kept(path: Path) -> int:
    """Count what is kept, as another program would."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (NAME,)).fetchall()
        return len(connection.execute(f"SELECT 1 FROM {NAME}").fetchall()) if tables else 0


def test_what_it_writes_is_in_the_ledger_when_it_ends(path: Path) -> None:
    recompute(path)
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]
    recompute(path)
    recompute(path, "--no-cache")
    assert path.read_bytes().count(SECRET.encode()) > RUNS // 2


# ---- others at work ---------------------------------------------------------------------------------------


def recompute_into(path: Path, file: Path) -> None:
    done = call("-l", path, *WORDS)
    assert (done.status, done.err) == (0, "")
    file.write_bytes(done.raw)


def test_two_recomputations_at_once_tell_the_same_and_keep_each_decision_once(path: Path) -> None:
    files = [path.with_name(name) for name in ("one", "other")]
    children = [begin(recompute_into, path, file) for file in files]
    for child in children:
        child.join()
        assert child.exitcode == 0
    one, other = ([*map(json.loads, file.read_bytes().splitlines())] for file in files)
    assert one[:-1] == other[:-1]
    assert len(flips(one)) == RUNS // 2
    assert kept(path) == 2 * RUNS
    assert recompute(path)[-1]["decisions_folded"] == 0


def import_more(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        for number in range(60):
            keep(store, CREDITED, f"new_{number:02d}")
            time.sleep(0.005)


def erase_all(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        for run in list(store.runs_as_appended()):
            if run.run_no % 2 == 0:
                erase(store, run, 3)
        store.scrub()


@pytest.mark.parametrize("work", [import_more, erase_all])
def test_while_others_write_every_recomputation_ends_well(path: Path, work: Callable[[Path], None]) -> None:
    child = begin(work, path)
    seen: list[int] = []
    while child.exitcode is None:
        rows = recompute(path)
        seen.append(rows[-1]["runs"])
        assert rows[-1]["runs_left"] == 0
    child.join()
    assert child.exitcode == 0
    assert seen == sorted(seen)
    rows = recompute(path)
    assert recompute(path, "--no-cache")[:-1] == rows[:-1]
    assert_sound(path)
    if work is import_more:
        assert (rows[-1]["runs"], len(flips(rows))) == (RUNS + 60, RUNS // 2 + 60)
    else:
        assert flips(rows) == []
        assert SECRET.encode() not in b"".join(file.read_bytes() for file in path.parent.iterdir())


# ---- where nothing can be written -------------------------------------------------------------------------

UNKEPT = "decisions are not kept for the next time: "


def told_once(done: Done) -> str:
    """Return what was said: one line, and that nothing is kept."""
    assert done.status == 0, done.err
    (line,) = done.err.splitlines()
    assert UNKEPT in line
    return line


@small_disk
def test_on_a_full_disk_everything_is_decided_and_it_is_said_once_that_nothing_is_kept(path: Path) -> None:
    script = """
    cp "$1" ledger.db; cat /dev/zero >filler 2>&-
    runledger recompute --against "$2" -o jsonl || echo "recompute $?"
    runledger verify >/dev/null; echo "verify $?" >&2
    """
    done = on_a_small_disk(script, path, REFERENCE)
    said, verified = done.err.splitlines()
    assert UNKEPT in said
    assert verified == "verify 0"
    assert rows_of(done)[:-1] == recompute(path)[:-1]


@pytest.fixture
def sealed(path: Path) -> Iterator[Path]:
    """A folder that may only be read, as its ledger may."""
    path.chmod(0o444)
    path.parent.chmod(0o555)
    if not obeys(path.parent):
        pytest.skip("permissions hold back nobody here")
    yield path
    path.parent.chmod(0o755)
    path.chmod(0o644)


def test_a_ledger_that_may_only_be_read_is_recomputed(sealed: Path, whole: Path, tmp_path: Path) -> None:
    before = sealed.read_bytes()
    done = obeying("-l", sealed, *WORDS)
    assert "ledger.db" in told_once(done)
    copy = Path(shutil.copyfile(whole, tmp_path / "copy.db"))
    assert rows_of(done)[:-1] == recompute(copy)[:-1]
    assert sealed.read_bytes() == before
    assert [file.name for file in sealed.parent.iterdir()] == ["ledger.db"]


def test_what_is_kept_in_a_ledger_that_may_only_be_read_is_taken(path: Path) -> None:
    rows = recompute(path, "--runs", "program=connector")
    path.parent.chmod(0o555)
    try:
        if not obeys(path.parent):
            pytest.skip("permissions hold back nobody here")
        done = obeying("-l", path, *WORDS)
        assert rows_of(done)[:-1] == rows[:-1]
        assert (done.status, rows_of(done)[-1]["decisions_kept"]) == (0, 2 * RUNS)
        quiet = obeying("-l", path, *WORDS, "--no-cache")
        assert (quiet.status, quiet.err) == (0, "")
    finally:
        path.parent.chmod(0o755)


def test_a_file_that_may_only_be_read_in_a_folder_that_may_be_written_is_recomputed(path: Path) -> None:
    path.chmod(0o444)
    if obeying("-l", path, "note", "run_1", "x").status == 0:
        pytest.skip("permissions hold back nobody here")
    done = obeying("-l", path, *WORDS)
    assert "file system refused" in told_once(done)
    assert len(flips(rows_of(done))) == RUNS // 2
