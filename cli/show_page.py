"""The page that ``show`` prints: the decision about a run, as people read it."""

from collections.abc import Iterable
from itertools import islice

import msgspec

from cli.page import Page, entries_of, some_of, style_of
from cli.why_page import whose_word
from ledger.core.decision import Checkpoint, Decision, Terminal
from ledger.core.wording import Catalogue

LISTED = 20
"""Gaps, skips and questions that are listed, of each at most, before the rest are counted."""

ROWS_LISTED = 500
"""Rows of a table, and findings, that are listed before the rest are counted."""

IDS_NAMED = 16
"""Ids of facts that DONE's error rests on which are named before the rest are counted."""

REASONS_NAMED = 5
"""Reasons of one checkpoint that are named before the rest are counted."""


def write_decision(page: Page, decision: Decision, catalogue: Catalogue) -> None:
    """Write a ``run-decision/1`` on a page."""
    _write_head(page, decision, catalogue)
    _write_checkpoints(page, decision)
    _write_table(
        page,
        "COVERAGE OF",
        ("UNDER", "REQUIRED", "HYDRATED", "GAPPED", "UNACCOUNTED", "CONDITION", "CHECKPOINT", "EVIDENCE"),
        (
            (
                row.stream,
                row.parent,
                str(row.required),
                str(row.hydrated),
                str(row.gapped),
                str(row.unaccounted),
                row.condition,
                (row.outcome or row.checkpoint or "not staged").replace("_", " "),
                row.evidence,
            )
            for row in decision.coverage
        ),
        len(decision.coverage),
    )
    _write_table(
        page,
        "RECORDS OF",
        ("EMITTED", "ACCEPTED", "DISCARDED", "REJECTED", "DELETES"),
        (
            (r.stream, str(r.emitted), str(r.accepted), str(r.discarded), str(r.rejected), str(r.deletes))
            for r in decision.records
        ),
        len(decision.records),
    )
    _write_lists(page, decision)
    _write_said(page, decision, catalogue)


def _write_head(page: Page, decision: Decision, catalogue: Catalogue) -> None:
    subject, terminal = decision.subject, decision.terminal
    page.line(
        f"{decision.run_id}  {subject.program or '(program not known)'} {subject.version}".rstrip(), "bold"
    )
    style = "good" if decision.status == "succeeded" and not decision.discrepancies else "bad"
    page.line(f"{decision.status.upper()} under {decision.ruleset.id}", style)
    if decision.cause is not None:
        cause = decision.cause
        _labelled(page, "cause", catalogue.cause(cause.code, cause.detail), cause.entries, cause.clause)
    namespace = subject.namespace if subject.namespace is not None else "none (single use)"
    grant = f", grant {subject.grant_id}" if subject.grant_id else ""
    page.line(f"trigger    {subject.trigger}{grant}, namespace {namespace}", hang=11)
    start = f"START at {subject.start}" if subject.start is not None else "no START"
    page.line(f"entries    {decision.through}, {start}", hang=11)
    page.line(f"terminal   {_terminal(terminal, violated=bool(decision.violations))}", hang=11)
    if decision.failure is not msgspec.UNSET:
        failure = decision.failure
        sentence = (
            f"{failure.cause}: {catalogue.failure(failure.cause)}{whose_word(failure.cause, failure.by)}"
        )
        _labelled(page, "put down", sentence, failure.entries, "failure/cause")
    if decision.recovery is not None:
        asked = decision.recovery
        acted_on = {"holds": ", may be acted on", "not_met": ", is not acted on"}.get(str(asked.gate), "")
        page.line(f"recovery   {asked.action} (entry {asked.entry}){acted_on}", hang=11)


def _terminal(terminal: Terminal, *, violated: bool) -> str:
    if terminal.entry is None:
        done = "no DONE before the violation" if violated else "no DONE"
    else:
        done = f"DONE {terminal.status or 'unreadable'} at entry {terminal.entry}"
        done += f", records_emitted {terminal.records_emitted}" if terminal.status is not None else ""
    ended = "exit not observed"
    if terminal.exit is not None:
        ended = f"ended by {terminal.exit.signal}" if terminal.exit.signal else f"exit {terminal.exit.code}"
    error = ""
    if terminal.error is not None:
        error = f"; error {terminal.error.code or 'without code'}: {terminal.error.message}"
        if terminal.error.basis:
            basis = terminal.error.basis
            error += f" (rests on {some_of(basis[:IDS_NAMED], len(basis))})"
    return f"{done}; RECORDs counted: {terminal.counted}; {ended}{error}"


