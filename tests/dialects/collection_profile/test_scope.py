"""What a RECORD may be about: stream, resources, fields and time range (scope/1 to scope/3)."""

from typing import Any

import pytest

from tests.dialects.collection_profile.runs import (
    Message,
    Step,
    broken,
    coverage,
    decide,
    delete,
    detail,
    done,
    evidence,
    exited,
    findings,
    gap,
    progress,
    record,
    skip,
    start,
    state,
    streams,
    succeeded,
)

FIELDS = {"schema": {"required": ["must"]}, "primary_key": ["id", "part"], "consent_time_field": "at"}
M = streams("a", "b", wide=FIELDS, timed={"consent_time_field": "at"})


def fault(scope: Message, line: Step) -> tuple[str, str] | None:
    """Return code and clause of what one RECORD breaks under one scope."""
    decision = decide(M, start(scope), line, done(1), exited(0))
    first = broken(decision)
    assert (decision.status == "succeeded") == (first is None)
    return first[1:] if first else None


# Streams.


@pytest.mark.parametrize("name", ["b", "zzz", "A", " a", ""])
def test_a_record_of_a_stream_that_was_not_asked_for_breaks_the_run(name: str) -> None:
    assert fault({"name": "a"}, record(name)) == ("record_out_of_scope", "scope/1")


@pytest.mark.parametrize(
    "line",
    [
        state("b"),
        state("zzz"),
        skip("b"),
        progress(stream="b"),
        progress(stream=""),
        gap("b"),
        coverage("b", "b"),
        coverage("a", "b"),
        evidence("b"),
    ],
    ids=str,
)
def test_no_message_names_a_stream_that_was_not_asked_for(line: Message) -> None:
    decision = decide(M, start("a"), line, done(), exited(0))
    assert decision.status == "failed"
    assert decision.violations[0].entry == 3


@pytest.mark.parametrize(
    "line", [skip(None, "tired"), progress(), progress(stream=None), {"type": "SKIP_RESULT", "stream": None}]
)
def test_a_message_that_names_no_stream_is_about_the_run(line: Message) -> None:
    assert decide(M, start("a"), line, done(), exited(0)).status == "succeeded"


def test_a_report_names_a_boundary_that_is_in_scope() -> None:
    manifest = streams("p", "q", d=detail("p", "q"))
    decision = decide(manifest, start("d", "p"), coverage("d", "q"), done(), exited(0))
    assert broken(decision) == (3, "stream_out_of_scope", "coverage/state_stream")


# Resources: canonical keys.

RESOURCES: list[tuple[Any, list[str], bool]] = [
    ("k", ["k"], True),
    ("k", ["j", "k"], True),
    ("k", ["j"], False),
    ("k", ["K"], False),
    ("k", ["k "], False),
    (["u", "2026-09-02"], ['["u","2026-09-02"]'], True),
    (["u", "2026-09-02"], ['["u", "2026-09-02"]'], False),
    (["u", "d"], ["u"], False),
    (["u", "d"], ['["d","u"]'], False),
    (['quo"te', "back\\slash"], ['["quo\\"te","back\\\\slash"]'], True),
    (["ключ", "\u2028"], ['["ключ","\u2028"]'], True),
    (["a\nb", "\x01"], ['["a\\nb","\\u0001"]'], True),
    (["/", "\x7f"], ['["/","\x7f"]'], True),
    ('["u","d"]', ['["u","d"]'], True),
    ("1", ["1"], True),
]


@pytest.mark.parametrize(("key", "resources", "within"), RESOURCES)
@pytest.mark.parametrize("make", [record, delete])
def test_resources_are_canonical_keys(key: Any, resources: list[str], within: bool, make: Any) -> None:
    broke = fault({"name": "a", "resources": resources}, make("a", key))
    assert broke == (None if within else ("record_outside_resources", "scope/2"))


# Fields.

FIELD_CASES: list[tuple[list[str], dict[str, Any], bool]] = [
    (["x"], {"x": 1}, True),
    (["x"], {}, True),
    (["x"], {"x": 1, "y": 1}, False),
    (["x"], {"x": 1, "must": 1}, True),
    (["x"], {"x": 1, "id": 1, "part": 2}, True),
    (["x"], {"x": 1, "at": "2026-01-01"}, False),
    ([], {"id": 1, "must": 2}, True),
    ([], {"x": 1}, False),
    (["x"], {"x": {"y": {"z": 1}}}, True),
    (["x"], {"X": 1}, False),
    (["x.y"], {"x": 1}, False),
    (["x"], {"y": None}, False),
]


@pytest.mark.parametrize(("fields", "data", "within"), FIELD_CASES)
@pytest.mark.parametrize("op", ["upsert", "delete", None])
def test_no_field_beyond_those_asked_for_and_those_that_must_be_there(
    fields: list[str], data: dict[str, Any], within: bool, op: str | None
) -> None:
    broke = fault({"name": "wide", "fields": fields}, record("wide", data=data, op=op))
    assert broke == (None if within else ("record_with_extra_field", "scope/3"))


def test_the_consent_time_may_be_there_where_a_range_is_set() -> None:
    scope = {"name": "wide", "fields": ["x"], "time_range": {"since": "2026-01-01"}}
    assert fault(scope, record("wide", data={"x": 1, "at": "2026-01-02"})) is None


def test_without_fields_every_field_may_be_there() -> None:
    assert fault({"name": "wide"}, record("wide", data={"anything": 1})) is None


# Time.

