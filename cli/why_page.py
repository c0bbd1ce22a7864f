"""The page that ``why`` prints: written to be read at three in the morning.

What decides comes first, what is at fault is named, what really happened is loud where it differs, and what
nobody knows is said.
"""

from collections.abc import Mapping

from cli.page import Page
from ledger.core.instants import write_micros
from ledger.replay.explain import CheckpointSaid, EntryShown, Explanation, ReasonSaid, Said
from ledger.replay.history import Standing

_STATUS_STYLE = {"succeeded": "good", "running": "warn", "indeterminate": "warn"}
_VERDICT_STYLE = {"commit": "good", "withhold": "bad", "pending": "warn", "indeterminate": "warn"}
_OUTCOME = {
    "committed": "the store took it",
    "failed": "the store refused it",
    "not_attempted": "it was never tried",
    None: "nothing was recorded of it",
}
KEYS_SHOWN = 10
FINDINGS_SHOWN = 12


def write_why(page: Page, explained: Explanation) -> None:
    """Write an explanation on a page."""
    page.line(f"{explained.run_id}  {explained.program}", "bold")
    style = _STATUS_STYLE.get(explained.status, "bad")
    page.line(f"{explained.status.upper()} under {explained.ruleset}, {explained.through} entries", style)
    _write_cause(page, explained)
    _write_overview(page, explained)
    for one in explained.differs:
        page.blank()
        _write_loud(page, one)
    for checkpoint in explained.checkpoints:
        went_well = checkpoint.decision == "commit" and checkpoint.outcome in ("committed", None)
        if not went_well or checkpoint.differs:
            page.blank()
            _write_checkpoint(page, checkpoint)
    _write_findings(page, explained)
    _write_unknowns(page, explained)


def _write_cause(page: Page, explained: Explanation) -> None:
    if explained.cause is None:
        return
    page.blank()
    cause = explained.cause
    page.line(f"Cause: {cause.sentence} {_clause(cause.clause)}", "bold", hang=2)
    if cause.demand:
        owed = f" (owed by the {cause.by})" if cause.by in ("program", "runtime") else ""
        page.line(f"{cause.demand}{owed}", "dim", indent=2, hang=2)
    for entry in cause.entries[:KEYS_SHOWN]:
        _write_entry(page, entry, 2)
    for miss in explained.cause_near_misses:
        _write_near_miss(page, miss, 2)
    if explained.recovery is not None:
        page.line(f"What the connector asks for: {explained.recovery}", indent=2, hang=2)


def _write_overview(page: Page, explained: Explanation) -> None:
    page.blank()
    if not explained.checkpoints:
        page.line("No checkpoint was staged.")
        return
    rows = [("CHECKPOINT", "RULES SAY", "WHAT HAPPENED", "CURSOR", "COVERS")]
    for one in explained.checkpoints:
        cursor = f"entry {one.cursor_entry}" + (f" of {one.staged_total}" if one.staged_total > 1 else "")
        happened = (one.outcome or "not recorded").replace("_", " ")
        rows.append((one.stream, one.decision, happened, cursor, ", ".join(one.covers) or "itself"))
    styles = [_VERDICT_STYLE.get(one.decision, "") for one in explained.checkpoints]
    page.columns(rows, styles=styles)


def _write_checkpoint(page: Page, one: CheckpointSaid) -> None:
    verb = {"commit": "COMMIT", "withhold": "WITHHOLD", "pending": "PENDING"}.get(one.decision, "CANNOT TELL")
    page.line(f"{verb} {one.stream}", _VERDICT_STYLE.get(one.decision, ""))
    for discrepancy in one.differs:
        _write_loud(page, discrepancy)
    for reason in one.reasons:
        _write_reason(page, reason)
    page.line(f"What happened: {_OUTCOME[one.outcome]}.", indent=2, hang=2)
    if one.standing is not None:
        _write_standing(page, one, one.standing)
    if one.retry and one.decision != "commit":
        page.line("The stream stays eligible: the next run may stage and commit it.", indent=2, hang=2)
    elif one.retry:
        page.line("It is not committed yet and stays eligible for the next run.", indent=2, hang=2)


