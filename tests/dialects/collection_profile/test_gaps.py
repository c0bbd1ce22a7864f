"""DETAIL_GAP: which boundary a gap accounts to, what nearly accounts, and what each near miss is called."""

from typing import Any

import pytest

from tests.dialects.collection_profile.runs import (
    Message,
    Step,
    broken,
    checkpoint,
    coverage,
    detail,
    gap,
    reasons,
    state,
    streams,
    succeeded,
    verdicts,
)

ONE = streams("p", "q", "self", d=detail("p"), other=detail("q"))
TWO = streams("p", "q", d=detail("p", "q"))
P = state("p")


def listed(*keys: Any, parent: str = "p") -> Message:
    """Return a report whose keys are all gapped."""
    return coverage("d", parent, keys, gap_keys=keys)


def misses(manifest: Message, *lines: Step) -> list[tuple[str, str | None]]:
    """Return code and key of the near misses for which p is withheld."""
    decision = succeeded(manifest, P, *lines)
    assert "coverage_unaccounted" in reasons(decision, "p")
    return [(m.code, m.key) for reason in checkpoint(decision, "p").reasons for m in reason.near_misses]


def test_a_gap_without_parent_is_of_the_one_declared_parent() -> None:
    assert verdicts(succeeded(ONE, P, gap("d"), listed("k"))) == {"p": "commit"}


def test_a_gap_that_names_the_one_parent_is_the_same() -> None:
    assert verdicts(succeeded(ONE, P, gap("d", "k", "p"), listed("k"))) == {"p": "commit"}


def test_a_gap_of_a_self_mapped_stream_is_of_itself() -> None:
    report = coverage("self", "self", ["k"], gap_keys=["k"])
    assert verdicts(succeeded(ONE, state("self"), gap("self"), report)) == {"self": "commit"}
    assert verdicts(succeeded(ONE, state("self"), gap("self", "k", "p"), report)) == {"self": "withhold"}


def test_a_gap_without_parent_accounts_for_none_of_several() -> None:
    decision = succeeded(TWO, P, gap("d"), listed("k"), coverage("d", "q"))
    assert verdicts(decision) == {"p": "withhold"}
    assert misses(TWO, gap("d"), listed("k"), coverage("d", "q")) == [("gap_names_no_parent", "k")]


def test_a_gap_under_another_parent_does_not_account() -> None:
    lines = [gap("d", "k", "q"), listed("k"), coverage("d", "q", ["k"], gap_keys=["k"])]
    assert verdicts(succeeded(TWO, P, state("q"), *lines)) == {"p": "withhold", "q": "commit"}
    assert misses(TWO, *lines) == [("gap_names_other_parent", "k")]


def test_one_key_may_be_gapped_under_one_parent_and_hydrated_under_another() -> None:
    lines = [gap("d", "k", "p"), listed("k"), coverage("d", "q", ["k"], ["k"])]
    assert verdicts(succeeded(TWO, P, state("q"), *lines)) == {"p": "commit", "q": "commit"}


def test_a_gap_accounts_once_for_each_parent_that_has_one() -> None:
    lines = [gap("d", "k", "p"), gap("d", "k", "q"), listed("k"), listed("k", parent="q")]
    assert verdicts(succeeded(TWO, P, state("q"), *lines)) == {"p": "commit", "q": "commit"}


@pytest.mark.parametrize("parent", ["zzz", "d", "P"])
def test_a_gap_under_a_parent_that_nobody_declares_is_taken_and_matches_nothing(parent: str) -> None:
    decision = succeeded(ONE, P, gap("d", "k", parent), listed("k"))
    assert decision.status == "succeeded"
    assert verdicts(decision) == {"p": "withhold"}


@pytest.mark.parametrize("retryable", [True, False, None])
def test_a_gap_accounts_whether_or_not_it_may_be_retried(retryable: bool | None) -> None:
    assert verdicts(succeeded(ONE, P, gap("d", retryable=retryable), listed("k"))) == {"p": "commit"}


SAME: list[tuple[Any, Any, bool]] = [
    ("k", "k", True),
    (1, 1, True),
    (1, 1.0, True),
    (1, "1", False),
    ("1", 1, False),
    ("k", "K", False),
    ("k", " k", False),
    (2**53, 2**53 + 1, False),
    (2**60, float(2**60), True),
    (2**60 + 1, float(2**60), False),
]


