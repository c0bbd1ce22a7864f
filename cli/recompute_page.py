"""How ``recompute`` is printed: rows as they come for machines, and a page for people.

The page begins with how far the new rules reach, and with whatever that cannot be relied on for; of whatever
there may be thousands, the first are shown.
"""

from collections.abc import Iterator

import msgspec

from cli.options import Common, Output
from cli.page import Page, columns_of, count_of, entries_of, pad, some_of, visible
from cli.recompute_rows import COLUMNS
from cli.recomputing import Recomputed
from cli.render import Row, print_lines, print_rows, print_text
from ledger.replay.impact import Group, Told

KEYS_SHOWN = 5
RULESETS_SHOWN = 3
UNEXERCISED_SHOWN = 20

CELL_LIMIT = 60
"""Columns that a run or a stream is filled up to, so that what comes behind stands under each other."""

_HEADINGS = {
    "checkpoint": "Checkpoints that flip",
    "run": "Runs that end otherwise",
    "order": "Commits in another order",
    "indeterminate": "Open on one side, as something was erased; not guessed",
}


def print_recomputed(common: Common, recomputed: Recomputed, rows: Iterator[Row]) -> None:
    """Print what comes of a recomputation, which goes on while the rows are taken."""
    match common.output:
        case Output.TEXT:
            for _ in rows:
                pass
            page = common.page()
            write_recomputed(page, recomputed)
            print_text(page.text())
        case Output.JSON:
            print_lines(_document(recomputed, rows))
        case Output.JSONL:
            print_lines(map(msgspec.json.encode, rows))
            print_lines([msgspec.json.encode(recomputed.summary())])
        case Output.CSV:
            print_rows(rows, COLUMNS, common)


def _document(recomputed: Recomputed, rows: Iterator[Row]) -> Iterator[bytes]:
    """Yield the lines of one JSON object: the summary, then every difference."""
    held: bytes | None = None
    yield b'{"differences":['
    for row in rows:
        if held is not None:
            yield held + b","
        held = msgspec.json.encode(row)
    if held is not None:
        yield held
    yield b'],"summary":' + msgspec.json.encode(recomputed.summary()) + b"}"


def write_recomputed(page: Page, recomputed: Recomputed) -> None:
    """Write how far the new rules reach, what flips and why, and what the history says nothing about."""
    if recomputed.rules_after:
        page.line(_sides(recomputed), "bold")
    page.line(_amount(recomputed))
    page.line(_radius(recomputed), "bad" if recomputed.flips else "good")
    _write_doubts(page, recomputed)
    kind = ""
    for group in recomputed.impact.groups():
        if group.kind != kind:
            kind = group.kind
            page.blank()
            page.line(_HEADINGS[kind], "bold")
        _write_group(page, group, recomputed.demands.get(group.clause, ""))
    _write_evidence(page, recomputed)
    _write_proofs(page, recomputed)


def _sides(recomputed: Recomputed) -> str:
    """Say which rules stand against which; runs may have been recorded under several."""
    after, before = (
        _ids(sorted(recomputed.names(rules))) for rules in (recomputed.rules_after, recomputed.rules_before)
    )
    own = "each run's own: " if len(recomputed.rules_before) > 1 else ""
    return f"{after} against {own}{before or 'nothing'}"


def _ids(rules: list[str]) -> str:
    return some_of(rules[:RULESETS_SHOWN], len(rules))


def _amount(recomputed: Recomputed) -> str:
    """Say how much was gone through: the checkpoints under the old rules, and under the new ones."""
    counted = recomputed.recomputation
    before, now = recomputed.checkpoints_before, recomputed.impact.checkpoints
    checkpoints = count_of(before, "checkpoint") + (f", now {now:,}," if now != before else "")
    runs, entries = count_of(recomputed.runs, "run"), count_of(recomputed.entries, "entry", "entries")
    folded = count_of(counted.folded, "decision")
    return f"{checkpoints} of {runs} ({entries}): {folded} folded, {counted.kept:,} kept."


def _radius(recomputed: Recomputed) -> str:
    radius = recomputed.impact.radius()
    if not radius.runs:
        return "Blast radius: nothing is decided otherwise."
    runs, programs = count_of(radius.runs, "run"), count_of(radius.programs, "program")
    if not radius.checkpoints:
        return f"Blast radius: {runs} of {programs}; no checkpoint."
    checkpoints = count_of(radius.checkpoints, "checkpoint")
    records = count_of(radius.records, "record") if radius.records else "no record"
    them = "it" if radius.checkpoints == 1 else "them"
    return f"Blast radius: {runs} of {programs}; {checkpoints}, with {records} behind {them}."


