"""``runledger rules``: the rulesets."""

from typing import Annotated

import typer

from cli.options import Common, Output, command, examples, keep_options
from cli.render import Row, print_json, print_rows, print_text
from cli.rulesets import any_ruleset
from ledger.core.dialect import Ruleset

EXAMPLES = """Examples:

  runledger rules list

  runledger rules list -o json"""

SHOW_EXAMPLES = """Examples:

  runledger rules show collection-profile/0.1.0

  runledger rules show collection-profile/0.1.0 -o json"""

GROUP_EXAMPLES = """Examples:

  runledger rules list

  runledger rules show collection-profile/0.1.0"""

DIGEST_SHOWN = len("sha256:") + 12

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at the rulesets.",
    callback=keep_options,
    epilog=examples(GROUP_EXAMPLES),
)


@app.command("list", epilog=examples(EXAMPLES), short_help="List the rulesets.")
@command
def list_(common: Common) -> None:
    """List the rulesets that runs can be decided under."""
    from ledger.dialects import DIALECTS

    rows = [
        {
            "id": ruleset.id,
            "default": ruleset.id == dialect.default_ruleset,
            "dialect": dialect.name,
            "digest": ruleset.digest[:DIGEST_SHOWN] if common.output is Output.TEXT else ruleset.digest,
            "summary": ruleset.summary,
        }
        for dialect in DIALECTS.values()
        for ruleset in dialect.rulesets.values()
    ]
    print_rows(rows, ("id", "default", "dialect", "digest", "summary"), common)


@app.command("show", epilog=examples(SHOW_EXAMPLES), short_help="Print a ruleset.")
@command
def show(common: Common, id: Annotated[str, typer.Argument(metavar="ID", help="A ruleset.")]) -> None:
    """Print a ruleset: its switches, and its rules by what they are asked of."""
    ruleset = any_ruleset(None, id).ruleset
    switches, rules = _switches(ruleset), _rules(ruleset)
    if common.output in (Output.JSON, Output.JSONL):
        head = {"id": ruleset.id, "digest": ruleset.digest, "summary": ruleset.summary}
        print_json({**head, "switches": switches, "rules": rules})
        return
    if common.output is Output.TEXT:  # CSV holds one table, the rules
        print_text(f"{ruleset.id}  {ruleset.digest}\n{ruleset.summary}\n\n")
        print_rows(switches, ("switch", "value", "clause", "says"), common)
        print_text("\n")
    print_rows(rules, ("asked_of", "rule", "clause", "says"), common)


def _switches(ruleset: Ruleset) -> list[Row]:
    return [
        {"switch": one.name, "value": one.value, "clause": one.clause, "says": one.says}
        for one in ruleset.tell_switches()
    ]


def _rules(ruleset: Ruleset) -> list[Row]:
    return [
        {"asked_of": one.asked_of, "rule": one.name, "clause": one.clause, "says": one.says}
        for one in ruleset.tell_rules()
    ]
