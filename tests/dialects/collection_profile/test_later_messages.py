"""SKIP_RESULT, DETAIL_GAP and STREAM_EVIDENCE under the later profile: what cases cannot say of them."""

from collections.abc import Iterable
from typing import Any

import pytest

from ledger.core.decision import Decision
from ledger.core.observations import RecordsRejected
from tests.dialects.collection_profile.runs import (
    LATER,
    PROFILE,
    REFERENCE,
    TEXT,
    Erased,
    Message,
    Run,
    Step,
    blame,
    broken,
    child,
    count,
    delete,
    detail,
    done,
    evidence,
    exited,
    fully_declared,
    owed,
    record,
    row,
    run,
    skip,
    start_all,
    state,
    streams,
    turned,
    verdicts,
)

M = fully_declared(streams("p", "q", c=child("p"), d=detail("p", "q")))


def deleted(key: str) -> Message:
    return delete("c", key, data={"id": key})


def whole(*lines: Step, manifest: Message = M) -> Run:
    return run(manifest, start_all(manifest), *lines, done(count(lines)), exited(0))


def later(*lines: Step, manifest: Message = M) -> Decision:
    return whole(*lines, manifest=manifest).decided(LATER)


# SKIP_RESULT.

SKIPPED = skip("p", "rate_limited", message="It asked us to wait.")


@pytest.mark.parametrize("member", ["stream", "reason", "message"])
def test_a_skip_has_all_three(member: str) -> None:
    for message in ({**SKIPPED, member: None}, {n: v for n, v in SKIPPED.items() if n != member}):
        drawn = whole(message)
        assert broken(drawn.decided(LATER)) == (3, "member_missing", f"skip/{member}")
        assert broken(drawn.decided(TEXT)) is None
    assert broken(later({**SKIPPED, member: " "})) == (3, "member_invalid", f"skip/{member}")


def test_the_scope_of_a_skip_is_asked_first() -> None:
    assert broken(later(skip("zzz"))) == (3, "stream_out_of_scope", "skip/stream")
    assert broken(later(SKIPPED)) is None


# DETAIL_GAP.

MEMBERS: list[tuple[str, Any]] = [
    ("reference_only", False),
    ("reference_only", 1),
    ("status", "recovered"),
    ("status", True),
    ("reason", "not_found"),
    ("reason", "Rate_limited"),
    ("retryable", False),
    ("detail_locator", {"kind": " "}),
    ("detail_locator", {"kind": 1}),
]
REASONS = ["rate_limited", "retry_exhausted", "temporary_unavailable", "upstream_pressure"]
WANTED = ["reference_only", "status", "record_key", "reason", "retryable", "detail_locator"]


@pytest.mark.parametrize(("member", "value"), MEMBERS)
def test_a_gap_says_what_it_must(member: str, value: Any) -> None:
    drawn = whole(owed("c", **{member: value}))
    assert broken(drawn.decided(LATER)) == (3, "member_invalid", f"gap/{member}")
    for ruleset in (TEXT, REFERENCE):
        assert broken(drawn.decided(ruleset)) is None


@pytest.mark.parametrize("member", WANTED)
def test_a_gap_has_every_member_that_it_must(member: str) -> None:
    for message in ({**owed("c"), member: None}, {n: v for n, v in owed("c").items() if n != member}):
        assert broken(later(message)) == (3, "member_missing", f"gap/{member}")


def test_a_locator_without_a_kind_lacks_it() -> None:
    decision = later(owed("c", detail_locator={"page": 2}))
    assert broken(decision) == (3, "member_missing", "gap/detail_locator")
    assert decision.violations[0].detail["member"] == "detail_locator.kind"


@pytest.mark.parametrize("reason", REASONS)
def test_a_gap_has_one_of_four_reasons(reason: str) -> None:
    assert broken(later(owed("c", reason=reason), owed("c", key=1))) is None


def test_a_gap_names_its_parent_where_there_are_several() -> None:
    assert broken(later(owed("d"))) == (3, "member_missing", "gap/parent_stream")
    assert broken(later(owed("d", parent_stream="q"), owed("c"), owed("p"))) is None
    assert broken(later(owed("d", parent_stream="x"))) is None


# STREAM_EVIDENCE: its counts.

