"""Files, folders and disks that are not as they should be: one clear line, the right status, nothing lost."""

import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.queues import Queue
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ledger.dialects import DIALECTS
from ledger.errors import LedgerError
from ledger.exchange.importing import import_transcript
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import COMMAND, Done, call, environment
from tests.cli.transcripts import ROOT, SAMPLES, record, said, sample, start, write
from tests.log.writers import assert_holds
from tests.stress.children import FORK, begin

READING = (("runs",), ("log", "@latest"), ("verify",), ("export", "@latest", "-"), ("note", "@latest", "x"))
WRITING = (("import", str(SAMPLES)),)


def told_once(done: Done, status: int, *words: str) -> None:
    """Hold a refusal to its form: a status, no data, one line that says these words and what to do."""
    assert (done.status, done.out) == (status, ""), done.err
    assert len(done.err.splitlines()) == 1, done.err
    assert "; " in done.err
    for word in words:
        assert word in done.err


# Paths that lead nowhere good.


@pytest.fixture
def odd_paths(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """What may stand where a ledger is expected."""
    paths = {name: tmp_path / name for name in ("folder", "fifo", "socket", "loop", "file")}
    paths["folder"].mkdir()
    os.mkfifo(paths["fifo"])
    paths["loop"].symlink_to(paths["loop"])
    paths["file"].touch()
    paths["in a file"] = paths["file"] / "ledger.db"
    paths["device"] = Path("/dev/null")
    paths["long"] = tmp_path / ("x" * 300)
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket may not be long
        listening.bind("socket")
        os.chdir(here)
        yield paths


@pytest.mark.parametrize("words", READING + WRITING, ids=" ".join)
@pytest.mark.parametrize("name", ["folder", "fifo", "socket", "loop", "in a file", "device", "long"])
def test_what_is_no_file_is_refused(odd_paths: dict[str, Path], name: str, words: tuple[str, ...]) -> None:
    told_once(call("-l", odd_paths[name], *words), 3, str(odd_paths[name]))


@pytest.mark.parametrize("words", READING, ids=" ".join)
@pytest.mark.parametrize("name", ["missing.db", "missing/ledger.db", "dangling"])
def test_what_is_not_there_is_not_found_by_who_reads(
    tmp_path: Path, name: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    told_once(call("-l", tmp_path / name, *words), 4, str(tmp_path / name))
    assert [file.name for file in tmp_path.iterdir()] == ["dangling"]


def test_a_folder_that_is_not_there_is_said_once_however_many_files_come(tmp_path: Path) -> None:
    told_once(call("-l", tmp_path / "no" / "ledger.db", "import", SAMPLES), 4, "a folder for")


# Files that are cut off.


def cuts(size: int) -> list[int]:
    """Lengths around all that matters in a file: its header, its pages, its end."""
    edges = {16, 24, 100, 512, *range(4096, size, 4096), size}
    return sorted(
        {length for edge in edges for length in (edge - 1, edge, edge + 1) if 0 < length < size} | {1}
    )


def test_a_ledger_cut_off_anywhere_is_refused_and_not_touched(samples: Path, tmp_path: Path) -> None:
    whole = samples.read_bytes()
    cut = tmp_path / "cut.db"
    for length in cuts(len(whole)):
        for words in (("runs",), ("verify",), ("import", str(sample("calendar-snapshot")[1]))):
            cut.write_bytes(whole[:length])
            done = call("-l", cut, *words)
            assert done.status in (5, 6), (length, words, done.err)
            assert "Traceback" not in done.err
            assert cut.read_bytes() == whole[:length], (length, words)


# What lies beside a ledger.


def test_a_folder_where_the_wals_index_should_be_is_no_way_to_write(ledger: Path) -> None:
    Path(f"{ledger}-shm").mkdir()
    before = ledger.read_bytes()
    told_once(call("-l", ledger, "import", whole_run(ledger.parent)), 3, "file and its folder")
    assert ledger.read_bytes() == before
    assert call("-l", ledger, "runs").status == 0, "what is in the file can be read"


def whole_run(folder: Path) -> Path:
    return write(folder / "new.jsonl", *start(), run_id="run_new")


def bring_in_and_die(ledger: Path, transcript: Path) -> None:
    store = SqliteStore.open(ledger, create=False)
    import_transcript(store, transcript, DIALECTS)
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def with_a_wal(ledger: Path) -> Path:
    """A ledger whose last writer was killed: the newest run is in the WAL alone."""
    writer = begin(bring_in_and_die, ledger, whole_run(ledger.parent))
    writer.join()
    assert b"run_new" not in ledger.read_bytes()
    assert b"run_new" in Path(f"{ledger}-wal").read_bytes()
    return ledger


def test_what_a_killed_writer_left_in_the_wal_is_read_and_taken_in(with_a_wal: Path) -> None:
    assert call("-l", with_a_wal, "log", "run_new").status == 0
    assert call("-l", with_a_wal, "verify").status == 0
    assert b"run_new" in Path(f"{with_a_wal}-wal").read_bytes(), "reading leaves it as it is"
    assert call("-l", with_a_wal, "import", SAMPLES).status == 0
    assert not Path(f"{with_a_wal}-wal").exists()
    assert b"run_new" in with_a_wal.read_bytes()


# Somebody who may not.

NOBODY = 65534


def call_as_nobody(words: tuple[str, ...], told: "Queue[Done]") -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    told.put(call(*words))


def as_nobody(*words: str | Path) -> Done:
    """Call the command as somebody else; what it imports was imported before, as only we may read it."""
    told: Queue[Done] = FORK.Queue()
    child = begin(call_as_nobody, tuple(map(str, words)), told)
    done = told.get(timeout=60)
    child.join()
    return done


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not")


@pytest.fixture
def open_to_all(ledger: Path) -> Iterator[Path]:
    """A ledger in a folder of root's that everybody can reach."""
    for words in (("import", whole_run(ledger.parent)), ("verify",), ("note", "@latest", "x")):
        assert call("-l", ledger, *words).status in (0, 5)  # so that all is imported
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(shutil.copyfile(ledger, Path(folder, "ledger.db")))
        path.chmod(0o644)
        yield path


@pytest.fixture
def new_run() -> Iterator[Path]:
    """A transcript that everybody may read."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = write(Path(folder) / "new.jsonl", *start(), run_id="run_newer")
        path.chmod(0o644)
        yield path


@only_root
def test_a_ledger_of_somebody_elses_is_read_and_not_written(open_to_all: Path, new_run: Path) -> None:
    before = open_to_all.read_bytes()
    assert as_nobody("-l", open_to_all, "runs").status == 0
    assert as_nobody("-l", open_to_all, "verify").status == 0
    told_once(as_nobody("-l", open_to_all, "import", new_run), 3, "writable")
    told_once(as_nobody("-l", open_to_all, "note", "run_ical-1", "x"), 3, "writable")
    assert open_to_all.read_bytes() == before


@only_root
def test_a_folder_of_somebody_elses_is_no_place_for_a_new_ledger(open_to_all: Path, new_run: Path) -> None:
    new = open_to_all.parent / "new.db"
    told_once(as_nobody("-l", new, "import", new_run), 3, "new.db", "its folder")
    assert not new.exists()


@only_root
def test_a_file_that_may_be_written_in_a_folder_that_may_not_is_not_written(
    open_to_all: Path, new_run: Path
) -> None:
    open_to_all.chmod(0o666)
    before = open_to_all.read_bytes()
    told_once(as_nobody("-l", open_to_all, "import", new_run), 3, "its folder")
    assert open_to_all.read_bytes() == before


@only_root
@pytest.mark.parametrize("verb", ["runs", "verify", "import"])
def test_a_ledger_that_may_not_be_read_is_refused(open_to_all: Path, new_run: Path, verb: str) -> None:
    words: list[str | Path] = ["-l", open_to_all, verb, *([new_run] if verb == "import" else [])]
    open_to_all.chmod(0o600)
    told_once(as_nobody(*words), 3, str(open_to_all))
    open_to_all.chmod(0o644)
    open_to_all.parent.chmod(0o700)
    told_once(as_nobody(*words), 3, str(open_to_all))


@only_root
@pytest.mark.parametrize("words", [("import",), ("manifest", "check")], ids=" ".join)
def test_input_that_may_not_be_read_is_refused(new_run: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    call("-l", tmp_path / "ledger.db", *words, new_run)  # so that all is imported
    new_run.chmod(0o600)
    told_once(as_nobody("-l", new_run.parent / "ledger.db", *words, new_run), 3, str(new_run))


@only_root
def test_a_wal_that_cannot_be_read_past_is_said_and_not_skipped(with_a_wal: Path) -> None:
    with TemporaryDirectory() as folder:
        for end in ("", "-wal"):
            Path(shutil.copyfile(f"{with_a_wal}{end}", Path(folder, f"ledger.db{end}"))).chmod(0o644)
        Path(folder).chmod(0o755)
        told_once(as_nobody("-l", Path(folder, "ledger.db"), "runs"), 3, "ledger.db-wal", "copy both files")
        Path(folder).chmod(0o777)
        assert as_nobody("-l", Path(folder, "ledger.db"), "log", "run_new").status == 0


# A file system that the WAL cannot be on.


def test_where_there_can_be_no_wal_a_ledger_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def without_shared_memory(name: str, **options: Any) -> Any:
        return connect(f"{name}&vfs=unix-dotfile", **options)

    monkeypatch.setattr(sqlite3, "connect", without_shared_memory)
    done = call("-l", tmp_path / "ledger.db", "import", whole_run(tmp_path))
    told_once(done, 3, "write-ahead log", "local disk")


# A disk that is full.


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transcript of 3 MB."""
    lines = said(*(record("messages", f"msg_{number}", text="x" * 900) for number in range(3000)))
    return write(tmp_path_factory.mktemp("long") / "long.jsonl", *start(), *lines)


def bring_in_within(ledger: Path, transcript: Path, limit: int) -> None:
    """Import where no file may grow beyond a limit, and end by the exit status of what is raised."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        with SqliteStore.open(ledger, create=True) as store:
            import_transcript(store, transcript, DIALECTS)
    except LedgerError as error:
        os._exit(error.exit_status)


def test_an_import_that_runs_out_of_space_anywhere_is_completed_once_there_is_some(
    tmp_path: Path, long: Path
) -> None:
    statuses = set()
    for limit in (0, 100, 4096, 20_000, 40_000, 70_000, 100_000, 300_000, 1_000_000, 2_000_000, 3_500_000):
        ledger = tmp_path / f"{limit}.db"
        child = begin(bring_in_within, ledger, long, limit)
        child.join()
        statuses.add(child.exitcode)
        with SqliteStore.open(ledger, create=True) as store:
            held = [store.size(run.run_no) for run in store.runs()]
        assert_holds(ledger)
        done = call("-l", ledger, "import", "-o", "json", long)
        assert done.json[0]["outcome"] == ("completed" if held else "imported")
        assert done.json[0]["appended"] == 3003 - sum(held)
        assert assert_holds(ledger) == 3003
    assert statuses == {3}


def test_a_full_disk_ends_an_import_and_is_said_once(tmp_path: Path, long: Path) -> None:
    others = [write(tmp_path / f"{n}.jsonl", *start(), run_id=f"run_{n}") for n in range(3)]
    limit = 1_000_000
    done = subprocess.run(
        [*COMMAND, "-l", str(tmp_path / "ledger.db"), "import", str(long), *map(str, others)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    told_once(Done(done.returncode, done.stdout, done.stderr.decode()), 3, "ledger.db", "free space")


ON_A_SMALL_DISK = """
set -eu
mount -t tmpfs -o size=2m tmpfs "$1"
set +e
"$3" -m cli -l "$1/ledger.db" import "$2"; echo "import $?"
"$3" -m cli -l "$1/ledger.db" runs >/dev/null; echo "runs $?"
"$3" -m cli -l "$1/ledger.db" verify >/dev/null; echo "verify $?"
"$3" -m cli -l "$1/ledger.db" export @latest "$1/run.jsonl" ; echo "export $?"
ls -A "$1"
mount -o remount,size=50m "$1"
"$3" -m cli -l "$1/ledger.db" import -o csv "$2"; echo "import $?"
"$3" -m cli -l "$1/ledger.db" verify >/dev/null; echo "verify $?"
"""


def test_on_a_disk_that_is_full_reading_goes_on_and_more_space_is_enough(tmp_path: Path, long: Path) -> None:
    words = ["unshare", "-Urm", "sh", "-c", ON_A_SMALL_DISK, "sh", str(tmp_path), str(long), sys.executable]
    try:
        done = subprocess.run(words, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if "import" not in done.stdout:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert re.findall(r"^(?:import|runs|verify|export) \d+$", done.stdout, re.MULTILINE) == [
        *("import 3", "runs 0", "verify 0", "export 3"),
        *("import 0", "verify 0"),
    ]
    assert "completed,3003," in done.stdout
    assert len(done.stderr.splitlines()) == 2
    assert "partial" not in done.stdout
