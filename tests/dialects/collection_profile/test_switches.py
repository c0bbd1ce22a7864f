"""The switches: each one, turned alone on each shipped ruleset, does what it says, or is refused."""

from collections.abc import Iterator

import msgspec
import pytest

from ledger.core.decision import Decision, RulesetName
from ledger.dialects.collection_profile.ruleset import Ruleset, derive
from ledger.dialects.collection_profile.rulesets import REFERENCE, RULESETS, TEXT
from ledger.dialects.collection_profile.switches import SWITCHES, Switches
from ledger.errors import UsageError
from ledger.replay.replay import replay
from tests.conformance.case_runs import Case, record
from tests.conformance.test_collection_profile import GENERATED, WRITTEN
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE, Run

A, B7 = r.fully_declared(r.streams("a")), r.fully_declared(r.streams("b", "7"))
HINT = {"action": "unknown", "why": "x"}
OBSERVING = r.fully_declared(r.streams("a"), protocol_capabilities=["OBSERVATION"])
FACT = {"type": "OBSERVATION", "id": "o1", "fact": "provider_message"}
OWING = r.fully_declared(r.streams("a", "p", d=r.detail("p")))
REPORT = r.coverage("d", "p", ["k"])
EXTRA = [
    r.run(OWING, r.start("p", "d"), r.state("p"), r.owed("d"), REPORT, r.done(), r.exited(0)),
    r.run(OWING, r.start("a"), r.owed("a"), r.done(), r.exited(0)),
    r.run(A, r.start("a"), r.skip("a", "x", message="x", recovery_hint=HINT), r.done(), r.exited(0)),
    r.run(B7, r.start("b", "7"), r.state("b"), r.state("7"), r.done(), r.exited(0)),
    r.run(OBSERVING, r.start("a"), FACT, r.state("a"), r.done(), r.exited(0), offered=None),
]
"""Runs for the switches that no case of the profile is about."""

REFUSED = {
    (TEXT.id, "connector_facts", "known"),
    (REFERENCE.id, "connector_facts", "known"),
    (TEXT.id, "manifest_declarations", "required"),
    (REFERENCE.id, "manifest_declarations", "required"),
    (REFERENCE.id, "evidence_closure", "on"),
    (TEXT.id, "evidence_closure", "equal"),
    (REFERENCE.id, "evidence_closure", "equal"),
    ("collection-profile/0.2.0", "evidence_closure", "on"),
    (REFERENCE.id, "stream_evidence", "known"),
    (REFERENCE.id, "controller_loss", "weigh"),
    ("collection-profile/0.2.0", "controller_loss", "weigh"),
}
"""What a ruleset cannot be turned to, as it does not ask the rules that this would need."""


def turned() -> Iterator[tuple[Ruleset, str, str]]:
    """Yield every (ruleset, switch, value) that is not how the ruleset has it."""
    for ruleset in RULESETS.values():
        for name, switch in SWITCHES.items():
            for value in switch.values:
                if value != getattr(ruleset.switches, name):
                    yield ruleset, name, value


TURNED = [one for one in turned() if (one[0].id, *one[1:]) not in REFUSED]
every_turn = pytest.mark.parametrize(
    ("base", "name", "value"), TURNED, ids=[f"{base.id}-{name}-{value}" for base, name, value in TURNED]
)


def of_case(case: Case) -> Run:
    return Run(record(case, PROFILE).entries, {case.manifest_digest: bytes(case.manifest)})


def declared(case: Case) -> Iterator[Case]:
    """Yield a case with the manifest that the later profile wants, if it declares streams at all."""
    manifest = msgspec.json.decode(case.manifest)
    if all(isinstance(stream, dict) for stream in manifest.get("streams") or [None]):
        manifest.pop("runtime_requirements", None)
        whole = msgspec.Raw(r.to_line(r.fully_declared(manifest)))
        yield msgspec.structs.replace(case, manifest=whole)


DECLARED = [one for case in WRITTEN for one in declared(case)]
WRITTEN_RUNS = [*EXTRA, *map(of_case, WRITTEN), *map(of_case, DECLARED)]
GENERATED_RUNS = [of_case(case) for case in GENERATED]


def decided(run: Run, ruleset: Ruleset) -> Decision:
    """Decide a run; which ruleset did is left out, so that decisions of two can be compared."""
    decision = replay(PROFILE, run.entries, run.documents, ruleset)
    return msgspec.structs.replace(decision, ruleset=RulesetName(id="", digest=""))


@every_turn
def test_a_switch_changes_a_decision_and_breaks_none(base: Ruleset, name: str, value: str) -> None:
    other = derive(base, id="own/1", summary="", switches={name: value})
    differing = sum(decided(run, base) != decided(run, other) for run in WRITTEN_RUNS)
    generated = (decided(run, base) != decided(run, other) for run in GENERATED_RUNS)
    assert differing or any(generated), "add a run that shows it, or name the rule that this value needs"


@pytest.mark.parametrize(("base", "name", "value"), sorted(REFUSED))
def test_a_switch_that_needs_a_rule_which_is_not_asked_is_refused(base: str, name: str, value: str) -> None:
    with pytest.raises(UsageError) as refused:
        derive(RULESETS[base], id="own/1", summary="", switches={name: value})
    assert f"without which {name} cannot be {value}, found {base}, " in str(refused.value)


def test_a_rule_that_a_switch_needs_is_asked_by_a_ruleset() -> None:
    asked = {told.name for ruleset in RULESETS.values() for told in ruleset.tell_rules()}
    needed = {rule for switch in SWITCHES.values() for rule in switch.needs.values()}
    assert needed <= asked
    assert all(set(switch.needs) <= set(switch.values) for switch in SWITCHES.values())


def test_nothing_turned_is_the_same_but_for_its_name() -> None:
    own = derive(TEXT, id="own/1", summary="mine", switches={})
    assert (own.id, own.summary, own.switches) == ("own/1", "mine", TEXT.switches)
    assert [*own.tell_rules()] == [*TEXT.tell_rules()]
    assert own.digest != TEXT.digest
    assert derive(own, id=TEXT.id, summary="", switches={}).digest == TEXT.digest


def test_turning_a_switch_back_is_the_ruleset_again() -> None:
    for base, name, value in TURNED:
        there = derive(base, id="own/1", summary="", switches={name: value})
        kept = str(getattr(base.switches, name))
        if there.switches != base.switches and (there.id, name, kept) not in REFUSED:
            assert derive(there, id=base.id, summary="", switches={name: kept}).document == base.document


def test_a_switch_is_told_with_its_values_and_its_default() -> None:
    for told in TEXT.tell_switches():
        assert told.default in told.values
        assert told.value in told.values
    assert {told.name: told.default for told in TEXT.tell_switches()} == msgspec.to_builtins(Switches())


@pytest.mark.parametrize(
    ("switches", "told"),
    [
        ({"unknown_mesage": "ignore"}, "did you mean unknown_message or "),
        ({"zzz": "ignore"}, "there are: out_of_scope_record, "),
        ({"unknown_message": "ignor"}, "to be ignore or ignore_inherited_names or violate, found 'ignor'"),
    ],
)
def test_what_is_no_switch_or_no_value_is_refused(switches: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError) as refused:
        derive(TEXT, id="own/1", summary="", switches=switches)
    assert told in str(refused.value)
