"""The rulesets: every rule is in one, names its clause once, and is told to people."""

import ast
from pathlib import Path
from typing import get_args

import ledger.dialects.collection_profile as package
from ledger.dialects.collection_profile import messages
from ledger.dialects.collection_profile.clauses import CLAUSES
from ledger.dialects.collection_profile.machine import PROGRAM, RUNTIME
from ledger.dialects.collection_profile.rulesets import RULESETS
from ledger.dialects.collection_profile.state import UNREAD, Phase

FOLDER = Path(package.__file__).parent
RELEASED = {
    "collection-profile/0.1.0": "987b190926aad9b8068ecc7426c9a8b67ff593facd00db7a512bb65187597d1d",
    "collection-profile/0.1.0+reference": "c8c89a6ad6cb6b7a20a9c1d2b48158a32c6ba84675622bc6586a59c6c04bde12",
    "collection-profile/0.2.0": "cc62ea933fceefb7163eb7f94c8926df0683345979bd11848ba938f52569d515",
}


def tagged_rules() -> dict[str, tuple[str, ast.FunctionDef]]:
    """Return every function under ``rules/`` that is tagged with a clause, by name."""
    found = {}
    for path in sorted((FOLDER / "rules").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for tag in node.decorator_list:
                    if isinstance(tag, ast.Call) and getattr(tag.func, "id", "") == "rule":
                        argument = tag.args[0]
                        clause = argument.value if isinstance(argument, ast.Constant) else ""
                        found[node.name] = (str(clause), node)
    return found


def test_every_rule_is_asked_by_a_ruleset() -> None:
    asked = {rule.name for ruleset in RULESETS.values() for rule in ruleset.tell_rules()}
    assert set(tagged_rules()) == asked


def test_a_rule_names_no_clause_but_its_own() -> None:
    for name, (clause, node) in tagged_rules().items():
        named = {
            constant.value
            for constant in ast.walk(node)
            if isinstance(constant, ast.Constant) and constant.value in CLAUSES
        }
        assert named <= {clause}, name


def test_every_rule_says_what_its_clause_demands() -> None:
    for ruleset in RULESETS.values():
        for rule in ruleset.tell_rules():
            assert rule.says.endswith("."), rule.name
            assert rule.clause in CLAUSES


def test_every_switch_is_explained() -> None:
    for ruleset in RULESETS.values():
        switches = list(ruleset.tell_switches())
        assert [one.name for one in switches] == list(type(ruleset.switches).__struct_fields__)
        assert all(one.says and one.clause in CLAUSES for one in switches)


def test_the_digest_of_a_released_ruleset_never_moves() -> None:
    digests = {ruleset.id: ruleset.digest for ruleset in RULESETS.values()}
    assert digests == {name: f"sha256:{digest}" for name, digest in RELEASED.items()}


def test_collecting_has_a_row_for_everything_that_a_line_can_be() -> None:
    assert set(PROGRAM[Phase.COLLECTING].handlers) == set(get_args(messages.ProgramMessage))


def test_every_phase_either_has_a_table_or_reads_nothing() -> None:
    assert set(PROGRAM) == set(RUNTIME) == set(Phase) - UNREAD


def test_the_map_of_the_package_names_every_module() -> None:
    text = package.__doc__ or ""
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert {name for name in modules if f"``{name}``" not in text} == set()
