"""Rulesets of somebody's own, however their switches are turned: any run can be decided under them."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from ledger.core.decision import encode_decision
from ledger.dialects.collection_profile.ruleset import Ruleset, derive
from ledger.dialects.collection_profile.rulesets import RULESETS
from ledger.dialects.collection_profile.switches import SWITCHES
from ledger.errors import UsageError
from ledger.replay.replay import replay
from tests.dialects.collection_profile.runs import PROFILE, Run
from tests.properties.strategies import whole_runs

VALUES = {name: st.sampled_from(switch.values) for name, switch in SWITCHES.items()}


@st.composite
def own_rulesets(draw: st.DrawFn) -> Ruleset:
    """A ruleset that turns whatever can be turned of some shipped one."""
    own = RULESETS[draw(st.sampled_from(sorted(RULESETS)))]
    for name, value in draw(st.fixed_dictionaries({}, optional=VALUES)).items():
        with suppress(UsageError):
            own = derive(own, id="own/1", summary="", switches={name: value})
    return own


@given(whole_runs(), own_rulesets())
def test_any_run_can_be_decided_at_every_prefix(run: Run, own: Ruleset) -> None:
    state = PROFILE.initial_state(own, run.documents)
    for seen, entry in enumerate(run.entries, start=1):
        PROFILE.evolve(state, [entry])
        at_once = replay(PROFILE, run.entries[:seen], run.documents, own)
        assert encode_decision(PROFILE.decide(state)) == encode_decision(at_once)
        assert at_once.ruleset.digest == own.digest
