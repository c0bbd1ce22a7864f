"""DETAIL_COVERAGE: who may report what against whom, and what a report commits or withholds."""

import json
from typing import Any

import pytest

from tests.dialects.collection_profile.runs import (
    Message,
    Step,
    broken,
    checkpoint,
    child,
    coverage,
    decide,
    detail,
    done,
    exited,
    findings,
    gap,
    reasons,
    record,
    row,
    start,
    state,
    streams,
    succeeded,
    verdicts,
)

M = streams("p", "q", "self", c=child("p"), one=detail("p"), two=detail("p", "q"))
ONE = streams("p", d=detail("p"))
TWO = streams("p", "q", d=detail("p", "q"))
P, Q = state("p"), state("q")


# What a report must be.


def report(**members: Any) -> Message:
    return {**coverage("one", "p", ["k", "j"], ["k"]), **members}


MISSHAPEN: list[tuple[str, Any]] = [
    ("reference_only", None),
    ("reference_only", False),
    ("reference_only", "true"),
    ("reference_only", 1),
    ("stream", None),
    ("stream", 1),
    ("state_stream", None),
    ("state_stream", ["p"]),
    ("required_keys", None),
    ("required_keys", "k"),
    ("required_keys", {}),
    ("required_keys", [True]),
    ("required_keys", [None]),
    ("required_keys", [["k"]]),
    ("required_keys", [{}]),
    ("hydrated_keys", None),
    ("hydrated_keys", "k"),
    ("gap_keys", "j"),
    ("gap_keys", [False]),
]


@pytest.mark.parametrize(("member", "value"), MISSHAPEN)
def test_a_misshapen_report_breaks_the_protocol(member: str, value: Any) -> None:
    decision = succeeded(M, P, report(**{member: value}))
    assert decision.status == "failed"
    assert broken(decision) is not None
    assert broken(decision)[2] == f"coverage/{member}"  # type: ignore[index]


@pytest.mark.parametrize("gap_keys", [None, []])
def test_gap_keys_may_be_left_out(gap_keys: Any) -> None:
    assert broken(succeeded(M, report(gap_keys=gap_keys))) is None


KEY_SETS: list[tuple[str, list[Any], list[Any], list[Any], bool]] = [
    ("required twice", ["k", "k"], [], [], False),
    ("hydrated twice", ["k"], ["k", "k"], [], False),
    ("gapped twice", ["k"], [], ["k", "k"], False),
    ("hydrated, not required", ["k"], ["j"], [], False),
    ("gapped, not required", ["k"], [], ["j"], False),
    ("nothing required, one hydrated", [], ["k"], [], False),
    ("1 and 1.0 are one key", [1, 1.0], [], [], False),
    ("1e0 is 1", [1], [1.0], [], True),
    ('1 and "1" are two keys', [1, "1"], [1, "1"], [], True),
    ('"1" was not required by 1', [1], ["1"], [], False),
    ('"1.0" and 1.0 are two keys', ["1.0"], [1.0], [], False),
    ("0 and -0 are one key", [0, -0.0], [], [], False),
    ("big integers are exact", [2**53, 2**53 + 1], [2**53, 2**53 + 1], [], True),
    ("bigger integers are exact", [10**40, 10**40 + 1], [10**40], [], True),
    ("huge integers are exact", [10**700, 10**700 + 1], [10**700], [], True),
    ("the empty text is a key", [""], [""], [], True),
    ("keys are not trimmed", ["k", "k "], ["k", "k "], [], True),
    ("case counts", ["k", "K"], ["k"], [], True),
    ("no normal form", ["é", "e\u0301"], ["é"], [], True),
    ("in two outcome sets", ["k"], ["k"], ["k"], True),
    ("all empty", [], [], [], True),
]


