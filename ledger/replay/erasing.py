"""What an erasure changes: the decision with the bodies and the decision without them, side by side."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from ledger.core.decision import Decision, Status
from ledger.core.entries import Entry


class CheckpointChange(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules say of one checkpoint before and after."""

    stream: str
    before: str
    after: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What an erasure does to a run's decision.

    Attributes:
        status_before: the run's status with the bodies.
        status_after: without them.
        checkpoints: every checkpoint that was staged, in the decision's order.
    """

    status_before: Status
    status_after: Status
    checkpoints: tuple[CheckpointChange, ...]

    @property
    def is_none(self) -> bool:
        """Whether all is decided as before."""
        same = all(one.before == one.after for one in self.checkpoints)
        return same and self.status_before == self.status_after

    @property
    def hides(self) -> bool:
        """Whether something is decided otherwise for certain: what decided it is gone, and nothing shows."""
        status = self.status_before != self.status_after and self.status_after != "indeterminate"
        return status or any(one.after not in (one.before, "indeterminate") for one in self.checkpoints)


def without_bodies(entries: Iterable[Entry], seqs: Collection[int]) -> Iterator[Entry]:
    """Yield entries as they are once some of them are erased."""
    for entry in entries:
        yield msgspec.structs.replace(entry, body=None, salt=None) if entry.seq in seqs else entry


def change_between(before: Decision, after: Decision) -> Change:
    """Hold the decision without some bodies against the decision with them.

    A checkpoint whose STATE can no longer be told apart is named by neither; its verdict reads ``none`` where
    one decision stages it and the other does not.
    """
    said = {one.stream: one.decision for one in before.checkpoints}
    says = {one.stream: one.decision for one in after.checkpoints}
    return Change(
        status_before=before.status,
        status_after=after.status,
        checkpoints=tuple(
            CheckpointChange(stream=stream, before=said.get(stream, "none"), after=says.get(stream, "none"))
            for stream in dict.fromkeys((*said, *says))
        ),
    )
