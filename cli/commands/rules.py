"""``runledger rules``: the rulesets."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import typer

from cli.options import Common, Output, command, examples, keep_options
from cli.render import Row, print_json, print_rows, print_text
from ledger.core.dialect import Dialect
from ledger.core.findings import rule_clause
from ledger.core.wording import Catalogue
from ledger.errors import NotFoundError

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

_DOCUMENTED_SWITCH = re.compile(r"^\s*(\w+): (.*) \(([\w/.-]+)\)\.$", re.MULTILINE)

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
            "summary": getattr(ruleset, "summary", ""),
        }
        for dialect in DIALECTS.values()
        for ruleset in dialect.rulesets.values()
    ]
    print_rows(rows, ("id", "default", "dialect", "digest", "summary"), common)


@app.command("show", epilog=examples(SHOW_EXAMPLES), short_help="Print a ruleset.")
@command
def show(common: Common, id: Annotated[str, typer.Argument(metavar="ID", help="A ruleset.")]) -> None:
    """Print a ruleset: its switches, and its rules by the message that they are asked of."""
    dialect = _dialect_of(id)
    ruleset: Any = dialect.rulesets[id]
    switches, rules = _switches(ruleset), _rules(ruleset, dialect.catalogue)
    if common.output in (Output.JSON, Output.JSONL):
        head = {"id": ruleset.id, "digest": ruleset.digest, "summary": ruleset.summary}
        print_json({**head, "switches": switches, "rules": rules})
        return
    if common.output is Output.TEXT:  # CSV holds one table, the rules
        print_text(f"{ruleset.id}  {ruleset.digest}\n{ruleset.summary}\n\n")
        print_rows(switches, ("switch", "value", "clause", "says"), common)
        print_text("\n")
    print_rows(rules, ("message", "rule", "clause", "says"), common)


def _switches(ruleset: Any) -> list[Row]:
    """Return the switches; what each leaves open, and by which clause, stands in their documentation."""
    documented: Mapping[str, tuple[str, str]] = {
        name: (says, clause)
        for name, says, clause in _DOCUMENTED_SWITCH.findall(type(ruleset.switches).__doc__ or "")
    }
    rows: list[Row] = []
    for name, value in msgspec.to_builtins(ruleset.switches).items():
        says, clause = documented.get(name, ("", ""))
        rows.append({"switch": name, "value": value, "clause": clause, "says": says})
    return rows


def _rules(ruleset: Any, catalogue: Catalogue) -> list[Row]:
    asked = {"RECORD": ruleset.record_rules, **ruleset.message_rules}
    return [
        {
            "message": message,
            "rule": rule.__name__,
            "clause": rule_clause(rule),
            "says": _says(rule) or catalogue.demand(rule_clause(rule)),
        }
        for message, rules in asked.items()
        for rule in rules
    ]


def _says(rule: Any) -> str:
    """Return what a rule demands, in its own words, '' where it has none."""
    return (rule.__doc__ or "").strip().partition("\n")[0]


def _dialect_of(ruleset: str) -> Dialect:
    from ledger.dialects import DIALECTS

    known = {name: dialect for dialect in DIALECTS.values() for name in dialect.rulesets}
    if ruleset not in known:
        raise NotFoundError(f"there is no ruleset {ruleset!r}; there are: {', '.join(known)}")
    return known[ruleset]
