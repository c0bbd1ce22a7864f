"""``runledger rules``: which rulesets there are, what is in one, and where two differ."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from cli.exits import NO, say
from cli.options import Common, Output, command, examples, keep_options
from cli.render import Row, print_json, print_rows, print_text
from cli.rulesets import any_ruleset, known_rulesets, ledger_if_any
from ledger.core.dialect import Ruleset

if TYPE_CHECKING:
    from ledger.replay.rulesets import Changes, Known

EXAMPLES = """Examples:

  runledger rules list

  runledger rules list -o json"""

SHOW_EXAMPLES = """Examples:

  runledger rules show collection-profile/0.1.0

  runledger rules show ours.toml -o json"""

DIFF_EXAMPLES = """Examples:

  runledger rules diff collection-profile/0.1.0 collection-profile/0.2.0

  runledger rules diff collection-profile/0.2.0 ours.toml --exit-code"""

GROUP_EXAMPLES = """Examples:

  runledger rules list

  runledger rules diff collection-profile/0.1.0 collection-profile/0.2.0"""

RULESET_NAMES = "An id, a file in TOML, or sha256: and at least eight digits of a digest."
DIGEST_SHOWN = len("sha256:") + 12
COLUMNS = ("id", "default", "origin", "dialect", "digest", "summary")
SWITCH_COLUMNS = ("switch", "a", "b", "clause", "says")
RULE_COLUMNS = ("asked_of", "rule", "a", "b", "clause", "says")

RulesetArgument = Annotated[str, typer.Argument(metavar="RULESET", help=RULESET_NAMES)]

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
    """List the rulesets: those that are shipped, that packages bring, and that the ledger keeps."""
    print_rows(list(_rows(common)), COLUMNS, common)


@app.command("show", epilog=examples(SHOW_EXAMPLES), short_help="Print a ruleset.")
@command
def show(common: Common, id: RulesetArgument) -> None:
    """Print a ruleset: its switches, and its rules by what they are asked of."""
    with ledger_if_any(common) as store:
        known = any_ruleset(store, id)
    found = known.ruleset
    switches, rules = _switches(found), _rules(found)
    if common.output in (Output.JSON, Output.JSONL):
        print_json({**_head(known), "switches": switches, "rules": rules})
        return
    if common.output is Output.TEXT:  # CSV holds one table, the rules
        origin = "" if known.origin == "shipped" else f" ({_origin(known)})"
        print_text(f"{found.id}  {found.digest}\n{found.summary}{origin}\n\n")
        print_rows(switches, ("switch", "value", "clause", "says"), common)
        print_text("\n")
    print_rows(rules, ("asked_of", "rule", "clause", "says"), common)


@app.command("diff", epilog=examples(DIFF_EXAMPLES), short_help="Print where two rulesets differ.")
@command
def diff(
    common: Common,
    a: Annotated[str, typer.Argument(metavar="A", help=RULESET_NAMES)],
    b: Annotated[str, typer.Argument(metavar="B", help=RULESET_NAMES)],
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 where they differ.")] = False,
) -> None:
    """Print the switches and the rules in which two rulesets differ."""
    from ledger.dialects import DIALECTS
    from ledger.replay.rulesets import changed_rules, of_dialect

    with ledger_if_any(common) as store:
        first, second = any_ruleset(store, a), any_ruleset(store, b)
    of_dialect(second.ruleset, DIALECTS[first.ruleset.dialect])
    changes = changed_rules(first.ruleset, second.ruleset)
    _print_changes(first, second, changes, common)
    if changes.are_none:
        say("they decide alike: the same switches, and the same rules in the same order")
    elif exit_code:
        raise typer.Exit(NO)


def _rows(common: Common) -> Iterator[Row]:
    from ledger.dialects import DIALECTS

    with ledger_if_any(common) as store:
        known, unknown = known_rulesets(store)
    defaults = {(dialect.name, dialect.default_ruleset) for dialect in DIALECTS.values()}
    for one in known:
        ruleset = one.ruleset
        yield {
            "id": ruleset.id,
            "default": (ruleset.dialect, ruleset.id) in defaults and one.origin == "shipped",
            "origin": _origin(one),
            "dialect": ruleset.dialect,
            "digest": _digest(ruleset.digest, common),
            "summary": ruleset.summary,
        }
    for lost in unknown:
        yield {
            "id": lost.id,
            "default": False,
            "origin": "stored",
            "dialect": None,
            "digest": _digest(lost.digest, common),
            "summary": f"nothing can be decided under it: {lost.why}",
        }


def _print_changes(a: "Known", b: "Known", changes: "Changes", common: Common) -> None:
    switches: list[Row] = [
        {"switch": one.name, "a": one.here, "b": one.there, "clause": one.clause, "says": one.says}
        for one in changes.switches
    ]
    rules: list[Row] = [
        {
            "asked_of": one.asked_of,
            "rule": one.name,
            "a": one.here,
            "b": one.there,
            "clause": one.clause,
            "says": one.says,
        }
        for one in changes.rules
    ]
    match common.output:
        case Output.JSON:
            print_json({"a": _head(a), "b": _head(b), "switches": switches, "rules": rules})
        case Output.JSONL | Output.CSV:
            nothing = dict.fromkeys(("switch", "asked_of", "rule"))
            print_rows([{**nothing, **row} for row in (*switches, *rules)], (*nothing, "a", "b"), common)
        case Output.TEXT:
            for name, one in (("A", a.ruleset), ("B", b.ruleset)):
                print_text(f"{name}  {one.id}  {one.digest}\n")
            if switches:
                print_text("\n")
                print_rows(switches, SWITCH_COLUMNS, common)
            if rules:
                print_text("\n")
                told = ({**row, "a": _place(row, "a"), "b": _place(row, "b")} for row in rules)
                print_rows(told, RULE_COLUMNS, common)


def _place(row: Row, side: str) -> str:
    """Say whether a side asks a rule, and where both do, in which place."""
    if row[side] is None:
        return "not asked"
    return "asked" if row["a"] is None or row["b"] is None else f"asked as {row[side]}."


def _head(known: "Known") -> Row:
    ruleset = known.ruleset
    head = {"id": ruleset.id, "digest": ruleset.digest, "summary": ruleset.summary}
    return {**head, "origin": _origin(known)}


def _origin(known: "Known") -> str:
    return f"{known.origin}: {known.source}" if known.source else known.origin


def _digest(digest: str, common: Common) -> str:
    return digest[:DIGEST_SHOWN] if common.output is Output.TEXT else digest


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
