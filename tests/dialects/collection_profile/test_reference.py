"""``0.1.0+reference`` beside ``0.1.0``: each point at which the two decide otherwise, and some besides."""

from typing import Any

import pytest

from ledger.core.decision import Decision
from ledger.core.observations import (
    CheckpointCommitFailed,
    CheckpointCommitted,
    ControllerLost,
    Offered,
    RecordsRejected,
    Trigger,
)
from ledger.dialects.collection_profile.rules.manifest import STRATEGIES
from ledger.dialects.collection_profile.rulesets import REFERENCE, TEXT
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import Erased, Run

A, PARENTED = r.streams("a"), r.streams("p", d=r.detail("p"))


def both(run: Run) -> tuple[Decision, Decision]:
    """Decide a run under the text and under the reference."""
    return run.decided(TEXT.id), run.decided(REFERENCE.id)


def well(manifest: r.Message, *lines: r.Step, **how: Any) -> Run:
    """A run that began with START for every stream and ended well, with the right count."""
    return r.run(manifest, r.start_all(manifest), *lines, r.done(r.count(lines)), r.exited(0), **how)


def told(decision: Decision) -> tuple[str, str | None, list[str]]:
    """Return status, the first violation's code, and what may be committed."""
    broken = r.broken(decision)
    return decision.status, broken[1] if broken else None, r.committable(decision)


# What a message may hold.


def test_a_spelled_out_upsert_is_accepted_by_the_text_alone() -> None:
    text, reference = both(well(A, r.record("a", op="upsert"), r.state("a")))
    assert told(text) == ("succeeded", None, ["a"])
    assert told(reference) == ("failed", "member_invalid", [])
    assert reference.violations[0].detail["member"] == "op"


@pytest.mark.parametrize("op", [{}, {"op": None}, {"op": "delete"}])
def test_any_other_op_is_read_alike(op: dict[str, Any]) -> None:
    text, reference = both(well(A, r.record("a", **op), r.state("a")))
    assert told(text) == told(reference) == ("succeeded", None, ["a"])


@pytest.mark.parametrize("line", [{"type": "STATE", "stream": "a"}, r.state("a", cursor=None)])
def test_a_checkpoint_without_cursor_is_committed_by_the_reference(line: r.Message) -> None:
    text, reference = both(well(A, line))
    assert told(text) == ("failed", "member_invalid", [])
    assert told(reference) == ("succeeded", None, ["a"])


@pytest.mark.parametrize("cursor", [[], "x", 1, True])
def test_a_cursor_that_is_neither_object_nor_null_breaks_both(cursor: object) -> None:
    text, reference = both(well(A, r.state("a", cursor=cursor)))
    assert told(text) == told(reference) == ("failed", "member_invalid", [])


def test_the_newest_cursor_counts_even_where_it_is_none() -> None:
    run = well(A, r.state("a"), r.state("a", cursor=None))
    assert r.checkpoint(run.decided(REFERENCE.id), "a").cursor_entry == 4


def failing(error: dict[str, Any]) -> tuple[Decision, Decision]:
    end = r.done(0, "failed", error=error)
    return both(r.run(A, r.start("a"), r.state("a"), end, r.exited(1)))


def test_retryable_may_be_left_out_of_an_error_of_the_reference() -> None:
    text, reference = failing({"message": "x"})
    assert (told(text)[1], told(reference)[1]) == ("member_missing", None)


def test_an_error_of_the_reference_holds_nothing_unknown() -> None:
    text, reference = failing({"message": "x", "retryable": True, "basis": []})
    assert (told(text)[1], told(reference)[1]) == (None, "member_invalid")
    assert reference.violations[0].detail["member"] == "error.basis"


def test_null_is_absent_in_an_error_too() -> None:
    text, reference = failing({"message": "x", "retryable": True, "basis": None})
    assert told(text) == told(reference) == ("failed", None, [])


def test_a_hint_of_the_reference_holds_nothing_unknown() -> None:
    hint = {"action": "unknown", "why": "x"}
    text, reference = failing({"message": "x", "retryable": True, "recovery_hint": hint})
    assert (told(text)[1], told(reference)[1]) == (None, "member_invalid")
    text, reference = both(well(A, r.skip("a", "x", recovery_hint=hint)))
    assert (told(text)[1], told(reference)[1]) == (None, "member_invalid")
    assert reference.violations[0].detail["member"] == "recovery_hint.why"


def test_stream_evidence_is_no_message_of_the_reference() -> None:
    manifest = r.streams("p", c=r.child("p"))
    text, reference = both(well(manifest, r.record("c"), r.evidence("c"), r.state("p")))
    assert told(text) == ("succeeded", None, ["p"])
    assert told(reference) == ("failed", "message_unknown", [])


