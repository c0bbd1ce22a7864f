"""Erased bodies: what the columns still say, what rests on the rest; erasing never commits anything."""

import json
from typing import cast

import pytest

from ledger.core.observations import (
    CancelRequested,
    CheckpointCommitFailed,
    CheckpointCommitted,
    ControllerLost,
    Decided,
    EntriesErased,
    GrantRevoked,
    LineCut,
    Observation,
    RecordsDurable,
    RunClosed,
    RunRefused,
    Trigger,
)
from tests.dialects.collection_profile.runs import (
    TEXT,
    Erased,
    Message,
    Sent,
    Step,
    answer,
    broken,
    certified,
    child,
    committable,
    coverage,
    decide,
    detail,
    discrepancies,
    done,
    error,
    evidence,
    exited,
    gap,
    interaction,
    progress,
    reasons,
    record,
    row,
    run,
    skip,
    start,
    start_all,
    state,
    streams,
    succeeded,
    unknowns,
    verdicts,
)

REFERENCE = f"{TEXT}+reference"
M = streams("p", "q", "free", c=child("p"), one=detail("p"), two=detail("p", "q"))
ONE = streams("p", "free", c=child("p"), d=detail("p"))
A = streams("a", "b")
STATES: list[Step] = [state("p"), state("free")]
REPORT = coverage("d", "p", ["k"], ["k"])


def test_an_erased_record_still_counts_as_a_record_of_its_stream() -> None:
    scope = {"name": "a", "resources": ["other"], "fields": [], "time_range": {"since": "2026-01-01"}}
    decision = decide(
        A, start(scope), Erased(record("a")), record("a", "other", data={}), state("a"), done(2), exited(0)
    )
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})
    assert decision.terminal.counted == 2
    assert [(r.stream, r.emitted) for r in decision.records] == [("a", 2)]
    assert decision.unknowns[-1].what == "erased"
    assert decision.unknowns[-1].entries == (3,)


@pytest.mark.parametrize("line", [progress(), evidence("c"), interaction()])
def test_what_no_checkpoint_rests_on_makes_none_indeterminate(line: Message) -> None:
    answered = [answer()] if line["type"] == "INTERACTION" else []
    decision = succeeded(ONE, *STATES, REPORT, Erased(line), *answered)
    assert (decision.status, verdicts(decision)) == ("succeeded", {"p": "commit", "free": "commit"})


def test_an_erased_answer_answers() -> None:
    decision = succeeded(A, state("a"), interaction(), Erased(answer()))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})


def test_erased_evidence_is_not_read_as_inheritance() -> None:
    assert row(succeeded(ONE, Erased(evidence("c"))), "c", "p").condition == "unknown"


def test_an_erased_skip_does_not_hide_evidence_that_can_be_read() -> None:
    one = row(succeeded(ONE, evidence("c", 5), Erased(skip("c", "x"))), "c", "p")
    assert (one.condition, one.required) == ("complete", 5)


RESTS: list[tuple[str, list[Step], list[str]]] = [
    ("a report", [Erased(REPORT)], ["free"]),
    ("a gap that a report lists", [Erased(gap("d")), coverage("d", "p", ["k"], gap_keys=["k"])], ["free"]),
    ("the newest STATE", [REPORT, Erased(state("p"))], ["free"]),
    ("an older STATE", [REPORT, Erased(state("free")), state("free")], ["p", "free"]),
    ("a skip, in a run that succeeded", [REPORT, Erased(skip("free"))], ["p", "free"]),
    ("a report of another stream", [REPORT, Erased(coverage("free", "free"))], ["p"]),
]


@pytest.mark.parametrize(("lines", "commits"), [r[1:] for r in RESTS], ids=[r[0] for r in RESTS])
def test_an_erased_message_makes_indeterminate_what_rests_on_it_and_no_more(
    lines: list[Step], commits: list[str]
) -> None:
    decision = succeeded(ONE, *STATES, *lines)
    expected = {name: "commit" if name in commits else "indeterminate" for name in ("p", "free")}
    assert verdicts(decision) == expected
    for name in set(expected) - set(commits):
        assert reasons(decision, name) == ["entry_erased"]


def test_an_erased_skip_leaves_certification_open() -> None:
    decision = certified(A, state("a"), state("b"), Erased(skip("b")))
    assert committable(decision) == []
    assert verdicts(decision)["a"] == "indeterminate"