@pytest.mark.parametrize(
    ("required", "hydrated", "gapped", "sound"), [k[1:] for k in KEY_SETS], ids=[k[0] for k in KEY_SETS]
)
def test_key_sets_hold_each_key_once_and_only_required_ones(
    required: list[Any], hydrated: list[Any], gapped: list[Any], sound: bool
) -> None:
    decision = succeeded(M, coverage("one", "p", required, hydrated, gap_keys=gapped))
    assert decision.status == ("succeeded" if sound else "failed")
    if not sound:
        assert decision.violations[0].clause == "coverage/keys"


SPELLINGS: list[tuple[str, str, bool]] = [
    ("1" + "0" * 400, "1E400", True),
    ("1e400", "10.0e399", True),
    ("1e400", "-1e400", False),
    ("100", "1e2", True),
    ("1e99999999999999999999", "2e99999999999999999999", False),
]


@pytest.mark.parametrize(("required", "hydrated", "same"), SPELLINGS)
def test_a_number_is_one_key_however_it_is_spelled(required: str, hydrated: str, same: bool) -> None:
    line = json.dumps(coverage("a", "a", ["required"], ["hydrated"]))
    line = line.replace('"required"]', f"{required}]").replace('"hydrated"]', f"{hydrated}]")
    decision = succeeded(streams("a"), state("a"), line)
    assert decision.status == ("succeeded" if same else "failed")


PRECEDENCE: list[tuple[str, str, str, str | None]] = [
    ("a child, of its parent", "c", "p", "precedence/1"),
    ("a child, of itself", "c", "c", "precedence/1"),
    ("a child, of another", "c", "q", "precedence/1"),
    ("a child, of nobody", "c", "zzz", "precedence/1"),
    ("a detail stream, of its parent", "one", "p", None),
    ("a detail stream, of another", "one", "q", "precedence/2"),
    ("a detail stream, of itself", "one", "one", "precedence/2"),
    ("a detail stream, of nobody", "one", "zzz", "precedence/2"),
    ("one of two parents", "two", "q", None),
    ("a self-mapped stream, of itself", "self", "self", None),
    ("a self-mapped stream, of another", "self", "p", "precedence/3"),
    ("a parent, of itself", "p", "p", None),
    ("a parent, of its detail stream", "p", "one", "precedence/3"),
]


@pytest.mark.parametrize(
    ("stream", "parent", "clause"), [p[1:] for p in PRECEDENCE], ids=[p[0] for p in PRECEDENCE]
)
def test_the_manifest_says_who_reports_against_whom(stream: str, parent: str, clause: str | None) -> None:
    decision = succeeded(M, coverage(stream, parent))
    first = broken(decision)
    assert (first[2] if first else None) == clause


def test_a_boundary_reports_once() -> None:
    decision = succeeded(ONE, P, coverage("d", "p", ["k"], ["k"]), coverage("d", "p", ["k"], ["k"]))
    assert broken(decision) == (5, "coverage_reported_twice", "coverage/once")


def test_two_reports_of_one_stream_on_two_parents_are_one_each() -> None:
    assert verdicts(succeeded(TWO, P, Q, coverage("d", "p"), coverage("d", "q"))) == {
        "p": "commit",
        "q": "commit",
    }


# What it commits.

WEIGHED: list[tuple[str, list[Step], str]] = [
    ("all hydrated", [coverage("d", "p", ["k", "j"], ["j", "k"])], "commit"),
    ("nothing required", [coverage("d", "p")], "commit"),
    ("one unaccounted", [coverage("d", "p", ["k", "j"], ["k"])], "withhold"),
    ("none hydrated", [coverage("d", "p", ["k"])], "withhold"),
    ("gap listed and backed", [gap("d"), coverage("d", "p", ["k"], gap_keys=["k"])], "commit"),
    ("gap after its report", [coverage("d", "p", ["k"], gap_keys=["k"]), gap("d")], "commit"),
    ("gap listed, not backed", [coverage("d", "p", ["k"], gap_keys=["k"])], "withhold"),
    ("gap backed, not listed", [gap("d"), coverage("d", "p", ["k"])], "withhold"),
    ("listed and hydrated", [coverage("d", "p", ["k"], ["k"], gap_keys=["k"])], "commit"),
    ("optional skip", [coverage("d", "p", ["k"], optional_skip_keys=["k"])], "withhold"),
    ("no report", [], "withhold"),
]


