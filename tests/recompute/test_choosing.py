"""Which rulesets a run is held against."""

from types import SimpleNamespace
from typing import Any

import pytest

from ledger.core.dialect import Ruleset
from ledger.dialects.collection_profile.rulesets import REFERENCE, TEXT
from ledger.errors import NotFoundError
from ledger.recompute.choosing import Choice, Recorded
from ledger.replay.rulesets import Known
from tests.dialects.collection_profile.runs import PROFILE

DIALECT = PROFILE.name
OWN = PROFILE.derive(TEXT, id="acme/1", summary="", switches={"unknown_message": "ignore"})
FOREIGN: Any = SimpleNamespace(id="other/1", dialect="other", digest="sha256:other")
"""The rules of another dialect."""


def choosing(*known: Ruleset) -> Choice:
    """A choice that holds each run against what it was recorded under, and knows these rulesets too."""
    return Choice(None, None, lambda: [Known(ruleset=one, origin="stored") for one in known])


def test_left_to_itself_a_run_is_held_against_what_it_was_recorded_under() -> None:
    choice = Choice(None, None)
    assert choice.after(DIALECT) is TEXT
    assert choice.before(DIALECT, Recorded(ruleset=REFERENCE.id)) is REFERENCE
    assert choice.before(DIALECT, Recorded()) is TEXT


def test_rules_that_are_asked_for_are_those_of_every_run() -> None:
    choice = Choice(REFERENCE, OWN)
    assert choice.after(DIALECT) is REFERENCE
    assert choice.before(DIALECT, Recorded(ruleset=TEXT.id)) is OWN
    assert choice.recorded_under(DIALECT, Recorded(ruleset=TEXT.id)) is TEXT


def test_of_rules_that_nobody_knows_there_are_none_unless_they_are_handed_in() -> None:
    assert Choice(None, None).before(DIALECT, Recorded(ruleset=OWN.id)) is None
    assert choosing(OWN).before(DIALECT, Recorded(ruleset=OWN.id)) is OWN


def test_what_is_known_beside_what_is_shipped_is_looked_for_once_and_only_where_a_run_names_it() -> None:
    asked: list[int] = []

    def known() -> list[Known]:
        asked.append(1)
        return [Known(ruleset=OWN, origin="stored")]

    choice = Choice(None, None, known)
    choice.before(DIALECT, Recorded(ruleset=REFERENCE.id))
    assert asked == []
    for _ in range(3):
        assert choice.before(DIALECT, Recorded(ruleset=OWN.id)) is OWN
        assert choice.before(DIALECT, Recorded(ruleset="acme/9")) is None
    assert len(asked) == 2


def test_a_name_that_may_mean_two_rulesets_means_none() -> None:
    other = PROFILE.derive(REFERENCE, id=OWN.id, summary="", switches={})
    assert choosing(OWN, other).before(DIALECT, Recorded(ruleset=OWN.id)) is None


def test_rules_of_another_dialect_decide_no_run_of_this_one() -> None:
    choice = Choice(FOREIGN, FOREIGN, lambda: [Known(ruleset=FOREIGN, origin="stored")])
    assert choice.after(DIALECT) is None
    assert choice.before(DIALECT, Recorded()) is None
    assert choice.recorded_under(DIALECT, Recorded(ruleset=FOREIGN.id)) is None


def test_a_dialect_that_is_not_known_has_no_rules() -> None:
    with pytest.raises(NotFoundError, match="not known to this version"):
        Choice(None, None).after("other")