R = Erased(record("c", "k"))
REFUSED = Erased(RecordsRejected(stream="c", count=1))
AGREEING: list[tuple[str, list[Step], tuple[int, int]]] = [
    ("nothing", [], (0, 0)),
    ("one", [record("c", "k")], (1, 0)),
    ("one key twice", [record("c", "k"), record("c", "k")], (1, 0)),
    ("a deletion", [deleted("k"), deleted("j")], (2, 0)),
    ("of its own stream only", [record("p", "k"), owed("p", "j")], (0, 0)),
    ("gaps", [owed("c"), owed("c", key="j")], (0, 2)),
    ("one gap twice", [owed("c"), owed("c", reason="upstream_pressure")], (0, 1)),
    ("a number and a text", [owed("c", key=1), owed("c", key="1")], (0, 2)),
    ("1 and 1.0", [owed("c", key=1), owed("c", key=1.0)], (0, 1)),
    ("recovered", [owed("c"), record("c", "k")], (1, 0)),
    ("recovered, a number", [owed("c", key=1), record("c", "1")], (1, 0)),
    ("recovered by a deletion", [owed("c"), deleted("k")], (1, 0)),
    ("owed again", [owed("c"), record("c", "k"), owed("c")], (1, 1)),
    ("owed after its record", [record("c", "k"), owed("c")], (1, 1)),
    ("recovered by another stream", [owed("c"), record("p", "k")], (0, 1)),
    ("refused", [record("c", "k"), record("c", "j"), RecordsRejected(stream="c", count=1)], (1, 0)),
    ("one of two alike refused", [*[record("c", "k")] * 2, RecordsRejected(stream="c", count=1)], (1, 0)),
    ("all refused", [record("c", "k"), RecordsRejected(stream="c", count=5)], (0, 0)),
    ("refused of another", [record("c", "k"), RecordsRejected(stream="p", count=1)], (1, 0)),
]


@pytest.mark.parametrize(("steps", "counts"), [a[1:] for a in AGREEING], ids=[a[0] for a in AGREEING])
def test_evidence_equals_what_was_seen(steps: list[Step], counts: tuple[int, int]) -> None:
    emitted, gapped = counts
    assert broken(later(*steps, evidence("c", emitted, 3, gapped, 2))) is None
    place = len(steps) + 3
    for wrong in (emitted - 1, emitted + 1):
        if wrong >= 0:
            decision = later(*steps, state("p"), evidence("c", wrong, 3, gapped, 2))
            assert broken(decision) == (place + 1, "evidence_miscounts_records", "evidence/closure")
            assert verdicts(decision) == {"p": "withhold"}
            assert row(decision, "c", "p").condition == "unknown"
    for wrong in (gapped - 1, gapped + 1):
        if wrong >= 0:
            decision = later(*steps, evidence("c", emitted, 3, wrong, 2))
            assert broken(decision) == (place, "evidence_miscounts_gaps", "evidence/closure")


def test_a_compound_key_is_one_key_and_its_canonical_text_recovers_it() -> None:
    two = fully_declared(streams("p", c=child("p", primary_key=["id", "of"])))
    pair = record("c", ["a", "b"], data={"id": "a", "of": "b"})
    steps: list[Step] = [owed("c", key='["a","b"]'), owed("c", key="a"), pair, pair]
    assert broken(later(*steps, evidence("c", 1, 0, 1), manifest=two)) is None


def test_which_of_two_alike_was_refused_is_not_known() -> None:
    steps: list[Step] = [record("c", "k"), record("c", "k"), record("c", "j")]
    for emitted, fits in ((0, False), (1, True), (2, True), (3, False)):
        refused = RecordsRejected(stream="c", count=1)
        assert (broken(later(*steps, refused, evidence("c", emitted))) is None) == fits


def test_a_gap_that_a_refused_record_seemed_to_recover_may_be_owed() -> None:
    refused = RecordsRejected(stream="c", count=1)
    for gapped in (0, 1):
        assert broken(later(owed("c"), record("c", "k"), refused, evidence("c", 0, 0, gapped))) is None


def test_what_the_store_refuses_later_does_not_count() -> None:
    refused = RecordsRejected(stream="c", count=1)
    assert broken(later(record("c", "k"), evidence("c", 1), refused)) is None


def test_the_released_text_asks_for_no_closure() -> None:
    assert broken(whole(evidence("c", 7, 0, 7)).decided(TEXT)) is None


def test_the_switch_that_turns_closure_off_turns_it_off() -> None:
    off = turned(PROFILE.rulesets[LATER], evidence_closure="off")
    assert whole(evidence("c", 7, 0, 7)).decided(off).status == "succeeded"


# STREAM_EVIDENCE: it is final.

LATE: list[tuple[Step, str]] = [
    (record("c", "k"), "RECORD"),
    (record("c", "j"), "RECORD"),
    (deleted("k"), "RECORD"),
    (Erased(record("c", "k")), "RECORD"),
    (owed("c"), "DETAIL_GAP"),
    (Erased(owed("c")), "DETAIL_GAP"),
]


