"""``rules``: which rulesets there are, and what is in one."""

import csv

from ledger.dialects import DIALECTS
from tests.cli.running import call

ID = "collection-profile/0.1.0"


def test_every_ruleset_is_listed_and_one_a_dialect_is_the_default() -> None:
    rows = call("rules", "list", "-o", "json").json
    assert [row["id"] for row in rows] == [name for d in DIALECTS.values() for name in d.rulesets]
    for dialect in DIALECTS.values():
        defaults = [row["id"] for row in rows if row["dialect"] == dialect.name and row["default"]]
        assert defaults == [dialect.default_ruleset]


def test_the_list_is_a_table() -> None:
    head, *rows = call("rules", "list").lines
    assert head.split()[:2] == ["ID", "DEFAULT"]
    assert rows[0].split()[:2] == [ID, "yes"]


def test_a_ruleset_shows_its_switches_and_rules() -> None:
    told = call("rules", "show", ID, "-o", "json").json
    assert told["id"] == ID
    assert {"switch", "value"} <= set(told["switches"][0])
    assert {(rule["rule"], rule["clause"]) for rule in told["rules"]} >= {
        ("within_resources", "scope/2"),
        ("count_is_right", "done/records_emitted"),
    }
    assert all(rule["says"].endswith(".") for rule in told["rules"])
    page = call("rules", "show", ID).out
    assert all(rule["rule"] in page for rule in told["rules"])
    assert all(one["switch"] in page for one in told["switches"])
    assert told["digest"] in page


def test_the_reference_shows_what_it_does_otherwise() -> None:
    def told(ruleset: str) -> tuple[dict[str, str], set[str]]:
        shown = call("rules", "show", ruleset, "-o", "json").json
        switches = {one["switch"]: one["value"] for one in shown["switches"]}
        return switches, {rule["rule"] for rule in shown["rules"]}

    (text, text_rules), (other, other_rules) = told(ID), told(ID + "+reference")
    assert {name for name in text if text[name] != other[name]} >= {"key_equality", "unlisted_gap"}
    assert "within_resources_by_field" in other_rules - text_rules
    assert "scope_is_within_grant" in text_rules - other_rules


def test_csv_is_one_table() -> None:
    table = list(csv.DictReader(call("rules", "show", ID, "-o", "csv").lines))
    assert table == call("rules", "show", ID, "-o", "json").json["rules"]


def test_an_unknown_ruleset_says_which_there_are() -> None:
    done = call("rules", "show", "nothing")
    assert (done.status, done.out) == (4, "")
    assert ID in done.err
