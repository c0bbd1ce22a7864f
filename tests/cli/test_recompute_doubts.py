"""``recompute``: what is kept and what is folded held against each other, and a bar while it works."""

import shutil
from pathlib import Path

import pytest

from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import Done, at_terminal, call, run
from tests.cli.transcripts import ROOT
from tests.dialects.collection_profile import runs as r
from tests.installing import describe
from tests.log.damages import damage
from tests.recompute.histories import CREDITED, GOOD, REFERENCE, TEXT, keep, made

WORDS = ("--ruleset", TEXT, "--against", REFERENCE)


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


def recompute(path: Path, *words: str | Path) -> Done:
    return call("-l", path, "recompute", *words)


# ---- doubts -----------------------------------------------------------------------------------------------

TURNED = "UPDATE aux_cached_decisions SET decision = replace(decision, '\"withhold\"', '\"commit\"')"


def test_what_somebody_changed_in_what_is_kept_is_found_by_who_doubts(history: Path) -> None:
    recompute(history, *WORDS)
    damage(history, TURNED)
    assert recompute(history, *WORDS, "--exit-code").status == 0, "it is believed"
    done = recompute(history, *WORDS, "--no-cache", "-o", "json")
    assert done.status == 6
    assert done.err.startswith(
        "runledger: what is kept of 2 runs is not what the entries fold to: run_2, run_3;"
    )
    rows = [(row["kind"], row["run_id"], row["code"]) for row in done.json["differences"]]
    assert rows.count(("kept", "run_2", "kept_decision_differs")) == 1
    assert done.json["summary"]["kept_decisions_differing"] == 2
    assert done.json["summary"]["blast_radius"]["runs"] == 2, "what is told is what was folded"


def test_who_doubts_writes_nothing(history: Path) -> None:
    recompute(history, "--runs", "run_1")
    before = history.read_bytes()
    done = recompute(history, *WORDS, "--no-cache", "-o", "json")
    assert (done.json["summary"]["decisions_folded"], done.json["summary"]["decisions_kept"]) == (6, 0)
    assert history.read_bytes() == before


def test_folded_twice_nothing_differs_and_nothing_is_taken_or_kept(history: Path) -> None:
    recompute(history, *WORDS)
    before = history.read_bytes()
    done = recompute(history, *WORDS, "--twice", "--jobs", "1", "-o", "json")
    assert (done.status, done.err) == (0, "")
    summary = done.json["summary"]
    assert (summary["folded_twice"], summary["twice_differing"], summary["decisions_kept"]) == (3, 0, 0)
    assert history.read_bytes() == before


def test_folded_twice_what_is_kept_can_be_doubted_too(history: Path) -> None:
    recompute(history, *WORDS)
    damage(history, TURNED)
    done = recompute(history, *WORDS, "--twice", "--no-cache", "-o", "json")
    summary = done.json["summary"]
    assert done.status == 6
    assert (summary["folded_twice"], summary["twice_differing"]) == (3, 0)
    assert summary["kept_decisions_differing"] == 2


LEAKY = '''
from dataclasses import replace
from ledger.core.decision import Reason
from ledger.core.findings import rule
from ledger.dialects.collection_profile.rulesets import TEXT

@rule("leaky/1")
def leaky_streams_come_in_the_order_of_a_set(state, plan, checkpoint):
    """Every stream of the run is a reason."""
    for name in set(plan.streams):
        yield Reason(code="leaky", clause="leaky/1", stream=name)

LEAKY = replace(
    TEXT,
    id="leaky/1",
    summary="withholds everything",
    checkpoint_rules={**TEXT.checkpoint_rules, "coverage": (leaky_streams_come_in_the_order_of_a_set,)},
)
'''


def test_a_rule_that_leaks_the_order_of_a_set_is_found(history: Path, tmp_path: Path) -> None:
    (tmp_path / "leaky_rules.py").write_text(LEAKY)
    describe(tmp_path, "leaky-rules", "1.0", {"runledger.rulesets": {"leaky": "leaky_rules:LEAKY"}})
    names = [f"stream_{number}" for number in range(12)]
    for run_id in ("many_1", "many_2"):
        lines = (r.start(*names), r.state(names[0]), r.done(), r.exited(0))
        with SqliteStore.open(history, create=False) as store:
            keep(store, r.run(r.streams(*names), *lines), run_id)
    words = ("-l", history, "recompute", "--ruleset", "leaky/1", "--twice", "--jobs", "1", "-o", "json")
    done = run(*words, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.status == 1, done.err
    rows = [(row["run_id"], row["code"]) for row in done.json["differences"] if row["kind"] == "twice"]
    assert {("many_1", "folded_to_other_bytes"), ("many_2", "folded_to_other_bytes")} <= set(rows)
    assert done.json["summary"]["twice_differing"] == len(rows)
    assert "folded twice to different bytes: " in done.err
    assert "many_1, many_2" in done.err


# ---- at a terminal ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that is worth a bar."""
    path = tmp_path_factory.mktemp("long") / "ledger.db"
    lines: tuple[r.Step, ...] = (
        r.start("a"),
        *[r.record("a")] * 2600,
        r.state("a"),
        r.done(2600),
        r.exited(0),
    )
    with made(path, *[r.run(r.streams("a"), *lines)] * 40):
        pass
    return path


@pytest.mark.parametrize("verb", ["recompute", "verify"])
def test_at_a_terminal_a_bar_says_how_far_how_fast_and_how_long_still(long: Path, verb: str) -> None:
    status, sent = at_terminal("-l", long, verb)
    assert status == 0
    drawn = sent.decode()
    assert "/104,200" in drawn
    assert "entries/s" in drawn
    assert "0:00:0" in drawn


def test_in_80_columns_the_bar_is_one_line(long: Path) -> None:
    status, sent = at_terminal("-l", long, "recompute", "--no-cache", COLUMNS="80")
    drawn = [line for line in sent.replace(b"\r", b"\n").split(b"\n") if b"entries/s" in line]
    assert status == 0
    assert drawn
    assert all(b"/104,200" in line for line in drawn)


def test_a_small_ledger_is_worth_no_bar(history: Path) -> None:
    status, sent = at_terminal("-l", history, "recompute", "--color", "never")
    assert status == 0
    assert sent.decode().replace("\r\n", "\n").endswith("Blast radius: nothing is decided otherwise.\n")
    assert b"entries/s" not in sent
