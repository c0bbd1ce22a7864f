"""``runledger doctor``: a table, or data, and the exit status of the worst that it found."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.running import call, run


def test_a_table_for_people_and_nothing_to_do(samples: Path) -> None:
    done = call("-l", samples, "doctor")
    assert done.status == 0
    assert done.lines[0].split()[:3] == ["CHECK", "STATE", "FOUND"]
    assert "nothing is wrong" in done.err
    assert "verify" in done.err


def test_data_has_the_same_members_in_every_form(samples: Path) -> None:
    rows = call("-l", samples, "doctor", "-o", "json").json
    assert {tuple(row) for row in rows} == {("check", "state", "found", "advice", "status")}
    assert {row["check"] for row in rows} >= {"software", "disk", "write lock", "ledger", "growth"}
    assert len(call("-l", samples, "doctor", "-o", "jsonl").lines) == len(rows)
    assert call("-l", samples, "doctor", "-o", "csv").lines[0].startswith("check,state,found,advice")


def test_the_status_is_the_problems(ledger: Path, tmp_path: Path) -> None:
    assert call("-l", tmp_path / "nothing.db", "doctor").status == 4
    assert call("-l", tmp_path, "doctor").status == 3
    with closing(sqlite3.connect(ledger, isolation_level=None)) as holder:
        holder.execute("PRAGMA journal_mode")
        holder.execute("BEGIN IMMEDIATE")
        assert run("-l", ledger, "doctor").status == 5
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("DROP TRIGGER entries_once")
    done = call("-l", ledger, "doctor")
    assert done.status == 6
    assert "entries_once" in done.out
    assert "nothing is wrong" not in done.err


def test_a_problem_is_data_and_the_status_says_so_too(tmp_path: Path) -> None:
    done = call("-l", tmp_path / "nothing.db", "doctor", "-o", "json")
    assert (done.status, done.err) == (4, "")
    assert done.json[-1]["state"] == "problem"
    assert done.json[-1]["status"] == 4
