"""``runledger rules``: the rulesets."""

from typing import Annotated, Any

import msgspec
import typer

from cli.options import Common, Output, command
from cli.render import print_json, print_rows
from ledger.core.findings import rule_clause
from ledger.errors import NotFoundError

EXAMPLES = """Examples:

  runledger rules list

  runledger rules list -o json"""

SHOW_EXAMPLES = """Examples:

  runledger rules show collection-profile/0.1.0

  runledger rules show collection-profile/0.1.0 -o json"""

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at the rulesets.")


@app.command("list", epilog=EXAMPLES)
@command
def list_(common: Common) -> None:
    """List the rulesets that runs can be decided under."""
    from ledger.dialects import DIALECTS

    rows = [
        {
            "id": ruleset.id,
            "default": ruleset.id == dialect.default_ruleset,
            "digest": ruleset.digest,
            "dialect": dialect.name,
        }
        for dialect in DIALECTS.values()
        for ruleset in dialect.rulesets.values()
    ]
    print_rows(rows, ("id", "default", "dialect", "digest"), common)


@app.command("show", epilog=SHOW_EXAMPLES)
@command
def show(common: Common, id: Annotated[str, typer.Argument(metavar="ID", help="A ruleset.")]) -> None:
    """Print a ruleset: its switches, and its rules by the message that they are asked of."""
    ruleset = _ruleset(id)
    switches = [
        {"switch": name, "value": value} for name, value in msgspec.to_builtins(ruleset.switches).items()
    ]
    asked = {"RECORD": ruleset.record_rules, **ruleset.message_rules}
    rules = [
        {
            "message": message,
            "rule": one.__name__,
            "clause": rule_clause(one),
            "says": (one.__doc__ or "").strip().splitlines()[0]
            if one.__doc__
            else "Names a stream in scope.",
        }
        for message, of_message in asked.items()
        for one in of_message
    ]
    if common.output in (Output.JSON, Output.JSONL):
        head = {"id": ruleset.id, "digest": ruleset.digest, "summary": ruleset.summary}
        print_json({**head, "switches": switches, "rules": rules})
        return
    print_rows(switches, ("switch", "value"), common)
    print_rows(rules, ("message", "rule", "clause", "says"), common)


def _ruleset(id: str) -> Any:
    from ledger.dialects import DIALECTS

    known = {one.id: one for dialect in DIALECTS.values() for one in dialect.rulesets.values()}
    if id not in known:
        raise NotFoundError(f"there is no ruleset {id!r}; there are: {', '.join(known)}")
    return known[id]
