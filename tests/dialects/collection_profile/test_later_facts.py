"""OBSERVATION under the later profile: which are accepted; a bad one is discarded and ends no run."""

import json
from typing import Any

import pytest

from ledger.core.decision import FactShown, encode_decision
from ledger.dialects.collection_profile.state import FactKept
from tests.dialects.collection_profile.runs import (
    LATER,
    PROFILE,
    REFERENCE,
    TEXT,
    Erased,
    Message,
    Run,
    Step,
    absent,
    answer,
    broken,
    done,
    error,
    exited,
    fact,
    findings,
    fully_declared,
    interaction,
    run,
    start,
    state,
    streams,
)

M = fully_declared(streams("a"), protocol_capabilities=["OBSERVATION"])
ALL = start("a")
EXPECTED = {"state": "absent"}
WAITED = {"budget_ms": 5000, "states_seen": ["absent", "hidden"], "final": "hidden"}


def waited(id_: str = "o1", **more: Any) -> Message:
    return fact(id_, "wait_expired", step="log_in", attrs={**WAITED, **more})


def told(*lines: Step, manifest: Message = M) -> Run:
    """Return a run that tells these facts and ends well."""
    return run(manifest, ALL, *lines, done(), exited(0), offered=None)


def kept(drawn: Run) -> dict[str, FactKept]:
    """Return the facts that were accepted."""
    folded = PROFILE.initial_state(PROFILE.rulesets[LATER], drawn.documents)
    PROFILE.evolve(folded, drawn.entries)
    return folded.connector_facts


SOUND: list[Message] = [
    absent(),
    waited(),
    fact(),
    fact(attrs={}),
    fact(attrs={"code": "locked", "text": "Your account is locked."}),
    fact(step="log_in"),
    fact("A" * 64),
    fact("0._-"),
    fact(evidence_ref="e"),
    fact(evidence_ref="~ " * 128),
    fact(evidence_ref="shots:/1"),
    fact(more=1),
    fact(resolves=None, attrs=None, step=None, evidence_ref=None),
    absent(step="a" + "0_" * 31 + "x"),
    waited(budget_ms=0),
    waited(budget_ms=86_400_000),
    waited(states_seen=["absent"] * 7 + ["hidden"]),
    waited(budget_ms=2.0),
]
UNSOUND: list[tuple[Message, str]] = [
    (fact(None), "fact_id_invalid"),
    (fact(""), "fact_id_invalid"),
    (fact(1), "fact_id_invalid"),
    (fact("A" * 65), "fact_id_invalid"),
    (fact(".a"), "fact_id_invalid"),
    (fact("a\n"), "fact_id_invalid"),
    (fact("é"), "fact_id_invalid"),
    (fact("a٣"), "fact_id_invalid"),
    (fact(kind=None), "fact_not_known"),
    (fact(kind=[]), "fact_not_known"),
    (fact(kind="credential_submission"), "fact_not_known"),
    (absent(step=None), "fact_step_invalid"),
    (absent(step="Log"), "fact_step_invalid"),
    (absent(step="a" * 65), "fact_step_invalid"),
    (absent(step="a\n"), "fact_step_invalid"),
    (absent(step=1), "fact_step_invalid"),
    (fact(step=""), "fact_step_invalid"),
    (absent(attrs=None), "fact_attrs_invalid"),
    (absent(attrs={}), "fact_attrs_invalid"),
    (absent(attrs=[]), "fact_attrs_invalid"),
    (absent(attrs={"state": "gone"}), "fact_attrs_invalid"),
    (absent(attrs={**EXPECTED, "selector": "#x"}), "fact_attrs_invalid"),
    (waited(budget_ms=-1), "fact_attrs_invalid"),
    (waited(budget_ms=86_400_001), "fact_attrs_invalid"),
    (waited(budget_ms=0.5), "fact_attrs_invalid"),
    (waited(budget_ms=True), "fact_attrs_invalid"),
    (waited(states_seen=[]), "fact_attrs_invalid"),
    (waited(states_seen=["hidden"] * 9), "fact_attrs_invalid"),
    (waited(states_seen="hidden"), "fact_attrs_invalid"),
    (waited(states_seen=["hidden", None]), "fact_attrs_invalid"),
    (waited(final="matched"), "fact_attrs_invalid"),
    (waited(final=None), "fact_attrs_invalid"),
    (waited(state="hidden"), "fact_attrs_invalid"),
    (fact(attrs={"code": "Locked"}), "fact_attrs_invalid"),
    (fact(attrs={"text": " "}), "fact_attrs_invalid"),
    (fact(attrs="locked"), "fact_attrs_invalid"),
    (fact(evidence_ref=""), "fact_evidence_invalid"),
    (fact(evidence_ref="e" * 257), "fact_evidence_invalid"),
    (fact(evidence_ref="https://example.test/1"), "fact_evidence_invalid"),
    (fact(evidence_ref="é"), "fact_evidence_invalid"),
    (fact(evidence_ref="e\n"), "fact_evidence_invalid"),
    (fact(evidence_ref=1), "fact_evidence_invalid"),
    (fact(resolves=[]), "fact_resolves_invalid"),
    (fact(resolves="o0"), "fact_resolves_invalid"),
    (fact(resolves=[1]), "fact_resolves_invalid"),
    (fact(resolves=["o0"] * 17), "fact_resolves_invalid"),
    (fact(resolves=["o0"]), "fact_resolves_nothing"),
    (fact(resolves=["o1"]), "fact_resolves_nothing"),
]