@pytest.mark.parametrize(("required", "named", "same"), SAME)
def test_a_gap_accounts_for_the_very_key_that_it_names(required: Any, named: Any, same: bool) -> None:
    decision = succeeded(ONE, P, gap("d", named), listed(required))
    assert verdicts(decision) == {"p": "commit" if same else "withhold"}


NEAR: list[tuple[str, list[Step], list[tuple[str, str | None]]]] = [
    ("not listed", [gap("d"), coverage("d", "p", ["k"])], [("gap_not_listed", "k")]),
    ("no gap behind it", [listed("k")], [("key_listed_without_gap", "k")]),
    ("another type", [gap("d", 1), listed("1")], [("gap_key_of_other_type", "1")]),
    ("another stream", [gap("other"), listed("k"), coverage("other", "q")], [("gap_of_other_stream", "k")]),
    ("no key", [gap("d", None), coverage("d", "p", ["k"])], [("gap_names_no_key", None)]),
    ("optional skip", [coverage("d", "p", ["k"], optional_skip_keys=["k"])], [("key_is_optional_skip", "k")]),
    ("nothing near", [gap("d", "far"), coverage("d", "p", ["k"])], []),
]


@pytest.mark.parametrize(("lines", "near"), [n[1:] for n in NEAR], ids=[n[0] for n in NEAR])
def test_a_near_miss_is_told(lines: list[Step], near: list[tuple[str, str | None]]) -> None:
    assert misses(ONE, *lines) == near


def test_a_gap_that_accounts_for_its_key_is_no_near_miss_for_another() -> None:
    assert misses(ONE, gap("d", "j"), coverage("d", "p", ["k", "j"], gap_keys=["j"])) == []


def test_a_gap_is_shown_with_the_report_that_it_accounts_for() -> None:
    decision = succeeded(TWO, gap("d", "k", "p"), gap("d", "k", "q"), gap("d", "j"), listed("k"))
    shown = [(g.entry, g.parent, g.record_key, g.accounted_by) for g in decision.gaps]
    assert shown == [(3, "p", "k", 6), (4, "q", "k", None), (5, None, "j", None)]


MISSHAPEN: list[tuple[str, Any]] = [
    ("stream", None),
    ("stream", 1),
    ("parent_stream", 1),
    ("parent_stream", ""),
    ("record_key", True),
    ("record_key", ["k"]),
    ("record_key", {}),
    ("reason", ""),
    ("reason", 1),
    ("retryable", "true"),
    ("retryable", 0),
    ("detail_locator", "x"),
    ("detail_locator", []),
    ("list_cursor", 1),
    ("last_error", "x"),
    ("gap_id", " "),
    ("lease_id", 1),
]


@pytest.mark.parametrize(("member", "value"), MISSHAPEN)
def test_a_misshapen_gap_breaks_the_protocol(member: str, value: Any) -> None:
    first = broken(succeeded(ONE, {**gap("d"), member: value}))
    assert first is not None
    assert first[2] == f"gap/{member}"


@pytest.mark.parametrize(("member", "value"), [m for m in MISSHAPEN if m[1] is not None])
def test_null_is_absent(member: str, value: Any) -> None:
    if member != "stream":
        assert broken(succeeded(ONE, {**gap("d"), member: None})) is None


# Bounds.


def test_lists_of_keys_hold_the_first_hundred_and_their_total() -> None:
    keys = [f"k{n}" for n in range(250)]
    (reason,) = checkpoint(succeeded(ONE, P, coverage("d", "p", keys)), "p").reasons
    assert (reason.keys, reason.keys_total) == (tuple(keys[:100]), 250)


def test_near_misses_are_bounded_however_many_gaps_there_are() -> None:
    (reason,) = checkpoint(succeeded(ONE, P, *[gap("d", "k", "q")] * 300, listed("k")), "p").reasons
    assert 0 < len(reason.near_misses) <= 100


def test_gaps_are_shown_up_to_a_hundred_with_their_total() -> None:
    decision = succeeded(ONE, *(gap("d", n) for n in range(101)))
    assert (len(decision.gaps), decision.totals.gaps) == (100, 101)
    assert [g.entry for g in decision.gaps] == list(range(3, 103))


def test_ten_thousand_keys_are_accounted_for_quickly() -> None:
    keys = [f"k{n}" for n in range(10_000)]
    lines = [*(gap("d", key) for key in keys), coverage("d", "p", keys, gap_keys=keys)]
    assert verdicts(succeeded(ONE, P, *lines)) == {"p": "commit"}
