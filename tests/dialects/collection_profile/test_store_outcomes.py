"""What became of a decision: commits, failed writes, and where they are not what the rules say."""

import pytest

from ledger.core.decision import Decision
from ledger.core.observations import (
    CancelRequested,
    CheckpointCommitFailed,
    CheckpointCommitted,
    ControllerLost,
    Decided,
    LineUnterminated,
    Observation,
    ProgramSpawned,
    RecordsDurable,
    RecordsRejected,
    RunClosed,
    RunRefused,
    Trigger,
)
from tests.dialects.collection_profile.runs import (
    TEXT,
    Step,
    answer,
    certified,
    checkpoint,
    decide,
    discrepancies,
    done,
    error,
    exited,
    findings,
    record,
    skip,
    start,
    start_all,
    state,
    streams,
    verdicts,
)

M = streams("a", "b", "c")
CLOSED = RunClosed()


def cut(through: int = 9) -> Decided:
    return Decided(ruleset=TEXT, through_seq=through, decision="sha256:x")


def committed(stream: str, cursor: int, namespace: str | None = "global") -> CheckpointCommitted:
    return CheckpointCommitted(stream=stream, namespace=namespace, cursor_seq=cursor)


def refused(stream: str) -> CheckpointCommitFailed:
    return CheckpointCommitFailed(stream=stream, namespace="global", error="503")


def after(*steps: Step) -> Decision:
    """Decide a run that staged a (entry 4), b (5) and c (6), succeeded and was decided; then these steps."""
    lines: list[Step] = [record("a"), state("a"), state("b"), state("c"), done(1), exited(0)]
    return decide(M, start("a", "b", "c"), *lines, cut(), *steps)


def outcomes(decision: Decision) -> dict[str, str | None]:
    return {one.stream: one.outcome for one in decision.checkpoints}


ALL_THREE: list[Observation] = [committed("a", 4), committed("b", 5), committed("c", 6)]


def test_what_was_committed_as_decided_is_no_discrepancy() -> None:
    decision = after(*ALL_THREE, CLOSED)
    assert decision.status == "succeeded"
    assert outcomes(decision) == {"a": "committed", "b": "committed", "c": "committed"}
    assert decision.discrepancies == ()
    assert decision.commit.committed_streams == ("a", "b", "c")
    assert checkpoint(decision, "b").outcome_entries == (11,)
    assert [one.committed_cursor for one in decision.checkpoints] == [4, 5, 6]


def test_a_failed_write_fails_the_run_and_stops_the_rest() -> None:
    decision = after(committed("a", 4), refused("b"), CLOSED)
    assert decision.status == "failed"
    assert decision.cause is not None
    assert (decision.cause.code, decision.cause.clause, decision.cause.by) == (
        "checkpoint_store_failed",
        "eligible/5",
        "store",
    )
    assert outcomes(decision) == {"a": "committed", "b": "failed", "c": "not_attempted"}
    commit = decision.commit
    assert (commit.staged, commit.eligible, commit.committed) == (3, 3, 1)
    assert (commit.committed_streams, commit.failed_stream, commit.not_attempted) == (("a",), "b", ("c",))
    assert verdicts(decision) == {"a": "commit", "b": "commit", "c": "commit"}
    assert decision.discrepancies == ()


def test_a_failed_first_write_commits_nothing() -> None:
    assert after(refused("a"), CLOSED).commit.not_attempted == ("b", "c")


def test_a_failed_write_on_a_certified_failure_is_shown() -> None:
    lines: list[Step] = [state("a"), state("b"), skip("c")]
    end = done(0, "failed", error=error("stream_collection_failed"))
    decision = decide(M, start_all(M), *lines, end, exited(1), cut(), refused("a"), CLOSED)
    assert (decision.status, decision.certified) == ("failed", True)
    assert (decision.commit.failed_stream, decision.commit.not_attempted) == ("a", ("b",))


def test_a_failed_write_of_a_withheld_checkpoint_is_a_discrepancy_not_a_failure_of_the_run() -> None:
    decision = decide(M, start("a"), state("a"), done(9), exited(0), cut(), refused("a"))
    assert decision.cause is not None
    assert decision.cause.code == "records_emitted_wrong"
    assert ("attempted_though_withheld", "a") in discrepancies(decision)