def _write_checkpoints(page: Page, decision: Decision) -> None:
    checkpoints = list(decision.checkpoints)
    if len(checkpoints) > ROWS_LISTED:
        checkpoints.sort(key=lambda one: one.decision == "commit" and one.outcome in ("committed", None))
    _write_table(
        page,
        "CHECKPOINT",
        ("RULES SAY", "WHAT HAPPENED", "CURSOR", "STAGED", "REASONS"),
        (
            (
                one.stream,
                one.decision,
                (one.outcome or "not recorded").replace("_", " "),
                f"entry {one.cursor_entry}",
                str(one.staged_total),
                _reasons(one),
            )
            for one in checkpoints
        ),
        len(checkpoints),
        [style_of(one.decision, one.outcome) for one in checkpoints[:ROWS_LISTED]],
    )
    if not decision.checkpoints:
        page.blank()
        page.line("No checkpoint was staged.")


def _write_table(
    page: Page,
    first: str,
    heads: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    total: int,
    styles: Iterable[str] = (),
) -> None:
    table = list(islice(rows, ROWS_LISTED))
    if table:
        page.blank()
        page.columns([(first, *heads), *table], styles=styles)
        _write_rest(page, total)


def _write_rest(page: Page, total: int) -> None:
    if total > ROWS_LISTED:
        page.line(f"and {total - ROWS_LISTED} more; -o json lists all", "dim")


def _reasons(one: Checkpoint) -> str:
    total = len(one.reasons) if isinstance(one.reasons_total, msgspec.UnsetType) else one.reasons_total
    return some_of([f"{reason.code} [{reason.clause}]" for reason in one.reasons[:REASONS_NAMED]], total)


def _write_lists(page: Page, decision: Decision) -> None:
    totals = decision.totals
    if totals.skips or totals.gaps or totals.interactions or decision.facts:
        page.blank()
    for skip in decision.skips[:LISTED]:
        what = f"{skip.stream or 'the run'}: {skip.reason or 'no reason'}"
        _labelled(page, "skip", what, (skip.entry,))
    _write_more(page, "skips", totals.skips)
    for gap in decision.gaps[:LISTED]:
        accounted = (
            f"accounted for by entry {gap.accounted_by}" if gap.accounted_by else "accounts for nothing"
        )
        what = f"{gap.stream} under {gap.parent or 'no parent'}: {gap.record_key or 'no key'}, {accounted}"
        _labelled(page, "gap", what, (gap.entry,))
    _write_more(page, "gaps", totals.gaps)
    for asked in decision.interactions[:LISTED]:
        answer = asked.answer or ("timed out" if asked.timed_out else "no answer")
        _labelled(page, "question", f"{asked.kind or 'erased'}: {answer}", (asked.entry,))
    _write_more(page, "questions", totals.interactions)
    facts = decision.facts or ()
    for seen in facts[:LISTED]:
        state = f", {seen.state}" if seen.state is not None else ""
        resolves = f", resolves {some_of(seen.resolves, len(seen.resolves))}" if seen.resolves else ""
        _labelled(page, "fact", f"{seen.id}: {seen.fact}{state}{resolves}", (seen.entry,))
    _write_more(page, "facts", len(facts))


def _write_more(page: Page, what: str, total: int) -> None:
    if total > LISTED:
        page.line(f"{'':<11}and {total - LISTED} more {what}", "dim")


def _write_said(page: Page, decision: Decision, catalogue: Catalogue) -> None:
    if decision.violations or decision.findings or decision.discrepancies or decision.unknowns:
        page.blank()
    for differing in decision.discrepancies[:ROWS_LISTED]:
        sentence = catalogue.discrepancy(differing.code, differing.detail, differing.stream)
        _labelled(page, "differs", sentence, differing.entries, differing.clause, style="loud")
    _write_rest(page, len(decision.discrepancies))
    for broken in decision.violations[:ROWS_LISTED]:
        sentence = catalogue.fault(broken.code, broken.detail)
        _labelled(page, "violation", sentence, (broken.entry, *broken.entries), broken.clause)
    _write_rest(page, decision.totals.violations)
    for found in decision.findings[:ROWS_LISTED]:
        sentence = catalogue.fault(found.code, found.detail)
        _labelled(page, "finding", sentence, found.entries, found.clause, total=found.entries_total)
    _write_rest(page, len(decision.findings))
    for fact in decision.unknowns:
        _labelled(page, "not known", catalogue.unknown(fact.what), (), style="dim")


def _labelled(
    page: Page,
    label: str,
    text: str,
    entries: tuple[int, ...],
    clause: str = "",
    style: str = "",
    total: int | None = None,
) -> None:
    where = f" ({entries_of(entries, total)})" if entries else ""
    cited = f" [{clause}]" if clause else ""
    page.line(f"{label:<11}{text}{where}{cited}", style, hang=11)
