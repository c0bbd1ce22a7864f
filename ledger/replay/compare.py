"""Where two decisions about one run differ: what another ruleset would have decided otherwise.

Compared is what a runtime would act on and an operator would see: the status, its cause, and which
checkpoints are committed, in which order. Reasons, counts and findings may differ besides.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ledger.core.decision import Decision, committable

STREAMS_NAMED = 5
"""Checkpoints that a sentence names for each verdict, before it counts the rest."""

CHECKPOINTS_TOLD = 100
"""Checkpoints that a comparison holds, at most, beside their total."""

_VERBS = {
    "commit": "would be committed",
    "withhold": "would be withheld",
    "pending": "would be pending",
    "indeterminate": "could not be decided",
    None: "would not be staged",
}


class CheckpointDiffers(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that is decided otherwise; null where it is not staged."""

    stream: str
    here: str | None
    there: str | None


class OtherRuleset(msgspec.Struct, frozen=True, kw_only=True):
    """What another ruleset decides of a run.

    Attributes:
        same: whether nothing that is compared differs.
        sentence: the difference in words, or that there is none.
        status: the run's status there.
        cause: the code of its cause there, null where there is none.
        checkpoints: the first hundred that are decided otherwise, of ``checkpoints_total``.
        order_differs: whether the same checkpoints are committed in another order.
    """

    ruleset: str
    same: bool
    sentence: str
    status: str
    cause: str | None
    checkpoints: tuple[CheckpointDiffers, ...]
    checkpoints_total: int
    order_differs: bool


def compare(here: Decision, there: Decision) -> OtherRuleset:
    """Compare a decision with that of another ruleset about the same entries of the same run."""
    differing = tuple(_checkpoints(here, there))
    committed, would_commit = committable(here), committable(there)
    order_differs = committed != would_commit and sorted(committed) == sorted(would_commit)
    status_differs = _status(here) != _status(there)
    same = not (differing or order_differs or status_differs)
    sentence = f"{there.ruleset.id} decides the same."
    if not same:
        parts = list(_parts(differing))
        if order_differs:
            parts.append(f"the order would be {_some(would_commit)}")
        parts.append(_status_said(there) if status_differs else "status the same")
        sentence = f"Under {there.ruleset.id}: {'; '.join(parts)}."
    return OtherRuleset(
        ruleset=there.ruleset.id,
        same=same,
        sentence=sentence,
        status=there.status,
        cause=there.cause.code if there.cause is not None else None,
        checkpoints=differing[:CHECKPOINTS_TOLD],
        checkpoints_total=len(differing),
        order_differs=order_differs,
    )


def _checkpoints(here: Decision, there: Decision) -> Iterator[CheckpointDiffers]:
    ours: Mapping[str, str] = {one.stream: one.decision for one in here.checkpoints}
    theirs: Mapping[str, str] = {one.stream: one.decision for one in there.checkpoints}
    for stream in dict.fromkeys((*ours, *theirs)):
        if ours.get(stream) != theirs.get(stream):
            yield CheckpointDiffers(stream=stream, here=ours.get(stream), there=theirs.get(stream))


def _status(decision: Decision) -> tuple[str, str | None]:
    return decision.status, decision.cause.code if decision.cause is not None else None


def _status_said(decision: Decision) -> str:
    cause = f" ({decision.cause.code})" if decision.cause is not None else ""
    return f"status {decision.status}{cause}"


def _parts(differing: Iterable[CheckpointDiffers]) -> Iterator[str]:
    by_verdict: dict[str | None, list[str]] = {}
    for one in differing:
        by_verdict.setdefault(one.there, []).append(one.stream)
    for verdict, verb in _VERBS.items():
        if verdict in by_verdict:
            yield f"{_some(by_verdict[verdict])} {verb}"


def _some(streams: list[str]) -> str:
    named = ", ".join(streams[:STREAMS_NAMED])
    more = len(streams) - STREAMS_NAMED
    return f"{named} and {more} more" if more > 0 else named
