"""What the later profile asks before a run begins, and of questions to the owner: codes and erased bodies."""

import pytest

from ledger.core.decision import Decision
from ledger.core.observations import Offered
from tests.dialects.collection_profile.runs import (
    EVERYTHING,
    LATER,
    TEXT,
    Erased,
    Message,
    Step,
    answer,
    broken,
    done,
    exited,
    fully_declared,
    interaction,
    run,
    start,
    start_all,
    streams,
)

ALL = fully_declared(streams("a"))
NOTHING = Offered()


def refusal(manifest: Message, offered: Offered | None = None, **members: object) -> tuple[object, ...]:
    """Return entry, code, clause, who is at fault and the detail of why a run is refused; () if it is not."""
    decision = run(manifest, start("a", **members), offered=offered).decided(LATER)
    cause = decision.cause
    if decision.status != "refused" or cause is None:
        return ()
    return cause.entries[0], cause.code, cause.clause, cause.by, cause.detail


def test_a_binding_that_is_none_is_the_connectors_fault_and_needs_no_runtime() -> None:
    manifest = {**ALL, "runtime_requirements": {"bindings": {"network": {}, "gpu": {"required": False}}}}
    assert refusal(manifest) == (1, "binding_unknown", "binding/registry", "program", {"binding": "gpu"})


def test_a_long_binding_name_is_read_in_no_time() -> None:
    manifest = {**ALL, "runtime_requirements": {"bindings": {"a." * 100_000 + "/" + "a" * 100_000 + ".": {}}}}
    assert refusal(manifest)[1] == "binding_unknown"


@pytest.mark.parametrize("declared", [None, {}, "OBSERVATION", ["OBSERVATION", {}], [["OBSERVATION"]], [""]])
@pytest.mark.parametrize("offered", [None, EVERYTHING, NOTHING])
def test_malformed_capabilities_are_told_once_whatever_is_offered(
    declared: object, offered: Offered | None
) -> None:
    decision = run({**ALL, "protocol_capabilities": declared}, start("a"), offered=offered).decided(LATER)
    assert broken_by(decision) == [("capabilities_malformed", "program")]


def broken_by(decision: Decision) -> list[tuple[str, str]]:
    assert decision.status == "refused"
    return [(one.code, one.by) for one in decision.violations]


def test_each_capability_that_is_lacking_is_told_once() -> None:
    declared = ["OBSERVATION", "STREAM_EVIDENCE", "OBSERVATION"]
    decision = run({**ALL, "protocol_capabilities": declared}, start("a"), offered=NOTHING).decided(LATER)
    assert broken_by(decision) == [("capability_missing", "runtime")] * 2


def test_a_now_that_is_no_time_is_the_runtimes_fault() -> None:
    assert refusal(ALL, now="noon") == (2, "now_unreadable", "start/now", "runtime", {})
    assert refusal(ALL, now="2026-10-01T08:00:00+14:00") == ()


# Questions.


def asked(manifest: Message, question: Step, *more: Step, ruleset: str = LATER) -> Decision:
    return run(manifest, start_all(manifest), question, *more, offered=NOTHING).decided(ruleset)


SILENT = {**ALL, "capabilities": {"human_interaction": []}}


def test_an_undeclared_kind_is_named() -> None:
    decision = asked(ALL, interaction(kind="manual_action"))
    assert broken(decision) == (3, "interaction_kind_undeclared", "interaction/declared")
    assert decision.violations[0].detail == {"request_id": "req_1", "kind": "manual_action"}


def test_an_erased_question_breaks_the_run_only_where_none_may_be_asked() -> None:
    question = Erased(interaction())
    assert broken(asked(SILENT, question)) == (3, "interaction_kind_undeclared", "interaction/declared")
    assert broken(asked(ALL, question, answer(), done(0), exited(0))) is None
    assert broken(asked(ALL, question, ruleset=TEXT)) == (3, "interaction_not_offered", "interaction/binding")


def test_what_a_manifest_declares_besides_the_kinds_that_there_are_may_not_be_asked() -> None:
    manifest = {**ALL, "capabilities": {"human_interaction": ["telepathy", 1, None]}}
    assert broken(asked(manifest, Erased(interaction()))) is not None
