"""How ``recompute`` is printed: rows as they come for machines, and a page for people.

The page begins with how far the new rules reach; of whatever there may be thousands, the first are shown.
"""

from collections.abc import Collection, Iterator

import msgspec

from cli.options import Common, Output
from cli.page import Page, count_of, entries_of, some_of
from cli.recompute_rows import COLUMNS
from cli.recomputing import Recomputed
from cli.render import Row, print_lines, print_rows, print_text
from ledger.replay.impact import Group, Told

KEYS_SHOWN = 5
RULESETS_SHOWN = 3
UNEXERCISED_SHOWN = 20

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
        after, before = _ids(recomputed.rules_after), _ids(recomputed.rules_before)
        page.line(f"{after} against {before or 'nothing'}", "bold")
    page.line(_amount(recomputed))
    page.line(_radius(recomputed), "bad" if recomputed.flips else "good")
    kind = ""
    for group in recomputed.impact.groups():
        if group.kind != kind:
            kind = group.kind
            page.blank()
            page.line(_HEADINGS[kind], "bold")
        _write_group(page, group, recomputed.demands.get(group.clause, ""))
    _write_evidence(page, recomputed)
    _write_recorded(page, recomputed)
    _write_left(page, recomputed)


def _ids(rules: Collection[str]) -> str:
    return some_of(list(rules)[:RULESETS_SHOWN], len(rules))


def _amount(recomputed: Recomputed) -> str:
    counted = recomputed.recomputation
    checkpoints = count_of(recomputed.impact.checkpoints, "checkpoint")
    runs, entries = count_of(recomputed.runs, "run"), count_of(recomputed.entries, "entry", "entries")
    folded = count_of(counted.folded, "decision")
    return f"{checkpoints} of {runs} ({entries}): {folded} folded, {counted.kept:,} kept."


def _radius(recomputed: Recomputed) -> str:
    radius = recomputed.impact.radius()
    if not radius.runs:
        return "Blast radius: nothing is decided otherwise."
    runs, programs = count_of(radius.runs, "run"), count_of(radius.programs, "program")
    checkpoints, records = count_of(radius.checkpoints, "checkpoint"), count_of(radius.records, "record")
    return f"Blast radius: {runs} of {programs}; {checkpoints}, with {records} behind them."


def _write_group(page: Page, group: Group, demand: str) -> None:
    change = f"{_side(group.before)} → {_side(group.after)}" if group.kind != "order" else "another order"
    count = f"{group.differences:,}" + (f" in {count_of(group.runs, 'run')}" if group.kind != "run" else "")
    clause = f" ({group.clause})" if group.clause else ""
    page.line(f"{change}: {group.code}{clause}, {count}", "name", indent=2, hang=2)
    if demand:
        page.line(demand, "dim", indent=4)
    for told in group.first:
        page.line(_told(told), indent=4, hang=2)
    more = group.differences - len(group.first)
    if more > 0:
        page.line(f"and {more:,} more: -n 0 prints all, -o jsonl lists them", "dim", indent=4)


def _side(verdict: str | None) -> str:
    return "not staged" if verdict is None else verdict


def _told(told: Told) -> str:
    difference, why = told.difference, told.difference.why
    words = [told.run_id]
    if difference.stream is not None:
        words.append(difference.stream)
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
        return
    page.blank()
    if not never:
        page.line(f"All {changed} changed rules and switches were exercised.", "good")
        return
    page.line(f"Never exercised, so no evidence either way: {len(never)} of {changed} changed", "bold")
    shown = [(f"  {one.name}", one.clause, one.what) for one in never[:UNEXERCISED_SHOWN]]
    page.columns([("  RULE OR SWITCH", "CLAUSE", "WHAT IT IS"), *shown])
    if len(never) > UNEXERCISED_SHOWN:
        page.line(f"and {len(never) - UNEXERCISED_SHOWN} more: -o json lists all", "dim", indent=2)


def _write_recorded(page: Page, recomputed: Recomputed) -> None:
    total = recomputed.reproduced + recomputed.unreproduced.total
    if not total:
        return
    page.blank()
    if not recomputed.unreproduced.total:
        page.line(f"Recorded decisions: all {total:,} reproduced.", "good")
        return
    wrong = f"{recomputed.unreproduced.total:,} of {total:,} are not reproduced"
    page.line(f"Recorded decisions: {wrong}", "bad")
    page.line(str(recomputed.unreproduced), indent=2, hang=2)


def _write_left(page: Page, recomputed: Recomputed) -> None:
    if recomputed.without_old_rules:
        page.blank()
        runs = count_of(recomputed.without_old_rules, "run")
        page.line(f"{runs} of which the old rules are not known here: held against nothing", "warn")
    if recomputed.left:
        page.blank()
        page.line(f"Not decided: {count_of(recomputed.left_total, 'run')}", "warn")
    for left in recomputed.left:
        page.line(f"{left.run.run_id}  {left.why}", indent=2, hang=2)
    if recomputed.left_total > len(recomputed.left):
        page.line(f"and {recomputed.left_total - len(recomputed.left):,} more", "dim", indent=2)
