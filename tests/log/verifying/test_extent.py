"""How much is told, and of what."""

import shutil
from pathlib import Path

from msgspec.structs import replace

from ledger.core.observations import RunClosed
from ledger.dialects import DIALECTS
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import FINDINGS_PER_RUN, Verification
from tests.log.damages import (
    damage,
    open_run,
    opened,
    said,
    seen,
)
from tests.log.verifying.asking import named


def test_of_very_many_findings_the_first_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        open_run(store, opened("run_1", None), *map(said, range(2, 501)))
        open_run(store, opened("run_2", None), said(2))
    damage(path, "UPDATE entries SET type = 'DONE' WHERE entry_id & 4294967295 > 2")
    with Verification(path, DIALECTS) as verification:
        found = list(verification.findings())
        assert verification.summary.findings == 498
    assert [one.code for one in found] == ["label_changed"] * FINDINGS_PER_RUN + ["more_findings"]
    assert found[-1].found == "398 more"


def test_the_range_is_as_narrow_as_the_peaks_tell(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        number = open_run(store, opened("run_1", None), *map(said, range(2, 1001)))
        store.append(number, list(map(said, range(1001, 2001))))
        store.append(number, list(map(said, range(2001, 2010))))
    expected = {3: (1, 512), 513: (513, 768), 900: (897, 960), 1000: (993, 1000), 1001: (1001, 1024)}
    expected |= {1999: (1985, 2000), 2009: (2009, 2009)}
    for seq, (first, last) in expected.items():
        copy = tmp_path / f"{seq}.db"
        shutil.copyfile(path, copy)
        damage(copy, f"UPDATE entries SET salt = zeroblob(16) WHERE entry_id = (1 << 32 | {seq})")
        code = "entries_changed" if seq <= 2000 else "tree_broken"
        assert named(copy) == [(code, "run_1", first, last)]


def test_a_dialect_that_is_not_known_is_said_and_its_labels_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        open_run(store, opened("run_1", None, dialect="semaphore"), said(2))
    damage(path, "UPDATE entries SET type = 'x' WHERE entry_id = (1 << 32 | 2)")
    with Verification(path, DIALECTS) as verification:
        assert list(verification.findings()) == []
        (what,) = verification.summary.unchecked["run_1"]
    assert what == 'types and streams of its lines, as the dialect "semaphore" is not known'


def test_an_observation_of_a_later_version_is_filed_under_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    later = replace(seen(2, RunClosed()), type="RUN_FROZEN", body=b'{"type":"RUN_FROZEN","depth":3}')
    torn = replace(seen(3, RunClosed()), type="", body=b'{"at":"2026')
    with SqliteStore.open(path, create=True) as store:
        open_run(store, opened("run_1", None), later, torn)
    assert named(path) == []
    damage(path, "UPDATE entries SET type = 'RUN_CLOSED' WHERE entry_id > (1 << 32 | 1)")
    assert named(path) == [("label_changed", "run_1", 2, 2), ("label_changed", "run_1", 3, 3)]


def test_progress_goes_through_every_entry(sound: Path) -> None:
    told: list[tuple[str, int]] = []
    with Verification(sound, DIALECTS) as verification:
        assert verification.total_entries() == 20
        list(verification.findings(progress=lambda what, done: told.append((what, done))))
    assert [done for _, done in told] == sorted(done for _, done in told)
    assert told[-1] == ("run_3", 20)