@pytest.mark.parametrize(("lines", "verdict"), [w[1:] for w in WEIGHED], ids=[w[0] for w in WEIGHED])
def test_a_checkpoint_waits_for_every_required_key(lines: list[Step], verdict: str) -> None:
    decision = succeeded(ONE, record("d"), P, *lines)
    assert decision.status == "succeeded"
    assert verdicts(decision) == {"p": verdict}


@pytest.mark.parametrize("value", [["k"], "k", 1, [None], {"k": 1}, None])
def test_optional_skips_are_never_credited_and_never_break_the_protocol(value: Any) -> None:
    decision = succeeded(ONE, P, coverage("d", "p", ["k"], optional_skip_keys=value))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"p": "withhold"})


def test_each_parent_is_gated_by_its_own_report() -> None:
    decision = succeeded(TWO, P, Q, coverage("d", "p", ["k"], ["k"]), coverage("d", "q", ["k"]))
    assert verdicts(decision) == {"p": "commit", "q": "withhold"}
    assert reasons(decision, "q") == ["coverage_unaccounted"]


def test_a_parent_without_a_report_is_withheld_beside_one_with_a_report() -> None:
    decision = succeeded(TWO, P, Q, coverage("d", "q", ["k"], ["k"]))
    assert verdicts(decision) == {"p": "withhold", "q": "commit"}
    assert reasons(decision, "p") == ["coverage_missing"]


def test_a_missing_report_withholds_only_where_the_detail_stream_is_in_scope() -> None:
    for scope, verdict in ((["p", "d"], "withhold"), (["p"], "commit")):
        decision = decide(ONE, start(*scope), P, done(), exited(0))
        assert verdicts(decision) == {"p": verdict}


def test_a_missing_report_withholds_though_the_detail_stream_sent_nothing() -> None:
    assert verdicts(succeeded(ONE, record("p"), P)) == {"p": "withhold"}


def test_every_detail_stream_of_a_parent_must_report() -> None:
    manifest = streams("p", d=detail("p"), e=detail("p"))
    decision = succeeded(manifest, P, coverage("d", "p"))
    assert [(r.code, r.stream) for r in checkpoint(decision, "p").reasons] == [("coverage_missing", "e")]
    assert verdicts(succeeded(manifest, P, coverage("d", "p"), coverage("e", "p"))) == {"p": "commit"}


def test_a_report_on_one_stream_says_nothing_about_another() -> None:
    manifest = streams("p", "q", d=detail("p"))
    decision = succeeded(manifest, P, Q, coverage("d", "p", ["k"]))
    assert verdicts(decision) == {"p": "withhold", "q": "commit"}


def test_a_self_mapped_stream_gates_itself() -> None:
    assert verdicts(succeeded(M, state("self"), coverage("self", "self", ["k"], ["k"]))) == {"self": "commit"}
    assert verdicts(succeeded(M, state("self"), coverage("self", "self", ["k"]))) == {"self": "withhold"}
    assert verdicts(succeeded(M, state("self"))) == {"self": "commit"}


def test_the_own_report_of_a_parent_gates_it_beside_its_detail_stream() -> None:
    decision = succeeded(ONE, P, coverage("d", "p"), coverage("p", "p", ["k"]))
    assert [(r.code, r.stream) for r in checkpoint(decision, "p").reasons] == [("coverage_unaccounted", "p")]


def test_in_a_chain_only_the_direct_parent_is_gated() -> None:
    chain = streams("top", mid=detail("top"), low=detail("mid"))
    lines = [state("top"), state("mid"), coverage("mid", "top", ["k"], ["k"]), coverage("low", "mid", ["k"])]
    assert verdicts(succeeded(chain, *lines)) == {"top": "commit", "mid": "withhold"}


