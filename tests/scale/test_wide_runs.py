"""Whatever a run has many of: twice as many is twice the work, and a page about it stays a page."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from cli.page import Page
from cli.show_page import write_decision
from cli.why_page import write_why
from ledger.core.decision import Decision
from ledger.core.findings import LIST_LIMIT
from ledger.replay.explain import FACTS_TOLD, entries_cited, explain, told_checkpoints
from tests.dialects.collection_profile.runs import PROFILE, Run, checkpoint
from tests.scale import wide_runs
from tests.scale.wide_runs import WIDE

MANY = 300
LONGEST_PAGE = 200_000

every_width = pytest.mark.parametrize("wide", WIDE.values(), ids=WIDE)


def steps_of(work: Callable[[], object]) -> int:
    """Count the calls, and the turns of generators, that some work takes."""
    steps = 0

    def count(frame: FrameType, event: str, value: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return steps


def explained(run: Run, decision: Decision) -> Any:
    """Explain as ``why`` does, without the runs before."""
    told = told_checkpoints(decision, list(decision.checkpoints))
    numbers = entries_cited(decision, told)
    cited = {entry.seq: entry for entry in run.entries if entry.seq in numbers}
    return explain(PROFILE, decision, told, cited, {}, {}, asked_total=len(decision.checkpoints))


@every_width
def test_twice_as_much_is_twice_the_work(wide: wide_runs.Wide) -> None:
    def work(run: Run) -> int:
        return steps_of(lambda: explained(run, run.decided()))

    work(wide(10))  # what is made once is made
    once, twice = work(wide(MANY)), work(wide(2 * MANY))
    assert twice <= 2.2 * once


@every_width
def test_a_page_stays_a_page(wide: wide_runs.Wide) -> None:
    run = wide(2000)
    decision = run.decided()
    shown, why = Page(color=False, width=100), Page(color=False, width=100)
    write_decision(shown, decision, PROFILE.catalogue)
    write_why(why, explained(run, decision))
    assert len(shown.text()) <= LONGEST_PAGE
    assert len(why.text()) <= LONGEST_PAGE // 4


@pytest.mark.parametrize("wide", [wide_runs.many_children, wide_runs.many_failed_children])
def test_the_reasons_of_one_checkpoint_are_listed_up_to_a_hundred_and_counted(wide: wide_runs.Wide) -> None:
    few, many = checkpoint(wide(LIST_LIMIT // 2).decided(), "p"), checkpoint(wide(500).decided(), "p")
    assert (len(many.reasons), many.decision) == (LIST_LIMIT, "withhold")
    assert isinstance(many.reasons_total, int)
    assert many.reasons_total >= 500
    assert not isinstance(few.reasons_total, int)


def test_an_explanation_tells_the_troubled_checkpoints_first_and_counts_the_rest() -> None:
    run = wide_runs.many_writes(2 * FACTS_TOLD)
    said = explained(run, run.decided())
    assert (len(said.checkpoints), said.checkpoints_total) == (FACTS_TOLD, 2 * FACTS_TOLD)
    assert {one.outcome for one in said.checkpoints} == {"failed"}


def test_a_chain_of_any_length_is_followed_without_recursion() -> None:
    run = wide_runs.a_chain(20_000)
    assert run.decided().status == "succeeded"
