"""``runledger show``: the decision about a run."""

from typing import Annotated, Any

import typer

from cli.decisions import decide_run, open_ledger
from cli.erasures import accounts_of, write_erasures
from cli.exits import NO
from cli.notes import notes_on, write_notes
from cli.options import Common, Output, RunArgument
from cli.render import print_bytes, print_rows, print_text
from cli.rulesets import find_ruleset, keep_rulesets
from cli.run_names import find_run
from ledger.core.decision import Checkpoint, Decision
from ledger.core.digests import canonical_json
from ledger.replay.replay import dialect_named

EXAMPLES = """Examples:

  runledger show @latest

  runledger show run_1 -o json"""

COLUMNS = ("stream", "decision", "outcome", "cursor_entry", "staged_total", "reasons")


def show(
    common: Common,
    run: RunArgument,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 unless it succeeded and withholds nothing.")
    ] = False,
) -> None:
    """Print the decision about a run; -o json is the decision itself, byte for byte."""
    with open_ledger(common) as store:
        found = find_run(store, run)
        ruleset = find_ruleset(store, dialect_named(found.dialect), common.ruleset)
        decision = decide_run(store, found, ruleset)
        notes, accounts = notes_on(store, found), accounts_of(store, found)
    match common.output:
        case Output.JSON | Output.JSONL:
            print_bytes(canonical_json(decision))
        case Output.CSV:
            print_rows([_row(one) for one in decision.checkpoints], COLUMNS, common)
        case Output.TEXT:
            from cli.show_page import write_decision

            page = common.page()
            write_decision(page, decision, ruleset.catalogue)
            write_erasures(page, accounts)
            write_notes(page, notes)
            print_text(page.text())
    keep_rulesets(common, [ruleset])
    if exit_code and not is_well(decision):
        raise typer.Exit(NO)


def is_well(decision: Decision) -> bool:
    """Tell a run that succeeded, withheld nothing, and of which nothing else happened."""
    committed = all(checkpoint.decision == "commit" for checkpoint in decision.checkpoints)
    return decision.status == "succeeded" and committed and not decision.discrepancies


def _row(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "stream": checkpoint.stream,
        "decision": checkpoint.decision,
        "outcome": checkpoint.outcome,
        "cursor_entry": checkpoint.cursor_entry,
        "staged_total": checkpoint.staged_total,
        "reasons": [reason.code for reason in checkpoint.reasons],
    }