@pytest.mark.parametrize(("ruleset", "verdict"), [(TEXT, "withhold"), (REFERENCE, "indeterminate")])
def test_an_erased_skip_of_a_child_may_be_of_a_failure_that_its_own_checkpoint_survives(
    ruleset: str, verdict: str
) -> None:
    """The reference commits the own STATE of a stream that failed and rides another's checkpoint (N5)."""
    rides = streams("p", c=child("p"), g=child("c"))
    end = done(0, "failed", error=error("stream_collection_failed"))
    steps: list[Step] = [start_all(rides), state("c"), Erased(skip("c")), end, exited(1)]
    assert verdicts(run(rides, *steps).decided(ruleset)) == {"c": verdict}
    whole = [step.step if isinstance(step, Erased) else step for step in steps]
    expected = "withhold" if ruleset == TEXT else "commit"
    assert verdicts(run(rides, *whole).decided(ruleset)) == {"c": expected}


def test_an_erased_skip_beside_another_touches_only_what_it_may_cover() -> None:
    three = streams("a", "b", "c")
    decision = certified(three, state("a"), state("b"), state("c"), skip("a"), Erased(skip("b")))
    assert decision.certified
    assert verdicts(decision)["b"] in ("indeterminate", "withhold")
    assert (verdicts(decision)["a"], verdicts(decision)["c"]) == ("withhold", "commit")


@pytest.mark.parametrize("line", [Erased(done()), Erased(done(0, "failed"))])
def test_an_erased_done_makes_the_run_indeterminate(line: Step) -> None:
    decision = decide(A, start("a"), state("a"), line, exited(0))
    assert (decision.status, verdicts(decision)) == ("indeterminate", {"a": "indeterminate"})
    assert decision.terminal.entry == 4


def test_an_erased_start_or_opening_makes_the_run_indeterminate() -> None:
    for steps in ([Erased(start("a")), state("a"), done(), exited(0)], [Erased(start("a"))]):
        assert decide(A, *steps).status == "indeterminate"


def test_an_erased_line_of_no_known_type_makes_the_run_indeterminate() -> None:
    for line in ("{", "[]"):
        decision = decide(A, start("a"), state("a"), Erased(line), done(), exited(0))
        assert decision.status == "indeterminate"
        assert committable(decision) == []


def test_an_erased_line_of_an_unknown_type_is_one_whatever_it_said() -> None:
    decision = decide(A, start("a"), state("a"), Erased({"type": "BLOB"}), done(), exited(0))
    assert (decision.status, decision.violations[0].code) == ("failed", "message_unknown")


# What a line broke by coming when it came, it broke whatever it said.


@pytest.mark.parametrize(
    "line", [record("a"), state("a"), progress(), skip("a"), done(), interaction("req_2")]
)
def test_an_erased_line_while_a_question_waits_still_breaks_the_protocol(line: Message) -> None:
    decision = decide(A, start("a"), state("a"), interaction(), Erased(line), answer(), done(), exited(0))
    assert broken(decision) == (5, "message_while_waiting", "session/waiting")
    assert committable(decision) == []


@pytest.mark.parametrize("line", [record("a"), state("a"), progress(), done()])
def test_an_erased_line_after_done_still_breaks_the_protocol(line: Message) -> None:
    decision = decide(A, start("a"), state("a"), done(), Erased(line), exited(0))
    assert broken(decision) == (5, "message_after_done", "session/done")
    assert decision.terminal.counted == 0


def test_an_erased_line_before_start_still_came_before_it() -> None:
    decision = decide(A, Erased(record("a")), start("a"), state("a"), done(1), exited(0))
    assert broken(decision) == (3, "line_before_start", "connector/1")


def test_without_start_an_erased_first_line_begins_the_run_too() -> None:
    decision = decide(A, Erased(state("a")), Erased(record("b")), done(1), exited(0))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "indeterminate"})
    assert [(r.stream, r.emitted) for r in decision.records] == [("b", 1)]


@pytest.mark.parametrize("second", [Erased(start("a")), Erased(answer())])
def test_an_erased_line_that_the_runtime_must_not_send_still_breaks_the_protocol(second: Step) -> None:
    decision = decide(A, start("a"), state("a"), second, done(), exited(0))
    assert decision.status == "failed"
    assert decision.violations[0].by == "runtime"