INHERITED = ["toString", "constructor", "__proto__", "hasOwnProperty", "valueOf", "__defineGetter__"]


@pytest.mark.parametrize("name", INHERITED)
def test_the_reference_passes_over_a_type_that_every_object_inherits(name: str) -> None:
    text, reference = both(well(A, {"type": name}, r.state("a")))
    assert told(text) == ("failed", "message_unknown", [])
    assert told(reference) == ("succeeded", None, ["a"])
    assert "message_unknown" in r.findings(reference)


@pytest.mark.parametrize("name", ["tostring", "BLOB", "ASSISTANCE", "", "length", "RECORD "])
def test_any_other_unknown_type_breaks_both(name: str) -> None:
    text, reference = both(well(A, {"type": name}, r.state("a")))
    assert told(text) == told(reference) == ("failed", "message_unknown", [])


def test_even_an_inherited_name_may_not_come_while_a_question_waits_or_after_done() -> None:
    waiting = r.run(A, r.start("a"), r.interaction(), {"type": "toString"}).decided(REFERENCE.id)
    assert told(waiting)[1] == "message_while_waiting"
    over = r.run(A, r.start("a"), r.done(), {"type": "toString"}).decided(REFERENCE.id)
    assert told(over)[1] == "message_after_done"


# Scope.


def narrowed(data: object, scope: dict[str, Any], **declared: Any) -> tuple[Decision, Decision]:
    manifest = r.streams(a=declared)
    lines = (r.record("a", "k", data=data), r.state("a"))
    start = r.start({"name": "a", **scope})
    return both(r.run(manifest, start, *lines, r.done(1), r.exited(0)))


@pytest.mark.parametrize(
    ("value", "resource", "is_within"),
    [
        ("north", "north", True),
        ("North", "north", False),
        (7, "7", True),
        (7.0, "7", True),
        (1e21, "1e+21", True),
        (7, "7.0", False),
        (None, "null", False),
        (True, "true", False),
        (["north"], "north", False),
    ],
)
def test_the_reference_takes_a_resource_by_its_field_too(
    value: object, resource: str, is_within: bool
) -> None:
    selection = {"resource_field": "shelf"}
    text, reference = narrowed({"shelf": value}, {"resources": [resource]}, selection=selection)
    assert told(text)[1] == "record_outside_resources"
    assert told(reference)[1] == (None if is_within else "record_outside_resources")


def test_a_resource_is_taken_by_its_key_whatever_its_field_holds() -> None:
    selection = {"resource_field": "shelf"}
    for decision in narrowed({"shelf": "x"}, {"resources": ["k"]}, selection=selection):
        assert told(decision)[1] is None


@pytest.mark.parametrize(
    ("value", "in_text", "in_reference"),
    [
        ("2026-01-01T00:00:00Z", True, True),
        ("2026-01-01", True, True),
        (1767225600000, False, True),
        (1767225600000.9, False, True),
        (1767225599999.9, False, False),
        (8_640_000_000_000_001, False, False),
        (10**400, False, False),
        ("1767225600000", False, False),
        ("", False, False),
        (None, False, False),
        (True, False, False),
    ],
)
def test_a_number_is_a_time_of_the_reference(value: object, in_text: bool, in_reference: bool) -> None:
    scope = {"time_range": {"since": "2026-01-01T00:00:00Z"}}
    text, reference = narrowed({"at": value}, scope, consent_time_field="at")
    assert (told(text)[1] is None, told(reference)[1] is None) == (in_text, in_reference)


def test_the_reference_compares_whole_milliseconds() -> None:
    scope = {"time_range": {"since": "2026-01-01T00:00:00.0009Z", "until": "2026-01-01T00:00:00.0019Z"}}
    for digits, in_text, in_reference in [("0001", False, True), ("0015", True, False), ("0009", True, True)]:
        text, reference = narrowed({"at": f"2026-01-01T00:00:00.{digits}Z"}, scope, consent_time_field="at")
        assert (told(text)[1] is None, told(reference)[1] is None) == (in_text, in_reference), digits


def test_a_delete_is_held_against_fields_and_time_only_where_it_carries_data() -> None:
    manifest = r.streams(a={"consent_time_field": "at"})
    scope = {"name": "a", "fields": ["id"], "time_range": {"since": "2026-01-01"}}
    for line, code in [(r.delete("a"), None), (r.delete("a", data={"x": 1}), "record_with_extra_field")]:
        for decision in both(r.run(manifest, r.start(scope), line, r.done(1), r.exited(0))):
            assert told(decision)[1] == code