def _write_reason(page: Page, reason: ReasonSaid) -> None:
    page.line(f"{reason.sentence} {_clause(reason.clause)}", "bold", indent=2, hang=2)
    if reason.demand:
        page.line(reason.demand, "dim", indent=4, hang=2)
    if reason.keys:
        more = reason.keys_total - len(reason.keys[:KEYS_SHOWN])
        shown = ", ".join(reason.keys[:KEYS_SHOWN]) + (f" and {more} more" if more else "")
        page.line(f"keys at fault: {shown}", "name", indent=4, hang=2)
    for entry in reason.entries[:KEYS_SHOWN]:
        _write_entry(page, entry, 4)
    for record in reason.records[:KEYS_SHOWN]:
        _write_entry(page, record, 4)
    for miss in reason.near_misses[:KEYS_SHOWN]:
        _write_near_miss(page, miss, 4)
    if reason.keys and not reason.near_misses:
        page.line("no DETAIL_GAP of this run comes near them", "dim", indent=4, hang=2)


def _write_standing(page: Page, one: CheckpointSaid, standing: Standing) -> None:
    runs = _count(standing.unmoved_runs, "run")
    if standing.last_commit is None:
        known = "in this ledger" if standing.all_seen else f"in the last {standing.runs_seen} runs"
        page.line(f"It has never moved {known} ({runs} staged it).", indent=2, hang=2)
        return
    commit = standing.last_commit
    if standing.unmoved_since is not None:
        since = f"It has not moved since {standing.unmoved_since}: {runs} staged it in vain."
        page.line(
            "This is the first run in which it does not move." if standing.unmoved_runs == 1 else since,
            indent=2,
        )
    when = f" of {write_micros(commit.opened_at)[:19]}Z" if commit.opened_at else ""
    how = "was last committed" if commit.basis == "recorded" else "was last committed by the rules"
    cursor = f": {one.last_cursor}" if one.last_cursor else ""
    page.line(
        f"It {how} in {commit.run_id}{when}, cursor of entry {commit.cursor_entry}{cursor}", indent=2, hang=2
    )


def _write_findings(page: Page, explained: Explanation) -> None:
    if not explained.findings:
        return
    page.blank()
    page.line("Also found, deciding nothing", "bold")
    for one in explained.findings[:FINDINGS_SHOWN]:
        numbers = ", ".join(str(entry.seq) for entry in one.entries)
        where = f" (entry {numbers})" if numbers else ""
        page.line(f"{one.sentence}{where} {_clause(one.clause)}", indent=2, hang=2)
    if len(explained.findings) > FINDINGS_SHOWN:
        page.line(f"and {len(explained.findings) - FINDINGS_SHOWN} more; see `show`", "dim", indent=2)


def _write_unknowns(page: Page, explained: Explanation) -> None:
    if explained.unknowns:
        page.blank()
        page.line("Not known, and not assumed", "bold")
        for one in explained.unknowns:
            page.line(one.sentence, "dim", indent=2, hang=2)


def _write_loud(page: Page, one: Said) -> None:
    page.line(f"!! {one.sentence}", "loud", indent=2, hang=3)
    for entry in one.entries[:KEYS_SHOWN]:
        _write_entry(page, entry, 4)


def _write_near_miss(page: Page, miss: Said, indent: int) -> None:
    page.line(f"near miss: {miss.sentence}", "warn", indent=indent, hang=2)
    for entry in miss.entries:
        _write_entry(page, entry, indent + 2)


def _write_entry(page: Page, entry: EntryShown, indent: int) -> None:
    what = entry.type or f"unreadable line of the {entry.origin}"
    page.line(f"entry {entry.seq}  {what}  {_facts(entry.facts)}".rstrip(), indent=indent, hang=4)


def _facts(facts: Mapping[str, str]) -> str:
    return " · ".join(f"{name} {value}" for name, value in facts.items())


def _clause(clause: str) -> str:
    return f"[{clause}]" if clause else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
