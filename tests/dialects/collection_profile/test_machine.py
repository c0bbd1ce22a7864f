"""The state machine: for every phase, what each line of the connector and of the runtime does."""

from typing import Any

import pytest

from ledger.core.observations import (
    CancelRequested,
    CheckpointCommitted,
    Decided,
    InteractionTimedOut,
    LineCut,
    LineUnterminated,
    Offered,
    RunClosed,
    RunRefused,
)
from tests.dialects.collection_profile.runs import (
    TEXT,
    Sent,
    Step,
    answer,
    blame,
    broken,
    coverage,
    decide,
    done,
    evidence,
    exited,
    findings,
    gap,
    interaction,
    progress,
    record,
    skip,
    start,
    state,
    streams,
)

A = streams("a")
LINES: list[tuple[str, Step]] = [
    ("RECORD", record("a")),
    ("STATE", state("a")),
    ("INTERACTION", interaction("req_2")),
    ("SKIP_RESULT", skip("a")),
    ("DETAIL_COVERAGE", coverage("a", "a")),
    ("DETAIL_GAP", gap("a")),
    ("STREAM_EVIDENCE", evidence("a")),
    ("PROGRESS", progress()),
    ("DONE", done()),
    ("unknown type", {"type": "BLOB"}),
    ("no type", {}),
    ("misshapen", {"type": "RECORD"}),
    ("repeated names", '{"type":"PROGRESS","message":"x","message":"y"}'),
    ("no object", "[]"),
    ("no JSON", "{"),
    ("no UTF-8", b'{"type":"PROGRESS","message":"\xff"}'),
    ("answer of its own", {"type": "INTERACTION_RESPONSE", "request_id": "req_1", "status": "success"}),
    ("START of its own", {"type": "START"}),
]
BLANKS = ["", " ", "\t \r", "\r"]
each_line = pytest.mark.parametrize("line", [line for _, line in LINES], ids=[name for name, _ in LINES])


@pytest.mark.parametrize(
    "line",
    [
        line
        for name, line in LINES
        if name in {"RECORD", "STATE", "SKIP_RESULT", "DETAIL_COVERAGE", "PROGRESS"}
    ],
)
def test_collecting_takes_every_message_of_the_profile(line: Step) -> None:
    records = int(line == record("a"))
    assert decide(A, start("a"), line, done(records), exited(0)).status == "succeeded"


@each_line
def test_nothing_may_come_while_a_question_waits(line: Step) -> None:
    decision = decide(A, start("a"), interaction(), line, answer(), done(), exited(0))
    assert broken(decision) == (4, "message_while_waiting", "session/waiting")
    assert decision.status == "failed"


@each_line
def test_nothing_may_come_after_done(line: Step) -> None:
    decision = decide(A, start("a"), done(), line, exited(0))
    assert broken(decision) == (4, "message_after_done", "session/done")
    assert decision.status == "failed"


@each_line
def test_a_line_before_start_is_the_connector_s_fault_once_a_start_comes(line: Step) -> None:
    decision = decide(A, line, start("a"), done(), exited(0))
    assert decision.status == "failed"
    assert blame(decision) == "program"
    fault = broken(decision)
    assert fault is not None
    if fault[0] == 3:
        assert fault[1:] == ("line_before_start", "connector/1")


@pytest.mark.parametrize("blank", BLANKS)
def test_blank_lines_change_nothing_anywhere(blank: str) -> None:
    steps: list[Step] = [
        blank,
        Sent(blank),
        start("a"),
        blank,
        Sent(blank),
        interaction(),
        blank,
        Sent(blank),
    ]
    more: list[Step] = [answer(), blank, record("a"), blank, done(1), blank, Sent(blank), exited(0), blank]
    decision = decide(A, *steps, *more)
    assert decision.status == "succeeded"
    assert decision.findings == ()


