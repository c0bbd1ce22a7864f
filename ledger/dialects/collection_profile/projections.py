"""What a decision shows of a run besides its checkpoints; nothing here decides anything.

That is its end, records, skips, gaps, questions, recovery, findings, and what is not known.
"""

from collections.abc import Iterator
from itertools import islice

import msgspec

from ledger.core import decision as d
from ledger.core.findings import LIST_LIMIT, TEXT_LIMIT, Finding, show_name
from ledger.core.json_reader import printable
from ledger.dialects.collection_profile.accounting import Answers
from ledger.dialects.collection_profile.fate import Fate
from ledger.dialects.collection_profile.messages import DoneError, RecoveryHint, show_key
from ledger.dialects.collection_profile.state import Skip, State


def project_terminal(state: State) -> d.Terminal:
    """Show how the run ended, as far as that was seen before the decision."""
    done, exited = state.done, state.exit_in_time
    return d.Terminal(
        entry=state.done_entry,
        status=done.status if done else None,
        records_emitted=_bounded(done.records_emitted) if done else None,
        counted=state.counted,
        exit=d.Exit(code=exited.code, signal=exited.signal) if exited else None,
        error=_error(done.error) if done and done.error else None,
    )


def _error(error: DoneError) -> d.ErrorReport:
    named = dict.fromkeys(error.basis) if error.basis is not None else None
    return d.ErrorReport(
        code=error.code,
        message=printable(error.message)[:TEXT_LIMIT],
        retryable=error.retryable,
        basis=tuple(map(show_name, islice(named, LIST_LIMIT))) if named is not None else msgspec.UNSET,
    )


def project_records(state: State) -> Iterator[d.Records]:
    """Yield the counts of each stream that sent or lost a record, in the order of the scope."""
    for name, plan in state.plan.streams.items() if state.plan else ():
        if plan.emitted or plan.rejected:
            yield d.Records(
                stream=show_name(name),
                emitted=plan.emitted,
                accepted=plan.accepted,
                discarded=plan.discarded,
                rejected=min(plan.rejected, plan.emitted - plan.discarded),
                deletes=plan.deletes,
            )


def project_skips(state: State) -> Iterator[d.SkipShown]:
    """Yield the first hundred skips, and the newest of each stream where it came later."""
    newest = {skip.entry for skip in state.newest_skips.values()}
    first = {skip.entry for skip in state.skips}
    later = sorted((s for s in state.newest_skips.values() if s.entry not in first), key=lambda s: s.entry)
    for skip in (*state.skips, *later[:LIST_LIMIT]):
        yield _skip(skip, skip.entry in newest)


def project_gaps(state: State) -> Iterator[d.GapShown]:
    """Yield the first hundred gaps, each with the report that lists its key, if one does."""
    answers = Answers(state)
    for gap, message in ((told.gap, told.message) for told in state.gaps.first):
        yield d.GapShown(
            entry=gap.entry,
            stream=show_name(message.stream),
            parent=show_name(gap.parent) if gap.parent is not None else None,
            record_key=show_key(message.record_key) if message.record_key is not None else None,
            reason=printable(message.reason)[:TEXT_LIMIT] if message.reason is not None else None,
            retryable=message.retryable,
            accounted_by=answers.report_for(gap),
        )


def project_interactions(state: State) -> Iterator[d.InteractionShown]:
    """Yield the first hundred questions; what was answered is a secret and is in no log."""
    for asked in state.asked:
        yield d.InteractionShown(
            entry=asked.entry,
            request_id=printable(asked.message.request_id)[:TEXT_LIMIT] if asked.message else None,
            kind=asked.message.kind if asked.message else None,
            answer_entry=asked.answer_entry,
            answer=asked.answer.status if asked.answer else None,
            timed_out=asked.timed_out,
        )


def project_facts(state: State) -> Iterator[d.FactShown]:
    """Yield the first hundred OBSERVATIONs that were accepted."""
    for id_, kept in islice(state.connector_facts.items(), LIST_LIMIT):
        yield d.FactShown(entry=kept.entry, id=id_, fact=kept.fact, state=kept.state, resolves=kept.resolves)


