"""Weighing: for every staged checkpoint, commit or withhold, with each reason."""

from collections.abc import Mapping
from itertools import filterfalse

import msgspec

from ledger.core.decision import Reason, Verdict
from ledger.core.ecmascript import is_array_index
from ledger.core.findings import LIST_LIMIT, show_name
from ledger.dialects.collection_profile.erasure import ErasedBehind
from ledger.dialects.collection_profile.fate import Fate
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.rules.eligible import streams_that_fail
from ledger.dialects.collection_profile.ruleset import CheckpointRule, Weighing
from ledger.dialects.collection_profile.state import State


class Weighed(msgspec.Struct, frozen=True):
    """What the rules say of one checkpoint, and why.

    Attributes:
        refusal: why the store is known to refuse it, where nothing else withholds it for certain.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    refusal: Reason | None = None

    def first_reasons(self) -> tuple[Reason, ...]:
        """Return as many reasons as a decision holds: a checkpoint may cover any number of streams."""
        return self.reasons[:LIST_LIMIT]

    def reasons_total(self) -> int | msgspec.UnsetType:
        """Return how many reasons there are where a decision does not hold all of them."""
        return len(self.reasons) if len(self.reasons) > LIST_LIMIT else msgspec.UNSET


def weigh(state: State, fate: Fate) -> dict[str, Weighed]:
    """Weigh every staged checkpoint, in the order of committing."""
    order = commit_order(state)
    if fate.status == "running":
        return {stream: Weighed("pending") for stream in order}
    blanket = _blanket_reason(state, fate)
    if blanket is not None:
        verdict: Verdict = "indeterminate" if fate.status == "indeterminate" else "withhold"
        return {stream: Weighed(verdict, (blanket,)) for stream in order}
    rules = state.ruleset.checkpoint_rules[_weighing(fate)]
    plan = state.plan
    if plan is None or not state.staged:
        return {}
    erased = ErasedBehind(state, plan, fate)
    weighed = {stream: _weigh_one(state, plan, stream, fate, rules, erased) for stream in order}
    return _stop_where_refused(state, weighed) if state.ruleset.store_rules else weighed


def weighing_of(state: State, fate: Fate) -> Weighing | None:
    """Return how each checkpoint of a run is weighed by itself, None where none is."""
    if fate.status == "running" or state.plan is None or _blanket_reason(state, fate) is not None:
        return None
    return _weighing(fate)


def _weighing(fate: Fate) -> Weighing:
    if fate.restart:
        return "restart"
    return "certified" if fate.certified or fate.uncertain else "coverage"


def commit_order(state: State) -> list[str]:
    """Return the staged checkpoints in the order in which they are committed (eligible/4).

    That is the order of each one's first STATE; where a switch says so, names that are whole numbers come
    first, in ascending order, as objects of ECMAScript list them.
    """
    if state.ruleset.switches.commit_order == "first_state":
        return list(state.staged)
    return [
        *sorted(filter(is_array_index, state.staged), key=int),
        *filterfalse(is_array_index, state.staged),
    ]


def _stop_where_refused(state: State, weighed: Mapping[str, Weighed]) -> dict[str, Weighed]:
    """Withhold the first checkpoint that the store is known to refuse, and what would come after it.

    Behind one that may or may not be written, and would be refused, nothing is certain either.
    """
    stopped: dict[str, Weighed] = {}
    behind: Weighed | None = None
    for stream, one in weighed.items():
        refusal = next((r for ask in state.ruleset.store_rules if (r := ask(state, stream))), None)
        if one.verdict == "commit" and behind is not None:
            stopped[stream] = behind
        elif one.verdict == "commit" and refusal is not None:
            stopped[stream] = Weighed("withhold", (refusal,), refusal)
            behind = Weighed("withhold", (_after(stream, refusal),))
        elif one.verdict == "indeterminate" and refusal is not None:
            stopped[stream] = Weighed("indeterminate", one.reasons, refusal)
            behind = behind or one
        else:
            stopped[stream] = one
    return stopped


def _after(refused: str, refusal: Reason) -> Reason:
    return Reason(
        code="after_refused_checkpoint",
        clause="eligible/5",
        stream=show_name(refused),
        entries=refusal.entries,
        entries_total=refusal.entries_total,
    )


def _blanket_reason(state: State, fate: Fate) -> Reason | None:
    """Return the reason that holds for every checkpoint of the run, None where each is weighed alone."""
    cause = fate.cause
    entries = cause.entries if cause is not None else ()
    if fate.status == "indeterminate" and cause is not None:
        return _run_reason(cause.code, cause.clause, entries)
    if state.opened is not None and state.opened.trigger.kind == "single_use":
        return _run_reason("single_use", "runtime/7", (1,))
    if fate.status == "abandoned" and state.ruleset.switches.controller_loss == "withhold":
        return _run_reason("run_abandoned", "restart/1", entries)
    if fate.status == "refused":
        return _run_reason("run_refused", cause.clause if cause is not None else "log/refusal", entries)
    if fate.cancelled:
        return _run_reason("run_cancelled", "done/cancellation", entries)
    if fate.status == "cancelled":
        return _run_reason("run_cancelled", "runtime/6", entries)
    if state.violations:
        return _run_reason("run_violated", "runtime/6", (state.violations[0].entry,))
    if fate.uncertain:
        return None
    if fate.status == "failed" and not fate.certified:
        code = "no_terminal" if cause is not None and cause.code == "no_terminal" else "run_failed"
        return _run_reason(code, "runtime/6", entries)
    done = state.done
    if fate.status == "abandoned" and not fate.restart and not fate.certified:
        if done is not None and done.status == "cancelled":
            return _run_reason("run_cancelled", "runtime/6", (state.done_entry or 0,))
        if done is not None and done.status == "failed":
            return _run_reason("run_failed", "runtime/6", (state.done_entry or 0,))
    return None


def _weigh_one(
    state: State,
    plan: Plan,
    checkpoint: str,
    fate: Fate,
    rules: tuple[CheckpointRule, ...],
    erased: ErasedBehind,
) -> Weighed:
    """Weigh one checkpoint; a reason that nothing erased could undo withholds it."""
    if fate.uncertain and state.erased.skips.keys() <= set(streams_that_fail(state, plan, checkpoint)):
        done = (state.done_entry or 0,)  # certified or not, each failed stream is covered here
        return Weighed("withhold", (_run_reason("run_failed", "runtime/6", done),))
    reasons = tuple(reason for ask in rules for reason in ask(state, plan, checkpoint))
    undecided = erased.reason(checkpoint, reasons)
    if undecided is not None:
        return Weighed("indeterminate", (undecided,))
    return Weighed("withhold" if reasons else "commit", reasons)


def _run_reason(code: str, clause: str, entries: tuple[int, ...]) -> Reason:
    return Reason(code=code, clause=clause, stream=None, entries=entries, entries_total=len(entries))
