"""Occasions: for which rules and switches of its ruleset a run held anything to judge.

A history in which a rule never had an occasion is no evidence for the rule, nor against it. What is not named
here made no difference to the decision; what is named may have made none either: where the fold does not tell
exactly, a rule or a switch counts as exercised. An erased message counts as one that every rule about its
type had to judge, and an erased START as one that narrowed each stream in every way. It is all read off the
state once the run is folded; the little that only the moment tells stands in ``state.occasions``.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from ledger.core.ecmascript import is_array_index
from ledger.core.findings import rule_occasion
from ledger.dialects.collection_profile.accounting import lists_other_gaps
from ledger.dialects.collection_profile.fate import Fate, resolve_fate
from ledger.dialects.collection_profile.rules.manifest import declares_all
from ledger.dialects.collection_profile.state import State
from ledger.dialects.collection_profile.weighing import weighing_of


def exercised(state: State) -> frozenset[str]:
    """Return the names of the rules and switches that had an occasion in a folded run, or a prefix of it."""
    rules = (rule.__name__ for rule in _rules(state))
    switches = (name for name, had_occasion in OCCASIONS.items() if had_occasion(state))
    return frozenset(chain(rules, switches, state.occasions))


def _rules(state: State) -> Iterator[Callable[..., Any]]:
    fate = resolve_fate(state)
    yield from _rules_before_lines(state)
    yield from _rules_about_lines(state)
    yield from _rules_about_checkpoints(state, fate)
    if state.through:
        yield from (rule for rule in state.ruleset.end_rules if _had(rule, state, fate.status))


def _had(rule: Callable[..., Any], *asked: object) -> bool:
    """Tell whether a rule had anything to judge in what it was asked of."""
    when = rule_occasion(rule)
    return when is None or when(*asked)


def _rules_before_lines(state: State) -> Iterator[Callable[..., Any]]:
    """Yield those about the manifest and the match; those about START are kept as they are asked."""
    manifest = state.manifest.manifest if state.manifest is not None else None
    offered = state.opened.offered if state.opened is not None else None
    if manifest is not None:
        yield from (rule for rule in state.ruleset.manifest_rules_asked() if _had(rule, manifest))
    if manifest is not None and offered is not None:
        yield from (rule for rule in state.ruleset.match_rules if _had(rule, manifest, offered))


def _rules_about_lines(state: State) -> Iterator[Callable[..., Any]]:
    """Yield those about messages; those that only some messages give anything to judge are kept meanwhile.

    Coarse: a rule about RECORDs is taken as asked even where another one had always refused them before.
    """
    ruleset = state.ruleset
    for type_ in state.types_asked:
        yield from (rule for rule in ruleset.message_rules.get(type_, ()) if rule_occasion(rule) is None)
    if "STATE" in state.types_asked:
        yield from (rule for rule in ruleset.staging_rules if rule_occasion(rule) is None)
    for name, plan in state.plan.streams.items() if state.plan is not None else ():
        if plan.emitted and state.erased.start:  # what it was held against, nobody can tell
            yield from ruleset.record_rules
        elif plan.emitted:
            yield from (rule for rule in plan.rules if name in state.erased.records or _had(rule, plan))
    if state.done is not None and state.exit is not None and "DONE" in state.types_asked:
        yield from (rule for rule in ruleset.exit_rules if _had(rule, state.done, state.exit))


def _rules_about_checkpoints(state: State, fate: Fate) -> Iterator[Callable[..., Any]]:
    weighing = weighing_of(state, fate)
    if weighing is None:
        return
    for rule in state.ruleset.checkpoint_rules[weighing]:
        if any(_had(rule, state, state.plan, checkpoint) for checkpoint in state.staged):
            yield rule
    for store_rule in state.ruleset.store_rules:
        if any(_had(store_rule, state, checkpoint) for checkpoint in state.staged):
            yield store_rule


# The switches. Each function says whether there was anything that its switch decides.


def _was_kept(switch: str) -> Callable[[State], bool]:
    return lambda state: switch in state.occasions


def _met(state: State, *types: str) -> bool:
    """Tell whether a message of a type was read, in whatever state of repair."""
    return any(type_ in state.types_asked or type_ in state.types_broken for type_ in types)


def _state_of_no_checkpoint(state: State) -> bool:
    covers = state.plan.covers if state.plan is not None else state.staged
    return "state_of_no_checkpoint" in state.occasions or not covers.keys() >= state.staged.keys()


def _spelled_out_upsert(state: State) -> bool:
    """Coarse where it is refused: any RECORD that did not have its shape."""
    return "spelled_out_upsert" in state.occasions or "RECORD" in state.types_broken


def _unknown_error_member(state: State) -> bool:
    """Coarse: any error of DONE, for other members are not kept; and any DONE that was refused."""
    return (state.done is not None and state.done.error is not None) or "DONE" in state.types_broken


def _connector_facts(state: State) -> bool:
    """Coarse where they are unknown: any error of DONE, for its basis is not kept."""
    return _met(state, "OBSERVATION") or _unknown_error_member(state)


def _recovery_hints(state: State) -> bool:
    """Coarse: any error of DONE, and any hint of a skip, be it the newest or not."""
    with_error = state.done is not None and state.done.error is not None
    return with_error or not state.occasions.isdisjoint(("unknown_hint_member", "recovery_hints"))


def _failure_cause(state: State) -> bool:
    """Coarse: any run that failed, or succeeded and may have had a write refused."""
    status = resolve_fate(state).status
    may_be_refused = bool(state.commits or state.ruleset.store_rules)
    return status == "failed" or (status == "succeeded" and may_be_refused)


def _unknown_hint_member(state: State) -> bool:
    """Coarse: any hint, for other members are not kept; and any message that may hold one and was refused."""
    error = state.done.error if state.done is not None else None
    hinted = error is not None and error.recovery_hint is not None
    broken = not state.types_broken.isdisjoint(("DONE", "SKIP_RESULT"))
    return hinted or broken or "unknown_hint_member" in state.occasions


def _optional_skip_keys(state: State) -> bool:
    """Coarse where they count: any report that was refused."""
    any_skips = any(one.message.optional_skip_keys is not None for one in state.reports.values())
    return any_skips or "DETAIL_COVERAGE" in state.types_broken


def _undeclared_parent(state: State) -> bool:
    """Coarse: any report that was refused, and any erased one, which may be one on another's checkpoint."""
    if "DETAIL_COVERAGE" in state.types_broken or state.erased.reports:
        return True
    return any(not _declares(state, stream, parent) for stream, parent in state.reports)