DISCREPANCIES: list[tuple[str, list[Step], tuple[str, str | None]]] = [
    ("another cursor", [committed("a", 3)], ("committed_other_cursor", "a")),
    ("another namespace", [committed("a", 4, "grant_1")], ("committed_in_other_namespace", "a")),
    ("no namespace", [committed("a", 4, None)], ("committed_in_other_namespace", "a")),
    ("twice", [committed("a", 4), committed("a", 4)], ("committed_twice", "a")),
    ("never staged", [committed("zzz", 4)], ("committed_though_not_staged", "zzz")),
    ("none committed", [CLOSED], ("not_committed_though_eligible", "c")),
    ("one left out", [*ALL_THREE[:2], CLOSED], ("not_committed_though_eligible", "c")),
    ("out of order", [committed("b", 5), committed("a", 4)], ("committed_out_of_order", "a")),
    ("before durable", [RecordsDurable(through_seq=2), *ALL_THREE[:1]], ("committed_before_durable", "a")),
]


@pytest.mark.parametrize(("steps", "told"), [d[1:] for d in DISCREPANCIES], ids=[d[0] for d in DISCREPANCIES])
def test_what_happened_otherwise_is_told(steps: list[Step], told: tuple[str, str | None]) -> None:
    decision = after(*steps)
    assert told in discrepancies(decision)
    assert decision.status == "succeeded"


def test_a_failed_write_before_one_that_was_staged_earlier_is_told() -> None:
    assert ("attempted_out_of_order", "b") in discrepancies(after(refused("b"), CLOSED))
    assert discrepancies(after(committed("a", 4), refused("b"), CLOSED)) == []


@pytest.mark.parametrize(
    ("steps", "cursor"),
    [
        ([committed("a", 3)], 3),
        ([committed("a", 4), committed("a", 3)], 3),
        ([committed("a", 99)], None),
        ([committed("a", 0)], None),
        ([refused("a")], None),
        ([CLOSED], None),
    ],
    ids=["another", "the last of two", "of a later entry", "of none", "refused", "not tried"],
)
def test_the_cursor_that_the_store_took_is_the_recorded_one(steps: list[Step], cursor: int | None) -> None:
    assert checkpoint(after(*steps), "a").committed_cursor == cursor


WITHHELD: list[tuple[str, list[Step]]] = [
    ("failed", [done(0, "failed", error=error()), exited(1)]),
    ("violated", ["{"]),
    ("without DONE", [exited(1)]),
    ("still running", []),
]


@pytest.mark.parametrize("end", [w[1] for w in WITHHELD], ids=[w[0] for w in WITHHELD])
def test_a_commit_that_the_rules_withhold_is_told(end: list[Step]) -> None:
    decision = decide(M, start("a"), state("a"), *end, committed("a", 3))
    assert ("committed_though_withheld", "a") in discrepancies(decision)
    assert outcomes(decision) == {"a": "committed"}
    assert verdicts(decision) == {"a": "withhold"}


def test_durable_records_are_those_before_the_cursor_that_was_committed() -> None:
    lines: list[Step] = [record("a"), state("a"), record("a"), state("a"), done(2), exited(0)]
    decision = decide(M, start("a"), *lines, RecordsDurable(through_seq=3), committed("a", 4))
    assert discrepancies(decision) == [("committed_other_cursor", "a")]


def test_durability_counts_by_the_time_of_the_commit() -> None:
    late = after(RecordsDurable(through_seq=2), committed("a", 4), RecordsDurable(through_seq=9))
    assert ("committed_before_durable", "a") in discrepancies(late)
    for through in (3, 4, 9):
        good = after(RecordsDurable(through_seq=through), *ALL_THREE, CLOSED)
        assert good.discrepancies == ()
    backwards = after(RecordsDurable(through_seq=9), RecordsDurable(through_seq=1), *ALL_THREE, CLOSED)
    assert backwards.discrepancies == ()


def test_a_write_that_was_tried_again_and_taken_is_committed() -> None:
    decision = after(refused("a"), *ALL_THREE, CLOSED)
    assert outcomes(decision)["a"] == "committed"
    assert checkpoint(decision, "a").outcome_entries == (10, 11)


def test_nothing_is_known_of_what_nobody_recorded() -> None:
    decision = decide(M, start("a"), state("a"), done(), exited(0))
    assert outcomes(decision) == {"a": None}
    assert decision.discrepancies == ()


def test_a_commit_in_the_namespace_of_the_grant_is_no_discrepancy() -> None:
    trigger = Trigger(kind="continuous", grant_id="grant_1")
    steps: list[Step] = [
        start("a"),
        state("a"),
        done(),
        exited(0),
        cut(),
        committed("a", 3, "grant_1"),
        CLOSED,
    ]
    assert decide(M, *steps, trigger=trigger).discrepancies == ()


# Refusals.


