"""Recovery hints and continuations: their shape, which one counts, and that nothing else is read for them."""

from typing import Any

import pytest

from ledger.core.decision import Decision
from tests.dialects.collection_profile.runs import (
    Message,
    broken,
    decide,
    done,
    error,
    exited,
    failed,
    skip,
    start,
    streams,
    succeeded,
)

A = streams("a", "b")
ACTIONS = [
    "retry_by_runtime",
    "retry_on_connector_upgrade",
    "refresh_credentials",
    "manual_action_required",
    "update_selector",
    "upstream_unblock",
    "not_retriable",
    "unknown",
]


def failing(*lines: Message, **members: Any) -> Decision:
    """Decide a run that ended with a DONE that failed with these members of its error."""
    return decide(A, start("a", "b"), *lines, done(0, "failed", error=error(**members)), exited(1))


HINTS: list[tuple[Any, str | None]] = [
    *((action, None) for action in ACTIONS),
    *(({"action": action}, None) for action in ACTIONS),
    ({"action": "unknown", "retryable": True}, None),
    ({"action": "unknown", "retryable": False}, None),
    ({"action": "unknown", "retryable": None}, None),
    ({"action": "unknown", "later": 1}, None),
    (None, None),
    ({}, "hint/2"),
    ({"retryable": True}, "hint/2"),
    ({"action": None}, "hint/2"),
    ({"action": "retry"}, "hint/3"),
    ({"action": "Unknown"}, "hint/3"),
    ({"action": ["unknown"]}, "hint/3"),
    ({"action": "unknown", "retryable": "yes"}, "hint/1"),
    ({"action": "unknown", "retryable": 1}, "hint/1"),
    ("", "hint/1"),
    ("unknown ", "hint/1"),
    ("RETRY_BY_RUNTIME", "hint/1"),
    (1, "hint/1"),
    (True, "hint/1"),
    (["unknown"], "hint/1"),
]


@pytest.mark.parametrize(("hint", "clause"), HINTS, ids=str)
def test_a_hint_of_done_has_its_shape_or_breaks_the_protocol(hint: Any, clause: str | None) -> None:
    first = broken(failing(recovery_hint=hint))
    assert (first[2] if first else None) == clause


@pytest.mark.parametrize(("hint", "clause"), HINTS, ids=str)
def test_a_hint_of_a_skip_has_the_same_shape(hint: Any, clause: str | None) -> None:
    first = broken(succeeded(A, skip("a", "x", recovery_hint=hint)))
    assert (first[2] if first else None) == clause


def asked(decision: Decision) -> tuple[str, bool | None, str] | None:
    recovery = decision.recovery
    return None if recovery is None else (recovery.action, recovery.retryable, recovery.source)


def test_the_hint_of_done_is_what_the_owner_is_asked() -> None:
    assert asked(failing(recovery_hint="refresh_credentials")) == (
        "refresh_credentials",
        None,
        "recovery_hint",
    )
    hint = {"action": "not_retriable", "retryable": False}
    assert asked(failing(recovery_hint=hint)) == ("not_retriable", False, "recovery_hint")


def test_the_hint_of_done_outranks_that_of_a_skip() -> None:
    decision = failing(skip("a", "x", recovery_hint="update_selector"), recovery_hint="unknown")
    assert asked(decision) == ("unknown", None, "recovery_hint")


@pytest.mark.parametrize("stream", ["a", None])
def test_the_hint_of_a_skip_outranks_the_flag_of_done(stream: str | None) -> None:
    decision = failing(skip(stream, "x", recovery_hint="refresh_credentials"))
    assert asked(decision) == ("refresh_credentials", None, "recovery_hint")


def test_the_newest_skip_of_a_stream_counts() -> None:
    first, second = (skip("a", "x", recovery_hint=hint) for hint in ("unknown", "update_selector"))
    assert asked(succeeded(A, first, second)) == ("update_selector", None, "recovery_hint")
    assert asked(succeeded(A, first, skip("a", "x"))) is None


def test_without_a_hint_only_the_flag_says_anything() -> None:
    assert asked(failing()) == ("retry_by_runtime", True, "retryable")
    assert asked(failing(retryable=False)) is None
    assert asked(succeeded(A)) is None


