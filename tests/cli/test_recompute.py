"""``recompute``: what it prints in every form, how it exits, and what it is asked."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import Done, call
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import Erased
from tests.log.damages import damage
from tests.recompute.histories import (
    CREDITED,
    GOOD,
    LATER,
    NESTED,
    REFERENCE,
    TEXT,
    decided_at,
    keep,
    made,
    named,
)

WORDS = ("--ruleset", TEXT, "--against", REFERENCE)
"""Under which the checkpoints of CREDITED are withheld that were committed."""

MEMBERS = {
    *(
        "kind",
        "run_id",
        "program",
        "stream",
        "before",
        "after",
        "code",
        "clause",
        "says",
        "basis",
        "at_fault",
    ),
    *("keys", "keys_total", "entries", "entries_total", "records"),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of three runs, of which two are decided otherwise."""
    path = tmp_path_factory.mktemp("small") / "ledger.db"
    with made(path, GOOD, CREDITED, CREDITED):
        pass
    return path


@pytest.fixture
def history(small: Path, tmp_path: Path) -> Path:
    """A copy of it, to write to."""
    return Path(shutil.copyfile(small, tmp_path / "ledger.db"))


def add(path: Path, run: r.Run, run_id: str, **row: Any) -> None:
    with SqliteStore.open(path, create=False) as store:
        keep(store, run, run_id, **row)


def recompute(path: Path, *words: str | Path) -> Done:
    return call("-l", path, "recompute", *words)


# ---- forms ------------------------------------------------------------------------------------------------

PAGE = """\
collection-profile/0.1.0 against collection-profile/0.1.0+reference
3 checkpoints of 3 runs (21 entries): 6 decisions folded, 0 kept.
Blast radius: 2 runs of 1 program; 2 checkpoints, with 2 records behind them.

Checkpoints that flip
  commit → withhold: coverage_unaccounted (eligible/3), 2 in 2 runs
    A checkpoint is withheld while a report that gates it leaves a key unaccounted for.
    run_2  p  for d  keys k  entry 4  1 record
    run_3  p  for d  keys k  entry 4  1 record

Never exercised, so no evidence either way: """


def test_the_page_begins_with_how_far_the_rules_reach_and_says_why(history: Path) -> None:
    done = recompute(history, *WORDS)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(PAGE.replace("21 entries", f"{entries_of(history)} entries"))
    assert "\n  RULE OR SWITCH " in done.out
    again = recompute(history, *WORDS)
    assert again.out == done.out.replace("6 decisions folded, 0 kept", "0 decisions folded, 6 kept")


def entries_of(path: Path) -> int:
    with SqliteStore.open(path, create=False, read_only=True) as store:
        return sum(store.size(run.run_no) for run in store.runs())


def test_where_nothing_is_decided_otherwise_that_is_all_there_is_to_say(history: Path) -> None:
    done = recompute(history)
    assert done.lines == [
        f"{TEXT} against {TEXT}",
        f"3 checkpoints of 3 runs ({entries_of(history)} entries): 3 decisions folded, 0 kept.",
        "Blast radius: nothing is decided otherwise.",
    ]


def test_every_form_tells_the_same(history: Path) -> None:
    whole, lines, table = (recompute(history, *WORDS, "-o", form) for form in ("json", "jsonl", "csv"))
    assert (whole.err, lines.err, table.err) == ("", "", "")
    rows = whole.json["differences"]
    *others, summary = map(json.loads, lines.lines)
    assert others == rows
    assert {frozenset(row) for row in rows} == {frozenset(MEMBERS)}
    assert [row["run_id"] for row in rows] == ["run_2", "run_3"]
    timeless = {"decisions_folded", "decisions_kept"}
    assert {**summary, **dict.fromkeys(timeless)} == {**whole.json["summary"], **dict.fromkeys(timeless)}
    read = list(csv.DictReader(io.StringIO(table.out)))
    assert [(row["run_id"], row["keys"], row["entries"]) for row in read] == [
        ("run_2", "k", "4"),
        ("run_3", "k", "4"),
    ]
    assert set(read[0]) == MEMBERS


