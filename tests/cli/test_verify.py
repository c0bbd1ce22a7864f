"""`verify`: what it prints, and how it ends."""

import csv
import io
import json
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import at_terminal, bring, call, run
from tests.cli.transcripts import record, whole
from tests.log.damages import damage, erase, outside

EDIT = "UPDATE entries SET at = at + 1 WHERE entry_id = (1 << 32 | 7)"


def first_run(ledger: Path) -> str:
    with closing(outside(ledger)) as connection:
        return str(connection.execute("SELECT run_id FROM runs WHERE run_no = 1").fetchone()[0])


def test_a_sound_ledger_holds_and_what_this_cannot_see_is_said(ledger: Path) -> None:
    done = call("-l", ledger, "verify")
    page = " ".join(done.out.split())
    assert done.status == 0
    assert page.startswith("HOLDS: 19 runs, 301 entries (0 erased), 19 heads, 10 documents.")
    assert "a tail cut together with its heads, a history rewritten with all its hashes" in page
    assert f"`runledger -l {ledger} heads`" in page
    assert done.err == ""


def test_a_damaged_ledger_ends_in_six_and_names_run_entries_and_what(ledger: Path) -> None:
    damage(ledger, EDIT)
    done = run("-l", ledger, "verify")
    assert done.status == 6
    heading, finding, *conclusion = done.lines
    assert heading.split() == ["RUN", "ID", "ENTRIES", "CODE", "WHAT"]
    name, entries, code, what = finding.split(maxsplit=3)
    assert (name, code) == (first_run(ledger), "tree_broken")
    first, last = map(int, entries.split("–"))
    assert first <= 7 <= last
    assert what.startswith("expected the root ")
    assert ", found entries that give " in what
    assert " ".join(conclusion).startswith("BROKEN: 1 finding, in 1 of 19 runs. Read: 19 runs, 301 entries")
    assert done.err == ""


def test_only_the_runs_that_are_named_are_verified(ledger: Path) -> None:
    damage(ledger, EDIT)
    whole = call("-l", ledger, "verify", first_run(ledger), "@latest")
    other = call("-l", ledger, "verify", "@latest")
    assert (whole.status, other.status) == (6, 0)
    assert other.out.startswith("HOLDS: 1 run, ")
    assert "document" not in other.out
    assert call("-l", ledger, "verify", "nobody").status == 4


def test_heads_of_other_runs_prove_nothing_of_these(ledger: Path) -> None:
    heads = run("-l", ledger, "heads", "@latest").raw
    one = " ".join(call("-l", ledger, "verify", "--heads", "-", "@latest", "@1", stdin=heads).out.split())
    other = " ".join(call("-l", ledger, "verify", "--heads", "-", "@2", stdin=heads).out.split())
    assert one.startswith("HOLDS: 1 run, ")
    assert "1 of 1 known head hold." in one
    assert "no known head is of these runs. Seen only against heads" in other


def test_findings_come_in_every_form_with_the_same_names(ledger: Path) -> None:
    damage(ledger, EDIT)
    names = {"code", "run_id", "first", "last", "expected", "found"}
    whole = run("-l", ledger, "verify", "-o", "json")
    lines = run("-l", ledger, "verify", "-o", "jsonl")
    table = run("-l", ledger, "verify", "-o", "csv")
    assert (whole.status, lines.status, table.status) == (6, 6, 6)
    assert (whole.json["holds"], whole.json["findings_total"], whole.json["entries"]) == (False, 1, 301)
    (finding,) = whole.json["findings"]
    assert set(finding) == names
    assert [json.loads(line) for line in lines.lines] == [finding]
    (row,) = csv.DictReader(io.StringIO(table.out))
    assert row == {name: str(value) for name, value in finding.items()}
    assert "BROKEN: 1 finding" in lines.err


def test_json_of_a_sound_ledger_says_that_it_holds(ledger: Path) -> None:
    done = run("-l", ledger, "verify", "-o", "json")
    assert (done.status, done.json["holds"], done.json["findings"]) == (0, True, [])
    assert run("-l", ledger, "verify", "-o", "jsonl").out == ""


def test_a_ledger_whose_schema_was_changed_is_opened_and_verified(ledger: Path) -> None:
    damage(ledger, EDIT)
    with closing(outside(ledger)) as connection:
        connection.execute("DROP TRIGGER entries_no_update")
    assert call("-l", ledger, "runs").status == 6
    done = call("-l", ledger, "verify", first_run(ledger))
    assert done.status == 6
    assert "schema_changed" in done.out
    assert "tree_broken" in done.out


def test_a_ledger_without_its_table_of_runs_is_told_and_is_no_bug(ledger: Path) -> None:
    with closing(outside(ledger)) as connection:
        connection.execute("DROP TABLE runs")
    done = call("-l", ledger, "verify")
    assert done.status == 6
    assert "table_unreadable" in done.out
    assert call("-l", ledger, "verify", "run_1").status == 6


def test_what_is_no_ledger_is_told_from_a_broken_one(tmp_path: Path, ledger: Path) -> None:
    assert call("-l", tmp_path / "none.db", "verify").status == 4
    (tmp_path / "text.db").write_text("no database, only some words\n" * 100)
    assert call("-l", tmp_path / "text.db", "verify").status == 5
    with closing(outside(ledger)) as connection:
        connection.executescript("PRAGMA user_version = 2; CREATE TABLE witnesses (run_no)")
    assert call("-l", ledger, "verify").status == 5


