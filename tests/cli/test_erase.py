"""`erase`: what goes, what is told of it, and what stays."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.log import transactions
from tests.cli.running import Done, at_terminal, bring, call
from tests.cli.transcripts import coverage, gap, raw, record, said, start, state, whole, write

RUN = "run_odd"
SECRET = "Ada's address is 12 Example Row"
WHY = ("--reason", "asked to by the owner")


@pytest.fixture
def odd(into: Path, tmp_path: Path) -> Path:
    """A ledger of one run: messages m1..m3 with attachments, of which one is a gap."""
    lines = (
        record("messages", "m1", text=SECRET),
        record("messages", "m2", text="two"),
        record("messages", "m3", text="about m1 again"),
        record("contacts", "c1", name="Ada"),
        gap("m1"),
        coverage("attachments", "messages", ["m1", "m2"], ["m2"], gap_keys=["m1"]),
        state("messages"),
        state("contacts"),
    )
    bring(into, whole(tmp_path / "odd.jsonl", *lines))
    return into


def erase(ledger: Path, *words: str) -> Done:
    return call("-l", ledger, "erase", *words)


def bodies(ledger: Path) -> dict[int, bytes | None]:
    with closing(sqlite3.connect(ledger)) as connection:
        rows = connection.execute("SELECT entry_id & 4294967295, body FROM entries WHERE entry_id >> 32 = 1")
        return dict(rows.fetchall())


def entries(ledger: Path, type: str, stream: str = "") -> list[int]:
    rows = call("-l", ledger, "log", RUN, "-o", "json").json
    return [row["seq"] for row in rows if row["type"] == type and stream in ("", row["stream"])]


def decisions(ledger: Path) -> dict[str, str]:
    shown = call("-l", ledger, "show", RUN, "-o", "json").json
    return {one["stream"]: one["decision"] for one in shown["checkpoints"]}


def everything(ledger: Path) -> bytes:
    return b"".join(path.read_bytes() for path in ledger.parent.glob("ledger.db*"))


def test_a_record_goes_by_its_key_and_its_bytes_with_it(odd: Path) -> None:
    before = decisions(odd)
    assert SECRET.encode() in everything(odd)
    done = erase(odd, RUN, "--stream", "messages", "--key", "m1", *WHY, "--yes", "-o", "json")
    assert done.status == 0, done.err
    (row,) = done.json["runs"]
    assert (row["run_id"], row["erased"]) == (RUN, 1)
    assert bodies(odd)[row["entries"][0]] is None
    assert SECRET.encode() not in everything(odd)
    assert b'"m2"' in everything(odd)
    assert call("-l", odd, "verify").status == 0
    assert decisions(odd) == before
    assert row["checkpoints"] == [
        {"stream": stream, "before": verdict, "after": verdict} for stream, verdict in before.items()
    ]


def test_the_account_says_which_entries_and_why_and_not_what_they_said(odd: Path) -> None:
    done = erase(odd, RUN, "--stream", "messages", "--key", "m1", *WHY, "--yes", "-o", "json")
    (row,) = done.json["runs"]
    account = bodies(odd)[row["account"][0]]
    assert json.loads(account or b"") == {
        "type": "ENTRIES_ERASED",
        "entries": row["entries"],
        "reason": "asked to by the owner",
    }


def test_what_else_names_the_key_is_told_and_stays(odd: Path) -> None:
    done = erase(odd, RUN, "--stream", "messages", "--key", "m1", *WHY, "--yes", "-o", "json")
    told = {(one["type"], one["where"], one["how"]) for one in done.json["named_by"]}
    assert told == {
        ("RECORD", "data.text", "text"),
        ("DETAIL_GAP", "record_key", "value"),
        ("DETAIL_COVERAGE", "required_keys[0]", "value"),
    }
    assert done.json["named_by_total"] == 3


def test_an_erased_report_leaves_open_what_rests_on_it_and_nothing_else(odd: Path) -> None:
    (report,) = entries(odd, "DETAIL_COVERAGE")
    done = erase(odd, RUN, "--entries", str(report), *WHY, "--yes")
    assert done.status == 0, done.err
    assert "messages: commit becomes indeterminate" in done.out
    assert "contacts: commit as before" in done.out
    assert decisions(odd) == {"messages": "indeterminate", "contacts": "commit"}


def test_ranges_of_entries_may_overlap(odd: Path) -> None:
    done = erase(odd, RUN, "--entries", "3-4, 4,4-5", *WHY, "--yes", "-o", "json")
    assert done.json["runs"][0]["entries"] == [3, 4, 5]


def test_a_stream_goes_as_a_whole_and_its_other_messages_are_told(odd: Path) -> None:
    done = erase(odd, RUN, "--stream", "messages", *WHY, "--yes", "-o", "json")
    assert done.json["runs"][0]["entries"] == entries(odd, "RECORD", "messages")
    assert [one["type"] for one in done.json["named_by"]] == ["STATE"]


def test_a_run_goes_as_a_whole(odd: Path) -> None:
    done = erase(odd, RUN, *WHY, "--yes")
    assert done.status == 0, done.err
    assert "the run: succeeded becomes indeterminate" in done.out
    kept = [body for body in bodies(odd).values() if body is not None]
    types = [json.loads(body)["type"] for body in kept]
    assert types == ["RUN_OPENED", "PROGRAM_EXITED", "RUN_CLOSED", "ENTRIES_ERASED"]
    assert call("-l", odd, "verify").status == 0
    for command in ("show", "why", "log"):
        assert call("-l", odd, command, RUN).status == 0


def test_everywhere_is_every_run_that_has_the_record(odd: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        lines = (record("messages", "m1", text=SECRET), state("messages"))
        bring(odd, whole(tmp_path / f"{number}.jsonl", *lines, run_id=f"run_{number}"))
    bring(odd, whole(tmp_path / "3.jsonl", record("messages", "m9"), run_id="run_3"))
    done = erase(odd, "--everywhere", "--stream", "messages", "--key", "m1", *WHY, "--yes", "-o", "json")
    assert {row["run_id"] for row in done.json["runs"]} == {RUN, "run_1", "run_2"}
    assert SECRET.encode() not in everything(odd)
    assert call("-l", odd, "verify").status == 0


def test_a_compound_key_is_given_as_json(into: Path, tmp_path: Path) -> None:
    lines = (record("messages", ["a", "b"]), record("messages", ["a", "c"]))
    bring(into, whole(tmp_path / "odd.jsonl", *lines))
    done = erase(into, RUN, "--stream", "messages", "--key", '["a","b"]', *WHY, "--yes", "-o", "json")
    assert len(done.json["runs"][0]["entries"]) == 1


@pytest.mark.parametrize("key", ['[ "a" , "b" ]', '["\\u0061","b"]'])
def test_a_compound_key_may_be_spelled_in_any_way(into: Path, tmp_path: Path, key: str) -> None:
    bring(into, whole(tmp_path / "odd.jsonl", record("messages", ["a", "b"]), record("messages", "a")))
    done = erase(into, RUN, "--stream", "messages", "--key", key, *WHY, "--yes", "-o", "json")
    assert len(done.json["runs"][0]["entries"]) == 1


@pytest.mark.parametrize("reason", ["m1", "the owner of m1 asked", "about (m1)."])
def test_a_reason_that_names_the_key_is_refused_since_it_stays(odd: Path, reason: str) -> None:
    before = bodies(odd)
    done = erase(odd, RUN, "--stream", "messages", "--key", "m1", "--reason", reason, "--yes")
    assert (done.status, "does not name the key" in done.err) == (2, True)
    assert bodies(odd) == before
    done = erase(odd, RUN, "--stream", "messages", "--key", "m1", "--reason", "m11 asked", "--yes")
    assert done.status == 0


# ---- how others tell it -----------------------------------------------------------------------------------


def test_log_says_by_which_entry_an_entry_was_erased_and_why(odd: Path) -> None:
    done = erase(odd, RUN, "--entries", "3", *WHY, "--yes", "-o", "json")
    ((account,),) = (row["account"] for row in done.json["runs"])
    told = f"[erased by entry {account}: asked to by the owner]"
    assert told in call("-l", odd, "log", RUN, "--from", "3", "--to", "3").out
    erased, plain = call("-l", odd, "log", RUN, "--from", "3", "--to", "4", "-o", "json").json
    said = (True, account, "asked to by the owner", None)
    assert (erased["erased"], erased["erased_by"], erased["reason"], erased["body"]) == said
    assert (plain["erased"], plain["erased_by"], plain["reason"]) == (False, None, None)
    assert call("-l", odd, "log", RUN, "--from", "3", "--to", "3", "--raw").out == "[erased]\n"


def test_show_and_why_list_what_was_erased_and_why(odd: Path) -> None:
    (report,) = entries(odd, "DETAIL_COVERAGE")
    erase(odd, RUN, "--entries", f"3,{report}", *WHY, "--yes")
    erase(odd, RUN, "--entries", "4", "--reason", "again", "--yes")
    for command in ("show", "why"):
        page = " ".join(call("-l", odd, command, RUN).out.split())
        assert f"Erased entries 3, {report}, " in page
        assert ": asked to by the owner (entry " in page
        assert "entry 4, " in page
    (checkpoint,) = call("-l", odd, "why", RUN, "messages", "-o", "json").json["checkpoints"]
    (shown,) = checkpoint["reasons"][0]["entries"]
    assert shown["facts"]["body"].startswith("erased by entry ")
    assert shown["facts"]["body"].endswith(": asked to by the owner")


def test_an_account_cannot_be_erased_and_by_another_program_it_is_told_so(odd: Path) -> None:
    first = erase(odd, RUN, "--entries", "3", *WHY, "--yes", "-o", "json").json["runs"][0]["account"][0]
    before = bodies(odd)
    for words in (("--dry-run",), (*WHY, "--yes")):
        done = erase(odd, RUN, "--entries", f"4,{first}", *words)
        assert (done.status, "as it tells of an erasure" in done.err) == (2, True), done.err
    assert bodies(odd) == before
    assert call("-l", odd, "verify").status == 0
    with closing(sqlite3.connect(odd)) as connection, connection:
        connection.execute(f"INSERT INTO erasures VALUES ((1 << 32) | {first}, zeroblob(32), '{first}')")
    assert f"[erased by entry {first}]" in call("-l", odd, "log", RUN, "--from", "3", "--to", "3").out
    assert "what and why was erased too" in call("-l", odd, "show", RUN).out
    assert call("-l", odd, "verify").status == 6


def test_runs_say_that_a_run_can_no_longer_be_told(odd: Path) -> None:
    erase(odd, RUN, *WHY, "--yes")
    (row,) = call("-l", odd, "runs", "-o", "json").json
    assert (row["status"], row["cause"]) == ("indeterminate", "entry_erased")
    assert "indeterminate" in call("-l", odd, "runs").out


def test_what_another_program_erased_is_told_without_a_reason(odd: Path) -> None:
    with closing(sqlite3.connect(odd)) as connection, connection:
        connection.execute("INSERT INTO erasures VALUES ((1 << 32) | 3, zeroblob(32), 'somebody')")
    assert "[erased]" in call("-l", odd, "log", RUN, "--from", "3", "--to", "3").out


def test_an_erased_run_comes_out_and_in_again_as_it_was(odd: Path, tmp_path: Path) -> None:
    erase(odd, RUN, "--entries", "3,5", *WHY, "--yes")
    out, again = tmp_path / "out.jsonl", tmp_path / "again.db"
    assert call("-l", odd, "export", RUN, out).status == 0
    bring(again, out)
    heads = [call("-l", ledger, "heads").json["root"] for ledger in (odd, again)]
    assert heads[0] == heads[1]
    assert call("-l", again, "verify").status == 0


def test_an_import_of_the_erased_run_erases_nothing_where_the_bodies_are_held(
    odd: Path, tmp_path: Path
) -> None:
    whole_run, erased = tmp_path / "whole.jsonl", tmp_path / "erased.jsonl"
    call("-l", odd, "export", RUN, whole_run)
    erase(odd, RUN, "--entries", "3", *WHY, "--yes")
    call("-l", odd, "export", RUN, erased)
    other = tmp_path / "other.db"
    bring(other, whole_run)
    done = call("-l", other, "import", erased)
    assert done.status == 0
    assert "entry 3 of run run_odd: erased in the file, and held by this ledger" in done.err
    assert bodies(other)[3] is not None
    bring(odd, whole_run)
    assert bodies(odd)[3] is None


def test_a_dry_run_tells_the_same_and_does_nothing(odd: Path) -> None:
    words = (RUN, "--stream", "messages", "--key", "m1")
    before = odd.read_bytes()
    dry = erase(odd, *words, "--dry-run", "-o", "json")
    assert dry.status == 0
    assert odd.read_bytes() == before
    done = erase(odd, *words, *WHY, "--yes", "-o", "json")
    without: list[Any] = [{**row, "account": [], "done": False} for row in done.json["runs"]]
    assert {**done.json, "runs": without} == dry.json


def test_the_same_erase_again_changes_nothing(odd: Path) -> None:
    for words in ((RUN, "--entries", "3-5", *WHY, "--yes"), (RUN, "--stream", "messages", *WHY, "--yes")):
        assert erase(odd, *words).status == 0
        size = len(bodies(odd))
        again = erase(odd, *words)
        assert again.status == 0
        assert "nothing more to erase" in again.err
        assert len(bodies(odd)) == size


def test_a_key_that_no_record_has_is_not_found_whatever_was_erased_before(odd: Path) -> None:
    words = (RUN, "--stream", "messages", "--key", "m1", *WHY, "--yes")
    assert erase(odd, *words).status == 0
    again = erase(odd, *words)
    assert (again.status, "erase --finish" in again.err) == (4, True)
    assert erase(odd, "--everywhere", "--stream", "mesages", "--key", "m2", *WHY, "--yes").status == 4
    assert erase(odd, RUN, "--stream", "nothing", *WHY, "--yes").status == 4


def test_finishing_takes_nothing_beside_it(odd: Path) -> None:
    assert erase(odd, "--finish").status == 0
    assert erase(odd, RUN, "--finish").status == 2
    assert erase(odd, "--finish", "--dry-run").status == 2


def test_a_line_that_broke_the_run_is_erased_only_by_force(into: Path, tmp_path: Path) -> None:
    lines = (record("messages", "m1"), {"type": "PROGRESS", "message": ""}, state("contacts"))
    bring(into, whole(tmp_path / "odd.jsonl", *lines))
    (bad,) = entries(into, "PROGRESS")
    words = (RUN, "--entries", str(bad), *WHY, "--yes")
    refused = erase(into, *words)
    assert refused.status == 1
    assert "decided otherwise without these entries" in refused.err
    assert "the run: failed becomes succeeded" in refused.out
    assert bodies(into)[bad] is not None
    assert erase(into, *words, "--force").status == 0
    assert bodies(into)[bad] is None


def test_lines_that_could_not_be_read_are_told_when_a_stream_is_erased(into: Path, tmp_path: Path) -> None:
    torn = raw(b'{"type":"RECORD","stream":"messages","key":"m9","data":{"text":"' + SECRET.encode())
    path = write(tmp_path / "odd.jsonl", *start(), *said(record("messages", "m1")), *torn)
    bring(into, path)
    done = erase(into, RUN, "--stream", "messages", *WHY, "--yes", "--force", "-o", "json")
    assert [(one["entry"], one["how"]) for one in done.json["named_by"]] == [(4, "unread")]


def test_the_digest_of_a_cut_line_is_told(into: Path, tmp_path: Path) -> None:
    lines = (record("messages", "m1", text="x" * 6000), record("messages", "m2"))
    path = whole(tmp_path / "odd.jsonl", *lines)
    assert call("-l", into, "import", path, "--max-line", "4096").status == 0
    (cut,) = entries(into, "LINE_CUT")
    done = erase(into, RUN, "--entries", "3", *WHY, "--yes", "--force", "-o", "json")
    assert [(one["entry"], one["how"]) for one in done.json["named_by"]] == [(cut, "digest")]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rows_say_that_other_entries_name_the_key(odd: Path, form: str) -> None:
    words = (RUN, "--stream", "messages", "--key", "m1", "--dry-run", "-o", form)
    done = erase(odd, *words)
    assert "3 other entries name what is erased" in done.err
    assert "CheckpointChange" not in done.out


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ((), 2, "expected a RUN, or --everywhere"),
        ((RUN, "--everywhere", "--stream", "a", "--key", "b", *WHY), 2, "expected a RUN, or --everywhere"),
        (("--everywhere", "--stream", "a", *WHY), 2, "expected --stream and --key"),
        ((RUN, "--key", "b", *WHY), 2, "expected --stream beside --key"),
        ((RUN, "--entries", "3", "--stream", "b", *WHY), 2, "found both"),
        ((RUN, "--entries", "9-3", *WHY), 2, "as 5,7-9"),
        ((RUN, "--entries", "three", *WHY), 2, "as 5,7-9"),
        ((RUN, "--entries", "1", *WHY, "--yes"), 2, "entry 1 cannot be erased"),
        ((RUN, "--entries", "0", *WHY, "--yes"), 4, "expected entries 2 to"),
        ((RUN, "--entries", "5-999", *WHY, "--yes"), 4, "found 999 asked for"),
        ((RUN, "--entries", "3"), 2, "expected --reason"),
        ((RUN, "--entries", "3", "--reason", " "), 2, "expected --reason"),
        ((RUN, "--entries", "3", "--reason", "x" * 1001), 2, "at most 1000 characters"),
        ((RUN, "--entries", "3", *WHY), 2, "expected --yes"),
        ((RUN, "--stream", "nothing", *WHY, "--yes"), 4, "expected a record of the stream 'nothing'"),
        (("run_none", *WHY, "--yes"), 4, "there is no run"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_erased(
    odd: Path, words: tuple[str, ...], status: int, told: str
) -> None:
    before = bodies(odd)
    done = erase(odd, *words)
    assert (done.status, told in done.err) == (status, True), done.err
    assert bodies(odd) == before


def test_a_ledger_that_is_not_there_is_not_made(into: Path) -> None:
    assert erase(into, RUN, "--entries", "3", *WHY, "--yes").status == 4
    assert not into.exists()


def test_a_run_that_is_not_closed_is_left_to_its_recorder_unless_forced(into: Path, tmp_path: Path) -> None:
    transcript = whole(tmp_path / "odd.jsonl", record("messages", "m1"), whole=False)
    bring(into, transcript)
    words = (RUN, "--entries", "3", *WHY, "--yes")
    done = erase(into, *words)
    assert (done.status, "not closed" in done.err or "are closed" in done.err) == (5, True)
    assert bodies(into)[3] is not None
    assert erase(into, *words, "--force").status == 0
    assert bodies(into)[3] is None


def test_at_a_terminal_it_asks_first_and_the_default_is_no(odd: Path) -> None:
    before = bodies(odd)
    status, sent = at_terminal("-l", odd, "erase", RUN, "--entries", "3", *WHY, answer=b"\n")
    assert b"Erase 1 entry for good?" in sent
    assert b"nothing was erased" in sent
    assert (status, bodies(odd)) == (1, before)
    status, sent = at_terminal("-l", odd, "erase", RUN, "--entries", "3", *WHY, answer=b"y\n")
    assert status == 0
    assert bodies(odd)[3] is None


def test_a_reader_that_stays_makes_it_end_in_five_and_it_can_be_finished_later(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "BUSY_SECONDS", 0.1)
    words = (RUN, "--stream", "messages", "--key", "m1", *WHY, "--yes")
    with closing(sqlite3.connect(odd, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        held = erase(odd, *words)
        assert SECRET.encode() in everything(odd)
    assert held.status == 5
    assert "erase --finish" in held.err
    assert erase(odd, "--finish").status == 0
    assert SECRET.encode() not in everything(odd)
