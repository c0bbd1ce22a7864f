"""Processes that fold: the same results in the same order however many, and none of them left behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from multiprocessing import active_children
from pathlib import Path

import pytest

from ledger.errors import NotFoundError, UnavailableError
from ledger.recompute import recomputation, worker_processes
from ledger.recompute.tasks import Batch, Task
from ledger.recompute.twice import Twice
from ledger.recompute.workers import Workers
from tests.cli.transcripts import ROOT
from tests.dialects.collection_profile.runs import PROFILE
from tests.recompute.histories import CREDITED, GOOD, LATER, REFERENCE, TEXT, made, recompute, rules
from tests.recompute.processes import assert_all_end, environment_of, is_running

RUNS = 12


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger to be read only."""
    path = tmp_path_factory.mktemp("workers") / "ledger.db"
    with made(path, *[GOOD, CREDITED] * (RUNS // 2)):
        pass
    return path


@pytest.fixture(autouse=True)
def no_worker_is_left() -> Iterator[None]:
    yield
    assert active_children() == []


def task(run_no: int, *names: str, ruleset: str = TEXT) -> Task:
    size = len((GOOD if run_no % 2 else CREDITED).entries)
    manifest = next(iter((GOOD if run_no % 2 else CREDITED).documents))
    digests = names or (rules(ruleset).digest,)
    return Task(run_no=run_no, dialect="collection-profile", size=size, manifest=manifest, rulesets=digests)


def batches(count: int) -> Iterator[Batch]:
    return (Batch(tasks=(task(number % RUNS + 1),)) for number in range(count))


# ---- what comes of it -------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [2, 3])
def test_however_many_fold_the_same_comes_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    monkeypatch.setattr(recomputation, "RUNS_A_BATCH", 1)
    alone = recompute(path, TEXT, REFERENCE, keeps="nothing")
    together = recompute(path, TEXT, REFERENCE, keeps="nothing", jobs=jobs)
    assert [one.run.run_id for one in together.told] == [f"run_{n}" for n in range(1, RUNS + 1)]
    assert (together.folded, together.bytes()) == (alone.folded, alone.bytes())


def test_results_come_in_the_order_of_the_batches_and_those_between_with_nothing_to_do(path: Path) -> None:
    given = list(chain.from_iterable((one, Batch(tasks=()), Batch(tasks=())) for one in batches(20)))
    with closing(Workers(path, 1)) as here:
        expected = list(here.fold_all(given))
    with closing(Workers(path, 2, hash_seed=7)) as elsewhere:
        assert list(elsewhere.fold_all(given)) == expected
    assert [len(results) for results in expected] == [1, 0, 0] * 20


def test_batches_are_taken_only_a_little_ahead(path: Path) -> None:
    taken = 0

    def counted() -> Iterator[Batch]:
        nonlocal taken
        for batch in batches(200):
            taken += 1
            yield batch

    with closing(Workers(path, 2)) as workers:
        for given, _ in enumerate(workers.fold_all(counted()), start=1):
            assert taken - given < 20


def test_rulesets_that_are_not_shipped_come_with_the_batch(path: Path) -> None:
    switches = {"unknown_message": "ignore"}
    own = PROFILE.derive(PROFILE.rulesets[TEXT], id="acme/1", summary="", switches=switches)
    batch = Batch(tasks=(task(1, own.digest),), documents=(own.document,))
    with closing(Workers(path, 1, hash_seed=1)) as workers:
        ((results,),) = workers.fold_all([batch])
    assert isinstance(results, tuple)
    assert b'"id":"acme/1"' in results[0].decision


# ---- when they are started, and when they end -------------------------------------------------------------


def test_where_there_is_nothing_to_fold_or_one_batch_no_process_is_started(path: Path) -> None:
    with closing(Workers(path, 4)) as workers:
        assert list(workers.fold_all([])) == []
        assert list(workers.fold_all([Batch(tasks=())] * 50)) == [()] * 50
        assert len(list(workers.fold_all(batches(1)))) == 1
        assert active_children() == []


def test_who_stops_in_the_middle_leaves_no_process(path: Path) -> None:
    with closing(Workers(path, 3)) as workers:
        folding = workers.fold_all(batches(1000))
        next(folding)
        assert len(active_children()) == 2
    assert active_children() == []


def test_workers_take_no_notice_of_an_interrupt(path: Path) -> None:
    with closing(Workers(path, 2, hash_seed=1)) as workers:
        folding = workers.fold_all(batches(40))
        next(folding)
        for child in active_children():
            assert child.pid is not None
            os.kill(child.pid, signal.SIGINT)
        assert len(list(folding)) == 39


def test_a_worker_that_somebody_stopped_is_not_left_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_processes, "SECONDS_TO_END", 0.1)
    with closing(Workers(path, 2, hash_seed=1)) as workers:
        folding = workers.fold_all(batches(1000))
        next(folding)
        children = [child.pid or 0 for child in active_children()]
        for pid in children:
            os.kill(pid, signal.SIGSTOP)
    assert not any(map(is_running, children))


def test_workers_take_no_module_from_the_folder_where_they_start(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("signal", "struct", "random", "msgspec"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('another one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with closing(Workers(path, 1, hash_seed=1)) as workers:
        assert len(list(workers.fold_all(batches(1)))) == 1
    assert "PYTHONSAFEPATH" not in os.environ


def test_a_worker_that_is_killed_is_told_of(path: Path) -> None:
    with closing(Workers(path, 2, hash_seed=1)) as workers:
        folding = workers.fold_all(batches(10_000))
        next(folding)
        child = active_children()[0]
        child.kill()
        with pytest.raises(UnavailableError) as told:
            list(folding)
    assert f"worker {child.pid}" in str(told.value)
    assert "(-9)" in str(told.value)
    assert "--jobs 1" in str(told.value)


def test_what_stops_a_worker_is_raised_as_what_it_is(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(path, tmp_path / "ledger.db"))
    with closing(Workers(copy, 2)) as workers:
        copy.unlink()
        with pytest.raises(NotFoundError, match="expected a ledger at"):
            list(workers.fold_all(batches(10_000)))


def test_a_bug_in_a_worker_is_a_bug_here_and_says_where(path: Path) -> None:
    with closing(Workers(path, 1, hash_seed=1)) as workers, pytest.raises(RuntimeError) as raised:
        list(workers.fold_all([Batch(tasks=(task(1, "sha256:nobody"),))]))
    told = "RuntimeError in a worker: KeyError where run run_1 was folded: 'sha256:nobody'"
    assert str(raised.value) == told
    assert "folding.py" in "".join(raised.value.__notes__)


ABANDONED = """
import sys
from multiprocessing import active_children
from pathlib import Path
from ledger.recompute.tasks import Batch
from ledger.recompute.workers import Workers
from tests.recompute.test_workers import batches, task

if __name__ == "__main__":
    folding = Workers(Path(sys.argv[1]), 2, hash_seed=1).fold_all(
        [Batch(tasks=(task(1),)), *[Batch(tasks=(task(2),) * 200_000)] * 4]
    )
    next(folding)
    print(*[child.pid for child in active_children()], flush=True)
    next(folding)
"""


def test_workers_end_with_who_started_them_in_the_middle_of_their_work(path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ABANDONED, path], cwd=ROOT, stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        workers = [int(word) for word in process.stdout.readline().split()]
        time.sleep(0.3)  # so that they are at what takes minutes
        assert len(workers) == 2
        assert all(map(is_running, workers))
        process.kill()
    assert_all_end(workers)


# ---- twice ------------------------------------------------------------------------------------------------


def test_folded_twice_the_same_comes_of_it_and_nothing_differs(path: Path) -> None:
    with closing(Twice(path, 1)) as twice:
        found = recompute(path, LATER, TEXT, keeps="nothing", folding=twice)
    assert found.bytes() == recompute(path, LATER, TEXT, keeps="nothing").bytes()
    assert (twice.folded, twice.differing) == (RUNS, frozenset())


def test_the_two_hash_differently(path: Path) -> None:
    """Were they to hash alike, nothing that leaks the order of a set could be found."""
    with closing(Twice(path, 1)) as twice:
        list(twice.fold_all(batches(1)))
        told = [environment_of(child.pid or 0) for child in active_children()]
    assert sorted(environ["PYTHONHASHSEED"] for environ in told) == ["1", "2"]
    assert os.environ.get("PYTHONHASHSEED") not in ("1", "2")