@pytest.mark.parametrize(
    "line",
    [record("zzz"), state("b"), skip("b"), coverage("b", "b"), gap("b"), evidence("b"), progress(stream="b")],
    ids=lambda line: line["type"],
)
def test_an_erased_line_about_a_stream_out_of_scope_still_breaks_the_protocol(line: Message) -> None:
    whole, erased = (
        decide(A, start("a"), state("a"), one, done(int(line["type"] == "RECORD")), exited(0))
        for one in (line, Erased(line))
    )
    assert (whole.status, committable(whole)) == ("failed", [])
    assert committable(erased) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [(coverage("c", "p"), "coverage_of_child"), (evidence("d"), "evidence_of_no_child")],
    ids=["a report of a child", "evidence of a detail stream"],
)
def test_an_erased_line_that_its_stream_may_not_send_still_breaks_the_protocol(
    line: Message, code: str
) -> None:
    for one in (line, Erased(line)):
        decision = succeeded(ONE, *STATES, REPORT, one)
        assert (decision.status, [v.code for v in decision.violations]) == ("failed", [code])


D = streams("p", "z", d=detail("p"))
TOO_MANY: list[tuple[str, list[Step]]] = [
    ("a readable one first", [start("p", "z", "d"), state("z"), REPORT, Erased(REPORT)]),
    ("the erased one first", [start("p", "z", "d"), state("z"), Erased(REPORT), REPORT]),
    ("both erased", [start("p", "z", "d"), state("z"), Erased(REPORT), Erased(REPORT)]),
    ("its only parent out of scope", [start("z", "d"), state("z"), Erased(REPORT)]),
    ("of itself", [start("p", "z"), state("z"), Erased(coverage("p", "p")), Erased(coverage("p", "p"))]),
]


@pytest.mark.parametrize("lines", [t[1] for t in TOO_MANY], ids=[t[0] for t in TOO_MANY])
def test_more_reports_than_parents_in_scope_break_the_protocol_whatever_they_said(lines: list[Step]) -> None:
    decision = decide(D, *lines, done(), exited(0))
    assert (decision.status, committable(decision)) == ("failed", [])
    assert [v.code for v in decision.violations] == ["coverage_reported_too_often"]


def test_an_erased_gap_may_be_owed_to_any_checkpoint_after_a_restart() -> None:
    lines: list[Step] = [start("a", "b"), state("a"), Erased(gap("b", "k", "a"))]
    decision = decide(A, *lines, ControllerLost(reason="replaced"))
    assert verdicts(decision) == {"a": "indeterminate"}


def test_an_erased_report_may_be_the_one_that_a_restart_misses() -> None:
    own = streams("q", b=detail("q"), c=child("b"))
    lines: list[Step] = [start("q", "b", "c"), state("b"), Erased(coverage("b", "q", ["k"], ["k"]))]
    assert verdicts(decide(own, *lines, ControllerLost(reason="replaced"))) == {"b": "indeterminate"}


def test_an_erased_line_of_no_type_before_start_leaves_the_run_open() -> None:
    decision = decide(A, Erased(Sent("x")), start("a"), state("a"), done(), exited(0))
    assert (decision.status, verdicts(decision)) == ("indeterminate", {"a": "indeterminate"})


# Observations: what they are is in their columns.

COMMITTED = CheckpointCommitted(stream="a", namespace="global", cursor_seq=3)
CUT = Decided(ruleset=TEXT, through_seq=5, decision="sha256:x")


def test_an_erased_cancellation_still_cancels() -> None:
    steps: list[Step] = [start("a"), state("a"), done(), Erased(CancelRequested(reason="private")), exited(0)]
    decision = decide(A, *steps)
    assert (decision.status, committable(decision)) == ("cancelled", [])


@pytest.mark.parametrize("cut", [CUT, COMMITTED])
def test_an_erased_cut_still_cuts(cut: Observation) -> None:
    steps: list[Step] = [start("a"), state("a"), done(), exited(0), Erased(cut), CancelRequested()]
    assert decide(A, *steps).status == "succeeded"


def test_an_erased_loss_of_the_controller_is_still_one() -> None:
    assert decide(A, start("a"), state("a"), Erased(ControllerLost(reason="private"))).status == "abandoned"


def test_an_erased_closing_still_closes() -> None:
    assert decide(A, start("a"), done(), Erased(RunClosed())).status == "succeeded"


