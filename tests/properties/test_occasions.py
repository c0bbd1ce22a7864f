"""Occasions over generated runs: what is not exercised decides nothing, be it erased, damaged or late."""

from hypothesis import given
from hypothesis import strategies as st

from ledger.dialects.collection_profile.rulesets import RULESETS
from tests.conformance.test_occasions import (
    Tried,
    all_turned,
    decides_the_same,
    each_turned,
    folded,
    of_rules,
)
from tests.dialects.collection_profile.runs import PROFILE, Run
from tests.properties.strategies import whole_runs
from tests.properties.test_fold import under_every_ruleset

TURNED = {name: list(each_turned(ruleset)) for name, ruleset in RULESETS.items()}


def tried(run: Run, ruleset: str) -> Tried:
    state = folded(run, RULESETS[ruleset])
    return Tried("drawn", run, PROFILE.exercised(state), PROFILE.decide(state))


@given(whole_runs(), st.data())
@under_every_ruleset
def test_what_is_not_exercised_decides_nothing(ruleset: str, run: Run, data: st.DataObject) -> None:
    case = tried(run, ruleset)
    assert decides_the_same(case, of_rules(RULESETS[ruleset], case.exercised))
    assert decides_the_same(case, all_turned(RULESETS[ruleset], case.exercised))
    switch, other = data.draw(st.sampled_from(TURNED[ruleset]))
    assert switch in case.exercised or decides_the_same(case, other), switch


@given(whole_runs(), st.data())
@under_every_ruleset
def test_what_a_prefix_exercised_is_the_same_by_steps(ruleset: str, run: Run, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(run.entries)))
    state = folded(Run(run.entries[:at], run.documents), RULESETS[ruleset])
    PROFILE.exercised(state)
    PROFILE.evolve(state, run.entries[at:])
    assert PROFILE.exercised(state) == tried(run, ruleset).exercised