UNREADABLE: list[tuple[str, Step, str, str]] = [
    ("no JSON", "{", "line_malformed", "session/jsonl"),
    ("NaN", '{"type":"PROGRESS","message":"x","count":NaN}', "line_malformed", "session/jsonl"),
    (
        "a byte-order mark",
        b'\xef\xbb\xbf{"type":"PROGRESS","message":"x"}',
        "line_malformed",
        "session/jsonl",
    ),
    ("two values", '{"type":"PROGRESS","message":"x"}{}', "line_malformed", "session/jsonl"),
    ("no object", "null", "line_is_no_message", "session/jsonl"),
    ("type absent", "{}", "line_is_no_message", "session/jsonl"),
    ("type null", '{"type":null}', "line_is_no_message", "session/jsonl"),
    ("type a number", '{"type":1}', "line_is_no_message", "session/jsonl"),
    ("unknown type", '{"type":"ASSISTANCE"}', "message_unknown", "session/unknown"),
    ("type in other case", '{"type":"Done"}', "message_unknown", "session/unknown"),
    ("an inherited name", '{"type":"toString"}', "message_unknown", "session/unknown"),
]


@pytest.mark.parametrize(
    ("line", "code", "clause"), [u[1:] for u in UNREADABLE], ids=[u[0] for u in UNREADABLE]
)
def test_a_line_that_is_no_message_ends_the_run(line: Step, code: str, clause: str) -> None:
    decision = decide(A, start("a"), state("a"), line, done(), exited(0))
    assert broken(decision) == (4, code, clause)
    assert [c.decision for c in decision.checkpoints] == ["withhold"]


def test_the_last_of_repeated_names_counts_and_is_a_finding() -> None:
    line = '{"type":"STATE","stream":"zzz","stream":"a","cursor":{}}'
    decision = decide(A, start("a"), line, done(), exited(0))
    assert decision.status == "succeeded"
    assert findings(decision) == {"member_repeated": (3,)}


def test_the_last_of_repeated_types_counts() -> None:
    decision = decide(A, start("a"), '{"type":"PROGRESS","message":"x","type":"BLOB"}', done(), exited(0))
    assert broken(decision) == (3, "message_unknown", "session/unknown")


# What the runtime may say.

STARTED: list[tuple[str, list[Step], Sent]] = [
    ("collecting", [start("a")], start("a")),
    ("collecting, misshapen", [start("a")], Sent({"type": "START"})),
    ("waiting", [start("a"), interaction()], start("a")),
    ("waiting, misshapen", [start("a"), interaction()], Sent({"type": "START", "scope": 1})),
    ("done", [start("a"), done()], start("a")),
]


@pytest.mark.parametrize(("steps", "second"), [s[1:] for s in STARTED], ids=[s[0] for s in STARTED])
def test_start_is_sent_once(steps: list[Step], second: Sent) -> None:
    decision = decide(A, *steps, second, answer(), done(), exited(0))
    assert broken(decision) == (len(steps) + 2, "start_repeated", "session/start")
    assert blame(decision) == "runtime"


@pytest.mark.parametrize("first", [answer(), Sent({"type": "HELLO"}), Sent("{"), Sent("[]"), Sent({})])
def test_start_is_the_first_thing_that_a_runtime_says(first: Sent) -> None:
    decision = decide(A, first, start("a"), done(), exited(0))
    assert broken(decision) == (2, "start_not_first", "session/start")
    assert blame(decision) == "runtime"


def test_an_answer_that_nobody_asked_for_breaks_the_protocol() -> None:
    decision = decide(A, start("a"), answer(), done(), exited(0))
    assert broken(decision) == (3, "answer_not_asked_for", "session/response")
    assert blame(decision) == "runtime"


def test_a_second_answer_breaks_the_protocol() -> None:
    decision = decide(A, start("a"), interaction(), answer(), answer(), done(), exited(0))
    assert broken(decision) == (5, "answer_not_asked_for", "session/response")


@pytest.mark.parametrize("request_id", ["req_2", "REQ_1", "req_1 ", ""])
def test_an_answer_names_the_question_that_waits(request_id: str) -> None:
    decision = decide(A, start("a"), interaction("req_1"), answer(request_id), done(), exited(0))
    assert broken(decision) == (4, "answer_not_asked_for", "session/response")


