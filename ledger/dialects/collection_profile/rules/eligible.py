"""The eligible-checkpoint algorithm: why a staged checkpoint must not be committed.

Steps 1 to 3 stand here, one function each, over the state and one checkpoint; step 4 is that a checkpoint
without a reason is committed, step 5 is in ``outcomes``. Steps 1 and 2 are asked only of a certified
failure, step 3 of every run that may commit at all.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from ledger.core.decision import Reason
from ledger.core.findings import LIST_LIMIT, rule, show_name
from ledger.dialects.collection_profile.accounting import NEAR_MISS_LIMIT, account, near_misses
from ledger.dialects.collection_profile.messages import show_key
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.state import Report, State


def names_failed_stream(state: State, plan: Plan, checkpoint: str) -> bool:
    """Tell whether a skip, or one that was erased and may have been of that kind, named a failed stream."""
    return bool(state.failed_streams or state.erased.skips)


@rule("eligible/2", when=names_failed_stream)
def covers_no_failed_stream(state: State, plan: Plan, checkpoint: str) -> Iterator[Reason]:
    """A checkpoint that covers a named failed stream is withheld: its own, or one of its declared parents.

    Reading: a failed stream's own STATE is withheld too, where it is a checkpoint of others and not of
    itself.
    """
    yield from _failed(state, plan.covered_by(checkpoint))


@rule("eligible/2", when=names_failed_stream)
def covers_no_failed_child(state: State, plan: Plan, checkpoint: str) -> Iterator[Reason]:
    """A checkpoint that covers a named failed stream is withheld: one of its declared parents.

    Reading: by its letter the step resolves a failed stream to its parents alone, so the own STATE of a
    stream that has any stands.
    """
    yield from _failed(state, plan.covers.get(checkpoint, ()))


def streams_that_fail(state: State, plan: Plan, checkpoint: str) -> Iterable[str]:
    """Return the streams whose named failure withholds a checkpoint, as the ruleset has it (eligible/2)."""
    if covers_no_failed_stream in state.ruleset.checkpoint_rules["certified"]:
        return plan.covered_by(checkpoint)
    return plan.covers.get(checkpoint, ())


def _failed(state: State, covered: Iterable[str]) -> Iterator[Reason]:
    for stream in covered:
        tally = state.failed_streams.get(stream)
        if tally is not None:
            yield Reason(
                code="covers_failed_stream",
                clause="eligible/2",
                stream=show_name(stream),
                entries=tuple(tally.first),
                entries_total=tally.total,
            )


def is_reported_on(state: State, plan: Plan, checkpoint: str) -> bool:
    """Tell whether any report gates a checkpoint."""
    return checkpoint in state.reporting


@rule("eligible/3", when=is_reported_on)
def coverage_is_complete(state: State, plan: Plan, checkpoint: str) -> Iterator[Reason]:
    """Every report that gates a checkpoint accounts for each key that it requires.

    Reading: a gap accounts for a key only where the report lists it in ``gap_keys``, unless a switch has it
    account for any required key; a gap that is not retryable accounts too.
    """
    for stream in state.reporting.get(checkpoint, ()):
        reason = shortfall(state, state.reports[stream, checkpoint], "coverage_unaccounted", "eligible/3")
        if reason is not None:
            yield reason


def has_details(state: State, plan: Plan, checkpoint: str) -> bool:
    """Tell whether a detail stream accounts to a checkpoint."""
    return checkpoint in plan.detail_parents


@rule("precedence/2", when=has_details)
def every_parent_was_reported(state: State, plan: Plan, checkpoint: str) -> Iterator[Reason]:
    """A detail stream in scope reports on every parent that it declares and that staged a STATE."""
    for stream in plan.covers.get(checkpoint, ()):
        declared = plan.declared(stream)
        if (
            declared is not None
            and declared.parent_streams
            and stream in plan.streams
            and (stream, checkpoint) not in state.reports
        ):
            yield Reason(code="coverage_missing", clause="precedence/2", stream=show_name(stream))


def shortfall(state: State, report: Report, code: str, clause: str) -> Reason | None:
    """Return the reason that a report leaves keys unaccounted for, None where it leaves none."""
    keys = account(state, report).unaccounted
    if not keys:
        return None
    return Reason(
        code=code,
        clause=clause,
        stream=show_name(report.message.stream),
        keys=tuple(show_key(key) for key in keys[:LIST_LIMIT]),
        keys_total=len(keys),
        entries=(report.entry,),
        entries_total=1,
        near_misses=tuple(islice(near_misses(state, report, keys), NEAR_MISS_LIMIT)),
    )
