"""Rulesets as data: how one is named, and where two differ."""

from dataclasses import replace

import pytest

from ledger.dialects import DIALECTS
from ledger.dialects.collection_profile.rules import state as state_rules
from ledger.dialects.collection_profile.rulesets import REFERENCE, TEXT
from ledger.errors import NotFoundError
from ledger.replay.rulesets import RuleChange, SwitchChange, changed_rules, named, shipped

KNOWN = shipped(DIALECTS.values())


def test_a_ruleset_is_named_by_its_id_or_by_eight_digits_of_its_digest() -> None:
    for one in KNOWN:
        digits = len("sha256:") + 8
        for name in (one.ruleset.id, one.ruleset.digest, one.ruleset.digest[:digits]):
            assert named(KNOWN, name) is one
        with pytest.raises(NotFoundError, match="expected sha256: and 8 to 64 hex digits of a digest, found"):
            named(KNOWN, one.ruleset.digest[: digits - 1])


def test_a_name_that_is_nearly_one_is_told_what_it_may_mean() -> None:
    with pytest.raises(NotFoundError) as refused:
        named(KNOWN, "collection-profile/0.1.O")
    assert "did you mean collection-profile/0.1.0 or " in str(refused.value)
    with pytest.raises(NotFoundError, match=r"there are: collection-profile/0\.1\.0, "):
        named(KNOWN, "nothing like it")


def test_a_ruleset_does_not_differ_from_itself() -> None:
    for one in KNOWN:
        assert changed_rules(one.ruleset, one.ruleset).are_none


def test_a_switch_that_is_turned_differs() -> None:
    changes = changed_rules(TEXT, REFERENCE)
    told = {one.name: one for one in TEXT.tell_switches()}["key_equality"]
    assert SwitchChange(
        name="key_equality", clause=told.clause, says=told.says, here="typed", there="text"
    ) in (changes.switches)
    assert {one.name for one in changes.switches} == {
        ours.name
        for ours, theirs in zip(TEXT.tell_switches(), REFERENCE.tell_switches(), strict=True)
        if ours.value != theirs.value
    }


def test_a_rule_that_only_one_asks_differs() -> None:
    told = {(one.asked_of, one.name): (one.here, one.there) for one in changed_rules(TEXT, REFERENCE).rules}
    assert told["RECORD", "within_resources"] == (1, None)
    assert told["RECORD", "within_resources_by_field"] == (None, 1)
    assert told["DETAIL_GAP", "key_has_no_space_around"] == (None, 2)
    assert ("DONE", "count_is_right") not in told  # it is only further up, behind one rule less


def test_of_rules_in_another_order_only_those_that_moved_differ() -> None:
    first, *rest = TEXT.message_rules["DETAIL_COVERAGE"]
    moved = {**TEXT.message_rules, "DETAIL_COVERAGE": (*rest, first)}
    changes = changed_rules(TEXT, replace(TEXT, message_rules=moved))
    assert [(one.name, one.here, one.there) for one in changes.rules] == [("stream_in_scope", 1, 8)]
    assert not changes.switches


def test_a_rule_of_the_same_name_under_another_clause_is_another_rule() -> None:
    rules = {**TEXT.message_rules, "STATE": TEXT.message_rules["PROGRESS"]}
    changes = changed_rules(TEXT, replace(TEXT, message_rules=rules))
    scoped = [one for one in changes.rules if one.name == "stream_in_scope"]
    assert [(one.clause, one.here, one.there) for one in scoped] == [
        ("state/stream", 1, None),
        ("progress/stream", None, 1),
    ]
    gone = RuleChange(
        asked_of="STATE",
        name="cursor_is_an_object",
        clause="state/cursor",
        says=(state_rules.cursor_is_an_object.__doc__ or "").partition("\n")[0],
        here=2,
        there=None,
    )
    assert gone in changes.rules
