"""``kill -9`` at any moment: the ledger opens, verifies, holds whole batches, and goes on."""

import random
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ledger.core.entries import PROGRAM, Entry
from ledger.core.observations import RunClosed, RunOpened, Trigger
from ledger.dialects import DIALECTS
from ledger.errors import UnavailableError
from ledger.exchange import importing
from ledger.exchange.exporting import export_run
from ledger.exchange.importing import import_transcript
from ledger.log import recorder, transactions
from ledger.log.recorder import RunRecorder
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import call
from tests.cli.transcripts import record, said, start, write
from tests.log.scripted import ScriptedDialect
from tests.stress.children import KILLS, assert_sound, begin, heads_of, kill

BATCH = 50
LINES = 2000

OPENED = RunOpened(
    run_id="run_1",
    dialect="scripted",
    program="mail",
    manifest=None,
    trigger=Trigger(kind="proactive"),
    namespace="global",
    via="recorded",
    recorder="tests",
)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be many batches, and checkpoints among them; children inherit it."""
    monkeypatch.setattr(importing, "BATCH_LINES", BATCH)
    monkeypatch.setattr(recorder, "BATCH_LINES", BATCH)
    monkeypatch.setattr(transactions, "WAL_BYTES", 256 * 1024)


@pytest.fixture
def moments() -> random.Random:
    """Draws when to kill; another draw every time, which a failing test shows."""
    return random.Random()


def time_of(work: Callable[[], object]) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


# Imports.


def bring_in(ledger: Path, transcript: Path) -> None:
    with SqliteStore.open(ledger, create=True) as store:
        import_transcript(store, transcript, DIALECTS)


def salted_transcript(folder: Path) -> Path:
    """A transcript with salts, so that importing it twice gives the same hashes."""
    lines = said(*(record("messages", f"msg_{number}", text="x" * 100) for number in range(LINES)))
    plain = write(folder / "plain.jsonl", *start(), *lines, run_id="run_1")
    with SqliteStore.open(folder / "plain.db", create=True) as store:
        run = import_transcript(store, plain, DIALECTS).run
        with (folder / "salted.jsonl").open("wb") as out:
            export_run(store, run, out)
    return folder / "salted.jsonl"


def test_an_import_that_is_killed_at_any_moment_is_completed_by_the_same_import(
    folder: Path, moments: random.Random
) -> None:
    transcript = salted_transcript(folder)
    whole = folder / "whole.db"
    longest = time_of(lambda: bring_in(whole, transcript))
    expected = heads_of(whole)
    killed = 0
    for attempt in range(KILLS):
        ledger = folder / f"{attempt}.db"
        child = begin(bring_in, ledger, transcript)
        time.sleep(moments.uniform(0, longest))
        killed += kill(child)
        for run_id, heads in heads_left(ledger).items():
            assert heads == expected[run_id][: len(heads)], "a prefix of whole batches"
        bring_in(ledger, transcript)
        assert heads_of(ledger) == expected
        assert_sound(ledger)
        for file in folder.glob(f"{attempt}.db*"):
            file.unlink()
    assert killed > KILLS / 4


def heads_left(ledger: Path) -> dict[str, list[tuple[int, bytes]]]:
    """Return the heads in a sound ledger, none where it was not made yet."""
    if not ledger.exists():
        return {}
    try:
        heads = heads_of(ledger)
    except UnavailableError:
        return {}
    assert_sound(ledger)
    return heads


# Recording.


def record_lines(ledger: Path, told: int) -> None:
    """Record lines of which each names its own number, until killed."""
    with SqliteStore.open(ledger, create=True) as store:
        run = RunRecorder(store, ScriptedDialect(), OPENED, at=1, clock=time.monotonic)
        for number in range(2, told):
            run.line(number, PROGRAM, "", b"RECORD messages %d" % number)
        run.observe(told, RunClosed())


def test_a_recording_that_is_killed_at_any_moment_leaves_whole_batches_and_goes_on(
    folder: Path, moments: random.Random
) -> None:
    longest = time_of(lambda: record_lines(folder / "whole.db", LINES))
    sizes = set()
    for attempt in range(KILLS):
        ledger = folder / f"{attempt}.db"
        child = begin(record_lines, ledger, LINES)
        time.sleep(moments.uniform(0, longest))
        kill(child)
        sizes.add(recorded(ledger))
        for file in folder.glob(f"{attempt}.db*"):
            file.unlink()
    assert len(sizes) > 3, "killed at different moments"


def recorded(ledger: Path) -> int:
    """Check what a killed recorder left, append to it, and return how many entries it had left."""
    with SqliteStore.open(ledger, create=True) as store:
        run = store.run("run_1")
        if run is None:
            return 0
        size = store.size(run.run_no)
        entries = list(store.entries(run.run_no))
        assert [entry.seq for entry in entries] == list(range(1, size + 1))
        lines = [entry for entry in entries if entry.origin == PROGRAM]
        assert [line.body for line in lines] == [b"RECORD messages %d" % line.seq for line in lines]
        more = Entry(size + 1, 0, PROGRAM, "", "RECORD", "messages", b"RECORD messages %d" % (size + 1))
        store.append(run.run_no, [more])
    assert_sound(ledger)
    return size


# The making of a ledger.


def make(ledger: Path) -> None:
    SqliteStore.open(ledger, create=True).close()


def test_a_kill_while_a_ledger_is_made_leaves_a_ledger_or_what_becomes_one(
    folder: Path, moments: random.Random
) -> None:
    longest = time_of(lambda: make(folder / "whole.db"))
    for attempt in range(KILLS):
        ledger = folder / f"{attempt}.db"
        child = begin(make, ledger)
        time.sleep(moments.uniform(0, 1.5 * longest))
        kill(child)
        if ledger.exists():
            with suppress(UnavailableError), SqliteStore.open(ledger, create=False, read_only=True):
                assert_sound(ledger)
        make(ledger)
        assert_sound(ledger)


# Erasing.


def erase(ledger: Path) -> None:
    words = ["--stream", "messages", "--reason", "asked to by the owner", "--yes"]
    done = call("-l", ledger, "erase", "run_1", *words)
    assert done.status == 0, done.err


def test_an_erasure_that_is_killed_at_any_moment_is_finished_by_the_same_erasure(
    folder: Path, moments: random.Random
) -> None:
    secrets = said(*(record("messages", f"msg_{n}", text=f"secret {n} " + "x" * 300) for n in range(300)))
    whole = folder / "whole.db"
    bring_in(whole, write(folder / "run.jsonl", *start(), *secrets, run_id="run_1"))
    first = Path(shutil.copyfile(whole, folder / "first.db"))
    longest = time_of(lambda: erase(first))
    for attempt in range(KILLS):
        ledger = Path(shutil.copyfile(whole, folder / f"{attempt}.db"))
        child = begin(erase, ledger)
        time.sleep(moments.uniform(0, longest))
        kill(child)
        assert_sound(ledger)
        erase(ledger)
        assert_sound(ledger)
        assert b"secret" not in b"".join(file.read_bytes() for file in folder.glob(f"{attempt}.db*"))
        for file in folder.glob(f"{attempt}.db*"):
            file.unlink()


# Copying.


def copy(ledger: Path, dest: Path) -> None:
    done = call("-l", ledger, "backup", dest)
    assert done.status == 0, done.err


def test_a_copy_that_is_killed_at_any_moment_is_whole_or_not_there(
    folder: Path, moments: random.Random
) -> None:
    ledger, dest = folder / "whole.db", folder / "copies" / "copy.db"
    lines = said(*(record("messages", f"msg_{number}", text="x" * 1000) for number in range(LINES)))
    bring_in(ledger, write(folder / "run.jsonl", *start(), *lines, run_id="run_1"))
    dest.parent.mkdir()
    longest = time_of(lambda: copy(ledger, dest))
    for _ in range(KILLS):
        dest.unlink(missing_ok=True)
        child = begin(copy, ledger, dest)
        time.sleep(moments.uniform(0, longest))
        kill(child)
        if dest.exists():
            assert heads_of(dest) == heads_of(ledger)
            assert_sound(dest)
        assert_sound(ledger)