def project_recovery(state: State) -> d.Recovery | None:
    """Show what the owner is asked to do.

    A hint of DONE outranks the newest hint of a skip; where neither hints, only DONE's own ``retryable``
    says anything. A DONE that was rejected says nothing. No code, message or reason is ever read for it
    (hint/4..5). Where a switch makes a hint a suggestion, its gate says whether it is acted on, and
    ``retryable`` alone asks for nothing.
    """
    rejected = any(one.entry == state.done_entry for one in state.violations)
    error = state.done.error if state.done is not None and not rejected else None
    if error is not None and error.recovery_hint is not None:
        return _recovery(state, error.recovery_hint, state.done_entry or 0)
    hinted = [skip for skip in state.newest_skips.values() if skip.message.recovery_hint is not None]
    if hinted:
        newest = max(hinted, key=lambda skip: skip.entry)
        assert newest.message.recovery_hint is not None
        return _recovery(state, newest.message.recovery_hint, newest.entry)
    if error is not None and error.retryable and state.ruleset.switches.recovery_hints == "authoritative":
        return d.Recovery(
            action="retry_by_runtime", retryable=True, source="retryable", entry=state.done_entry or 0
        )
    return None


def project_unknowns(state: State, fate: Fate) -> Iterator[d.UnknownFact]:
    """Yield what no entry shows and nothing is assumed about."""
    over = fate.status not in ("running", "refused")
    exited = state.exit_in_time
    if over and (exited is None or (exited.code is None and exited.signal is None)):
        yield d.UnknownFact(what="exit_status")
    if over and state.staged and state.last_record and state.durable_through is None:
        yield d.UnknownFact(what="durability")
    if state.opened is not None and state.opened.offered is None:
        yield d.UnknownFact(what="bindings")
    if state.opened is None or state.manifest is None:
        yield d.UnknownFact(what="manifest")
    elif state.start_entry is None:
        yield d.UnknownFact(what="scope")
    trigger = state.opened.trigger if state.opened is not None else None
    if trigger is not None and trigger.kind == "continuous" and trigger.streams is None:
        yield d.UnknownFact(what="grant")
    if state.erased.entries.total:
        yield d.UnknownFact(what="erased", entries=tuple(state.erased.entries.first))


def project_findings(state: State, fate: Fate) -> Iterator[Finding]:
    """Yield every finding: those kept while folding, then what the end rules find."""
    for tally in state.tallies.values():
        yield tally.finding()
    for ask in state.ruleset.end_rules:
        for tally in ask(state, fate.status):
            yield tally.finding()


def _skip(skip: Skip, newest: bool) -> d.SkipShown:
    message = skip.message
    hint, slice_ = message.recovery_hint, message.continuation
    return d.SkipShown(
        entry=skip.entry,
        stream=show_name(message.stream) if message.stream is not None else None,
        reason=printable(message.reason)[:TEXT_LIMIT] if message.reason is not None else None,
        recovery_hint=d.HintShown(action=hint.action, retryable=hint.retryable) if hint else None,
        continuation=d.ContinuationShown(
            boundary=printable(slice_.boundary)[:TEXT_LIMIT],
            slice_start=slice_.slice_start,
            slice_end=slice_.slice_end,
            considered=slice_.considered,
            covered=slice_.covered,
        )
        if slice_
        else None,
        newest=newest,
    )


def _recovery(state: State, hint: RecoveryHint, entry: int) -> d.Recovery:
    is_gated = state.ruleset.switches.recovery_hints == "gated"
    return d.Recovery(
        action=hint.action,
        retryable=hint.retryable,
        source="recovery_hint",
        entry=entry,
        gate=("holds" if _gate_holds(state, hint) else "not_met") if is_gated else msgspec.UNSET,
    )


def _gate_holds(state: State, hint: RecoveryHint) -> bool:
    """Tell whether what the runtime recorded lets a hint be acted on (hint/gate).

    Reading: any rejected submission of the run bears out a wish for new credentials, whichever question it
    answered, and whatever was accepted later.
    """
    if hint.action == "refresh_credentials":
        return bool(state.submissions_rejected)
    return hint.action in ("not_retriable", "unknown")


def _bounded(count: int) -> int | str:
    return count if count < 2**63 else str(count)[:100]
