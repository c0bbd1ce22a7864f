"""Where a checkpoint stands: last commit, and the runs since that staged it in vain."""

from collections.abc import Iterator

from msgspec.structs import replace

from ledger.core.decision import decode_decision
from ledger.replay.history import PastRun, find_standings
from tests.generate import SAMPLES

SAMPLE = decode_decision((SAMPLES / "collection-profile/calendar-snapshot/decision.json").read_bytes())


def past(number: int, *checkpoints: tuple[str, str, str | None]) -> PastRun:
    """A run in which each (stream, decision, outcome) was staged."""
    outcomes = [outcome for _, _, outcome in checkpoints]
    staged = [
        replace(
            SAMPLE.checkpoints[0],
            stream=stream,
            decision=decision,
            outcome=outcome,
            cursor_entry=number * 10,
        )
        for stream, decision, outcome in checkpoints
    ]
    failed = "x" if "failed" in outcomes else None
    commit = replace(SAMPLE.commit, committed=outcomes.count("committed"), failed_stream=failed)
    decision = replace(SAMPLE, checkpoints=tuple(staged), commit=commit)
    return PastRun(run_no=number, run_id=f"run_{number}", opened_at=number, decision=decision)


def test_a_recorded_commit_ends_the_search() -> None:
    history = [
        past(3, ("a", "withhold", None)),
        past(2, ("a", "withhold", None)),
        past(1, ("a", "commit", "committed")),
    ]
    standing = find_standings(["a"], history, all_seen=True)["a"]
    assert standing.last_commit is not None
    assert (standing.last_commit.run_id, standing.last_commit.basis) == ("run_1", "recorded")
    assert (standing.unmoved_since, standing.unmoved_runs) == ("run_2", 2)


def test_where_the_log_is_silent_the_rules_speak() -> None:
    standing = find_standings(
        ["a"], [past(2, ("a", "withhold", None)), past(1, ("a", "commit", None))], all_seen=True
    )
    commit = standing["a"].last_commit
    assert commit is not None
    assert commit.basis == "rules"


def test_where_the_log_speaks_of_another_checkpoint_its_silence_means_not_committed() -> None:
    history = [past(1, ("a", "commit", "not_attempted"), ("b", "commit", "failed"))]
    assert find_standings(["a"], history, all_seen=True)["a"].last_commit is None


def test_a_run_that_did_not_stage_the_checkpoint_is_passed_over() -> None:
    history = [
        past(3, ("a", "withhold", None)),
        past(2, ("b", "commit", None)),
        past(1, ("a", "commit", None)),
    ]
    standing = find_standings(["a"], history, all_seen=True)["a"]
    assert standing.unmoved_runs == 1
    assert standing.last_commit is not None
    assert standing.last_commit.cursor_entry == 10


def test_no_more_history_is_read_than_is_needed() -> None:
    read = []

    def history() -> Iterator[PastRun]:
        for number in (3, 2, 1):
            read.append(number)
            yield past(number, ("a", "commit", "committed"))

    find_standings(["a"], history(), all_seen=True)
    assert read == [3]


def test_a_checkpoint_that_never_moved_says_how_far_back_was_looked() -> None:
    standing = find_standings(["a"], [past(2, ("a", "withhold", None)), past(1)], all_seen=False)["a"]
    assert (standing.last_commit, standing.runs_seen, standing.all_seen) == (None, 2, False)