# Checkpoints.


def test_a_state_of_no_checkpoint_is_staged_by_the_reference() -> None:
    lines = (r.coverage("d", "p"), r.state("p"), r.state("d"))
    text, reference = both(well(PARENTED, *lines))
    assert (r.committable(text), r.committable(reference)) == (["p"], ["p", "d"])
    assert "state_of_no_checkpoint" not in r.findings(reference)


def test_whole_numbers_commit_first_in_ascending_order() -> None:
    names = ["b", "10", "01", "7", "4294967295", "4294967294", "0", "a"]
    text, reference = both(well(r.streams(*names), *map(r.state, names)))
    assert r.committable(text) == names
    assert r.committable(reference) == ["0", "7", "10", "4294967294", "b", "01", "4294967295", "a"]


def test_the_reference_commits_the_own_state_of_a_failed_stream_that_has_parents() -> None:
    manifest = r.streams("p", "a", m=r.detail("p"), c=r.child("m"))
    lines = (r.state("m"), r.state("a"), r.state("p"), r.skip("m"))
    end = r.done(0, "failed", error=r.error("stream_collection_failed"))
    text, reference = both(r.run(manifest, r.start_all(manifest), *lines, end, r.exited(1)))
    assert (r.committable(text), r.committable(reference)) == (["a"], ["m", "a"])
    assert r.reasons(reference, "p") == ["covers_failed_stream", "coverage_missing"]


def test_a_failed_stream_without_parents_withholds_its_own_state_in_both() -> None:
    end = r.done(0, "failed", error=r.error("stream_collection_failed"))
    manifest = r.streams("a", "b")
    lines = (r.state("a"), r.state("b"), r.skip("a"))
    for decision in both(r.run(manifest, r.start("a", "b"), *lines, end, r.exited(1))):
        assert r.committable(decision) == ["b"]


@pytest.mark.parametrize("end", [(), (r.done(),), (r.done(0, "failed", error=r.error()),)])
def test_the_reference_commits_nothing_once_the_controller_is_lost(end: tuple[r.Message, ...]) -> None:
    run = r.run(A, r.start("a"), r.state("a"), *end, ControllerLost())
    reference = run.decided(REFERENCE.id)
    assert told(reference) == ("abandoned", None, [])
    if not end or end[0]["status"] == "succeeded":
        assert told(run.decided(TEXT.id)) == ("abandoned", None, ["a"])
        assert r.reasons(reference, "a") == ["run_abandoned"]


def test_records_that_the_store_rejects_hold_no_cursor_back() -> None:
    for decision in both(well(A, r.record("a"), RecordsRejected(stream="a", count=1), r.state("a"))):
        assert told(decision) == ("succeeded", None, ["a"])
        assert decision.records[0].accepted == 0


# Coverage.


def covered(
    required: list[Any], hydrated: list[Any], *gaps: r.Message, **more: Any
) -> tuple[Decision, Decision]:
    report = r.coverage("d", "p", required, hydrated, **more)
    return both(well(PARENTED, *gaps, report, r.state("p")))


def test_a_gap_that_is_not_listed_accounts_in_the_reference() -> None:
    text, reference = covered(["k", "j"], ["j"], r.gap("d", "k"))
    assert (told(text), told(reference)) == (("succeeded", None, []), ("succeeded", None, ["p"]))
    row = r.row(reference, "d", "p")
    assert (row.required, row.hydrated, row.gapped, row.unaccounted) == (2, 1, 1, 0)
    assert reference.gaps[0].accounted_by == 4
    assert text.gaps[0].accounted_by is None


def test_a_listed_key_without_gap_is_unaccounted_in_both() -> None:
    for decision in covered(["k"], [], gap_keys=["k"]):
        assert r.reasons(decision, "p") == ["coverage_unaccounted"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (1e21, "1e+21"),
        (-0.0, "0"),
        (9007199254740993, "9007199254740992"),
        (0.1, "0.1"),
    ],
)
def test_number_and_text_are_one_key_of_the_reference(number: float, text: str) -> None:
    by_text, by_reference = covered([number], [text])
    assert told(by_text)[1] == "coverage_key_not_required"
    assert told(by_reference) == ("succeeded", None, ["p"])
    by_text, by_reference = covered([number, text], [number, text])
    assert told(by_text) == ("succeeded", None, ["p"])
    assert told(by_reference)[1] == "coverage_key_repeated"
    by_text, by_reference = covered([number], [], r.gap("d", text), gap_keys=[number])
    assert (r.committable(by_text), r.committable(by_reference)) == ([], ["p"])