def test_an_erased_exit_commits_nothing_that_the_exit_forbade() -> None:
    decision = decide(A, start("a"), state("a"), done(), Erased(exited(1)))
    assert "exit_status" in unknowns(decision) or committable(decision) == []


def test_the_word_of_an_erasure_changes_nothing_by_itself() -> None:
    told = EntriesErased(entries=(3,), reason="asked")
    decision = decide(A, start("a"), record("a"), state("a"), done(1), told, exited(0))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})


def test_everything_erased_decides_nothing() -> None:
    lines: list[Step] = [record("a"), state("a"), coverage("a", "a"), done(1)]
    decision = decide(A, Erased(start("a")), *(Erased(line) for line in lines))  # type: ignore[arg-type]
    assert decision.status == "indeterminate"
    assert committable(decision) == []


@pytest.mark.parametrize("blank", [Erased(""), Erased(Sent(""))])
def test_an_erased_blank_line_commits_nothing_by_being_erased(blank: Step) -> None:
    decision = decide(A, start("a"), state("a"), done(), blank, exited(0))
    assert decision.status in ("succeeded", "indeterminate")


DECIDED: list[Step] = [start("a"), state("a"), done(), exited(0), CUT, COMMITTED]


def test_an_erased_observation_after_the_cut_changes_nothing() -> None:
    decision = decide(A, *DECIDED, Erased(GrantRevoked(grant_id="g")))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})


def test_an_erased_word_of_a_cut_line_leaves_open_which_line_was_never_read() -> None:
    decision = decide(A, *DECIDED, Erased(LineCut(seq=4, length=9, sha256="x")))
    assert (decision.status, committable(decision)) == ("indeterminate", [])


def test_an_erased_revocation_cancels_no_run_without_a_grant() -> None:
    decision = decide(A, start("a"), state("a"), Erased(GrantRevoked(grant_id="g")), done(), exited(0))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})


# What leaves open where a run stands: what seems to have ended it afterwards may not have.


@pytest.mark.parametrize("line", ["", "{", "{}", "null"])
@pytest.mark.parametrize("then", [[], [answer()]], ids=["no other answer", "an answer"])
def test_an_erased_line_of_no_type_may_be_the_answer_that_is_waited_for(line: str, then: list[Step]) -> None:
    lines: list[Step] = [start("a"), state("a"), interaction(), Erased(Sent(line)), *then]
    decision = decide(A, *lines, record("a"), done(1), exited(0))
    assert (decision.status, verdicts(decision)) == ("indeterminate", {"a": "indeterminate"})


def test_a_violation_before_a_line_of_no_type_was_erased_stands() -> None:
    steps: list[Step] = [start("a"), state("a"), "{", interaction(), Erased(Sent("")), exited(1)]
    decision = decide(A, *steps)
    assert (decision.status, broken(decision)) == ("failed", (4, "line_malformed", "session/jsonl"))


EXITS: list[tuple[str, list[Step]]] = [
    ("after DONE", [done(), Erased(exited(0))]),
    ("before DONE", [Erased(exited(0)), done()]),
    ("after an erased DONE", [Erased(done()), exited(1)]),
    ("after DONE, then a cancellation", [done(), Erased(exited(1)), CancelRequested()]),
    ("after an erased DONE, then a cancellation", [Erased(done()), exited(1), CancelRequested()]),
]


@pytest.mark.parametrize("end", [e[1] for e in EXITS], ids=[e[0] for e in EXITS])
def test_an_erased_exit_may_have_disagreed_with_done(end: list[Step]) -> None:
    decision = decide(A, start("a"), state("a"), *end)
    assert (decision.status, verdicts(decision)) == ("indeterminate", {"a": "indeterminate"})


def test_an_erased_exit_that_nothing_asks_of_changes_nothing() -> None:
    assert decide(A, start("a"), state("a"), Erased(exited(1))).status == "failed"
    decision = decide(A, start("a"), state("a"), done(), CUT, Erased(exited(0)))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})
    decision = decide(A, start("a"), state("a"), done(), exited(0), Erased(exited(1)))
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})


GRANT = Trigger(kind="continuous", grant_id="grant_1")


@pytest.mark.parametrize("then", [[record("zzz")], [CancelRequested()], [done(), exited(0)]])
def test_an_erased_revocation_may_have_ended_the_run_before_what_came_next(then: list[Step]) -> None:
    revoked = Erased(GrantRevoked(grant_id="grant_1"))
    decision = decide(A, start("a"), state("a"), revoked, *then, trigger=GRANT)
    assert (decision.status, committable(decision)) == ("indeterminate", [])