def _write_group(page: Page, group: Group, demand: str) -> None:
    change = f"{_side(group.before)} → {_side(group.after)}" if group.kind != "order" else "another order"
    count = f"{group.differences:,}" + (f" in {count_of(group.runs, 'run')}" if group.kind != "run" else "")
    clause = f" ({group.clause})" if group.clause else ""
    page.line(f"{change}: {group.code}{clause}, {count}", "name", indent=2, hang=2)
    if demand:
        page.line(demand, "dim", indent=4)
    for told in _told(group):
        page.line(told, indent=4, hang=2)
    more = group.differences - len(group.first)
    if more > 0:
        page.line(f"and {more:,} more: -n 0 prints all, -o jsonl lists them", "dim", indent=4)


def _side(verdict: str | None) -> str:
    return "not staged" if verdict is None else verdict


def _told(group: Group) -> list[str]:
    """Return the first differences of a group, their runs and streams under each other."""
    runs = [visible(told.run_id) for told in group.first]
    streams = [visible(told.difference.stream or "") for told in group.first]
    widths = [min(max(map(columns_of, cells), default=0), CELL_LIMIT) for cells in (runs, streams)]
    named = (
        "  ".join(pad(cell, width) for cell, width in zip(cells, widths, strict=True) if width)
        for cells in zip(runs, streams, strict=True)
    )
    return [f"{name}  {_because(told)}".rstrip() for name, told in zip(named, group.first, strict=True)]


def _because(told: Told) -> str:
    difference, why = told.difference, told.difference.why
    words = []
    if difference.kind == "order":
        words.append(f"{difference.before} → {difference.after}")
    if why.stream is not None and why.stream != difference.stream:
        words.append(f"for {why.stream}")
    if why.keys:
        words.append(f"keys {some_of(why.keys[:KEYS_SHOWN], why.keys_total)}")
    words.append(entries_of(why.entries, why.entries_total))
    if difference.records:
        words.append(count_of(difference.records, "record"))
    return "  ".join(filter(None, words))


def _write_evidence(page: Page, recomputed: Recomputed) -> None:
    never, changed = recomputed.evidence.never_exercised(), recomputed.evidence.changed
    if not changed:
        if recomputed.has_other_rules:
            page.blank()
            page.line("They decide alike: the same switches, and the same rules in the same order.", "warn")
        return
    page.blank()
    if not never:
        all_of_them = "The one changed rule or switch was"
        if changed > 1:
            all_of_them = f"All {changed} changed rules and switches were"
        page.line(f"{all_of_them} exercised.", "good")
        return
    page.line(f"Never exercised, so no evidence either way: {len(never)} of {changed} changed", "bold")
    limit = len(never) if recomputed.shows_all else UNEXERCISED_SHOWN
    shown = [(f"  {one.name}", one.clause, one.what) for one in never[:limit]]
    page.columns([("  RULE OR SWITCH", "CLAUSE", "WHAT IT IS"), *shown])
    if len(never) > limit:
        page.line(f"and {len(never) - limit} more: -n 0 prints all, -o json lists them", "dim", indent=2)


def _write_proofs(page: Page, recomputed: Recomputed) -> None:
    """Write what was held against something, and found to be the same."""
    proofs = []
    if recomputed.reproduced and not recomputed.unreproduced.total:
        total = f"{recomputed.reproduced:,}"
        proofs.append(f"Recorded decisions: {total} of {total} reproduced.")
    compared = recomputed.recomputation.compared
    if compared and not recomputed.differing.total:
        proofs.append(f"Kept decisions: {compared:,} of {compared:,} are what is folded now.")
    if recomputed.twice is not None and recomputed.twice.folded and not recomputed.twice_differing.total:
        runs = count_of(recomputed.twice.folded, "run")
        proofs.append(f"Folded twice, under two hash seeds: {runs}, to the same bytes.")
    if proofs:
        page.blank()
    for proof in proofs:
        page.line(proof, "good")


def _write_doubts(page: Page, recomputed: Recomputed) -> None:
    """Write of which runs what is told cannot be relied on, or says nothing."""
    if wrong := recomputed.unreproduced.total:
        page.blank()
        are = "is" if wrong == 1 else "are"
        total = recomputed.reproduced + wrong
        page.line(f"Recorded decisions: {wrong:,} of {total:,} {are} not reproduced", "bad")
        page.line(str(recomputed.unreproduced), indent=2, hang=2)
        page.line(
            "Who recorded them decided otherwise, or the fold has changed; `runledger why RUN` explains "
            "what is decided here.",
            "dim",
            indent=2,
        )
    if recomputed.without_old_rules.total:
        page.blank()
        runs = count_of(recomputed.without_old_rules.total, "run")
        page.line(f"{runs} of which the old rules are not known here: held against nothing", "warn")
        page.line(str(recomputed.without_old_rules), indent=2, hang=2)
        page.line("Install the package that has them, or name others: --against", "dim", indent=2)
    if recomputed.left:
        page.blank()
        page.line(f"Not decided: {count_of(recomputed.left_total, 'run')}", "warn")
    for left in recomputed.left:
        page.line(f"{left.run.run_id}  {left.why}", indent=2, hang=2)
    if recomputed.left_total > len(recomputed.left):
        page.line(f"and {recomputed.left_total - len(recomputed.left):,} more", "dim", indent=2)
