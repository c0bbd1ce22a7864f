"""Where two decisions about one run differ, one by one, each with its reason and the entries behind it.

``compare`` says in a sentence what another ruleset decides; this names every checkpoint that is decided
otherwise, so that differences over many runs can be counted by their reason. What an erased body leaves open
is told apart: neither side of it is guessed.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from ledger.core.decision import Checkpoint, Decision, Reason, committable

ENTRIES_TOLD = 10
KEYS_TOLD = 10
"""Entries, and keys at fault, that a difference holds, beside their total."""

_UNCOMMITTED = frozenset(("withhold", None))
"""A checkpoint that is withheld on one side and not staged on the other is committed on neither."""

Kind: TypeAlias = Literal["checkpoint", "run", "order", "indeterminate"]


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """Why something is decided otherwise.

    Attributes:
        code: the code of the reason, or of the run's cause where the reason is the run itself.
        basis: the decision whose reason it is: what withholds now, or what withheld before.
        stream: the stream at fault, null where the run itself is.
        keys: the first keys at fault, of ``keys_total``.
        entries: the first entries that this rests on, of ``entries_total``.
    """

    code: str
    clause: str
    basis: Literal["before", "after"]
    stream: str | None = None
    keys: tuple[str, ...] = ()
    keys_total: int = 0
    entries: tuple[int, ...] = ()
    entries_total: int = 0


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing about a run that is decided otherwise.

    Attributes:
        kind: a checkpoint's verdict, the run's status, the order of committing, or what an erased body
            leaves open on one side.
        stream: the checkpoint, null where it is the run.
        before: the verdict or the status, or the checkpoints in order; null where none was staged.
        after: likewise.
        records: accepted records of the streams that the checkpoint covers.
    """

    kind: Kind
    stream: str | None
    before: str | None
    after: str | None
    why: Why
    records: int = 0

    @property
    def is_flip(self) -> bool:
        """Whether something is decided otherwise for certain."""
        return self.kind != "indeterminate"


class _Side(NamedTuple):
    """One of the two decisions."""

    name: Literal["before", "after"]
    decision: Decision


def differences(before: Decision, after: Decision) -> Iterator[Difference]:
    """Yield every difference between two decisions about the same entries of the same run."""
    sides = _Side("before", before), _Side("after", after)
    if before.status != after.status:
        yield _difference("run", None, before.status, after.status, _why_run(*sides))
    yield from _checkpoints(*sides)
    orders = committable(before), committable(after)
    if orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1]):
        shown = [", ".join(order[:KEYS_TOLD]) for order in orders]
        why = Why(code="order_of_commits", clause="eligible/4", basis="after")
        yield Difference(kind="order", stream=None, before=shown[0], after=shown[1], why=why)


def _checkpoints(before: _Side, after: _Side) -> Iterator[Difference]:
    ours = {one.stream: one for one in before.decision.checkpoints}
    theirs = {one.stream: one for one in after.decision.checkpoints}
    accepted: Mapping[str, int] = {}
    for stream in dict.fromkeys((*ours, *theirs)):
        was, becomes = ours.get(stream), theirs.get(stream)
        verdicts = was.decision if was else None, becomes.decision if becomes else None
        if verdicts[0] == verdicts[1] or _UNCOMMITTED.issuperset(verdicts):
            continue
        accepted = accepted or _accepted(before.decision, after.decision)
        covered = {one for side in (was, becomes) if side for one in (stream, *side.covers)}
        records = sum(accepted.get(one, 0) for one in covered)
        why = _why_checkpoint(stream, before, after, was, becomes)
        yield _difference("checkpoint", stream, *verdicts, why, records)


def _difference(
    kind: Kind, stream: str | None, before: str | None, after: str | None, why: Why, records: int = 0
) -> Difference:
    is_open = "indeterminate" in (before, after)
    return Difference(
        kind="indeterminate" if is_open else kind,
        stream=stream,
        before=before,
        after=after,
        why=why,
        records=records,
    )


def _accepted(before: Decision, after: Decision) -> dict[str, int]:
    """Return the records of each stream that either decision accepts: a refused run reads none."""
    accepted: dict[str, int] = {}
    for decision in (before, after):
        for one in decision.records:
            accepted[one.stream] = max(one.accepted, accepted.get(one.stream, 0))
    return accepted


def _why_run(before: _Side, after: _Side) -> Why:
    """Return the cause of the new status, or, where nothing is wrong any more, of the old one."""
    side = after if after.decision.cause is not None else before
    return _cause(side)


def _why_checkpoint(
    stream: str, before: _Side, after: _Side, was: Checkpoint | None, becomes: Checkpoint | None
) -> Why:
    """Return the reason of what withholds now, else of what withheld before, else of what is missing."""
    for side, checkpoint in ((after, becomes), (before, was)):
        if checkpoint is not None and checkpoint.reasons:
            return _reason(side, checkpoint.reasons[0])
        if checkpoint is None:
            return _not_staged(side, stream)
        if checkpoint.decision == "pending":
            return Why(code="running", clause="connector/3", basis=side.name)
    return _cause(after)


def _reason(side: _Side, reason: Reason) -> Why:
    if reason.stream is None and side.decision.cause is not None:
        return _cause(side)
    return Why(
        code=reason.code,
        clause=reason.clause,
        basis=side.name,
        stream=reason.stream,
        keys=reason.keys[:KEYS_TOLD],
        keys_total=reason.keys_total,
        entries=reason.entries[:ENTRIES_TOLD],
        entries_total=reason.entries_total,
    )


def _not_staged(side: _Side, stream: str) -> Why:
    """Return why a decision stages no such checkpoint: the run's own end, or a finding about the stream."""
    if side.decision.cause is not None:
        return _cause(side)
    for finding in side.decision.findings:
        if finding.clause == "state/stream" and finding.detail.get("stream") == stream:
            return Why(
                code=finding.code,
                clause=finding.clause,
                basis=side.name,
                stream=stream,
                entries=finding.entries[:ENTRIES_TOLD],
                entries_total=finding.entries_total,
            )
    return Why(code="not_staged", clause="state/stream", basis=side.name, stream=stream)


def _cause(side: _Side) -> Why:
    cause = side.decision.cause
    if cause is None:
        return Why(code=side.decision.status, clause="", basis=side.name)
    stream = cause.detail.get("stream")
    return Why(
        code=cause.code,
        clause=cause.clause,
        basis=side.name,
        stream=stream if isinstance(stream, str) else None,
        entries=cause.entries[:ENTRIES_TOLD],
        entries_total=len(cause.entries),
    )
