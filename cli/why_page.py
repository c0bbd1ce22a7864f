"""The page that ``why`` prints: written to be read at three in the morning.

What decides comes first, what is at fault is named, what really happened is loud where it differs, and what
nobody knows is said. Nothing floods: of whatever there may be thousands of, the first are shown and the rest
are counted.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from cli.page import Page, count_of, cut, entries_of, some_of, style_of, visible
from ledger.core.instants import write_micros
from ledger.replay.explain import CheckpointSaid, EntryShown, Explanation, ReasonSaid, Said
from ledger.replay.history import LastCommit

_STATUS_STYLE = {"succeeded": "good", "running": "warn", "indeterminate": "warn"}
_VERB = {"commit": "COMMIT", "withhold": "WITHHOLD", "pending": "PENDING", "indeterminate": "CANNOT TELL"}
_OUTCOME = {
    "committed": "the store took it",
    "failed": "the store refused it",
    "not_attempted": "it was never tried",
    None: "the log does not say",
}
_BASIS = {"recorded": "its commit is recorded", "rules": "as the rules say; no commit is recorded"}
_WHOSE_WORD = {
    "runtime": " So the runtime recorded.",
    "program": " That is the connector's word alone, and unlocks nothing.",
}
_ALL = "`runledger show -o json` lists all"
DIFFERS_SHOWN = 10
ROWS_SHOWN = 40
CHECKPOINTS_SHOWN = 20
REASONS_SHOWN = 12
FINDINGS_SHOWN = 12
KEYS_SHOWN = 10
KEY_WIDTH = 80
NEAR_MISSES_SHOWN = 4


def write_why(page: Page, explained: Explanation) -> None:
    """Write an explanation on a page."""
    page.line(f"{explained.run_id}  {explained.program or '(program not known)'}", "bold")
    differs = explained.differs or any(one.differs for one in explained.checkpoints)
    style = "bad" if differs else _STATUS_STYLE.get(explained.status, "bad")
    opened = f", opened {explained.opened[:19]}Z" if explained.opened else ""
    size = count_of(explained.through, "entry", "entries")
    page.line(f"{explained.status.upper()} under {explained.ruleset}, {size}{opened}", style)
    _write_differs(page, explained)
    _write_cause(page, explained)
    _write_overview(page, explained)
    _write_checkpoints(page, explained)
    _write_findings(page, explained)
    _write_unknowns(page, explained)
    _write_others(page, explained)


def is_well(checkpoint: CheckpointSaid) -> bool:
    """Tell a checkpoint that the rules commit and of which nothing else is known to have happened."""
    committed = checkpoint.decision == "commit" and checkpoint.outcome in ("committed", None)
    return committed and not checkpoint.differs


def _write_differs(page: Page, explained: Explanation) -> None:
    """Show first where what happened is not what the rules say."""
    differs = [
        *explained.differs,
        *(one for checkpoint in explained.checkpoints for one in checkpoint.differs),
    ]
    if differs:
        page.blank()
    for one in differs[:DIFFERS_SHOWN]:
        page.line(f"!! {one.sentence}", "loud", hang=3)
        _write_entries(page, one.entries, one.entries_total, 3)
    more = explained.differs_total - len(explained.differs) + len(differs) - DIFFERS_SHOWN
    if more > 0:
        page.line(f"and {more} more; {_ALL}", "loud")


def _write_cause(page: Page, explained: Explanation) -> None:
    if explained.cause is None:
        return
    page.blank()
    cause = explained.cause
    page.line(f"Cause: {cause.sentence} {_clause(cause.clause)}", "bold", hang=2)
    if cause.demand:
        owed = f" (owed by the {cause.by})" if cause.by in ("program", "runtime") else ""
        page.line(f"{cause.demand}{owed}", "dim", indent=2, hang=2)
    _write_entries(page, cause.entries, cause.entries_total, 2)
    if cause.demand and any(entry.seq < explained.through for entry in cause.entries[:1]):
        page.line("Lines after it stay in the log and change nothing.", "dim", indent=2, hang=2)
    for miss in explained.cause_near_misses:
        _write_near_miss(page, miss, 2)
    _write_failure(page, explained)
    if explained.recovery is not None and explained.recovery_gate is msgspec.UNSET:
        page.line(f"What the connector asks for: {explained.recovery}", indent=2, hang=2)
    elif explained.recovery is not None:
        acted_on = "may be acted on" if explained.recovery_gate == "holds" else "is not acted on"
        suggested = f"What the connector suggests: {explained.recovery}, which {acted_on} [hint/gate]"
        page.line(suggested, indent=2, hang=2)


def _write_failure(page: Page, explained: Explanation) -> None:
    """Say what a failed run is put down to, and on whose word."""
    failure = explained.failure
    if failure is msgspec.UNSET:
        return
    said = f"{failure.sentence}{whose_word(failure.code, failure.by)} {_clause(failure.clause)}"
    page.line(f"Put down to {failure.code}: {said}", indent=2, hang=2)
    above = explained.cause.entries if explained.cause is not None else ()
    if not all(entry in above for entry in failure.entries):
        _write_entries(page, failure.entries, failure.entries_total, 4)


def whose_word(cause: str, by: str) -> str:
    """Say on whose word a failure is put down to something, '' where it is put down to nothing known."""
    return "" if cause == "unknown" else _WHOSE_WORD[by]


def _write_overview(page: Page, explained: Explanation) -> None:
    page.blank()
    checkpoints = list(explained.checkpoints)
    if not checkpoints:
        page.line("No checkpoint was staged.")
        return
    if len(checkpoints) > ROWS_SHOWN:
        checkpoints.sort(key=is_well)
    shown = checkpoints[:ROWS_SHOWN]
    rows: list[tuple[str, ...]] = [("CHECKPOINT", "RULES SAY", "WHAT HAPPENED", "CURSOR", "COVERS")]
    for one in shown:
        newest = f", newest of {one.staged_total}" if one.staged_total > 1 else ""
        happened = (one.outcome or "not recorded").replace("_", " ")
        cursor = f"entry {one.cursor_entry}{newest}"
        rows.append((one.stream, one.decision, happened, cursor, some_of(one.covers[:5], len(one.covers))))
    if not any(one.covers for one in shown):
        rows = [row[:-1] for row in rows]
    page.columns(rows, styles=[style_of(one.decision, one.outcome) for one in shown])
    if explained.checkpoints_total > len(shown):
        page.line(f"and {explained.checkpoints_total - len(shown)} more; {_ALL}", "dim")
    if all(map(is_well, checkpoints)) and explained.asked is None:
        page.blank()
        page.line("Nothing is withheld.", "good")


def _write_checkpoints(page: Page, explained: Explanation) -> None:
    asked = explained.asked
    if asked is not None and all(one.stream != asked for one in explained.checkpoints):
        page.blank()
        own = [one.stream for one in explained.checkpoints]
        theirs = some_of(own[:CHECKPOINTS_SHOWN], len(own))
        page.line(f"{asked} has no checkpoint of its own here; it is covered by {theirs}.", hang=2)
    told = [one for one in explained.checkpoints if asked is not None or not is_well(one)]
    above = {entry.seq for entry in explained.cause.entries} if explained.cause is not None else set()
    before: CheckpointSaid | None = None
    for checkpoint in told[:CHECKPOINTS_SHOWN]:
        page.blank()
        if before is not None and _is_alike(checkpoint, before):
            style = style_of(checkpoint.decision, checkpoint.outcome)
            page.line(f"{_VERB[checkpoint.decision]} {checkpoint.stream}, for the same reason", style)
            _write_standing(page, checkpoint, explained.run_id)
        else:
            _write_checkpoint(page, checkpoint, explained.run_id, above)
        before = checkpoint
    if len(told) > CHECKPOINTS_SHOWN:
        untold = explained.checkpoints_total - len(explained.checkpoints)
        more = f"{len(told) - CHECKPOINTS_SHOWN} more" + (" at least" if untold else "")
        page.blank()
        page.line(f"and {more}; `runledger why RUN STREAM` explains one of them", "dim")


def _is_alike(one: CheckpointSaid, before: CheckpointSaid) -> bool:
    """Tell a checkpoint that is decided as the one before is, for reasons that lie in the run."""
    of_the_run = bool(one.reasons) and all(reason.stream is None for reason in one.reasons)
    return of_the_run and (one.decision, one.outcome, one.reasons) == (
        before.decision,
        before.outcome,
        before.reasons,
    )


def _write_checkpoint(page: Page, one: CheckpointSaid, run_id: str, above: Collection[int]) -> None:
    page.line(f"{_VERB[one.decision]} {one.stream}", style_of(one.decision, one.outcome))
    for reason in one.reasons[:REASONS_SHOWN]:
        _write_reason(page, reason, above)
    if one.reasons_total > REASONS_SHOWN:
        page.line(f"and {one.reasons_total - REASONS_SHOWN} more reasons", "dim", indent=2)
    if one.decision == "pending":
        page.line("The run has not ended, so nothing is decided yet.", indent=2, hang=2)
    if one.decision != "pending" or one.outcome is not None:
        page.line(f"What happened: {_OUTCOME[one.outcome]}.", indent=2, hang=2)
    _write_standing(page, one, run_id)
    if one.retry and one.decision != "commit":
        page.line("The stream stays eligible: the next run may stage and commit it.", indent=2, hang=2)
    elif one.retry and one.outcome is not None:
        page.line("It is not committed yet and stays eligible for the next run.", indent=2, hang=2)


def _write_reason(page: Page, reason: ReasonSaid, above: Collection[int]) -> None:
    page.line(f"{reason.sentence} {_clause(reason.clause)}", "bold", indent=2, hang=2)
    if reason.demand:
        page.line(reason.demand, "dim", indent=4, hang=2)
    if reason.keys:
        keys = [cut(visible(key), KEY_WIDTH) for key in reason.keys[:KEYS_SHOWN]]
        page.line(f"keys at fault: {some_of(keys, reason.keys_total)}", "name", indent=4, hang=2)
    if not reason.entries:
        page.line("no entry: the reason is what the log does not hold", "dim", indent=4, hang=2)
    elif all(entry.seq in above for entry in reason.entries):
        numbers = entries_of([entry.seq for entry in reason.entries], reason.entries_total)
        page.line(f"{numbers}, shown above", indent=4, hang=2)
    else:
        _write_entries(page, reason.entries, reason.entries_total, 4)
    _write_entries(page, reason.records[:KEYS_SHOWN], len(reason.records), 4)
    misses = one_of_each_first(reason.near_misses)
    for miss in misses[:NEAR_MISSES_SHOWN]:
        _write_near_miss(page, miss, 4)
    if len(misses) > NEAR_MISSES_SHOWN:
        page.line(f"and {len(misses) - NEAR_MISSES_SHOWN} more near misses", "dim", indent=4)
    if reason.keys and not reason.near_misses:
        them = "it" if reason.keys_total == 1 else "any of them"
        page.line(f"no DETAIL_GAP of this run names {them}", "dim", indent=4, hang=2)


def one_of_each_first(misses: Sequence[Said]) -> list[Said]:
    """Return all near misses, one of each kind first."""
    first = {miss.code: miss for miss in reversed(misses)}
    return [
        *(miss for miss in misses if first[miss.code] is miss),
        *(m for m in misses if first[m.code] is not m),
    ]


def _write_standing(page: Page, one: CheckpointSaid, run_id: str) -> None:
    standing = one.standing
    if standing is None:
        return
    commit = standing.last_commit
    it = "It" if one.outcome is not None else "By the rules it"
    if commit is None:
        known = "up to this run" if standing.all_seen else f"in the {standing.runs_seen} runs up to this one"
        staged = "this is the first run that staged it"
        if standing.unmoved_runs > 1:
            staged = f"{standing.unmoved_runs} runs staged it, {standing.unmoved_since} the first"
        page.line(f"{it} has never moved {known}; {staged}.", indent=2, hang=2)
        return
    if standing.unmoved_runs == 1:
        page.line(f"{it} does not move; this is the first such run.", indent=2, hang=2)
    elif standing.unmoved_runs:
        runs = f"{standing.unmoved_runs} runs staged it in vain, {standing.unmoved_since} the first"
        page.line(f"{it} does not move: {runs}.", indent=2, hang=2)
    basis = _BASIS[commit.basis]
    page.line(f"It last moved in {_named(commit, run_id)} ({basis}):", indent=2, hang=2)
    cursor = f": {one.last_cursor}" if one.last_cursor else ""
    page.line(f"cursor of entry {commit.cursor_entry}{cursor}", indent=4, hang=2)


def _named(commit: LastCommit, run_id: str) -> str:
    if commit.run_id == run_id:
        return "this run"
    return commit.run_id + (f" of {write_micros(commit.opened_at)[:19]}Z" if commit.opened_at else "")


def _write_findings(page: Page, explained: Explanation) -> None:
    if not explained.findings:
        return
    page.blank()
    page.line("Also found, deciding nothing", "bold")
    for one in explained.findings[:FINDINGS_SHOWN]:
        numbers = entries_of([entry.seq for entry in one.entries], one.entries_total)
        where = f" ({numbers})" if numbers else ""
        page.line(f"{one.sentence}{where} {_clause(one.clause)}", indent=2, hang=2)
    more = explained.findings_total - FINDINGS_SHOWN
    if more > 0:
        page.line(f"and {more} more; {_ALL}", "dim", indent=2)


def _write_unknowns(page: Page, explained: Explanation) -> None:
    if explained.unknowns:
        page.blank()
        page.line("Not known, and not assumed", "bold")
    for one in explained.unknowns:
        page.line(one.sentence, "dim", indent=2, hang=2)


def _write_others(page: Page, explained: Explanation) -> None:
    """Say, in a line each, what the other rulesets decide."""
    if explained.others:
        page.blank()
    for other in explained.others:
        page.line(other.sentence, "dim" if other.same else "warn", hang=2)


def _write_near_miss(page: Page, miss: Said, indent: int) -> None:
    page.line(f"near miss: {miss.sentence}", "warn", indent=indent, hang=2)
    _write_entries(page, miss.entries, miss.entries_total, indent + 2)


def _write_entries(page: Page, entries: Collection[EntryShown], total: int, indent: int) -> None:
    for entry in entries:
        what = entry.type or f"unreadable line of the {entry.origin}"
        page.line(f"entry {entry.seq}  {what}  {_facts(entry.facts)}".rstrip(), indent=indent, hang=4)
    if entries and total > len(entries):
        page.line(f"and {total - len(entries)} more", "dim", indent=indent)


def _facts(facts: Mapping[str, str]) -> str:
    return " · ".join(f"{name} {value}" for name, value in facts.items())


def _clause(clause: str) -> str:
    return f"[{clause}]" if clause else ""