def test_a_report_is_due_only_at_the_end() -> None:
    decision = decide(ONE, start("p", "d"), P)
    assert (decision.status, verdicts(decision)) == ("running", {"p": "pending"})
    assert row(decision, "d", "p").condition == "unknown"


# Checkpoints.


def test_checkpoints_are_committed_in_order_of_their_first_state_with_the_newest_cursor() -> None:
    manifest = streams("b", "a", "c")
    decision = succeeded(manifest, state("c"), state("a"), state("c"), state("b"), state("a"))
    assert [(c.stream, c.staged, c.cursor_entry) for c in decision.checkpoints] == [
        ("c", (3, 5), 5),
        ("a", (4, 7), 7),
        ("b", (6,), 6),
    ]


@pytest.mark.parametrize("stream", ["c", "one"])
def test_a_state_of_no_checkpoint_is_not_staged_and_is_a_finding(stream: str) -> None:
    decision = succeeded(M, state(stream))
    assert decision.status == "succeeded"
    assert decision.checkpoints == ()
    assert findings(decision) == {"state_of_no_checkpoint": (3,)}


def test_a_dependent_stream_that_others_name_is_a_checkpoint() -> None:
    chain = streams("top", mid=child("top"), low=child("mid"))
    assert verdicts(succeeded(chain, state("mid"))) == {"mid": "commit"}


@pytest.mark.parametrize("cursor", [None, "x", 1, [], True])
def test_a_cursor_is_an_object(cursor: Any) -> None:
    assert broken(succeeded(M, state("p", cursor=cursor))) == (3, "member_invalid", "state/cursor")


def test_an_empty_cursor_is_a_cursor() -> None:
    assert broken(succeeded(M, state("self", cursor={}))) is None


# The projection.


def test_the_projection_counts_what_became_of_each_key() -> None:
    lines = [gap("d", "g", "p"), coverage("d", "p", ["h", "g", "u", "v"], ["h"], gap_keys=["g", "u"])]
    one = row(succeeded(TWO, P, *lines), "d", "p")
    assert (one.required, one.hydrated, one.gapped, one.unaccounted) == (4, 1, 1, 2)
    assert (one.condition, one.evidence, one.checkpoint) == ("gapped", "DETAIL_COVERAGE", "withhold")


@pytest.mark.parametrize(
    ("lines", "condition"),
    [
        ([coverage("d", "p", ["k"], ["k"])], "complete"),
        ([coverage("d", "p")], "complete"),
        ([coverage("d", "p", ["k"])], "shortfall"),
        ([gap("d"), coverage("d", "p", ["k"], gap_keys=["k"])], "gapped"),
        ([], "missing"),
    ],
)
def test_the_condition_of_a_boundary(lines: list[Step], condition: str) -> None:
    assert row(succeeded(ONE, *lines), "d", "p").condition == condition


def test_a_report_before_the_last_record_or_gap_of_its_boundary_is_a_finding() -> None:
    early = succeeded(ONE, P, coverage("d", "p", ["k"], ["k"]), record("d"))
    assert findings(early)["report_before_last_record"] == (4, 5)
    assert verdicts(early) == {"p": "commit"}
    late_gap = succeeded(ONE, coverage("d", "p", ["k"], gap_keys=["k"]), gap("d"))
    assert "report_before_last_record" in findings(late_gap)
    for lines in ([record("d"), coverage("d", "p")], [coverage("d", "p"), record("p")]):
        assert "report_before_last_record" not in findings(succeeded(ONE, *lines))


def test_a_report_before_the_gap_of_another_boundary_is_no_finding() -> None:
    lines = [coverage("d", "p"), gap("d", "k", "q"), coverage("d", "q", ["k"], gap_keys=["k"])]
    assert "report_before_last_record" not in findings(succeeded(TWO, *lines))
