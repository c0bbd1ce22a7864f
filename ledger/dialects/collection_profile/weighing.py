"""Weighing: for every staged checkpoint, commit or withhold, with each reason."""

import msgspec

from ledger.core.decision import Reason, Verdict
from ledger.dialects.collection_profile import erasure
from ledger.dialects.collection_profile.fate import Fate
from ledger.dialects.collection_profile.ruleset import CheckpointRule, Weighing
from ledger.dialects.collection_profile.state import State


class Weighed(msgspec.Struct, frozen=True):
    """What the rules say of one checkpoint, and why."""

    verdict: Verdict
    reasons: tuple[Reason, ...] = ()


def weigh(state: State, fate: Fate) -> dict[str, Weighed]:
    """Weigh every staged checkpoint, in order of its first STATE."""
    if fate.status == "running":
        return {stream: Weighed("pending") for stream in state.staged}
    blanket = _blanket_reason(state, fate)
    if blanket is not None:
        verdict: Verdict = "indeterminate" if fate.status == "indeterminate" else "withhold"
        return {stream: Weighed(verdict, (blanket,)) for stream in state.staged}
    weighing: Weighing = "certified" if fate.certified or fate.uncertain else "coverage"
    rules = state.ruleset.checkpoint_rules["restart" if fate.restart else weighing]
    return {stream: _weigh_one(state, stream, fate, rules) for stream in state.staged}


def _blanket_reason(state: State, fate: Fate) -> Reason | None:
    """Return the reason that holds for every checkpoint of the run, None where each is weighed alone."""
    cause = fate.cause
    entries = cause.entries if cause is not None else ()
    if fate.status == "indeterminate" and cause is not None:
        return _run_reason(cause.code, cause.clause, entries)
    if state.opened is not None and state.opened.trigger.kind == "single_use":
        return _run_reason("single_use", "runtime/7", (1,))
    if fate.status == "refused":
        return _run_reason("run_refused", cause.clause if cause is not None else "log/refusal", entries)
    if fate.status == "cancelled":
        by_owner = cause is not None and cause.by == "owner"
        return _run_reason("run_cancelled", "done/cancellation" if by_owner else "runtime/6", entries)
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


def _weigh_one(state: State, checkpoint: str, fate: Fate, rules: tuple[CheckpointRule, ...]) -> Weighed:
    """Weigh one checkpoint; a reason that nothing erased could undo withholds it."""
    plan = state.plan
    assert plan is not None
    if fate.uncertain and state.erased.skips.keys() <= plan.covered_by(checkpoint).keys():
        done = (state.done_entry or 0,)  # certified or not, each failed stream is covered here
        return Weighed("withhold", (_run_reason("run_failed", "runtime/6", done),))
    reasons = tuple(reason for ask in rules for reason in ask(state, plan, checkpoint))
    erased = erasure.entries_behind(state, plan, checkpoint, fate, reasons)
    if erased and all(erasure.could_undo(state, reason) for reason in reasons):
        return Weighed("indeterminate", (erasure.reason_for(checkpoint, erased),))
    return Weighed("withhold" if reasons else "commit", reasons)


def _run_reason(code: str, clause: str, entries: tuple[int, ...]) -> Reason:
    return Reason(code=code, clause=clause, stream=None, entries=entries, entries_total=len(entries))