def test_a_difference_is_told_whole(history: Path) -> None:
    row = recompute(history, *WORDS, "-o", "json").json["differences"][0]
    assert row == {
        "kind": "checkpoint",
        "run_id": "run_2",
        "program": "https://example.test/connector",
        "stream": "p",
        "before": "commit",
        "after": "withhold",
        "code": "coverage_unaccounted",
        "clause": "eligible/3",
        "says": "A checkpoint is withheld while a report that gates it leaves a key unaccounted for.",
        "basis": "after",
        "at_fault": "d",
        "keys": ["k"],
        "keys_total": 1,
        "entries": [4],
        "entries_total": 1,
        "records": 1,
    }


def test_the_summary_holds_the_sums(history: Path) -> None:
    summary = recompute(history, *WORDS, "-o", "json").json["summary"]
    never, groups = summary.pop("never_exercised"), summary.pop("groups")
    assert summary == {
        "kind": "summary",
        "schema": "recomputation/1",
        "rulesets": [TEXT],
        "against": [REFERENCE],
        "runs": 3,
        "entries": entries_of(history),
        "checkpoints": 3,
        "checkpoints_before": 3,
        "decisions_folded": 6,
        "decisions_kept": 0,
        "blast_radius": {"runs": 2, "programs": 1, "checkpoints": 2, "records": 2},
        "indeterminate_runs": 0,
        "changed_rules": 38,
        "recorded_decisions": {"reproduced": 0, "not_reproduced": 0},
        "runs_left": 0,
        "runs_broken": 0,
        "runs_without_old_rules": 0,
        "kept_decisions_compared": 0,
        "kept_decisions_differing": 0,
        "folded_twice": None,
        "twice_differing": None,
    }
    assert groups == [
        {
            "kind": "checkpoint",
            "before": "commit",
            "after": "withhold",
            "code": "coverage_unaccounted",
            "clause": "eligible/3",
            "differences": 2,
            "runs": 2,
        }
    ]
    assert {"what", "name", "clause", "says", "before", "after"} == set(never[0])
    assert "optional_skip_keys" not in {one["name"] for one in never}, "these runs gave an occasion for it"


def test_no_differences_are_still_one_document(history: Path) -> None:
    whole = recompute(history, "-o", "json").json
    assert (whole["differences"], whole["summary"]["runs"]) == ([], 3)
    assert len(recompute(history, "-o", "jsonl").lines) == 1
    assert len(recompute(history, "-o", "csv").lines) == 1


@pytest.mark.parametrize(("limit", "shown", "more"), [("1", 1, "and 1 more"), ("2", 2, None), ("0", 2, None)])
def test_of_a_group_as_many_are_printed_as_are_asked_for(
    history: Path, limit: str, shown: int, more: str | None
) -> None:
    done = recompute(history, *WORDS, "-n", limit)
    assert sum(line.startswith("    run_") for line in done.lines) == shown
    assert ("    and 1 more: -n 0 prints all, -o jsonl lists them" in done.lines) == (more is not None)


def test_verdicts_statuses_and_orders_have_headings_of_their_own(history: Path) -> None:
    ended = (r.done(), r.exited(0))
    streams = r.streams("a", "7")
    add(history, r.run(streams, r.start("a", "7"), r.state("a"), r.state("7"), *ended), "ordered")
    upsert = (r.state("p"), r.record("p", op="upsert"))
    left_open = (r.start("p", "d"), Erased(r.coverage("d", "p", ["k"], ["k"])), *upsert)
    add(history, r.run(NESTED, *left_open, r.done(1), r.exited(0)), "erased")
    done = recompute(history, "--ruleset", REFERENCE)
    headings = [line for line in done.lines if line and line[0] != " " and not line.startswith("collection")]
    assert headings[2:6] == [
        "Checkpoints that flip",
        "Runs that end otherwise",
        "Commits in another order",
        "Open on one side, as something was erased; not guessed",
    ]
    assert "  another order: order_of_commits (eligible/4), 1 in 1 run" in done.lines
    assert "    ordered  a, 7 → 7, a" in done.lines
    assert "  succeeded → failed: member_invalid (record/op), 1" in done.lines
    summary = recompute(history, "--ruleset", REFERENCE, "-o", "json").json["summary"]
    assert summary["indeterminate_runs"] == 1
    assert summary["blast_radius"]["checkpoints"] == 2


