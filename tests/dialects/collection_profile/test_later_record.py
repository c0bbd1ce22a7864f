"""What the later profile asks of RECORDs: codes and details, and that it asks wherever a RECORD is read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.json_reader import Document, read_json
from ledger.dialects.collection_profile.decode import read_program_line
from ledger.dialects.collection_profile.manifest import ManifestStream
from ledger.dialects.collection_profile.messages import Record
from ledger.dialects.collection_profile.plan import StreamPlan, plan_stream
from ledger.dialects.collection_profile.rules.record import key_agrees_with_data
from ledger.dialects.collection_profile.rulesets import LATER, RULESETS
from ledger.dialects.collection_profile.shapes import PROGRAM_SHAPES, shape_message
from tests.dialects.collection_profile.runs import (
    PROFILE,
    Erased,
    Message,
    Step,
    broken,
    delete,
    done,
    exited,
    findings,
    fully_declared,
    record,
    run,
    start,
    state,
    streams,
    to_line,
    turned,
)

ALL = fully_declared(streams("a"))
PAIR = fully_declared(streams(a={"primary_key": ["x", "y"]}))
APPENDED = fully_declared(streams(a={"semantics": "append_only"}))
BAD: list[tuple[Message, Message, str, str, dict[str, Any]]] = [
    (ALL, record("a", emitted_at="noon"), "emitted_at_unreadable", "record/emitted_at", {"value": "noon"}),
    (ALL, record("a", data={}), "record_without_key_field", "record/primary_key", {"field": "id"}),
    (
        ALL,
        record("a", data={"id": "j"}),
        "key_disagrees",
        "record/primary_key",
        {"key": "k", "fields": ("id",)},
    ),
    (
        PAIR,
        record("a", ["1", "2"], data={"x": 1, "y": 3}),
        "key_disagrees",
        "record/primary_key",
        {"key": '["1","2"]', "fields": ("x", "y")},
    ),
    (
        PAIR,
        record("a", ["1", "2"], data={"x": 1, "y": {}}),
        "key_disagrees",
        "record/primary_key",
        {"key": '["1","2"]', "fields": ("y",)},
    ),
    (ALL, delete("a"), "delete_without_key_field", "record/delete", {"field": "id"}),
    (APPENDED, delete("a"), "delete_of_append_only", "record/semantics", {"key": "k"}),
]
every_bad_record = pytest.mark.parametrize(
    ("manifest", "line", "code", "clause", "detail"), BAD, ids=[code for _, _, code, _, _ in BAD]
)


@every_bad_record
def test_a_bad_record_is_named_with_what_is_wrong_about_it(
    manifest: Message, line: Message, code: str, clause: str, detail: dict[str, Any]
) -> None:
    decision = run(manifest, start("a"), line).decided(LATER.id)
    assert broken(decision) == (3, code, clause)
    assert decision.violations[0].detail == {"stream": "a", **detail}


@every_bad_record
def test_a_record_is_judged_where_no_start_is_known_and_where_it_is_narrowed(
    manifest: Message, line: Message, code: str, clause: str, detail: dict[str, Any]
) -> None:
    assert broken(run(manifest, line).decided(LATER.id)) == (2, code, clause)
    narrow = {"name": "a", "resources": ["k", '["1","2"]'], "fields": ["id"]}
    assert broken(run(manifest, start(narrow), line).decided(LATER.id)) == (3, code, clause)


@every_bad_record
def test_a_bad_record_is_good_under_the_released_rulesets(
    manifest: Message, line: Message, code: str, clause: str, detail: dict[str, Any]
) -> None:
    for ruleset in RULESETS:
        if ruleset != LATER.id:
            assert broken(run(manifest, start("a"), line).decided(ruleset)) is None


@every_bad_record
def test_of_an_erased_record_nothing_is_asked(
    manifest: Message, line: Message, code: str, clause: str, detail: dict[str, Any]
) -> None:
    decision = run(manifest, start("a"), Erased(line), done(1), exited(0)).decided(LATER.id)
    assert (decision.status, broken(decision)) == ("succeeded", None)


def test_what_is_out_of_scope_may_be_discarded_and_what_is_bad_may_not() -> None:
    discarding = turned(LATER, out_of_scope_record="discard")
    timed = fully_declared(streams(a={"consent_time_field": "at"}))
    since = start({"name": "a", "time_range": {"since": "2026-01-01"}})

    def decided(*lines: Message) -> Any:
        drawn = run(timed, since, *lines, state("a"), done(len(lines)), exited(0))
        return drawn.decided(discarding)

    outside = decided(record("a", data={"id": "k"}), delete("a", data={"id": "k", "at": "2025-12-31"}))
    assert (outside.status, findings(outside)["record_outside_time_range"]) == ("succeeded", (3, 4))
    bad = decided(record("a", emitted_at="noon", data={"id": "k", "at": "2026-01-02"}))
    assert broken(bad) == (3, "emitted_at_unreadable", "record/emitted_at")


def test_a_plan_holds_only_the_rules_that_its_stream_gives_something_to_judge() -> None:
    def names(scope: None, **declared: Any) -> list[str]:
        plan = plan_stream(ManifestStream(name="a", **declared), scope, LATER.record_rules)
        return [rule.__name__ for rule in plan.rules]

    assert names(None) == ["emitted_at_is_a_time"]
    assert "delete_carries_its_key" in names(None, primary_key=("id",))
    assert "append_only_stream_deletes_nothing" in names(None, semantics="append_only")
    assert "append_only_stream_deletes_nothing" not in names(None, semantics="mutable_state")


# However a record was read, it is judged alike.

PLAN = StreamPlan(ManifestStream(name="a", primary_key=("id",)))
NUMBERS = ["0", "-0", "0.0", "7", "7.0", "7e0", "70e-1", "1.5", "1e-7", "1e22", "1e400", "9" * 30, "9" * 700]
OTHERS = ["true", "null", "{}", "[7]", '"7"', '"\\u0037"', '"\\ud800"', '""', '"0"']
KEYS = ["0", "-0", "7", "7.0", "1.5", "true", "null", "9" * 30, "1e400", "1" + "0" * 22]


def with_id(key: str, value: str) -> bytes:
    """Return the line of a RECORD, whose id is spelled as given."""
    return to_line(
        f'{{"type":"RECORD","stream":"a","key":{json.dumps(key)},"data":{{"id":{value}}},"emitted_at":"x"}}'
    )


@given(st.sampled_from([*NUMBERS, *OTHERS]), st.sampled_from(KEYS))
def test_both_readers_of_a_record_lead_to_one_verdict(value: str, key: str) -> None:
    line = with_id(key, value)
    document = read_json(line)
    assert isinstance(document, Document)
    fast, slow = read_program_line(line), shape_message(PROGRAM_SHAPES, document.value)
    assert isinstance(fast, Record)
    assert key_agrees_with_data(PLAN, fast) == key_agrees_with_data(PLAN, slow)


@given(st.integers(-(2**80), 2**80) | st.text(min_size=1))
def test_a_value_agrees_with_its_own_text_and_with_no_other(value: int | str) -> None:
    own = read_program_line(with_id(str(value), json.dumps(value)))
    other = read_program_line(with_id(f"{value}0", json.dumps(value)))
    assert isinstance(own, Record)
    assert isinstance(other, Record)
    assert key_agrees_with_data(PLAN, own) is None
    assert key_agrees_with_data(PLAN, other) is not None


def exercised(manifest: Message, *steps: Step) -> frozenset[str]:
    asked = run(manifest, *steps)
    state_ = PROFILE.initial_state(LATER, asked.documents)
    PROFILE.evolve(state_, asked.entries)
    return PROFILE.exercised(state_)


def test_an_erased_record_may_have_been_a_deletion() -> None:
    rules = {"delete_carries_its_key", "append_only_stream_deletes_nothing"}
    assert rules.isdisjoint(exercised(APPENDED, start("a"), record("a")))
    assert rules <= exercised(APPENDED, start("a"), Erased(record("a")))


def test_an_erased_start_may_have_set_a_range() -> None:
    rule = "every_record_is_within_time_range"
    assert rule not in exercised(ALL, start("a"), record("a"))
    assert rule in exercised(ALL, Erased(start("a")), record("a"))