@pytest.mark.parametrize(("line", "type_"), LATE)
@pytest.mark.parametrize("given", [evidence("c", 0), Erased(evidence("c", 0))])
def test_a_stream_says_nothing_after_its_evidence(given: Step, line: Step, type_: str) -> None:
    drawn = whole(state("p"), given, line)
    decision = drawn.decided(LATER)
    assert broken(decision) == (5, "said_after_evidence", "evidence/final")
    assert (decision.violations[0].entries, decision.violations[0].detail["type"]) == ((4,), type_)
    assert blame(decision) == "program"
    assert broken(drawn.decided(TEXT)) is None


def test_a_closed_stream_is_closed_without_a_start_too() -> None:
    drawn = run(M, evidence("c", 0), record("c"), done(1), exited(0))
    assert broken(drawn.decided(LATER)) == (3, "said_after_evidence", "evidence/final")


def test_other_streams_and_other_messages_go_on_after_evidence() -> None:
    after: list[Step] = [record("p"), owed("p"), state("p"), skip("c", "rate_limited", message="Wait.")]
    on: Message = {"type": "PROGRESS", "message": "on", "stream": "c"}
    decision = later(evidence("c", 0), *after, on, manifest=fully_declared(streams("p", c=child("p"))))
    assert (broken(decision), verdicts(decision)) == (None, {"p": "commit"})


def test_what_comes_after_rejected_evidence_is_not_asked() -> None:
    assert broken(later(evidence("c", 1), record("c"))) == (
        3,
        "evidence_miscounts_records",
        "evidence/closure",
    )


def test_discarding_what_is_out_of_scope_discards_nothing_else() -> None:
    discarding = turned(PROFILE.rulesets[LATER], out_of_scope_record="discard")
    decision = whole(evidence("c", 0), record("c")).decided(discarding)
    assert broken(decision) == (4, "said_after_evidence", "evidence/final")


# What was erased.


def opened_by(lines: Iterable[Step]) -> tuple[str, tuple[int, ...] | None]:
    decision = later(*lines)
    return decision.status, decision.cause.entries if decision.cause else None


@pytest.mark.parametrize(
    ("steps", "counts"),
    [
        ([R, record("c", "j")], (2, 0)),
        ([R, record("c", "j")], (1, 0)),
        ([R, owed("c")], (1, 0)),
        ([R, owed("c")], (1, 1)),
        ([Erased(owed("c"))], (0, 0)),
        ([Erased(owed("c"))], (0, 1)),
        ([REFUSED, record("c", "k")], (0, 0)),
        ([REFUSED, record("c", "k")], (1, 0)),
    ],
)
def test_counts_that_rest_on_what_was_erased_leave_the_run_open(
    steps: list[Step], counts: tuple[int, int]
) -> None:
    emitted, gapped = counts
    given = evidence("c", emitted, 0, gapped)
    assert opened_by([*steps, given]) == ("indeterminate", (3,))


@pytest.mark.parametrize(
    ("steps", "counts", "code"),
    [
        ([R, owed("c")], (0, 1), "evidence_miscounts_records"),
        ([R, record("c", "j")], (3, 0), "evidence_miscounts_records"),
        ([R, record("c", "j")], (0, 0), "evidence_miscounts_records"),
        ([Erased(owed("c"))], (0, 2), "evidence_miscounts_gaps"),
        ([REFUSED, record("c", "k")], (2, 0), "evidence_miscounts_records"),
    ],
)
def test_counts_that_nothing_erased_could_mend_break_the_protocol(
    steps: list[Step], counts: tuple[int, int], code: str
) -> None:
    emitted, gapped = counts
    decision = later(*steps, evidence("c", emitted, 0, gapped))
    assert (decision.status, decision.violations[0].code) == ("failed", code)


def test_what_was_erased_of_another_stream_or_after_the_evidence_leaves_nothing_open() -> None:
    erased = Erased(record("p", "k"))
    assert later(erased, record("c"), evidence("c", 1)).status == "succeeded"
    assert later(record("c"), evidence("c", 1), erased).status == "succeeded"
    assert later(R, record("p"), state("p")).status == "succeeded"


def test_a_gap_behind_evidence_is_an_occasion_where_no_manifest_is_known() -> None:
    unknown = run(None, start_all(M), evidence("c", 0), owed("c"))
    state = PROFILE.initial_state(PROFILE.rulesets[LATER], unknown.documents)
    PROFILE.evolve(state, unknown.entries)
    assert broken(PROFILE.decide(state)) == (4, "said_after_evidence", "evidence/final")
    assert "gap_comes_before_evidence" in PROFILE.exercised(state)
