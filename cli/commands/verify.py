"""``runledger verify``: whether the ledger still holds what it held."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from cli.exits import NO, say
from cli.options import Common, Output
from cli.page import count_of
from cli.progress import progress_bar
from cli.render import Row, print_json, print_rows, print_text
from cli.run_names import find_run
from ledger.errors import InputError, IntegrityError

if TYPE_CHECKING:
    from ledger.log.store import RunRow, Store
    from ledger.log.verifying import IntegrityFinding, KnownHeads, Summary

EXAMPLES = """Examples:

  runledger verify

  runledger verify --heads heads.jsonl -o json"""

COLUMNS = ("run_id", "entries", "code", "what")
FINDING_COLUMNS = ("code", "run_id", "first", "last", "expected", "found")
UNCHECKED_NAMED = 10


def verify(
    common: Common,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="These runs; left out: the whole ledger.")
    ] = None,
    heads: Annotated[
        str | None,
        typer.Option(
            "--heads", metavar="FILE", help="Heads kept elsewhere, which must still hold; - is stdin."
        ),
    ] = None,
) -> None:
    """Recompute every hash of the ledger, and name what no longer holds: the run, the entries, and what."""
    from ledger.dialects import DIALECTS
    from ledger.log.verifying import Verification

    known = None if heads is None else _known(heads)
    with Verification(common.ledger, DIALECTS, known=known) as verification:
        named = _find_runs(verification.store, runs) if runs else None
        total = verification.total_entries(named)
        with progress_bar(total, color=common.color, counts_entries=True) as advance:
            found = list(verification.findings(named, progress=advance))
    summary = verification.summary
    _print_found(common, found, summary)
    verdict = _verdict(common, summary, named is not None, known is not None)
    if common.output is Output.TEXT:
        page = common.page()
        for line in verdict:
            page.line(line)
        print_text(page.text())
    else:
        for line in verdict:
            say(line)
    if summary.findings:
        raise typer.Exit(IntegrityError.exit_status)
    if summary.incomplete_runs:
        raise typer.Exit(NO)


def _find_runs(store: "Store", names: "Sequence[str]") -> "list[RunRow]":
    """Return the runs that are meant, each once."""
    found = {run.run_no: run for run in (find_run(store, name) for name in names)}
    return list(found.values())


def _known(name: str) -> "KnownHeads":
    """Read heads that were kept elsewhere.

    Raises:
        InputError: a line is no head, or there is none.
    """
    from ledger.log.verifying import read_heads

    if name == "-":
        known = read_heads(sys.stdin.buffer, "standard input")
    else:
        with open(name, "rb") as file:
            known = read_heads(file, name)
    if not known:
        raise InputError(f"{name}: expected at least one head, found none; `runledger heads` prints them")
    return known


def _print_found(common: Common, found: "Sequence[IntegrityFinding]", summary: "Summary") -> None:
    if common.output is Output.JSON:
        facts = {**msgspec.structs.asdict(summary), "findings_total": summary.findings}
        holds = not (summary.findings or summary.incomplete_runs)
        print_json({"holds": holds, **facts, "findings": list(map(_row, found))})
    elif common.output is Output.TEXT:
        print_rows(map(_text_row, found), COLUMNS, common, optional=("run_id", "entries"))
    else:
        print_rows(map(_row, found), FINDING_COLUMNS, common)


def _row(finding: "IntegrityFinding") -> Row:
    return msgspec.structs.asdict(finding)


def _text_row(finding: "IntegrityFinding") -> Row:
    return {
        "run_id": finding.run_id,
        "entries": _range(finding.first, finding.last),
        "code": finding.code,
        "what": f"expected {finding.expected}, found {finding.found}",
    }


def _range(first: int | None, last: int | None) -> str:
    if first is None:
        return ""
    return str(first) if first == last else f"{first}–{last}"


def _verdict(common: Common, summary: "Summary", some_runs: bool, against_known: bool) -> list[str]:
    """Say what was read, what of it holds, what was not checked, and what this cannot see."""
    lines = [
        f"not checked of run {run_id}: {'; '.join(what)}"
        for run_id, what in list(summary.unchecked.items())[:UNCHECKED_NAMED]
    ]
    more = len(summary.unchecked) - UNCHECKED_NAMED
    if more > 0:
        lines.append(f"not checked in full: {count_of(more, 'more run')}")
    lines.append(_conclusion(common, summary, some_runs, against_known))
    return lines


def _conclusion(common: Common, summary: "Summary", some_runs: bool, against_known: bool) -> str:
    read = (
        f"{count_of(summary.runs, 'run')}, {count_of(summary.entries, 'entry', 'entries')}"
        f" ({summary.erased} erased), {count_of(summary.heads, 'head')}"
    )
    if not some_runs:
        read += f", {count_of(summary.documents, 'document')}"
    if against_known and not summary.known_heads:
        read += "; no known head is of these runs"
    elif against_known:
        read += f"; {summary.known_heads_held} of {count_of(summary.known_heads, 'known head')} hold"
    if summary.findings:
        found = count_of(summary.findings, "finding")
        if summary.broken_runs:
            found += f", in {summary.broken_runs} of {count_of(summary.runs, 'run')}"
        return f"BROKEN: {found}. Read: {read}."
    if summary.incomplete_runs:
        runs = count_of(summary.incomplete_runs, "run")
        return f"INCOMPLETE: of {runs} the import was cut short; import the whole file again. Read: {read}."
    if summary.known_heads:
        return f"HOLDS: {read}. What was appended after the known heads is proved against itself only."
    return (
        f"HOLDS: {read}. Seen only against heads kept elsewhere: a tail cut together with its heads, a "
        f"history rewritten with all its hashes; `{common.next_command('heads')}` prints the heads to keep."
    )
