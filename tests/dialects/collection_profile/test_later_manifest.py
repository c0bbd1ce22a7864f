"""What the later profile asks of a manifest: codes, clauses, details, and the switch that asks for less."""

import msgspec
import pytest

from ledger.core.decision import Decision
from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.dialects.collection_profile.rulesets import LATER, TEXT
from tests.dialects.collection_profile.runs import (
    Message,
    committable,
    done,
    exited,
    fully_declared,
    record,
    run,
    start_all,
    state,
    streams,
    turned,
)

LENIENT = turned(LATER, manifest_declarations="optional")
ALL = fully_declared(streams("a"))


def without(member: str) -> Message:
    return {**ALL, "streams": [{name: v for name, v in ALL["streams"][0].items() if name != member}]}


def having(member: str, value: object) -> Message:
    return {**ALL, "streams": [{**ALL["streams"][0], member: value}]}


def decided(manifest: Message | bytes, ruleset: Ruleset = LATER) -> Decision:
    drawn = run(manifest, start_all(ALL), record("a"), state("a"), done(1), exited(0))
    return drawn.decided(ruleset)


MEMBERS = ("coverage_strategy", "freshness_strategy", "semantics", "primary_key", "schema")


@pytest.mark.parametrize("member", MEMBERS)
def test_what_is_not_declared_is_named_with_its_stream(member: str) -> None:
    cause = decided(without(member)).cause
    assert cause is not None
    assert (cause.code, cause.clause, cause.by) == ("declaration_missing", f"manifest/{member}", "program")
    assert cause.detail == {"stream": "a", "member": member}
    assert cause.entries == (1,)


@pytest.mark.parametrize("member", MEMBERS)
def test_where_declarations_are_optional_what_is_not_declared_refuses_nothing(member: str) -> None:
    assert committable(decided(without(member), LENIENT)) == ["a"]


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("coverage_strategy", "hourly", "strategy_unknown"),
        ("freshness_strategy", "hourly", "declaration_unknown"),
        ("freshness_strategy", ["scheduled_window"], "declaration_unknown"),
        ("semantics", True, "declaration_unknown"),
        ("primary_key", [""], "primary_key_malformed"),
        ("primary_key", {"id": 1}, "primary_key_malformed"),
        ("primary_key", [1], "primary_key_malformed"),
        ("schema", [], "schema_malformed"),
        ("schema", True, "schema_malformed"),
    ],
)
@pytest.mark.parametrize("ruleset", [LATER, LENIENT], ids=["required", "optional"])
def test_what_is_declared_is_judged_whether_it_must_be_or_not(
    member: str, value: object, code: str, ruleset: Ruleset
) -> None:
    decision = decided(having(member, value), ruleset)
    assert decision.status == "refused"
    assert decision.cause is not None
    assert decision.cause.code == code


def test_the_switch_is_in_the_digest_only_where_it_is_turned() -> None:
    assert b"manifest_declarations" in LATER.document
    assert b"manifest_declarations" not in TEXT.document
    assert LENIENT.digest != LATER.digest


def test_a_member_that_is_repeated_is_named() -> None:
    body = msgspec.json.encode(ALL).replace(b'"schema":', b'"z":1,"z":2,"b":1,"b":1,"schema":')
    cause = decided(body).cause
    assert cause is not None
    assert (cause.code, cause.detail) == ("manifest_member_repeated", {"member": "b"})
    assert committable(decided(body, TEXT)) == ["a"]
