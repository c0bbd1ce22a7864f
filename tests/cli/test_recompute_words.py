"""The words of ``recompute``'s page: what stands first, what is counted, and what one of a thing is."""

from pathlib import Path

import pytest

from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import Done, call
from tests.dialects.collection_profile import runs as r
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

DETAIL = r.run(
    NESTED, r.start("p", "d"), r.coverage("d", "p"), r.state("p"), r.state("d"), r.done(), r.exited(0)
)
"""Stages d under the reference alone."""


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A ledger of three runs, of which two are decided otherwise."""
    path = tmp_path / "ledger.db"
    with made(path, GOOD, CREDITED, CREDITED):
        pass
    return path


def add(path: Path, run: r.Run, run_id: str) -> None:
    with SqliteStore.open(path, create=False) as store:
        keep(store, run, run_id)


def recompute(path: Path, *words: str | Path) -> Done:
    done = call("-l", path, "recompute", *words)
    assert (done.status, done.err) == (0, "")
    return done


def own(path: Path, *lines: str) -> Path:
    file = path.parent / "own.toml"
    file.write_text("\n".join(['id = "own/1"', 'extends = "collection-profile/0.1.0"', *lines]))
    return file


def test_checkpoints_are_counted_under_the_old_rules_and_under_the_new_ones(history: Path) -> None:
    add(history, DETAIL, "detail")
    done = recompute(history, "--ruleset", REFERENCE)
    assert done.lines[1].startswith("4 checkpoints, now 5, of 4 runs (")
    summary = recompute(history, "--ruleset", REFERENCE, "-o", "json").json["summary"]
    assert (summary["checkpoints_before"], summary["checkpoints"]) == (4, 5)


def test_what_is_one_and_what_is_none_is_said_so(history: Path) -> None:
    add(history, DETAIL, "detail")
    one = recompute(history, "--ruleset", REFERENCE, "--runs", "detail").lines
    assert one[2] == "Blast radius: 1 run of 1 program; 1 checkpoint, with no record behind it."
    failed = r.run(r.streams("a"), r.start("a"), r.record("a", op="upsert"), r.done(1), r.exited(0))
    add(history, failed, "failed")
    none = recompute(history, "--ruleset", REFERENCE, "--runs", "failed").lines
    assert none[2] == "Blast radius: 1 run of 1 program; no checkpoint."
    file = own(history, "[switches]", 'optional_skip_keys = "credit"')
    assert "The one changed rule or switch was exercised." in recompute(history, "--ruleset", file).lines


def test_rules_of_another_name_that_decide_alike_are_said_to(history: Path) -> None:
    done = recompute(history, "--ruleset", own(history))
    assert done.lines[2:] == [
        "Blast radius: nothing is decided otherwise.",
        "",
        "They decide alike: the same switches, and the same rules in the same order.",
    ]


def test_rules_of_one_id_are_told_apart_by_their_digests(history: Path) -> None:
    rules = history.parent / "earlier.toml"
    rules.write_text(f'id = "acme/1"\nextends = "{REFERENCE}"\n')
    earlier = call("rules", "show", rules, "-o", "json").json["digest"]
    assert recompute(history, "--ruleset", rules).status == 0, "the ledger keeps it"
    rules.write_text(f'id = "acme/1"\nextends = "{TEXT}"\n')
    now = call("rules", "show", rules, "-o", "json").json["digest"]
    words = ("--ruleset", rules, "--against", earlier)
    assert recompute(history, *words).out.split()[:3] == [now, "against", earlier]
    summary = recompute(history, *words, "-o", "json").json["summary"]
    assert (summary["rulesets"], summary["against"]) == ([now], [earlier])


def test_where_runs_were_recorded_under_several_rulesets_each_is_held_against_its_own(history: Path) -> None:
    add(history, named(GOOD, "", ruleset=REFERENCE), "theirs")
    lines = recompute(history).lines
    assert " ".join(lines[:2]) == f"{TEXT} against each run's own: {TEXT}, {REFERENCE}"


def test_what_nothing_exercised_is_listed_whole_where_all_is_asked_for(history: Path) -> None:
    some, whole = (recompute(history, "--ruleset", LATER, "-n", limit).lines for limit in ("5", "0"))
    assert some[-1].endswith(" more: -n 0 prints all, -o json lists them")
    never = recompute(history, "--ruleset", LATER, "-o", "json").json["summary"]["never_exercised"]
    assert [line.split()[0] for line in whole[-len(never) :]] == [one["name"] for one in never]


def test_runs_and_streams_of_a_group_stand_under_each_other(history: Path) -> None:
    add(history, CREDITED, "a_longer_name")
    lines = recompute(history, "--ruleset", TEXT, "--against", REFERENCE).lines
    assert "    run_2          p  for d  keys k  entry 4  1 record" in lines
    assert "    a_longer_name  p  for d  keys k  entry 4  1 record" in lines


def test_a_decision_that_is_not_reproduced_comes_before_what_flips(history: Path) -> None:
    add(history, decided_at(named(GOOD, "wrong"), 5, decision="sha256:other"), "wrong")
    lines = recompute(history, "--against", REFERENCE).lines
    assert lines.index("Recorded decisions: 1 of 1 is not reproduced") < lines.index("Checkpoints that flip")


def test_who_doubts_is_told_that_nothing_was_found(history: Path) -> None:
    assert recompute(history, "--no-cache").lines[2:] == ["Blast radius: nothing is decided otherwise."]
    recompute(history)
    assert recompute(history, "--no-cache").lines[-1] == "Kept decisions: 3 of 3 are what is folded now."
    twice = recompute(history, "--twice", "--jobs", "1")
    assert twice.lines[-1] == "Folded twice, under two hash seeds: 3 runs, to the same bytes."


@pytest.mark.parametrize("option", ["--ruleset", "--against"])
def test_an_empty_name_is_no_ruleset(history: Path, option: str) -> None:
    done = call("-l", history, "recompute", option, "")
    assert (done.status, done.out) == (4, "")
    assert done.err.startswith("runledger: there is no ruleset ''")
