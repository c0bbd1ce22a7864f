"""A name stands in a decision as often as others name it: an over-long one is cut, and yet told apart."""

from ledger.core.decision import encode_decision
from ledger.core.findings import NAME_LIMIT, show_name
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE, checkpoint, row

LONG = "d" * 100_000
PARENTS = [f"p{number}" for number in range(200)]


def test_a_long_name_under_many_parents_makes_no_long_decision() -> None:
    manifest = r.streams(*PARENTS, **{LONG: r.detail(*PARENTS)})
    decision = r.succeeded(manifest, *(r.state(parent) for parent in PARENTS))
    assert len(encode_decision(decision)) < 5 * NAME_LIMIT * len(PARENTS)
    assert checkpoint(decision, "p0").covers == (show_name(LONG),)
    assert row(decision, show_name(LONG), "p0").condition == "missing"


def test_long_names_that_differ_at_their_ends_are_two() -> None:
    first, second = LONG + "1", LONG + "2"
    decision = r.succeeded(r.streams(first, second), r.state(first), r.state(second))
    assert [one.decision for one in decision.checkpoints] == ["commit", "commit"]
    assert len({one.stream for one in decision.checkpoints}) == 2


def test_a_long_key_is_accounted_for_by_the_whole_of_it() -> None:
    key, other = LONG + "1", LONG + "2"
    manifest = r.streams("p", d=r.detail("p"))
    report = r.coverage("d", "p", [key], gap_keys=[key])
    good = r.succeeded(manifest, r.gap("d", key, "p"), report, r.state("p"))
    bad = r.succeeded(manifest, r.gap("d", other, "p"), report, r.state("p"))
    assert checkpoint(good, "p").decision == "commit"
    assert checkpoint(bad, "p").decision == "withhold"
    assert len(encode_decision(bad)) < 10 * NAME_LIMIT


def test_a_name_that_is_not_long_stands_as_it_is() -> None:
    assert show_name("x" * NAME_LIMIT) == "x" * NAME_LIMIT
    assert len(show_name("\ud800" * 10 * NAME_LIMIT).encode()) < 2 * NAME_LIMIT


def test_what_is_told_of_a_record_with_many_members_is_bounded() -> None:
    data = {f"{number}{'x' * 300}status": "failed" for number in range(1000)}
    entry = r.to_entry(2, r.record("p", data=data))
    told = PROFILE.tell(entry)
    assert len(told) < 30
    assert sum(len(name) + len(value) for name, value in told.items()) < 15_000
