"""RECORD and PROGRESS: what their members must hold."""

from typing import Any

import pytest

from tests.dialects.collection_profile.runs import (
    broken,
    decide,
    done,
    exited,
    progress,
    record,
    start,
    streams,
)

A = streams("a")

RECORDS: list[tuple[str, Any, bool]] = [
    ("stream", None, False),
    ("stream", 1, False),
    ("key", None, False),
    ("key", "", False),
    ("key", " ", True),
    ("key", 1, False),
    ("key", True, False),
    ("key", [], False),
    ("key", [""], False),
    ("key", ["k", 1], False),
    ("key", ["k", "j"], True),
    ("key", {"k": 1}, False),
    ("data", None, False),
    ("data", [], False),
    ("data", "x", False),
    ("data", {}, True),
    ("emitted_at", None, False),
    ("emitted_at", "", False),
    ("emitted_at", " \t", False),
    ("emitted_at", "\u00a0\u2028", False),
    ("emitted_at", 1767225600, False),
    ("emitted_at", "yesterday", True),
    ("op", None, True),
    ("op", "upsert", True),
    ("op", "delete", True),
    ("op", "Delete", False),
    ("op", "", False),
    ("op", True, False),
    ("later", {"x": 1}, True),
]


@pytest.mark.parametrize(("member", "value", "sound"), RECORDS)
def test_the_shape_of_a_record(member: str, value: Any, sound: bool) -> None:
    decision = decide(A, start("a"), {**record("a"), member: value}, done(1), exited(0))
    first = broken(decision)
    assert (first is None) == sound
    if first is not None:
        assert first[2] == f"record/{member}"


@pytest.mark.parametrize("missing", ["stream", "key", "data", "emitted_at"])
def test_a_record_lacks_nothing(missing: str) -> None:
    message = {name: value for name, value in record("a").items() if name != missing}
    assert broken(decide(A, start("a"), message)) == (3, "member_missing", f"record/{missing}")


def test_a_record_shaped_line_without_a_type_is_no_message() -> None:
    message = {name: value for name, value in record("a").items() if name != "type"}
    assert broken(decide(A, start("a"), message)) == (3, "line_is_no_message", "session/jsonl")


PROGRESS: list[tuple[str, Any, bool]] = [
    ("message", None, False),
    ("message", " ", False),
    ("message", 1, False),
    ("stream", 1, False),
    ("stream", "a", True),
    ("count", 0, True),
    ("count", 0.5, True),
    ("count", -1, False),
    ("count", "1", False),
    ("count", False, False),
    ("count", 10**400, False),
    ("total", 1e308, True),
    ("total", -0.5, False),
    ("total", None, True),
    ("provider_budget", {"object": "x"}, True),
]


@pytest.mark.parametrize(("member", "value", "sound"), PROGRESS)
def test_the_shape_of_progress(member: str, value: Any, sound: bool) -> None:
    first = broken(decide(A, start("a"), {**progress(), member: value}))
    assert (first is None) == sound
    if first is not None:
        assert first[2] == f"progress/{member}"


@pytest.mark.parametrize("number", ["1e400", "1e9999999", "-1e9999999", "1e99999999999999999999", "NaN"])
def test_a_number_that_no_double_holds_breaks_the_protocol_and_not_the_reader(number: str) -> None:
    line = '{"type":"PROGRESS","message":"x","count":' + number + "}"
    assert broken(decide(A, start("a"), line)) is not None
