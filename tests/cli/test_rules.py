"""``rules``: which rulesets there are, and what is in one."""

import csv
import json

from ledger.dialects import DIALECTS
from ledger.dialects.collection_profile.rulesets import RULESETS
from tests.cli.running import call

ID = "collection-profile/0.1.0"
REFERENCE = ID + "+reference"


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


def test_two_rulesets_differ_in_switches_and_in_rules() -> None:
    done = call("rules", "diff", ID, REFERENCE, "-o", "json")
    told = done.json
    assert (told["a"]["id"], told["b"]["id"], done.err) == (ID, REFERENCE, "")
    switches = {one["switch"]: (one["a"], one["b"]) for one in told["switches"]}
    assert switches["key_equality"] == ("typed", "text")
    rules = {(one["asked_of"], one["rule"]): (one["a"], one["b"]) for one in told["rules"]}
    assert rules["RECORD", "within_resources"] == (1, None)
    assert rules["RECORD", "within_resources_by_field"] == (None, 1)
    page = call("rules", "diff", ID, REFERENCE).out
    for one in (*told["switches"], *told["rules"]):
        assert one["says"] in page
        assert one["clause"] in page
    assert "RECORD within_resources asked not asked scope/2" in " ".join(page.split())


def test_a_row_a_difference_in_csv_and_in_json_lines() -> None:
    told = call("rules", "diff", ID, REFERENCE, "-o", "json").json
    lines = [json.loads(line) for line in call("rules", "diff", ID, REFERENCE, "-o", "jsonl").lines]
    table = list(csv.DictReader(call("rules", "diff", ID, REFERENCE, "-o", "csv").lines))
    total = len(told["switches"]) + len(told["rules"])
    assert (len(lines), len(table)) == (total, total)
    assert all(list(row) == list(lines[0]) for row in lines)
    assert [row["switch"] for row in table if row["switch"]] == [one["switch"] for one in told["switches"]]
    assert [row["rule"] for row in lines if row["rule"]] == [one["rule"] for one in told["rules"]]


def test_a_ruleset_does_not_differ_from_itself() -> None:
    done = call("rules", "diff", ID, ID, "--exit-code")
    assert (done.status, len(done.lines)) == (0, 2)
    assert "they decide alike: the same switches, and the same rules in the same order" in done.err
    assert call("rules", "diff", ID, REFERENCE).status == 0
    assert call("rules", "diff", ID, REFERENCE, "--exit-code").status == 1


def test_what_a_rule_says_holds_no_markup_of_the_sources() -> None:
    for ruleset in RULESETS:
        assert "``" not in call("rules", "show", ruleset).out