def test_a_checkpoint_that_was_not_staged_is_called_so(history: Path) -> None:
    lines = (r.start("p", "d"), r.coverage("d", "p"), r.state("p"), r.state("d"), r.done(), r.exited(0))
    add(history, r.run(NESTED, *lines), "detail")
    done = recompute(history, "--ruleset", REFERENCE, "--runs", "detail")
    assert "  not staged → commit: state_of_no_checkpoint (state/stream), 1 in 1 run" in done.lines


# ---- how it exits -----------------------------------------------------------------------------------------


def test_a_flip_is_no_failure_unless_it_is_asked_about(history: Path) -> None:
    assert recompute(history, *WORDS).status == 0
    assert recompute(history, *WORDS, "--exit-code").status == 1
    assert recompute(history, "--exit-code").status == 0


def test_what_was_erased_is_no_flip(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    upsert = (r.start("p", "d"), r.state("p"), Erased(r.coverage("d", "p", ["k"], ["k"])), r.gap("d", " k"))
    with made(path, r.run(NESTED, *upsert, r.done(), r.exited(0))):
        pass
    done = recompute(path, "--ruleset", REFERENCE, "--runs", "run_1", "-o", "json")
    kinds = {row["kind"] for row in done.json["differences"]}
    assert kinds == {"run", "indeterminate"}


def test_a_run_that_is_broken_is_told_of_and_the_others_are_decided(history: Path) -> None:
    damage(history, f"DELETE FROM entries WHERE entry_id = {1 << 32 | 3}")
    done = recompute(history, *WORDS, "-o", "json", "--exit-code")
    assert done.status == 6
    assert done.err == "runledger: 1 run could not be read; `runledger verify` says more\n"
    left = done.json["differences"][0]
    assert (left["kind"], left["run_id"], left["code"]) == ("left", "run_1", "log_broken")
    assert "expected entry 3, found none" in left["says"]
    assert (done.json["summary"]["runs_broken"], done.json["summary"]["blast_radius"]["runs"]) == (1, 2)
    page = recompute(history, *WORDS)
    assert page.status == 6
    assert "\nNot decided: 1 run\n  run_1  " in page.out


def test_what_this_version_cannot_decide_is_left_and_is_no_failure(history: Path) -> None:
    add(history, GOOD, "odd", dialect="carrier-pigeon")
    add(history, named(GOOD, "", ruleset="acme/7"), "acme")
    done = recompute(history, "--exit-code")
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith(
        "\n1 run of which the old rules are not known here: held against nothing\n  acme (acme/7)\n"
        "  Install the package that has them, or name others: --against\n"
        "\nNot decided: 1 run\n"
        "  odd  the dialect 'carrier-pigeon' is not known to this version\n"
    )
    whole = recompute(history, "-o", "json").json
    summary = whole["summary"]
    assert (summary["runs_left"], summary["runs_broken"], summary["runs_without_old_rules"]) == (1, 0, 1)
    assert [(row["kind"], row["run_id"], row["says"]) for row in whole["differences"]] == [
        ("left", "odd", "the dialect 'carrier-pigeon' is not known to this version"),
        ("unheld", "acme", "recorded under acme/7"),
    ]


def test_recorded_decisions_are_counted_and_those_that_are_not_reproduced_are_named(history: Path) -> None:
    add(history, decided_at(named(GOOD, "right"), 5), "right")
    assert recompute(history).out.endswith("\nRecorded decisions: 1 of 1 reproduced.\n")
    add(history, decided_at(named(GOOD, "wrong"), 5, decision="sha256:other"), "wrong")
    done = recompute(history, "--exit-code")
    assert (done.status, done.err) == (0, "")
    assert done.lines[3:6] == ["", "Recorded decisions: 1 of 2 is not reproduced", "  wrong"]
    done = recompute(history, "-o", "json")
    whole = done.json
    assert "1 recorded decision not reproduced: wrong" in done.err
    assert [(row["kind"], row["run_id"], row["code"]) for row in whole["differences"]] == [
        ("recorded", "wrong", "recorded_decision_not_reproduced")
    ]
    assert whole["summary"]["recorded_decisions"] == {"reproduced": 1, "not_reproduced": 1}


def test_an_empty_ledger_says_so(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    SqliteStore.open(path, create=True).close()
    for form in ("text", "json", "jsonl", "csv"):
        done = recompute(path, "-o", form)
        assert (done.status, done.err) == (0, "runledger: the ledger holds no run\n")
    assert recompute(path, "-o", "json").json["summary"]["runs"] == 0


# ---- which runs, and what is asked wrongly ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run_2",), ["run_2"]),
        (("run_3,run_1",), ["run_1", "run_3"]),
        (("run_3", "--runs", "run_1,run_3"), ["run_1", "run_3"]),
        (("via=recorded",), ["run_1", "run_2", "run_3"]),
        (("run_1,run_2,via=recorded",), ["run_1", "run_2"]),
        (("program=connector,via=tapped,via=recorded",), ["run_1", "run_2", "run_3"]),
    ],
)
def test_only_the_runs_that_are_asked_for_are_decided(
    history: Path, words: tuple[str, ...], expected: list[str]
) -> None:
    done = recompute(history, "--ruleset", LATER, "--runs", *words, "-o", "json")
    assert list(dict.fromkeys(row["run_id"] for row in done.json["differences"])) == expected
    assert done.json["summary"]["runs"] == len(expected)


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("--runs", "nothing"), 4, "there is no run 'nothing'; `runledger runs` lists what there is"),
        (
            ("--runs", "via=tapped"),
            4,
            "no run is like via=tapped; `runledger runs` lists what there is",
        ),
        (
            ("--runs", "colour=red"),
            2,
            "expected a run's name, or one of program, since, before, via, namespace, dialect and =; "
            "found 'colour'",
        ),
        (
            ("--runs", "since=soon"),
            2,
            "expected since= as a date, an instant with its offset, or 7d or 12h; found 'soon'",
        ),
        (
            ("--runs", "\udcff"),
            2,
            r"expected a run's id, a prefix, @latest, @latest:PROGRAM or @2; found '\udcff'",
        ),
        (("--against", "collection-profile/9"), 4, "there is no ruleset 'collection-profile/9'"),
        (("--ruleset", "collection-profile/9"), 4, "there is no ruleset 'collection-profile/9'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    history: Path, words: tuple[str, ...], status: int, told: str
) -> None:
    done = recompute(history, *words)
    assert (done.status, done.out) == (status, "")
    (line,) = done.err.splitlines()
    assert line.startswith(f"runledger: {told}")


@pytest.mark.parametrize(
    "words", [("--jobs", "0"), ("--jobs", "x"), ("-n", "-1"), ("run_1",), ("--nothing",)]
)
def test_wrong_options_are_refused_before_anything_is_opened(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = recompute(tmp_path / "none.db", *words)
    assert (done.status, done.out) == (2, "")
    assert words[0] in done.err or "run_1" in done.err


def test_without_a_ledger_it_says_how_one_is_made(tmp_path: Path) -> None:
    done = recompute(tmp_path / "none.db")
    assert (done.status, done.out) == (4, "")
    assert "runledger import FILE" in done.err
    assert list(tmp_path.iterdir()) == []
