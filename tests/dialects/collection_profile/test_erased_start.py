"""An erased START: nobody knows which lines its scope left out, and so whether they broke the run."""

import pytest

from ledger.core.observations import CancelRequested, GrantRevoked, RunRefused, Trigger
from tests.dialects.collection_profile.runs import (
    Erased,
    Step,
    coverage,
    decide,
    gap,
    interaction,
    progress,
    record,
    skip,
    start,
    state,
    streams,
)

M = streams("a", "b")
GRANTED = Trigger(kind="continuous", grant_id="grant_1")
ENDINGS: list[tuple[Step, str]] = [
    (CancelRequested(), "cancelled"),
    (GrantRevoked(grant_id="grant_1"), "cancelled"),
    (RunRefused(reason="no"), "refused"),
]
ABOUT_B: list[Step] = [
    record("b"),
    state("b"),
    skip("b", "x"),
    coverage("b", "b"),
    gap("b"),
    progress(stream="b"),
    Erased(record("b")),
    Erased(state("b")),
]


def ended(first: Step, *lines: Step) -> str:
    return decide(M, first, *lines, trigger=GRANTED).status


@pytest.mark.parametrize(("ending", "status"), ENDINGS)
@pytest.mark.parametrize("line", ABOUT_B, ids=str)
def test_a_line_that_may_have_left_the_scope_leaves_open_what_ended_the_run(
    line: Step, ending: Step, status: str
) -> None:
    assert ended(start("a"), line, ending) == "failed"
    assert ended(start("a", "b"), line, ending) == status
    assert ended(Erased(start("a")), line, ending) == "indeterminate"


@pytest.mark.parametrize(("ending", "status"), ENDINGS)
def test_what_ended_a_run_before_any_such_line_did(ending: Step, status: str) -> None:
    assert ended(Erased(start("a")), ending) == status
    assert ended(Erased(start("a")), ending, record("b")) == status
    assert ended(Erased(start("a")), interaction(), ending) == status


def test_what_broke_the_run_whatever_the_scope_still_did() -> None:
    assert ended(Erased(start("a")), state("b"), "{", CancelRequested()) == "failed"
