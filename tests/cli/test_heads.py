"""`heads`: what to keep elsewhere."""

import csv
import io
import json
from pathlib import Path

from ledger.core.merkle import root
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import call, run
from tests.log.damages import damage, make_ledger


def test_the_newest_head_of_every_run_is_a_json_line_in_the_order_of_the_log(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    make_ledger(path)
    done = run("-l", path, "heads")
    with SqliteStore.open(path, create=False, read_only=True) as store:
        expected = [
            {"run_id": row.run_id, "size": head.size, "root": root(head.peaks, head.size).hex()}
            for row in store.runs_as_appended()
            for head in list(store.heads(row.run_no))[-1:]
        ]
    assert done.status == 0
    assert [json.loads(line) for line in done.lines] == expected
    assert [(one["run_id"], one["size"]) for one in expected] == [("run_1", 12), ("run_2", 3), ("run_3", 5)]
    assert run("-l", path, "heads").raw == done.raw


def test_all_of_them_and_those_of_some_runs(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    make_ledger(path)
    every = [json.loads(line) for line in call("-l", path, "heads", "--all").lines]
    assert [(one["run_id"], one["size"]) for one in every] == [
        *(("run_1", size) for size in (4, 8, 10, 12)),
        ("run_2", 3),
        *(("run_3", size) for size in (2, 5)),
    ]
    some = [json.loads(line) for line in call("-l", path, "heads", "run_3", "run_2", "--all").lines]
    assert some == [*every[5:], every[4]]


def test_the_other_forms(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    make_ledger(path)
    rows = [json.loads(line) for line in call("-l", path, "heads").lines]
    assert call("-l", path, "heads", "-o", "json").json == rows
    table = list(csv.DictReader(io.StringIO(call("-l", path, "heads", "-o", "csv").out)))
    assert table == [{name: str(value) for name, value in row.items()} for row in rows]


def test_there_is_nothing_to_print_of_a_ledger_that_is_not_there(tmp_path: Path) -> None:
    assert call("-l", tmp_path / "none.db", "heads").status == 4


def test_a_head_that_cannot_be_ends_in_six(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    make_ledger(path)
    damage(path, "UPDATE tree_heads SET peaks = zeroblob(96) WHERE run_no = 2")
    done = call("-l", path, "heads")
    assert done.status == 6
    assert "run run_2: expected 2 peaks" in done.err