def test_a_program_that_ran_though_refused_is_told() -> None:
    for ran in (ProgramSpawned(), exited(0), record("a")):
        decision = decide(M, start(), ran)
        assert decision.status == "refused"
        assert ("ran_though_refused", None) in discrepancies(decision)
    assert decide(M, start(), RunRefused(reason="scope")).discrepancies == ()


def test_a_refusal_that_the_rules_do_not_ask_for_is_told() -> None:
    decision = decide(M, start("a"), RunRefused(reason="no network"))
    assert decision.status == "refused"
    assert discrepancies(decision) == [("refused_though_allowed", None)]


# Rejected records.


def test_rejected_records_are_not_accepted_and_still_emitted() -> None:
    decision = decide(
        M, start("a"), record("a"), record("a"), RecordsRejected(stream="a", count=1), done(2), exited(0)
    )
    assert decision.status == "succeeded"
    (counts,) = decision.records
    assert (counts.emitted, counts.accepted, counts.rejected) == (2, 1, 1)
    assert findings(decision)["records_rejected"] == (5,)


@pytest.mark.parametrize("count", [-1, 0, 3, 10**30])
def test_no_count_of_rejected_records_makes_fewer_than_none_accepted(count: int) -> None:
    decision = decide(M, start("a"), record("a"), RecordsRejected(stream="a", count=count))
    (counts,) = decision.records
    assert counts.accepted == (1 if count <= 0 else 0)
    assert counts.emitted == counts.accepted + counts.discarded + counts.rejected


# After the cut.

LATE: list[tuple[str, Step]] = [
    ("a record", record("a")),
    ("a checkpoint", state("a")),
    ("DONE", done()),
    ("a broken line", "{"),
    ("an exit that disagrees", exited(1)),
    ("the loss of the controller", ControllerLost()),
    ("a refusal", RunRefused(reason="late")),
    ("the end of the log", CLOSED),
    ("a torn line", LineUnterminated(seq=4)),
    ("a cancellation", CancelRequested()),
    ("a second START", start("a")),
    ("an answer", answer()),
]


@pytest.mark.parametrize("late", [late[1] for late in LATE], ids=[late[0] for late in LATE])
@pytest.mark.parametrize(
    "end",
    [[done(), exited(0)], [done(9)], ["{"], [], [done(0, "failed", error=error()), exited(1)]],
    ids=["success", "count", "violation", "no DONE", "failure"],
)
def test_what_comes_after_the_decision_decides_nothing(end: list[Step], late: Step) -> None:
    steps: list[Step] = [start("a"), state("a"), *end, cut()]
    before, now = decide(M, *steps), decide(M, *steps, late)
    assert (now.status, now.cause, now.violations) == (before.status, before.cause, before.violations)
    assert verdicts(now) == verdicts(before)
    assert [c.staged for c in now.checkpoints] == [c.staged for c in before.checkpoints]


SEEN_TWICE: list[tuple[list[Step], Step]] = [
    ([exited(0), CLOSED], CLOSED),
    ([exited(0), CLOSED], exited(1)),
    ([exited(0), CLOSED], ProgramSpawned()),
    ([CLOSED], CLOSED),
    ([CLOSED, cut()], cut(3)),
    ([exited(2)], exited(signal="SIGKILL")),
    ([CancelRequested()], CancelRequested(by="another")),
    ([ControllerLost()], ControllerLost(reason="again")),
    ([RunRefused(reason="no")], RunRefused(reason="never")),
]


@pytest.mark.parametrize(("end", "again"), SEEN_TWICE)
def test_what_was_seen_first_stands(end: list[Step], again: Step) -> None:
    steps: list[Step] = [ProgramSpawned(), start("a"), state("a"), *end]
    before, now = decide(M, *steps), decide(M, *steps, again)
    assert (now.status, now.cause, now.terminal) == (before.status, before.cause, before.terminal)


def test_the_first_commit_cuts_where_no_decision_was_recorded() -> None:
    decision = decide(M, start("a"), state("a"), done(), exited(0), committed("a", 3), ControllerLost())
    assert (decision.status, verdicts(decision)) == ("succeeded", {"a": "commit"})


def test_a_line_after_the_decision_is_a_finding() -> None:
    decision = after(record("a"), "", "{")
    assert findings(decision)["line_after_decision"] == (10, 12)


def test_a_certified_run_sums_up_its_checkpoints() -> None:
    decision = certified(M, state("a"), state("b"), skip("b"))
    assert (decision.commit.staged, decision.commit.eligible, decision.commit.committed) == (2, 1, 0)