def test_what_ended_the_run_before_an_erased_revocation_stands() -> None:
    revoked = Erased(GrantRevoked(grant_id="grant_1"))
    decision = decide(A, start("a"), state("a"), CancelRequested(), revoked, trigger=GRANT)
    assert decision.status == "cancelled"


@pytest.mark.parametrize(
    "end", [[CancelRequested()], [RunRefused(reason="no")], [done(), exited(0)], [start("zzz")]]
)
def test_an_erased_word_of_a_cut_line_leaves_open_even_what_ended_the_run_before_it(end: list[Step]) -> None:
    decision = decide(A, start("a"), state("a"), *end, Erased(LineCut(seq=3, length=9, sha256="x")))
    assert committable(decision) == []
    assert decision.status == ("failed" if end == [start("zzz")] else "indeterminate")


# Which checkpoint an erased report could be about.

SEVERAL = streams("p", "q", "r", d=detail("p", "q"))
TOLD: list[tuple[str, list[Step], dict[str, str]]] = [
    (
        "of the other parent, as this one is told of before",
        [coverage("d", "p", ["k"], ["k"]), Erased(coverage("d", "q", ["k"], ["k"]))],
        {"p": "commit", "q": "indeterminate", "r": "commit"},
    ),
    (
        "of the other parent, as this one is told of after",
        [Erased(coverage("d", "q", ["k"], ["k"])), coverage("d", "p", ["k"], ["k"])],
        {"p": "commit", "q": "indeterminate", "r": "commit"},
    ),
    (
        "of either",
        [Erased(coverage("d", "q", ["k"], ["k"]))],
        {"p": "indeterminate", "q": "indeterminate", "r": "commit"},
    ),
    (
        "of both",
        [Erased(coverage("d", "q")), Erased(coverage("d", "p"))],
        {"p": "indeterminate", "q": "indeterminate", "r": "commit"},
    ),
    (
        "of none that stands",
        [coverage("d", "p", ["k"]), Erased(coverage("d", "q", ["k"], ["k"]))],
        {"p": "withhold", "q": "indeterminate", "r": "commit"},
    ),
]


@pytest.mark.parametrize(("lines", "expected"), [t[1:] for t in TOLD], ids=[t[0] for t in TOLD])
@pytest.mark.parametrize("ruleset", [TEXT, REFERENCE])
def test_an_erased_report_leaves_open_the_parents_that_it_could_be_about(
    lines: list[Step], expected: dict[str, str], ruleset: str
) -> None:
    staged = [state("p"), state("q"), state("r")]
    steps: list[Step] = [start_all(SEVERAL), *staged, *lines, done(), exited(0)]
    assert verdicts(run(SEVERAL, *steps).decided(ruleset)) == expected


def test_an_erased_report_of_a_free_stream_is_not_about_what_it_reports_on_elsewhere() -> None:
    lines: list[Step] = [state("p"), state("free"), coverage("free", "p", ["k"], ["k"])]
    steps: list[Step] = [start("p", "free"), *lines, Erased(coverage("free", "free")), done(), exited(0)]
    two = streams("p", "free")
    assert verdicts(run(two, *steps).decided(REFERENCE)) == {"p": "commit", "free": "indeterminate"}
    assert verdicts(run(two, *steps).decided(TEXT)) == {"p": "withhold", "free": "withhold"}


# Streams whose names no column can hold.

ODD = "\ud800"
STRANGE = streams(ODD, "plain")


def odd(message: Message) -> bytes:
    return json.dumps(message).encode()


def test_an_erased_record_of_a_stream_with_a_lone_surrogate_in_its_name_is_in_scope() -> None:
    manifest = odd(STRANGE)
    lines: list[Step] = [Sent(odd(cast("Message", start(ODD, "plain").line))), odd(record(ODD))]
    lines += [odd(state(ODD)), odd(state("plain")), done(1), exited(0)]
    whole = decide(manifest, *lines)
    erased = decide(manifest, lines[0], Erased(cast("bytes", lines[1])), *lines[2:])
    assert (whole.status, verdicts(whole)) == ("succeeded", {"\\ud800": "commit", "plain": "commit"})
    assert (erased.status, verdicts(erased), erased.records) == (whole.status, verdicts(whole), whole.records)


