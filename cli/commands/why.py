"""``runledger why``: why each checkpoint of a run is committed or withheld."""

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from cli.audit import audit
from cli.decisions import open_ledger
from cli.erasures import accounts_of, write_erasures
from cli.exits import NO, say
from cli.notes import notes_on, write_notes
from cli.options import Common, Output, RunArgument
from cli.render import print_json, print_rows, print_text
from cli.rulesets import find_ruleset, keep_rulesets
from cli.run_names import find_run
from cli.why_page import is_well, write_why
from ledger.replay.explain import Explanation
from ledger.replay.replay import dialect_named

EXAMPLES = """Examples:

  runledger why @latest

  runledger why run_1 messages -o json"""

COLUMNS = ("stream", "decision", "outcome", "reason", "clause", "sentence")


def why(
    common: Common,
    run: RunArgument,
    stream: Annotated[
        str | None, typer.Argument(metavar="[STREAM]", help="Only the checkpoint of this stream.")
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 unless all that was asked about went well.")
    ] = False,
) -> None:
    """Say why each checkpoint of a run is committed or withheld, with the entries behind every reason."""
    with open_ledger(common) as store:
        found = find_run(store, run)
        ruleset = find_ruleset(store, dialect_named(found.dialect), common.ruleset)
        explained = audit(store, found, ruleset, stream)
        notes, accounts = notes_on(store, found), accounts_of(store, found)
    match common.output:
        case Output.JSON | Output.JSONL:
            print_json(explained)
        case Output.CSV:
            print_rows(_rows(explained), COLUMNS, common)
        case Output.TEXT:
            page = common.page()
            write_why(page, explained)
            write_erasures(page, accounts)
            write_notes(page, notes)
            print_text(page.text())
            _say_where_to_look(explained, common)
    keep_rulesets(common, [ruleset])
    if exit_code and not _is_well(explained):
        raise typer.Exit(NO)


def _is_well(explained: Explanation) -> bool:
    """Tell a checkpoint that was asked about, or a whole run, of which nothing is amiss."""
    went_well = explained.asked is not None or (explained.status == "succeeded" and not explained.differs)
    return went_well and all(map(is_well, explained.checkpoints))


def _say_where_to_look(explained: Explanation, common: Common) -> None:
    """Name, at a terminal, the command that prints an entry in full."""
    reasons = [reason for checkpoint in explained.checkpoints for reason in checkpoint.reasons]
    shown = [entry for said in (explained.cause, *reasons) if said is not None for entry in said.entries]
    if shown and sys.stderr.isatty():
        seq = str(shown[0].seq)
        say(f"in full: {common.next_command('log', explained.run_id, '--from', seq, '--to', seq, '--raw')}")


def _rows(explained: Explanation) -> Iterator[dict[str, Any]]:
    for one in explained.checkpoints:
        fixed = {"stream": one.stream, "decision": one.decision, "outcome": one.outcome}
        if not one.reasons:
            yield {**fixed, "reason": None, "clause": None, "sentence": None}
        for reason in one.reasons:
            yield {**fixed, "reason": reason.code, "clause": reason.clause, "sentence": reason.sentence}