def test_big_integers_are_one_key_where_they_are_one_double() -> None:
    text, reference = covered([9007199254740993], [9007199254740992])
    assert (told(text)[1], r.committable(reference)) == ("coverage_key_not_required", ["p"])


def test_a_key_in_two_outcome_sets_breaks_the_reference() -> None:
    text, reference = covered(["k"], ["k"], r.gap("d", "k"), gap_keys=["k"])
    assert told(text) == ("succeeded", None, ["p"])
    assert told(reference)[1] == "coverage_key_in_two_sets"
    assert told(covered(["k"], ["k"], optional_skip_keys=["k"])[1])[1] == "coverage_key_in_two_sets"


def test_optional_skips_are_credited_by_the_reference() -> None:
    text, reference = covered(["k", "j"], ["j"], optional_skip_keys=["k"])
    assert (r.committable(text), r.committable(reference)) == ([], ["p"])
    assert r.row(reference, "d", "p").condition == "complete"


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        (["k", "k"], "coverage_key_repeated"),
        (["x"], "coverage_key_not_required"),
        ("k", "member_invalid"),
        ([True], "member_invalid"),
    ],
)
def test_optional_skips_that_count_are_held_to_the_rules_of_outcomes(keys: object, code: str) -> None:
    text, reference = covered(["k"], [], optional_skip_keys=keys)
    assert (told(text)[1], told(reference)[1]) == (None, code)


def test_a_free_stream_may_gate_any_checkpoint_of_the_reference() -> None:
    manifest = r.streams("a", "b")
    for hydrated, committed in [(["k"], ["a", "b"]), ([], ["b"])]:
        lines = (r.coverage("b", "a", ["k"], hydrated), r.state("a"), r.state("b"))
        text, reference = both(well(manifest, *lines))
        assert told(text)[1] == "coverage_of_undeclared_parent"
        assert told(reference) == ("succeeded", None, committed)


def test_a_stream_with_parents_still_reports_on_none_but_those() -> None:
    manifest = r.streams("p", "q", d=r.detail("p"), c=r.child("p"))
    for name in ("d", "c"):
        for decision in both(well(manifest, r.coverage(name, "q"), r.state("q"))):
            assert decision.violations


def test_a_gap_without_parent_is_of_every_boundary_of_a_free_stream() -> None:
    manifest = r.streams("a", "b")
    for parent, committed in [(None, ["a", "b"]), ("a", ["a"]), ("b", ["b"]), ("x", [])]:
        lines = (
            r.gap("b", "k", parent),
            r.coverage("b", "a", ["k"], gap_keys=["k"]),
            r.coverage("b", "b", ["k"], gap_keys=["k"]),
            r.state("a"),
            r.state("b"),
        )
        assert told(well(manifest, *lines).decided(REFERENCE.id)) == ("succeeded", None, committed), parent


def test_a_gap_without_parent_is_of_no_boundary_where_there_are_two() -> None:
    manifest = r.streams("p", "q", d=r.detail("p", "q"))
    lines = (r.gap("d"), r.coverage("d", "p", ["k"]), r.coverage("d", "q"), r.state("p"), r.state("q"))
    for decision in both(well(manifest, *lines)):
        assert r.committable(decision) == ["q"]


@pytest.mark.parametrize("key", [" k", "k\t", "\ufeffk", " "])
def test_white_space_around_a_gaps_key_breaks_the_reference(key: str) -> None:
    text, reference = both(well(PARENTED, r.gap("d", key)))
    assert told(text)[1] is None
    assert told(reference)[1] == "member_invalid"


@pytest.mark.parametrize("key", ["k", "a b", "", 1, 1.5])
def test_any_other_key_of_a_gap_is_fine(key: object) -> None:
    for decision in both(well(PARENTED, r.gap("d", key))):
        assert told(decision)[1] is None


# Before the run, and the grant.


@pytest.mark.parametrize(
    "strategy", [*STRATEGIES, None, "by_moonlight", "Full_Inventory", "", 7, ["full_inventory"], {}], ids=repr
)
def test_a_strategy_of_the_reference_is_one_of_five(strategy: object) -> None:
    text, reference = both(well(r.streams(a={"coverage_strategy": strategy})))
    is_known = strategy in (*STRATEGIES, None)
    assert text.status == "succeeded"
    assert reference.status == ("succeeded" if is_known else "refused")
    assert is_known or reference.violations[0].code == "strategy_unknown"