def test_an_erased_state_of_such_a_stream_leaves_its_own_checkpoint_open() -> None:
    lines: list[Step] = [Sent(odd(cast("Message", start(ODD, "plain").line))), Erased(odd(state(ODD)))]
    decision = decide(odd(STRANGE), *lines, odd(state("plain")), done(), exited(0))
    assert verdicts(decision) == {"\\ud800": "indeterminate", "plain": "commit"}


def test_where_a_column_may_mean_two_streams_the_run_is_open() -> None:
    both = odd(streams(ODD, "\\ud800"))
    lines: list[Step] = [Sent(odd(cast("Message", start(ODD, "\\ud800").line))), Erased(odd(record(ODD)))]
    decision = decide(both, *lines, odd(state(ODD)), done(1), exited(0))
    assert decision.status == "indeterminate"


# What became of it.

CUT = Decided(ruleset=TEXT, through_seq=1, decision="sha256:x")
FAILED = CheckpointCommitFailed(stream="a", namespace="global", error="disk full")


@pytest.mark.parametrize("ruleset", [TEXT, REFERENCE])
def test_a_failed_write_that_may_have_been_due_leaves_the_run_open(ruleset: str) -> None:
    steps: list[Step] = [start_all(A), Erased(state("a")), state("b"), done(), exited(0), CUT, FAILED]
    decision = run(A, *steps).decided(ruleset)
    assert decision.status == "indeterminate"
    assert decision.cause is not None
    assert (decision.cause.code, decision.cause.by, decision.cause.entries) == (
        "checkpoint_store_failed",
        "store",
        (8,),
    )
    assert verdicts(decision) == {"a": "indeterminate", "b": "commit"}
    assert discrepancies(decision) == []


def test_a_failed_write_that_was_due_fails_the_run_whatever_else_is_open() -> None:
    steps: list[Step] = [start_all(A), Erased(state("a")), state("b"), done(), exited(0), CUT, FAILED]
    decision = decide(A, *steps, CheckpointCommitFailed(stream="b", namespace="global", error="still full"))
    assert decision.status == "failed"
    assert decision.cause is not None
    assert decision.cause.entries == (9,)


def test_a_run_is_open_where_the_store_would_refuse_what_an_erased_entry_leaves_open() -> None:
    granted = Trigger(kind="continuous", grant_id="grant_1", streams=("b",))
    steps: list[Step] = [start_all(A), Erased(state("a")), state("b"), done(), exited(0)]
    decision = run(A, *steps, trigger=granted).decided(REFERENCE)
    assert decision.status == "indeterminate"
    assert decision.cause is not None
    assert decision.cause.code == "checkpoint_beyond_grant"
    assert verdicts(decision) == {"a": "indeterminate", "b": "indeterminate"}


@pytest.mark.parametrize("ruleset", [TEXT, REFERENCE])
@pytest.mark.parametrize("cursor", [3, 4])
def test_a_commit_of_what_an_erased_entry_leaves_open_is_nobodys_fault(ruleset: str, cursor: int) -> None:
    made = CheckpointCommitted(stream="a", namespace="global", cursor_seq=cursor)
    lines: list[Step] = [start_all(A), state("a"), Erased(state("a")), done(), exited(0), CUT, made]
    assert discrepancies(run(A, *lines).decided(ruleset)) == []


def test_an_erased_word_of_durable_records_may_have_been_of_all_of_them() -> None:
    early, late = RecordsDurable(through_seq=2), RecordsDurable(through_seq=3)
    made = CheckpointCommitted(stream="a", namespace="global", cursor_seq=5)

    def accused(first: Step, second: Step) -> list[tuple[str, str | None]]:
        lines: list[Step] = [start_all(A), first, record("a"), state("a"), second, done(1), exited(0), CUT]
        return discrepancies(decide(A, *lines, made))

    assert accused(early, late) == [("committed_before_durable", "a")]
    assert accused(Erased(early), late) == accused(early, Erased(late)) == []


def test_a_refusal_may_have_been_for_what_an_erased_start_said() -> None:
    refused = RunRefused(reason="no")
    assert discrepancies(decide(A, start_all(A), refused)) == [("refused_though_allowed", None)]
    assert discrepancies(decide(A, Erased(start_all(A)), refused)) == []