def _declares(state: State, stream: str, parent: str) -> bool:
    return state.plan is not None and state.plan.declares(stream, parent)


def _unlisted_gap(state: State) -> bool:
    return any(lists_other_gaps(state, report) for report in state.reports.values())


def _unscoped_gap(state: State) -> bool:
    """Coarse: any gap of a stream without parents that names no other, be it itself or none at all."""
    for stream, parent in state.gaps.boundaries():
        declared = state.plan.declared(stream) if state.plan is not None else None
        if declared is not None and declared.parents == (stream,) and parent in (None, stream):
            return True
    return False


def _manifest_declarations(state: State) -> bool:
    manifest = state.manifest.manifest if state.manifest is not None else None
    return manifest is not None and not declares_all(manifest)


def _commit_order(state: State) -> bool:
    """Of checkpoints none of which is named by a whole number there is one order."""
    return len(state.staged) > 1 and any(map(is_array_index, state.staged))


OCCASIONS: Mapping[str, Callable[[State], bool]] = {
    "out_of_scope_record": _was_kept("out_of_scope_record"),
    "state_of_no_checkpoint": _state_of_no_checkpoint,
    "unknown_message": _was_kept("unknown_message"),
    "evidence_closure": lambda state: _met(state, "STREAM_EVIDENCE"),
    "stream_evidence": lambda state: _met(state, "STREAM_EVIDENCE"),
    "spelled_out_upsert": _spelled_out_upsert,
    "unknown_error_member": _unknown_error_member,
    "unknown_hint_member": _unknown_hint_member,
    "key_equality": lambda state: _met(state, "DETAIL_COVERAGE", "DETAIL_GAP"),
    "optional_skip_keys": _optional_skip_keys,
    "undeclared_parent": _undeclared_parent,
    "unlisted_gap": _unlisted_gap,
    "unscoped_gap": _unscoped_gap,
    "commit_order": _commit_order,
    "manifest_declarations": _manifest_declarations,
    "connector_facts": _connector_facts,
    "owner_cancellation": lambda state: state.cancelled is not None,
    "recovery_hints": _recovery_hints,
    "failure_cause": _failure_cause,
    "controller_loss": lambda state: state.controller_lost is not None,
}
"""Whether there was anything that each switch decides, by the switch's name."""