@pytest.mark.parametrize("message", SOUND)
def test_a_sound_fact_is_accepted(message: Message) -> None:
    drawn = told(message)
    decision = drawn.decided(LATER)
    assert (decision.status, decision.findings) == ("succeeded", ())
    assert [(one.entry, one.fact) for one in kept(drawn).values()] == [(3, message["fact"])]


@pytest.mark.parametrize(("message", "code"), UNSOUND)
def test_an_unsound_fact_is_discarded_and_ends_no_run(message: Message, code: str) -> None:
    drawn = told(message, state("a"))
    decision = drawn.decided(LATER)
    assert (decision.status, findings(decision)) == ("succeeded", {code: (3,)})
    assert decision.findings[0].by == "program"
    assert [one.decision for one in decision.checkpoints] == ["commit"]
    assert kept(drawn) == {}


def test_what_is_kept_of_a_fact() -> None:
    drawn = told(absent("o1"), waited("o2"), fact("o3", resolves=["o2", "o1", "o2"]))
    assert kept(drawn) == {
        "o1": FactKept(3, "element_expectation", (), "absent"),
        "o2": FactKept(4, "wait_expired", (), "hidden"),
        "o3": FactKept(5, "provider_message", ("o2", "o1")),
    }


def test_without_the_capability_the_type_is_unknown() -> None:
    for capabilities in ([], ["STREAM_EVIDENCE"]):
        drawn = told(fact(), manifest={**M, "protocol_capabilities": capabilities})
        for line in (drawn, told(Erased(fact()), manifest={**M, "protocol_capabilities": capabilities})):
            assert broken(line.decided(LATER)) == (3, "message_unknown", "session/unknown")


def test_the_released_rulesets_know_no_facts() -> None:
    assert broken(told(fact()).decided(TEXT)) == (3, "message_unknown", "session/unknown")


@pytest.mark.parametrize("line", [fact(), fact(None), Erased(fact())])
def test_a_fact_is_a_line_like_any_other_while_a_question_waits_and_after_done(line: Step) -> None:
    waiting = run(M, ALL, interaction(), line, answer(), done(), exited(0), offered=None)
    assert broken(waiting.decided(LATER)) == (4, "message_while_waiting", "session/waiting")
    late = run(M, ALL, done(), line, exited(0), offered=None)
    assert broken(late.decided(LATER)) == (4, "message_after_done", "session/done")


def test_an_id_is_taken_once() -> None:
    drawn = told(fact("o1"), absent("o1"), fact("o1"))
    assert findings(drawn.decided(LATER)) == {"fact_id_taken": (4, 5)}
    assert kept(drawn)["o1"].entry == 3


def test_the_id_of_a_discarded_fact_is_free_and_resolves_nothing() -> None:
    drawn = told(fact("o1", "other"), fact("o2", resolves=["o1"]), fact("o1"), fact("o2", resolves=["o1"]))
    assert findings(drawn.decided(LATER)) == {"fact_not_known": (3,), "fact_resolves_nothing": (4,)}
    assert {id_: one.entry for id_, one in kept(drawn).items()} == {"o1": 5, "o2": 6}


def test_a_run_has_sixty_four_facts_and_the_discarded_do_not_count() -> None:
    lines = [fact(f"o{number}") for number in range(65)]
    drawn = told(fact(None), *lines, fact("o64"))
    assert findings(drawn.decided(LATER)) == {"fact_id_invalid": (3,), "facts_too_many": (68, 69)}
    assert list(kept(drawn)) == [f"o{number}" for number in range(64)]


def long_line(length: int) -> bytes:
    head = b'{"type":"OBSERVATION","id":"o1","fact":"provider_message","more":"'
    return head + b"x" * (length - len(head) - 2) + b'"}'


@pytest.mark.parametrize(("line", "accepted"), [(2048, True), (2049, False)])
def test_a_fact_has_two_thousand_and_forty_eight_bytes(line: int, accepted: bool) -> None:
    for end in (b"", b"\r"):
        drawn = told(long_line(line) + end)
        assert bool(kept(drawn)) == accepted
        assert findings(drawn.decided(LATER)) == ({} if accepted else {"fact_too_long": (3,)})


# The basis of an error.