def test_a_ledger_that_was_cut_off_is_broken_and_is_no_bug(ledger: Path) -> None:
    body = ledger.read_bytes()
    for length in (100, 4096, 8192, 20_000, len(body) // 2, len(body) - 1):
        ledger.write_bytes(body[:length])
        done = call("-l", ledger, "verify")
        assert done.status in (5, 6), (length, done.err)
        assert "bug" not in done.err


def test_what_could_not_be_checked_is_said(ledger: Path) -> None:
    damage(
        ledger,
        "UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), 'collection-', 'other-') AS BLOB)"
        " WHERE entry_id = (1 << 32 | 1)",
    )
    said = f"not checked of run {first_run(ledger)}: types and streams"
    assert said in " ".join(call("-l", ledger, "verify").out.split())
    lines = call("-l", ledger, "verify", "-o", "jsonl")
    assert said in lines.err
    assert "BROKEN" in lines.err


def test_a_run_whose_import_may_be_cut_short_before_it_tells_of_its_erasures_is_said_to_be_incomplete(
    into: Path, tmp_path: Path
) -> None:
    bring(into, whole(tmp_path / "open.jsonl", record("messages", "m1"), whole=False))
    erase(into, 1, 3, account=4_000_000)
    done = call("-l", into, "verify")
    page = " ".join(done.out.split())
    assert done.status == 1
    assert "why entries are erased: the part of the run that tells is not imported yet" in page
    assert "INCOMPLETE: of 1 run the import was cut short; import the whole file again. Read: 1 run, " in page
    told = call("-l", into, "verify", "-o", "json")
    assert (told.status, told.json["holds"], told.json["incomplete_runs"]) == (1, False, 1)


@pytest.mark.parametrize("words", [(), ("--heads", "-")])
def test_evidence_that_was_erased_of_a_closed_imported_run_ends_in_six(
    into: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    bring(into, whole(tmp_path / "run.jsonl", record("messages", "m1")))
    heads = run("-l", into, "heads").raw
    erase(into, 1, 4, account=4_000_000)
    done = call("-l", into, "verify", *words, stdin=heads)
    assert (done.status, "erasure_unexplained" in done.out) == (6, True)


# ---- against heads kept elsewhere -------------------------------------------------------------------------

CUT = "DELETE FROM entries WHERE entry_id >> 32 = 19; DELETE FROM tree_heads WHERE run_no = 19;"
CUT += "DELETE FROM runs WHERE run_no = 19"


def test_a_run_that_was_cut_away_is_seen_only_against_heads(ledger: Path, tmp_path: Path) -> None:
    kept = tmp_path / "heads.jsonl"
    kept.write_bytes(run("-l", ledger, "heads").raw)
    name = json.loads(kept.read_text().splitlines()[-1])["run_id"]
    held = call("-l", ledger, "verify", "--heads", kept)
    assert held.status == 0
    assert "19 of 19 known heads hold" in " ".join(held.out.split())
    damage(ledger, CUT)
    assert "known" not in call("-l", ledger, "verify").out
    done = call("-l", ledger, "verify", "--heads", kept)
    assert done.status == 6
    assert "known_run_missing" in done.out
    assert name in done.out
    assert "18 of 19 known heads hold" in " ".join(done.out.split())
    assert call("-l", ledger, "verify", "--heads", "-", stdin=kept.read_bytes()).out == done.out


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{}", "found no such line"),
        ("nonsense", "found no such line"),
        ('{"run_id":"a","size":1,"root":"00"}', "found size 1 and a root of 1 bytes"),
        ('{"run_id":"a","size":0,"root":"' + "0" * 64 + '"}', "found size 0"),
        ('{"run_id":"a","size":1,"root":"' + "x" * 64 + '"}', "found no such line"),
        ('{"run_id":"a","size":1.5,"root":"' + "0" * 64 + '"}', "found no such line"),
        ('{"run_id":"b","size":1,"root":"' + "1" * 64 + '"}', "expected one root for run 'b' at size 1"),
    ],
)
def test_a_bad_line_of_heads_is_named_by_its_number(
    ledger: Path, tmp_path: Path, line: str, what: str
) -> None:
    kept = tmp_path / "heads.jsonl"
    good = '{"run_id":"b","size":1,"root":"' + "0" * 64 + '"}'
    kept.write_text(f"{good}\n\n{good}\n{line}\n")
    done = call("-l", ledger, "verify", "--heads", kept)
    assert done.status == 3
    assert f"{kept}:4: " in done.err
    assert what in done.err


def test_a_file_without_heads_proves_nothing_and_is_refused(ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").touch()
    for name in (tmp_path / "none.jsonl", tmp_path / "absent.jsonl", tmp_path):
        assert call("-l", ledger, "verify", "--heads", name).status == 3


def test_at_a_terminal_a_hostile_run_id_is_only_shown(ledger: Path) -> None:
    damage(ledger, "UPDATE runs SET run_id = 'x' || char(27) || '[2J' WHERE run_no = 1")
    status, sent = at_terminal("-l", ledger, "verify", "--color", "never")
    assert status == 6
    assert b"\x1b[2J" not in sent