@pytest.mark.parametrize("status", ["success", "cancelled", "timeout"])
def test_an_answer_of_any_status_lets_the_connector_go_on(status: str) -> None:
    decision = decide(A, start("a"), interaction(), answer(status=status), record("a"), done(1), exited(0))
    assert decision.status == "succeeded"
    assert [(i.answer, i.answer_entry) for i in decision.interactions] == [(status, 4)]


def test_a_question_may_be_asked_again_once_answered() -> None:
    steps: list[Step] = [start("a"), interaction(), answer(), interaction(), answer(), done(), exited(0)]
    decision = decide(A, *steps)
    assert decision.status == "succeeded"
    assert decision.totals.interactions == 2


@pytest.mark.parametrize("line", ["{", "[]", '{"redacted":{"length":9}}', b"\xff"])
def test_an_unreadable_line_of_the_runtime_is_taken_as_the_answer(line: Any) -> None:
    decision = decide(A, start("a"), interaction(), Sent(line), record("a"), done(1), exited(0))
    assert decision.status == "succeeded"
    assert findings(decision)["runtime_line_unreadable"] == (4,)


def test_a_readable_line_of_another_type_is_no_answer() -> None:
    page = Sent({"type": "DETAIL_GAPS_PAGE_RESPONSE", "request_id": "req_1", "detail_gaps": []})
    decision = decide(A, start("a"), interaction(), page, answer(), record("a"), done(1), exited(0))
    assert decision.status == "succeeded"
    assert decision.interactions[0].answer_entry == 5


def test_an_unreadable_line_of_the_runtime_is_a_finding_while_collecting() -> None:
    decision = decide(A, start("a"), Sent("{"), done(), exited(0))
    assert decision.status == "succeeded"
    assert findings(decision) == {"runtime_line_unreadable": (3,)}


def test_data_beside_another_status_than_success_is_a_finding() -> None:
    decision = decide(A, start("a"), interaction(), answer(status="timeout", data={}), done(), exited(0))
    assert findings(decision) == {"answer_with_data": (4,)}


def test_a_question_that_was_never_answered_is_a_finding_on_the_runtime() -> None:
    decision = decide(A, start("a"), interaction(), exited(1))
    (found,) = (f for f in decision.findings if f.code == "interaction_unanswered")
    assert (found.by, found.entries, found.clause) == ("runtime", (3,), "runtime/4")


def test_a_time_out_is_of_the_question_that_it_names() -> None:
    for request_id in ("req_1", "req_2"):
        decision = decide(A, start("a"), interaction(), InteractionTimedOut(request_id=request_id))
        assert decision.interactions[0].timed_out == (request_id == "req_1")


@pytest.mark.parametrize(("offered", "status"), [((), "failed"), (("interactive",), "succeeded")])
def test_a_question_needs_a_runtime_that_answers(offered: tuple[str, ...], status: str) -> None:
    steps: list[Step] = [start("a"), interaction(), answer(), done(), exited(0)]
    assert decide(A, *steps, offered=Offered(bindings=offered)).status == status
    assert decide(A, *steps, offered=None).status == "succeeded"


QUESTIONS: list[tuple[str, Any]] = [
    ("request_id", None),
    ("request_id", " "),
    ("kind", "password"),
    ("kind", None),
    ("message", ""),
    ("message", None),
    ("schema", []),
    ("timeout_seconds", 0),
    ("timeout_seconds", -1),
    ("timeout_seconds", True),
    ("timeout_seconds", "30"),
]


@pytest.mark.parametrize(("member", "value"), QUESTIONS)
def test_a_misshapen_question_breaks_the_protocol(member: str, value: Any) -> None:
    decision = decide(A, start("a"), interaction(**{member: value}), done(), exited(0))
    assert broken(decision) is not None
    assert broken(decision)[2] == f"interaction/{member}"  # type: ignore[index]


