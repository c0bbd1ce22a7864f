"""``note``: a remark that is kept, seen wherever the run is looked at, and decides nothing."""

import json
import subprocess
from pathlib import Path

import pytest

from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import COMMAND, call, environment, page_of, run, why
from tests.cli.test_import import bring_in, outcomes
from tests.cli.transcripts import ROOT, sample, start, write

RUN, TRANSCRIPT = sample("calendar-snapshot")


def note(ledger: Path, *words: str, **env: str) -> None:
    done = call("-l", ledger, "note", RUN, *words, stdin=None, **env)
    assert (done.status, done.out) == (0, ""), done.err


def test_a_note_is_an_entry_and_is_seen_wherever_the_run_is_looked_at(ledger: Path) -> None:
    before = call("-l", ledger, "show", RUN, "-o", "json").json
    note(ledger, "the provider confirmed it", "--by", "ana")
    note(ledger, "again\n\x1b[31m", "--by", "ben")
    decision = call("-l", ledger, "show", RUN, "-o", "json").json
    assert decision == {**before, "through": before["through"] + 2}
    for page in (why(ledger, RUN), page_of(call("-l", ledger, "show", RUN))):
        assert "Notes ana, 20" in page
        assert f"the provider confirmed it (entry {before['through'] + 1})" in page
        assert "again\\n\\u001b[31m" in page
    (row, _) = call("-l", ledger, "log", RUN, "--type", "NOTE", "-o", "json").json
    assert json.loads(row["body"]) == {"type": "NOTE", "by": "ana", "text": "the provider confirmed it"}
    assert "by ana · text the provider confirmed it" in call("-l", ledger, "log", RUN).out
    assert "Notes" not in why(ledger, "@1")


def test_a_note_is_told_as_data_too(ledger: Path) -> None:
    done = call("-l", ledger, "note", RUN, "odd", "--by", "ana", "-o", "json")
    (row,) = done.json
    assert row == {"run_id": RUN, "seq": 10, "by": "ana", "text": "odd"}


def test_the_noted_run_still_verifies_and_its_transcript_is_still_known(ledger: Path, tmp_path: Path) -> None:
    note(ledger, "odd")
    assert call("-l", ledger, "verify").status == 0
    assert outcomes(bring_in(ledger, TRANSCRIPT)) == [(RUN, "unchanged")]
    call("-l", ledger, "export", RUN, tmp_path / "out.jsonl")
    assert outcomes(bring_in(tmp_path / "other.db", tmp_path / "out.jsonl")) == [(RUN, "imported")]


def test_a_time_before_the_runs_last_is_raised_to_it(tmp_path: Path) -> None:
    ledger = tmp_path / "l.db"
    late = {"at": "2999-01-01T00:00:00Z", "origin": "program", "line": "{}"}
    untimed = {"origin": "program", "line": "{}"}
    bring_in(ledger, write(tmp_path / "run.jsonl", *start(), late, untimed))
    call("-l", ledger, "note", "run_odd", "odd")
    *_, row = call("-l", ledger, "log", "run_odd", "-o", "json").json
    assert (row["type"], row["at"]) == ("NOTE", "2999-01-01T00:00:00.000000Z")


def test_who_says_it_is_asked_of_the_system(ledger: Path) -> None:
    note(ledger, "odd", LOGNAME="carla")
    (row,) = call("-l", ledger, "log", RUN, "--type", "NOTE", "-o", "json").json
    assert json.loads(row["body"])["by"] == "carla"


def test_a_note_comes_from_stdin(ledger: Path) -> None:
    for given, kept in ((b"two\nlines\n", "two\nlines"), ("é".encode() * 8000, "é" * 8000)):
        done = run("-l", ledger, "note", RUN, "-", "-o", "json", stdin=given)
        assert (done.status, done.json[0]["text"]) == (0, kept), done.err


@pytest.mark.parametrize(
    ("text", "stdin", "status", "told"),
    [
        ("", b"", 2, "expected a remark, found none"),
        (" \n", b"", 2, "expected a remark, found none"),
        ("-", b"", 3, "expected a remark, found none"),
        ("x" * 16385, b"", 2, "at most 16384 bytes"),
        ("-", b"x" * 16386, 2, "at most 16384 bytes"),
        ("-", "é".encode() * 10000, 2, "at most 16384 bytes"),
        ("-", b"ok \xff", 3, "UTF-8, found something else at byte 3"),
    ],
)
def test_what_is_no_note_is_refused(ledger: Path, text: str, stdin: bytes, status: int, told: str) -> None:
    done = call("-l", ledger, "note", RUN, text, stdin=stdin)
    assert (done.status, done.out) == (status, "")
    assert told in done.err
    assert call("-l", ledger, "log", RUN, "--type", "NOTE").out == ""


@pytest.mark.parametrize("by", ["", " ", "x" * 201])
def test_a_name_that_is_none_is_refused(ledger: Path, by: str) -> None:
    assert call("-l", ledger, "note", RUN, "odd", "--by", by).status == 2


def test_a_secret_in_a_note_is_taken_out(ledger: Path) -> None:
    answer = '{"type":"INTERACTION_RESPONSE","request_id":"r","status":"success","data":{"pin":"hunter2"}}'
    note(ledger, answer)
    assert b"hunter2" not in call("-l", ledger, "log", RUN, "--raw").raw


def test_a_note_makes_no_ledger(into: Path) -> None:
    assert call("-l", into, "note", "run_1", "odd").status == 4
    assert not into.exists()


def test_a_run_that_a_recorder_may_still_have_is_left_alone_unless_forced(into: Path, tmp_path: Path) -> None:
    bring_in(into, write(tmp_path / "run.jsonl", *start(), whole=False))
    done = call("-l", into, "note", "run_odd", "odd")
    assert (done.status, done.out) == (5, "")
    assert "--force" in done.err
    assert call("-l", into, "note", "run_odd", "odd", "--force").status == 0


def test_notes_at_once_are_all_kept(ledger: Path) -> None:
    many = [
        subprocess.Popen(
            [*COMMAND, "-l", str(ledger), "note", RUN, f"note {number}"],
            cwd=ROOT,
            env=environment(),
            stderr=subprocess.PIPE,
        )
        for number in range(6)
    ]
    assert [(one.communicate(timeout=60)[1][:9], one.returncode) for one in many] == [(b"runledger", 0)] * 6
    with SqliteStore.open(ledger, create=False) as store:
        row = store.run(RUN)
        assert row is not None
        found = [entry for _, entry in store.observations("NOTE", run_no=row.run_no)]
    assert len({entry.body for entry in found}) == 6


def test_the_older_of_many_notes_are_counted(ledger: Path) -> None:
    for number in range(23):
        note(ledger, f"note {number}.")
    page = why(ledger, RUN)
    assert "3 older ones" in page
    assert "note 2." not in page
    assert "note 3." in page
    assert "note 22." in page
