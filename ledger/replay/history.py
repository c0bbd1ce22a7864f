"""Where a checkpoint stands: when it last moved, over the runs of one program in one namespace."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from ledger.core.decision import Checkpoint, Decision


class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run and its decision, as one step of a history."""

    run_no: int
    run_id: str
    opened_at: int
    decision: Decision


class LastCommit(msgspec.Struct, frozen=True, kw_only=True):
    """The newest commit of a checkpoint.

    Attributes:
        cursor_entry: the entry of that run which holds the cursor.
        basis: whether the log says that it was committed, or, where the log says nothing of commits, the
            rules would have.
    """

    run_no: int
    run_id: str
    opened_at: int
    cursor_entry: int
    basis: Literal["recorded", "rules"]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where one checkpoint stands before and with a run.

    Attributes:
        last_commit: None where no run that was looked at moved it.
        unmoved_since: the first run, after that commit, that staged it and did not move it.
        unmoved_runs: how many such runs there are, the one asked about included.
        runs_seen: how many runs were looked at, the one asked about included.
        all_seen: whether the history goes back no further than that.
    """

    last_commit: LastCommit | None
    unmoved_since: str | None
    unmoved_runs: int
    runs_seen: int
    all_seen: bool


def find_standings(
    streams: Iterable[str], history: Iterable[PastRun], *, all_seen: bool
) -> dict[str, Standing]:
    """Find where each checkpoint stands.

    Args:
        streams: checkpoints by stream.
        history: the run asked about, then the runs before it, newest first. Read only as far as needed.
        all_seen: whether ``history`` holds every earlier run.
    """
    open_streams = dict.fromkeys(streams)
    unmoved: dict[str, list[str]] = {stream: [] for stream in open_streams}
    commits: dict[str, LastCommit] = {}
    seen = 0
    for past in history:
        seen += 1
        for checkpoint in past.decision.checkpoints:
            if checkpoint.stream not in open_streams:
                continue
            basis = _moved(past.decision, checkpoint)
            if basis is None:
                unmoved[checkpoint.stream].append(past.run_id)
                continue
            del open_streams[checkpoint.stream]
            commits[checkpoint.stream] = LastCommit(
                run_no=past.run_no,
                run_id=past.run_id,
                opened_at=past.opened_at,
                cursor_entry=checkpoint.committed_cursor or checkpoint.cursor_entry,
                basis=basis,
            )
        if not open_streams:
            break
    return {
        stream: Standing(
            last_commit=commits.get(stream),
            unmoved_since=runs[-1] if runs else None,
            unmoved_runs=len(runs),
            runs_seen=seen,
            all_seen=all_seen,
        )
        for stream, runs in unmoved.items()
    }


def _moved(decision: Decision, checkpoint: Checkpoint) -> Literal["recorded", "rules"] | None:
    if checkpoint.outcome == "committed":
        return "recorded"
    silent = not decision.commit.committed and decision.commit.failed_stream is None
    if checkpoint.outcome is None and silent and checkpoint.decision == "commit":
        return "rules"
    return None
