"""The page that ``show`` prints: the decision about a run, as people read it."""

from collections.abc import Iterable

from cli.page import Page, entries_of, style_of
from ledger.core.decision import Decision, Terminal
from ledger.core.wording import Catalogue

LISTED = 20
"""Gaps, skips and questions that are listed, of each at most, before the rest are counted."""


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
    )
    _write_table(
        page,
        "RECORDS OF",
        ("EMITTED", "ACCEPTED", "DISCARDED", "REJECTED", "DELETES"),
        (
            (r.stream, str(r.emitted), str(r.accepted), str(r.discarded), str(r.rejected), str(r.deletes))
            for r in decision.records
        ),
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
    if decision.recovery is not None:
        page.line(f"recovery   {decision.recovery.action} (entry {decision.recovery.entry})", hang=11)


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
    return f"{done}; RECORDs counted: {terminal.counted}; {ended}{error}"


def _write_checkpoints(page: Page, decision: Decision) -> None:
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
                ", ".join(f"{reason.code} [{reason.clause}]" for reason in one.reasons),
            )
            for one in decision.checkpoints
        ),
        [style_of(one.decision, one.outcome) for one in decision.checkpoints],
    )
    if not decision.checkpoints:
        page.blank()
        page.line("No checkpoint was staged.")


def _write_table(
    page: Page,
    first: str,
    heads: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    styles: Iterable[str] = (),
) -> None:
    table = list(rows)
    if table:
        page.blank()
        page.columns([(first, *heads), *table], styles=styles)


def _write_lists(page: Page, decision: Decision) -> None:
    totals = decision.totals
    if totals.skips or totals.gaps or totals.interactions:
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


def _write_more(page: Page, what: str, total: int) -> None:
    if total > LISTED:
        page.line(f"{'':<11}and {total - LISTED} more {what}", "dim")


def _write_said(page: Page, decision: Decision, catalogue: Catalogue) -> None:
    if decision.violations or decision.findings or decision.discrepancies or decision.unknowns:
        page.blank()
    for differing in decision.discrepancies:
        sentence = catalogue.discrepancy(differing.code, differing.detail, differing.stream)
        _labelled(page, "differs", sentence, differing.entries, differing.clause, style="loud")
    for broken in decision.violations:
        sentence = catalogue.fault(broken.code, broken.detail)
        _labelled(page, "violation", sentence, (broken.entry, *broken.entries), broken.clause)
    for found in decision.findings:
        sentence = catalogue.fault(found.code, found.detail)
        _labelled(page, "finding", sentence, found.entries, found.clause, total=found.entries_total)
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
