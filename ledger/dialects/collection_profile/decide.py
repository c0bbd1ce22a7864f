"""The decision: fate, checkpoints, outcomes and projections, put together. It only reads the state."""

import msgspec

from ledger.core import decision as d
from ledger.core.findings import LIST_LIMIT, Violation, show_name
from ledger.dialects.collection_profile import projections
from ledger.dialects.collection_profile.coverage import project_coverage
from ledger.dialects.collection_profile.failures import put_down_to
from ledger.dialects.collection_profile.fate import resolve_fate
from ledger.dialects.collection_profile.outcomes import Became, discrepancies, outcomes, store_failure, sum_up
from ledger.dialects.collection_profile.ruleset import FOLD_VERSION
from ledger.dialects.collection_profile.state import State
from ledger.dialects.collection_profile.weighing import Weighed, weigh

DIALECT_NAME = "collection-profile"


def decide(state: State) -> d.Decision:
    """Decide the run at the state's last entry, under the state's ruleset."""
    knows_facts = state.ruleset.switches.connector_facts == "known"
    fate = resolve_fate(state)
    weighed = weigh(state, fate)
    became = outcomes(state, weighed)
    checkpoints = {s: _checkpoint(state, s, one, became[s]) for s, one in weighed.items()}
    status, cause = fate.status, fate.cause
    failed_write = store_failure(state, weighed)
    if status == "succeeded" and failed_write is not None:
        status, cause = failed_write
    return d.Decision(
        run_id=state.opened.run_id if state.opened else "",
        dialect=DIALECT_NAME,
        ruleset=d.RulesetName(id=state.ruleset.id, digest=state.ruleset.digest),
        fold=FOLD_VERSION,
        through=state.through,
        subject=_subject(state),
        status=status,
        cause=cause,
        failure=put_down_to(state, status, cause),
        certified=fate.certified,
        terminal=projections.project_terminal(state),
        checkpoints=tuple(checkpoints.values()),
        commit=sum_up(state, weighed, became),
        coverage=tuple(project_coverage(state, fate, checkpoints)),
        records=tuple(projections.project_records(state)),
        violations=_violations(state),
        findings=tuple(projections.project_findings(state, fate)),
        discrepancies=tuple(discrepancies(state, fate, weighed)),
        unknowns=tuple(projections.project_unknowns(state, fate)),
        skips=tuple(projections.project_skips(state)),
        gaps=tuple(projections.project_gaps(state)),
        interactions=tuple(projections.project_interactions(state)),
        facts=tuple(projections.project_facts(state)) if knows_facts else msgspec.UNSET,
        recovery=projections.project_recovery(state),
        totals=d.Totals(
            violations=len(state.refusals) + len(state.violations),
            skips=state.skips_total,
            gaps=state.gaps.total,
            interactions=state.asked_total,
            facts=len(state.connector_facts) if knows_facts else msgspec.UNSET,
        ),
    )


def _checkpoint(state: State, stream: str, weighed: Weighed, became: Became) -> d.Checkpoint:
    staged = state.staged[stream]
    covers = state.plan.covers.get(stream, ()) if state.plan else ()
    in_scope = state.plan.streams if state.plan else {}
    return d.Checkpoint(
        stream=show_name(stream),
        covers=tuple(show_name(name) for name in covers if name != stream and name in in_scope),
        staged=tuple(entry for entry, _ in staged.entries),
        staged_total=staged.total,
        cursor_entry=staged.cursor_entry,
        decision=weighed.verdict,
        outcome=became.outcome,
        outcome_entries=became.entries,
        committed_cursor=became.cursor,
        reasons=weighed.first_reasons(),
        reasons_total=weighed.reasons_total(),
    )


def _subject(state: State) -> d.Subject:
    opened, reading = state.opened, state.manifest
    return d.Subject(
        program=opened.program if opened else "",
        version=reading.version if reading else "",
        manifest=opened.manifest if opened else None,
        trigger=opened.trigger.kind if opened else "",
        grant_id=opened.trigger.grant_id if opened else None,
        namespace=opened.namespace if opened else None,
        start=state.start_entry,
    )


def _violations(state: State) -> tuple[Violation, ...]:
    refusals = tuple(
        Violation(entry=entry, code=fault.code, clause=fault.clause, by=fault.by, detail=fault.detail)
        for entry, fault in state.refusals[:LIST_LIMIT]
    )
    return (*refusals, *state.violations)