DAY = {"since": "2026-03-01T00:00:00Z", "until": "2026-03-02T00:00:00Z"}
TIMES: list[tuple[str, dict[str, str], Any, bool]] = [
    ("since is inclusive", DAY, "2026-03-01T00:00:00Z", True),
    ("just before since", DAY, "2026-02-28T23:59:59.999999999Z", False),
    ("just before until", DAY, "2026-03-01T23:59:59.99999999999999999999Z", True),
    ("until is exclusive", DAY, "2026-03-02T00:00:00Z", False),
    ("until, in other digits", DAY, "2026-03-02T00:00:00.000Z", False),
    ("since, by its offset", DAY, "2026-03-01T05:30:00+05:30", True),
    ("before since, by its offset", DAY, "2026-03-01T05:29:59+05:30", False),
    ("the day before, by its clock", DAY, "2026-02-28T19:00:00-05:00", True),
    ("until, by its offset", DAY, "2026-03-01T19:00:00-05:00", False),
    ("a negative zero offset", DAY, "2026-03-01T00:00:00-00:00", True),
    ("small letters", DAY, "2026-03-01t00:00:00z", True),
    ("a date alone is midnight", DAY, "2026-03-01", True),
    ("the next date alone", DAY, "2026-03-02", False),
    ("only since", {"since": "2026-03-01"}, "9999-12-31", True),
    ("only until", {"until": "2026-03-01"}, "0001-01-01", True),
    ("only until, reached", {"until": "2026-03-01"}, "2026-03-01", False),
    ("an offset in the bound", {"since": "2026-03-01T02:00:00+02:00"}, "2026-03-01T00:00:00Z", True),
    ("an empty range", {"since": "2026-03-01", "until": "2026-03-01"}, "2026-03-01", False),
    ("a reversed range", {"since": "2026-03-02", "until": "2026-03-01"}, "2026-03-01T12:00:00Z", False),
    ("no offset", DAY, "2026-03-01T12:00:00", False),
    ("no seconds", DAY, "2026-03-01T12:00Z", False),
    ("a space instead of T", DAY, "2026-03-01 12:00:00Z", False),
    ("a trailing newline", DAY, "2026-03-01T12:00:00Z\n", False),
    ("digits of another script", DAY, "٢٠٢٦-03-01T12:00:00Z", False),
    ("no such day", {"since": "2026-02-01"}, "2026-02-30", False),
    ("no such hour", DAY, "2026-03-01T24:00:00Z", False),
    ("a leap second", DAY, "2026-03-01T12:00:60Z", False),
    ("a number", DAY, 1772323200, False),
    ("milliseconds", DAY, 1772323200000, False),
    ("a number in a text", DAY, "1772323200", False),
    ("null", DAY, None, False),
    ("empty", DAY, "", False),
    ("true", DAY, True, False),
    ("an array", DAY, ["2026-03-01"], False),
]


@pytest.mark.parametrize(("time_range", "at", "within"), [t[1:] for t in TIMES], ids=[t[0] for t in TIMES])
@pytest.mark.parametrize("op", [None, "delete"])
def test_the_consent_time_lies_in_the_range(
    time_range: dict[str, str], at: Any, within: bool, op: str | None
) -> None:
    broke = fault({"name": "timed", "time_range": time_range}, record("timed", data={"at": at}, op=op))
    assert broke == (None if within else ("record_outside_time_range", "scope/2"))


def test_a_time_that_is_absent_is_outside_every_range() -> None:
    assert (
        fault({"name": "timed", "time_range": DAY}, record("timed", data={"when": "2026-03-01"})) is not None
    )


def test_the_last_of_two_times_counts() -> None:
    def line(first: str, last: str) -> str:
        data = f'{{"at":"{first}","at":"{last}"}}'
        return f'{{"type":"RECORD","stream":"timed","key":"k","data":{data},"emitted_at":"x"}}'

    scope = {"name": "timed", "time_range": DAY}
    inside, outside = "2026-03-01", "2026-03-09"
    assert broken(decide(M, start(scope), line(outside, inside), done(1), exited(0))) is None
    assert broken(decide(M, start(scope), line(inside, outside), done(1), exited(0))) is not None


def test_a_range_without_bounds_asks_nothing() -> None:
    assert fault({"name": "timed", "time_range": {}}, record("timed", data={})) is None


def test_a_range_on_a_stream_without_a_time_is_not_applied_and_is_a_finding() -> None:
    decision = decide(M, start({"name": "a", "time_range": DAY}), record("a"), done(1), exited(0))
    assert decision.status == "succeeded"
    (found,) = (f for f in decision.findings if f.code == "time_range_not_applicable")
    assert found.by == "runtime"


@pytest.mark.parametrize("data", [{}, {"data": None}])
def test_a_deletion_without_data_is_asked_neither_fields_nor_time(data: Message) -> None:
    scope = {"name": "wide", "fields": ["x"], "time_range": DAY}
    assert fault(scope, delete("wide", **data)) is None


# What follows from it.


def test_records_are_counted_by_stream() -> None:
    decision = succeeded(M, record("a"), delete("a"), record("wide"), record("a", "j"))
    counts = {r.stream: (r.emitted, r.accepted, r.discarded, r.deletes) for r in decision.records}
    assert counts == {"a": (3, 3, 0, 1), "wide": (1, 1, 0, 0)}


def test_a_record_out_of_scope_is_discarded_and_commits_nothing() -> None:
    scope = {"name": "a", "resources": ["k"]}
    decision = decide(M, start(scope), record("a"), state("a"), record("a", "j"), done(2), exited(0))
    assert decision.status == "failed"
    assert [(r.emitted, r.accepted, r.discarded) for r in decision.records] == [(2, 1, 1)]
    assert [c.decision for c in decision.checkpoints] == ["withhold"]


def test_a_skip_that_says_scope_not_supported_is_a_finding() -> None:
    decision = succeeded(M, skip("timed", "scope_not_supported"))
    assert decision.status == "succeeded"
    assert findings(decision) == {"scope_not_supported": (3,)}