WORDS = ["not_retriable", "refresh_credentials", "HTTP 401 Unauthorized: refresh your credentials"]


@pytest.mark.parametrize("words", WORDS)
def test_no_message_code_or_reason_is_read_for_an_action(words: str) -> None:
    assert asked(failing(message=words, retryable=False)) is None
    assert asked(succeeded(A, skip("a", words, message=words))) is None
    code = words if words.islower() else "auth"
    assert asked(failing(message="x", code=code)) == ("retry_by_runtime", True, "retryable")


def test_a_code_and_a_hint_are_judged_apart() -> None:
    good_hint = failing(code="Bad Code", recovery_hint="unknown")
    assert broken(good_hint) is not None
    assert broken(good_hint)[2] == "done/error"  # type: ignore[index]
    good_code = failing(code="auth_failed", recovery_hint="bad")
    assert broken(good_code)[2] == "hint/1"  # type: ignore[index]
    assert failed(A, code="auth_failed").terminal.error is not None


def test_a_hint_of_a_rejected_message_asks_for_nothing() -> None:
    wrong_count = decide(A, start("a"), done(9, "failed", error=error(recovery_hint="unknown")), exited(1))
    assert wrong_count.status == "failed"
    assert wrong_count.recovery is None


# Continuations.

SLICE = {"boundary": "2026", "slice_start": 0, "slice_end": 9, "considered": 10, "covered": 10}
WHOLE: Message = {**SLICE, "remaining": True, "owner": "runtime"}
MAX = 9007199254740991


def continued(**members: Any) -> Message:
    return skip("a", "page", continuation={**WHOLE, **members})


SLICES: list[tuple[str, Any, bool]] = [
    ("boundary", "", False),
    ("boundary", 1, False),
    ("boundary", None, False),
    ("slice_start", -1, False),
    ("slice_start", 10, False),
    ("slice_start", 9, True),
    ("slice_end", MAX, True),
    ("slice_end", MAX + 1, False),
    ("slice_end", 9.5, False),
    ("slice_end", "9", False),
    ("considered", None, False),
    ("considered", True, False),
    ("considered", 0, True),
    ("covered", -1, False),
    ("covered", 11, True),
    ("remaining", False, False),
    ("remaining", 1, False),
    ("remaining", None, False),
    ("owner", "connector", False),
    ("owner", None, False),
    ("later", 1, True),
]


@pytest.mark.parametrize(("member", "value", "sound"), SLICES)
def test_a_continuation_describes_one_slice_completely(member: str, value: Any, sound: bool) -> None:
    decision = succeeded(A, continued(**{member: value}))
    assert decision.status == ("succeeded" if sound else "failed")
    if not sound:
        assert decision.violations[0].clause == "skip/continuation"


def test_a_continuation_is_shown_and_proves_nothing_else() -> None:
    decision = succeeded(A, continued())
    (shown,) = decision.skips
    assert shown.continuation is not None
    assert {name: getattr(shown.continuation, name) for name in SLICE} == SLICE
    assert decision.coverage == ()


def test_the_newest_skip_counts_even_without_a_continuation() -> None:
    decision = succeeded(A, continued(), skip("b", "x"), skip("a", "x"))
    assert [(s.entry, s.newest, s.continuation is not None) for s in decision.skips] == [
        (3, False, True),
        (4, True, False),
        (5, True, False),
    ]


def test_skips_are_shown_up_to_a_hundred_and_the_newest_of_each_stream() -> None:
    decision = succeeded(A, *[skip("a", "x")] * 149, skip("b", "x"))
    assert decision.totals.skips == 150
    assert [s.entry for s in decision.skips] == [*range(3, 103), 151, 152]
    assert [s.entry for s in decision.skips if s.newest] == [151, 152]


@pytest.mark.parametrize(
    ("member", "value"), [("reason", ""), ("message", " "), ("stream", ""), ("stream", 1)]
)
def test_a_misshapen_skip_breaks_the_protocol(member: str, value: Any) -> None:
    first = broken(succeeded(A, {**skip("a", "x"), member: value}))
    assert first is not None
    assert first[2] == f"skip/{member}"