def test_the_strategy_is_asked_where_nothing_is_known_of_the_offer() -> None:
    run = well(r.streams(a={"coverage_strategy": "x"}), offered=None)
    assert [one.status for one in both(run)] == ["succeeded", "refused"]


def test_an_optional_binding_has_to_be_offered_to_the_reference() -> None:
    manifest = {**A, "runtime_requirements": {"bindings": {"filesystem": {"required": False}}}}
    assert [one.status for one in both(well(manifest))] == ["succeeded", "refused"]
    assert [one.status for one in both(well(manifest, offered=None))] == ["succeeded", "succeeded"]
    offered = Offered(bindings=("filesystem",))
    assert [one.status for one in both(well(manifest, offered=offered))] == ["succeeded", "succeeded"]


GRANTED = Trigger(kind="continuous", grant_id="grant_1", streams=("a", "c"))
WIDE = r.streams("a", "b", "c")


def test_a_scope_beyond_the_grant_runs_until_the_store_refuses() -> None:
    run = well(WIDE, r.state("a"), r.state("b"), r.state("c"), trigger=GRANTED)
    text, reference = both(run)
    assert text.status == "refused"
    assert told(reference) == ("failed", None, ["a"])
    assert reference.cause is not None
    assert (reference.cause.code, reference.cause.clause) == ("checkpoint_beyond_grant", "runtime/11")
    assert r.reasons(reference, "b") == ["checkpoint_beyond_grant"]
    assert r.reasons(reference, "c") == ["after_refused_checkpoint"]


def test_what_is_withheld_anyway_is_not_refused_by_the_store() -> None:
    manifest = r.streams("a", "b", "c", d=r.detail("b"))
    trigger = Trigger(kind="continuous", grant_id="grant_1", streams=("a", "c", "d"))
    run = well(manifest, r.state("a"), r.state("b"), r.state("c"), trigger=trigger)
    assert told(run.decided(REFERENCE.id)) == ("succeeded", None, ["a", "c"])


def test_a_single_use_run_writes_nothing_that_could_be_refused() -> None:
    trigger = Trigger(kind="single_use", grant_id="grant_1", streams=("a",))
    assert told(well(WIDE, r.state("b"), trigger=trigger).decided(REFERENCE.id)) == ("succeeded", None, [])


def test_what_the_store_really_did_stays_a_fact() -> None:
    namespace = "grant_1"
    refused = well(WIDE, r.state("b"), trigger=GRANTED)
    failed = CheckpointCommitFailed(stream="b", namespace=namespace, error="403")
    refused.entries.append(r.to_entry(len(refused.entries) + 1, failed))
    decision = refused.decided(REFERENCE.id)
    assert decision.cause is not None
    assert (decision.cause.code, decision.discrepancies) == ("checkpoint_store_failed", ())
    taken = well(WIDE, r.state("b"), trigger=GRANTED)
    committed = CheckpointCommitted(stream="b", namespace=namespace, cursor_seq=3)
    taken.entries.append(r.to_entry(len(taken.entries) + 1, committed))
    assert r.discrepancies(taken.decided(REFERENCE.id)) == [("committed_though_withheld", "b")]


# What was erased.


def test_an_erased_report_of_a_free_stream_may_be_about_any_checkpoint_of_the_reference() -> None:
    manifest = r.streams("a", "b", d=r.detail("a"))
    lines = (Erased(r.coverage("b", "b")), r.coverage("d", "a"), r.state("a"), r.state("b"))
    text, reference = both(well(manifest, *lines))
    assert r.verdicts(text) == {"a": "commit", "b": "indeterminate"}
    assert r.verdicts(reference) == {"a": "indeterminate", "b": "indeterminate"}


def test_an_erased_state_of_no_checkpoint_is_staged_by_the_reference() -> None:
    text, reference = both(well(PARENTED, Erased(r.state("d"))))
    assert (r.verdicts(text), r.verdicts(reference)) == ({}, {"d": "indeterminate"})


def test_an_erased_message_of_a_type_that_the_reference_does_not_know_breaks_it() -> None:
    manifest = r.streams("p", c=r.child("p"))
    assert told(well(manifest, Erased(r.evidence("c"))).decided(REFERENCE.id))[1] == "message_unknown"


def test_nothing_is_certain_behind_an_erased_checkpoint_that_the_store_would_refuse() -> None:
    run = well(WIDE, r.state("a"), Erased(r.state("b")), r.state("c"), trigger=GRANTED)
    expected = {"a": "commit", "b": "indeterminate", "c": "indeterminate"}
    assert r.verdicts(run.decided(REFERENCE.id)) == expected
