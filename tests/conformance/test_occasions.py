"""What a run held for rules and switches to judge: what is not named makes no difference, whatever it is."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec
import pytest

from ledger.core.decision import Decision
from ledger.dialects.collection_profile.occasions import OCCASIONS
from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.dialects.collection_profile.rulesets import RULESETS
from ledger.dialects.collection_profile.state import State
from ledger.dialects.collection_profile.switches import Switches
from tests.conformance.case_runs import perform, record
from tests.conformance.test_collection_profile import DIALECT, GENERATED, WRITTEN
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE, Run, turned

VALUES = {name: get_args(values) for name, values in get_type_hints(Switches).items()}


class Tried(NamedTuple):
    """A case as it was run and performed under a ruleset: what it exercised, and what was decided."""

    id: str
    run: Run
    exercised: frozenset[str]
    decision: Decision


@cache
def tried(ruleset: str) -> tuple[Tried, ...]:
    """Run every case under a ruleset."""
    return tuple(_try_each(RULESETS[ruleset]))


def _try_each(ruleset: Ruleset) -> Iterator[Tried]:
    for case in (*WRITTEN, *GENERATED):
        recording = record(case, DIALECT)
        run = Run(recording.entries, {case.manifest_digest: bytes(case.manifest)})
        perform(case, recording, ruleset.id, PROFILE.decide(folded(run, ruleset)))
        state = folded(run, ruleset)
        yield Tried(case.id, run, PROFILE.exercised(state), PROFILE.decide(state))


def folded(run: Run, ruleset: Ruleset) -> State:
    state = PROFILE.initial_state(ruleset, run.documents)
    PROFILE.evolve(state, run.entries)
    return state


def decides_the_same(case: Tried, other: Ruleset) -> bool:
    """Tell whether another ruleset decides a case the same, in everything that is told."""
    return what_is_told(PROFILE.decide(folded(case.run, other)), case) == what_is_told(case.decision, case)


def what_is_told(decision: Decision, case: Tried) -> Decision:
    """Return a decision under the case's ruleset; listing no facts tells as little as knowing none."""
    totals = msgspec.structs.replace(decision.totals, facts=decision.totals.facts or msgspec.UNSET)
    facts = decision.facts or msgspec.UNSET
    return msgspec.structs.replace(decision, ruleset=case.decision.ruleset, totals=totals, facts=facts)


def told_names(ruleset: Ruleset) -> set[str]:
    """Return the names of everything that a run may exercise."""
    return {rule.name for rule in ruleset.tell_rules()} | {switch.name for switch in ruleset.tell_switches()}


def each_turned(ruleset: Ruleset) -> Iterator[tuple[str, Ruleset]]:
    """Yield the ruleset with one switch at another value, for each switch and each of its other values."""
    for switch, values in VALUES.items():
        for value in values:
            if value != getattr(ruleset.switches, switch):
                yield switch, turned(ruleset, **{switch: value})


def all_turned(ruleset: Ruleset, exercised: frozenset[str]) -> Ruleset:
    """Return the ruleset with every switch that is not exercised at another value."""
    others = {
        switch: next(value for value in values if value != getattr(ruleset.switches, switch))
        for switch, values in VALUES.items()
        if switch not in exercised
    }
    return turned(ruleset, **others)


def of_rules(ruleset: Ruleset, kept: frozenset[str]) -> Ruleset:
    """Return the ruleset with some of its rules only."""

    def some(rules: Any) -> Any:
        if isinstance(rules, tuple):
            return tuple(rule for rule in rules if rule.__name__ in kept)
        return {asked_of: some(those) for asked_of, those in rules.items()}

    return replace(
        ruleset, **{name: some(those) for name, those in vars(ruleset).items() if name.endswith("_rules")}
    )


def test_every_switch_has_an_occasion() -> None:
    assert set(OCCASIONS) == set(VALUES)


def test_no_rule_is_named_like_a_switch() -> None:
    for ruleset in RULESETS.values():
        assert not {rule.name for rule in ruleset.tell_rules()} & set(OCCASIONS)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_nothing_is_exercised_where_nothing_happened(ruleset: str) -> None:
    assert PROFILE.exercised(folded(Run([], {}), RULESETS[ruleset])) == frozenset()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_rule_and_switch_is_exercised_by_some_case_and_not_by_every_case(ruleset: str) -> None:
    by_any = frozenset[str]().union(*(one.exercised for one in tried(ruleset)))
    assert by_any == told_names(RULESETS[ruleset])
    assert frozenset.intersection(*(one.exercised for one in tried(ruleset))) == frozenset()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_switch_that_is_not_exercised_decides_nothing(ruleset: str) -> None:
    found = []
    for switch, other in each_turned(RULESETS[ruleset]):
        for case in tried(ruleset)[: len(WRITTEN)]:
            if switch not in case.exercised and not decides_the_same(case, other):
                found.append((case.id, switch))
    assert found == []


@pytest.mark.parametrize("ruleset", RULESETS)
def test_all_switches_that_are_not_exercised_decide_nothing_together(ruleset: str) -> None:
    cases = tried(ruleset)
    other = cache(lambda exercised: all_turned(RULESETS[ruleset], exercised))
    switches = frozenset(VALUES)
    assert [c.id for c in cases if not decides_the_same(c, other(c.exercised & switches))] == []


@pytest.mark.parametrize("ruleset", RULESETS)
def test_rules_that_are_not_exercised_decide_nothing(ruleset: str) -> None:
    cases = tried(ruleset)
    assert [c.id for c in cases if not decides_the_same(c, of_rules(RULESETS[ruleset], c.exercised))] == []


@pytest.mark.parametrize("ruleset", ["collection-profile/0.1.0", "collection-profile/0.2.0"])
def test_a_listed_gap_whose_key_was_hydrated_is_an_occasion_for_who_accounts_for_it(ruleset: str) -> None:
    manifest = r.fully_declared(r.streams("p", d=r.detail("p")))
    gap = r.owed("d", "k", "p")
    lines = (gap, r.coverage("d", "p", ["k"], ["k"], gap_keys=["k"]), r.done(0), r.exited(0))
    run = r.run(manifest, r.start_all(manifest), *lines)
    assert "unlisted_gap" in PROFILE.exercised(folded(run, RULESETS[ruleset]))
