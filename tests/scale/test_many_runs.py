"""A ledger of many runs: a question about one of them, or about the newest, looks at few."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.audit import EARLIER_RUNS, audit
from cli.commands.runs import DEPTH
from ledger.core.entries import OBSERVER, Entry
from ledger.core.observations import RunOpened, encode_observation
from ledger.log.memory_store import MemoryStore
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow, RunRow, Store
from tests.cli.running import call
from tests.dialects.collection_profile import runs as r
from tests.memory import growth

MANY = 1500
DAY = 86_400_000_000
PROGRAMS = 3

_SHORT = (r.start("p", "d"), r.coverage("d", "p", ["k"]), r.state("p"), r.done(), r.exited(0))
WITHHELD = r.run(r.streams("p", d=r.detail("p")), *_SHORT)
GOOD = r.run(r.streams("p"), r.start("p"), r.state("p"), r.done(), r.exited(0))


def fill(store: Store, many: int, *, programs: int, withheld: range) -> None:
    """Open so many runs of some programs, one a day; those of a range withhold their checkpoint."""
    for number in range(many):
        shape = WITHHELD if number in withheld else GOOD
        program = f"https://example.test/program_{number % programs}"
        manifest, body = next(iter(shape.documents.items()))
        opened = RunOpened(
            run_id=f"run_{number:05d}",
            dialect="collection-profile",
            program=program,
            manifest=manifest,
            trigger=r.PROACTIVE,
            namespace="global",
            via="recorded",
            recorder="tests",
        )
        at = DAY * (number + 1)
        first = Entry(1, at, OBSERVER, "", "RUN_OPENED", "", encode_observation(opened))
        row = RunRow.of(opened, at, via="recorded")
        document = DocumentRow(digest=manifest, media_type="application/json", body=body)
        store.open_run(row, [first, *shape.entries[1:]], [document])


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger in which only the very first run withholds a checkpoint."""
    path = tmp_path_factory.mktemp("many") / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store._connection.execute("PRAGMA synchronous = OFF")
        fill(store, MANY, programs=PROGRAMS, withheld=range(1))
    return path


class CountingStore(MemoryStore):
    """Counts the runs whose entries were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[int] = set()

    def entries(
        self, run_no: int, *, after: int = 0, through: int | None = None, salts: bool = False
    ) -> Iterator[Entry]:
        self.read.add(run_no)
        return super().entries(run_no, after=after, through=through, salts=salts)


def test_a_checkpoint_that_never_moved_is_looked_for_in_so_many_runs_and_no_more() -> None:
    store = CountingStore()
    fill(store, 5 * EARLIER_RUNS, programs=1, withheld=range(5 * EARLIER_RUNS))
    newest = next(store.runs())
    (checkpoint,) = audit(store, newest, None, None).checkpoints
    assert len(store.read) == EARLIER_RUNS + 1
    assert checkpoint.standing is not None
    assert (checkpoint.standing.unmoved_runs, checkpoint.standing.all_seen) == (EARLIER_RUNS + 1, False)


def test_a_checkpoint_that_moves_in_every_run_is_looked_for_in_one() -> None:
    store = CountingStore()
    fill(store, 100, programs=2, withheld=range(0))
    audit(store, next(store.runs()), None, None)
    assert len(store.read) == 1


def test_runs_that_are_rare_are_looked_for_among_the_newest_and_that_is_said(ledger: Path) -> None:
    done = call("-l", ledger, "runs", "--withheld", "-o", "json")
    assert (done.status, done.json) == (0, [])
    assert f"looked at the newest {DEPTH} runs" in done.err
    assert "--depth 0 looks at all" in done.err


@pytest.mark.parametrize("words", [("--depth", "0"), ("--limit", "0"), ("--depth", str(MANY))])
def test_the_search_goes_as_deep_as_it_is_told(ledger: Path, words: tuple[str, ...]) -> None:
    done = call("-l", ledger, "runs", "--withheld", "-o", "json", *words)
    assert [row["run_id"] for row in done.json] == ["run_00000"]
    assert "looked at" not in done.err


def test_a_limit_beyond_the_usual_depth_is_reached(ledger: Path) -> None:
    done = call("-l", ledger, "runs", "--limit", str(DEPTH + 100), "-o", "json")
    assert len(done.json) == DEPTH + 100
    assert "there may be more" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("why", "@latest"),
        ("why", "run_00"),
        ("why", f"@{MANY}"),
        ("show", "@latest:program_1"),
        ("log", "@7"),
    ],
)
def test_any_run_is_found(ledger: Path, words: tuple[str, ...]) -> None:
    done = call("-l", ledger, *words)
    assert done.status == (4 if words[1] == "run_00" else 0), done.err


RECOMPUTE = """
from tests.cli.running import call

def recompute(path):
    done = call("-l", path, "recompute", "--against", "collection-profile/0.2.0")
    assert done.status == 0, done.err
    print(done.out.splitlines()[1])
"""
MOST_MIB = 9
"""What SQLite's caches take, and some more; the decisions of so many runs are more than that."""


def test_a_recomputation_of_many_runs_needs_no_more_memory_than_one_of_some(
    ledger: Path, tmp_path: Path
) -> None:
    path, some = Path(shutil.copyfile(ledger, tmp_path / "many.db")), tmp_path / "some.db"
    with SqliteStore.open(some, create=True) as store:
        fill(store, 100, programs=PROGRAMS, withheld=range(1))
    for kept in (0, 2 * MANY):
        grown, told = growth(f"{RECOMPUTE}recompute(sys.argv[1])", "recompute(sys.argv[2])", some, path)
        assert f"of {MANY:,} runs" in told
        assert f"{kept:,} kept." in told
        assert grown < MOST_MIB