# Lines that the recorder cut, or that ended without their LF.


def test_a_torn_last_line_breaks_the_protocol_and_is_told_as_torn() -> None:
    decision = decide(A, start("a"), state("a"), '{"type":"DO', LineUnterminated(seq=4), exited(0))
    assert broken(decision) == (4, "line_torn", "session/jsonl")


def test_a_whole_last_line_without_its_line_feed_is_read() -> None:
    decision = decide(A, start("a"), state("a"), done(), LineUnterminated(seq=4), exited(0))
    assert decision.status == "succeeded"
    assert findings(decision) == {"line_unterminated": (4,)}


def test_a_line_longer_than_the_recorder_takes_breaks_the_protocol() -> None:
    cut = LineCut(seq=4, length=10**9, sha256="")
    decision = decide(A, start("a"), state("a"), " ", cut, done(), exited(0))
    assert broken(decision) == (4, "line_too_long", "session/jsonl")
    assert [c.decision for c in decision.checkpoints] == ["withhold"]


def too_long(seq: int) -> LineCut:
    return LineCut(seq=seq, length=10**9, sha256="")


def test_a_head_that_is_no_json_is_told_as_too_long() -> None:
    assert broken(decide(A, start("a"), '{"type":"REC', too_long(3))) == (3, "line_too_long", "session/jsonl")


@pytest.mark.parametrize("head", [done(1), record("a"), state("a"), " ", "{", '{"type":"OTHER"}'])
@pytest.mark.parametrize(
    "rest",
    [
        [],
        [record("a"), done(1), exited(0)],
        [done(1), exited(0), RunClosed()],
        [
            done(1),
            exited(0),
            Decided(ruleset=TEXT, through_seq=7, decision="x"),
            CheckpointCommitted(stream="a", namespace="global", cursor_seq=4),
        ],
        [done(9), exited(1)],
        [CancelRequested()],
        ["{", CancelRequested()],
    ],
    ids=["end", "counted", "closed", "decided", "count", "cancelled", "broken"],
)
def test_a_cut_line_that_is_told_late_was_never_read(head: Step, rest: list[Step]) -> None:
    steps: list[Step] = [start("a"), record("a"), state("a"), head, *rest]
    decision = decide(A, *steps, too_long(5))
    assert (decision.status, broken(decision)) == ("failed", (5, "line_too_long", "session/jsonl"))
    assert [(c.decision, c.staged) for c in decision.checkpoints] == [("withhold", (4,))]
    assert decision.terminal.status is None


def test_a_cut_line_of_the_runtime_is_the_runtimes() -> None:
    decision = decide(A, start("a"), record("a"), done(1), exited(0), too_long(2))
    assert [(v.entry, v.by) for v in decision.violations] == [(2, "runtime")]


@pytest.mark.parametrize("seq", [-1, 0, 1, 6, 7, 10**30])
def test_the_word_of_a_cut_line_that_is_no_earlier_entry_is_out_of_place(seq: int) -> None:
    decision = decide(A, start("a"), state("a"), done(), exited(0), too_long(seq))
    assert decision.status == "succeeded"
    assert findings(decision) == {"observation_out_of_place": (6,)}


def test_a_cut_line_that_was_not_read_anyway_is_a_finding() -> None:
    ends: list[list[Step]] = [["{"], [CancelRequested()], [RunRefused(reason="no")]]
    for end in ends:
        decision = decide(A, start("a"), *end, " ", too_long(4))
        assert "line_too_long" in findings(decision)
        assert [v.entry for v in decision.violations] in ([], [3])


def test_a_cut_line_after_the_close_leaves_the_end_that_was_seen() -> None:
    for end in ([], [exited(1)]):
        late: list[Step] = [RunClosed(), record("a"), *end]
        before, after = decide(A, *late), decide(A, *late, too_long(3))
        assert (after.status, after.cause, after.violations) == (before.status, before.cause, ())
        assert findings(after)["line_too_long"] == (3,)