def rested(*lines: Step, basis: Any, manifest: Message = M, **more: Any) -> Run:
    """Return a run that certifies a failure and says on which facts it rests."""
    failed = done(0, "failed", error=error("stream_collection_failed", basis=basis))
    named = {"type": "SKIP_RESULT", "stream": "b", "reason": "stream_collection_failed", "message": "b"}
    both = fully_declared({**manifest, "streams": [{"name": "a"}, {"name": "b"}]})
    said: list[Step] = [start("a", "b"), *lines, state("a"), named, failed, exited(1)]
    return run(both, *said, offered=None)


@pytest.mark.parametrize("basis", [["o1"], ["o2", "o1"], ["o1", "o1"], [], None])
def test_a_basis_names_accepted_facts(basis: Any) -> None:
    decision = rested(fact("o1"), fact("o2"), basis=basis).decided(LATER)
    assert (decision.status, decision.certified, broken(decision)) == ("failed", True, None)


@pytest.mark.parametrize("basis", [["o2"], ["o1", "O1"], ["o3"], ["x y"]])
def test_a_basis_of_anything_else_breaks_the_protocol(basis: Any) -> None:
    decision = rested(fact("o1"), fact("o3", "other"), basis=basis).decided(LATER)
    assert broken(decision) == (7, "basis_not_accepted", "done/basis")


@pytest.mark.parametrize("basis", ["o1", [1], {}, [None], [""]])
def test_a_basis_is_an_array_of_ids(basis: Any) -> None:
    decision = rested(fact("o1"), basis=basis).decided(LATER)
    assert broken(decision) == (6, "member_invalid", "done/basis")


def test_a_basis_needs_the_capability() -> None:
    plain = {**M, "protocol_capabilities": []}
    assert broken(rested(basis=[], manifest=plain).decided(LATER)) == (
        5,
        "basis_without_capability",
        "done/basis",
    )
    assert broken(rested(basis=None, manifest=plain).decided(LATER)) is None


def test_a_basis_is_a_member_like_any_other_in_the_released_rulesets() -> None:
    assert rested(basis=1).decided(TEXT).certified
    reference = rested(basis=[]).decided(REFERENCE)
    assert broken(reference) == (5, "member_invalid", "done/error")


# Erased ones.


def test_what_was_erased_may_be_what_a_later_line_names() -> None:
    drawn = told(Erased(fact("o1")), fact("o2", resolves=["o1"]), fact("o2"))
    decision = drawn.decided(LATER)
    assert (decision.status, decision.findings) == ("succeeded", ())
    assert list(kept(drawn)) == ["o2"]


def test_a_basis_that_may_rest_on_an_erased_fact_leaves_the_run_open() -> None:
    for basis in (["o1"], ["o2"], ["o1", "o3"]):
        lines = (Erased(fact("o1")), fact("o2", resolves=["o1"]), fact("o3"))
        decision = rested(*lines, basis=basis).decided(LATER)
        assert (decision.status, decision.cause and decision.cause.entries) == ("indeterminate", (3,))


def test_a_basis_of_readable_facts_stands() -> None:
    lines = (fact("o1"), Erased(fact("o2")), fact("o3", resolves=["o1"]))
    decision = rested(*lines, basis=["o1", "o3"]).decided(LATER)
    assert (decision.status, decision.certified) == ("failed", True)


def test_the_number_is_open_where_one_was_erased() -> None:
    lines = [fact(f"o{number}") for number in range(64)]
    drawn = told(Erased(fact()), *lines, fact("o64"))
    assert drawn.decided(LATER).findings == ()
    assert len(kept(drawn)) == 64
    for basis, status in ((["o62"], "failed"), (["o63"], "indeterminate"), (["o64"], "indeterminate")):
        decision = rested(Erased(fact()), *lines, fact("o64"), basis=basis).decided(LATER)
        assert decision.status == status


# What a decision shows of them.


def test_a_decision_shows_the_accepted_facts() -> None:
    lines = (fact("o1"), absent("o2", resolves=["o1"]), fact("o1"))
    decision = rested(*lines, basis=["o2", "o2"]).decided(LATER)
    assert decision.facts == (
        FactShown(entry=3, id="o1", fact="provider_message", state=None, resolves=()),
        FactShown(entry=4, id="o2", fact="element_expectation", state="absent", resolves=("o1",)),
    )
    assert decision.totals.facts == 2
    assert decision.terminal.error is not None
    assert decision.terminal.error.basis == ("o2",)


def test_a_decision_of_another_ruleset_has_no_such_member() -> None:
    shown = json.loads(encode_decision(rested(basis=["o1"]).decided(TEXT)))
    assert "facts" not in shown
    assert "facts" not in shown["totals"]
    assert "basis" not in shown["terminal"]["error"]
    shown = json.loads(encode_decision(rested(basis=None).decided(LATER)))
    assert (shown["facts"], shown["totals"]["facts"]) == ([], 0)
    assert "basis" not in shown["terminal"]["error"]
