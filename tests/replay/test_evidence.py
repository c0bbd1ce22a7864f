"""Which changed rules a history gave an occasion for."""

from dataclasses import replace

from ledger.dialects.collection_profile.rulesets import REFERENCE, TEXT
from ledger.replay.evidence import Change, Evidence
from tests.dialects.collection_profile.runs import PROFILE

LENIENT = PROFILE.derive(TEXT, id="lenient", summary="", switches={"unknown_message": "ignore"})


def names(evidence: Evidence) -> set[str]:
    return {one.name for one in evidence.never_exercised()}


def test_without_a_run_nothing_is_known_to_have_changed() -> None:
    evidence = Evidence()
    assert (evidence.changed, evidence.never_exercised()) == (0, [])


def test_a_change_that_no_run_gave_an_occasion_for_is_named_with_what_it_was_and_becomes() -> None:
    evidence = Evidence()
    evidence.add(TEXT, LENIENT, ["stream_in_scope"], ["stream_in_scope"])
    told = {one.name: one for one in TEXT.tell_switches()}["unknown_message"]
    assert evidence.changed == 1
    assert evidence.never_exercised() == [
        Change(
            what="switch",
            name="unknown_message",
            clause=told.clause,
            says=told.says,
            before="violate",
            after="ignore",
        )
    ]


def test_a_change_is_exercised_by_any_run_on_either_side() -> None:
    for before, after in (("unknown_message", ""), ("", "unknown_message")):
        evidence = Evidence()
        evidence.add(TEXT, LENIENT, [], [])
        evidence.add(TEXT, LENIENT, [before], [after])
        evidence.add(TEXT, LENIENT, [], [])
        assert (evidence.changed, evidence.never_exercised()) == (1, [])


def test_a_rule_that_only_one_side_has_is_exercised_on_that_side_alone() -> None:
    only_here, only_there = "within_resources", "within_resources_by_field"
    evidence = Evidence()
    evidence.add(TEXT, REFERENCE, [only_there], [only_here])
    assert {only_here, only_there} <= names(evidence)
    evidence.add(TEXT, REFERENCE, [only_here], [only_there])
    assert {only_here, only_there}.isdisjoint(names(evidence))


def test_runs_held_against_different_rules_add_up() -> None:
    evidence = Evidence()
    evidence.add(TEXT, LENIENT, [], [])
    evidence.add(TEXT, REFERENCE, [], [])
    alone = Evidence()
    alone.add(TEXT, REFERENCE, [], [])
    assert names(evidence) == {"unknown_message"} | names(alone)
    assert evidence.changed == len(evidence.never_exercised())


def test_a_rule_of_one_name_under_two_clauses_is_two_changes() -> None:
    other = replace(TEXT, message_rules={**TEXT.message_rules, "STATE": TEXT.message_rules["PROGRESS"]})
    evidence = Evidence()
    evidence.add(TEXT, other, [], [])
    moved = [one for one in evidence.never_exercised() if one.name == "stream_in_scope"]
    assert [(one.clause, one.before, one.after) for one in moved] == [
        ("state/stream", "1", None),
        ("progress/stream", None, "1"),
    ]
