"""Loading what packages bring: one ruleset or several, and a sentence for whatever is none."""

from itertools import count
from pathlib import Path

import pytest

from ledger.installed_rulesets import GROUP, Installed, load_installed
from tests.installing import describe

NUMBERS = count()
HEAD = """
from dataclasses import replace
from ledger.core.findings import rule
from ledger.dialects.collection_profile.rulesets import TEXT
"""
OWN_RULE = '@rule("done/records_emitted")\ndef {name}(done, exited):\n    """It is always right."""\n'
SAME_NAME = HEAD + OWN_RULE.format(name="count_is_right")
OTHER_NAME = HEAD + OWN_RULE.format(name="count_may_be_wrong")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def loaded(site: Path, module: str, value: str = "RULESETS", package: str = "some-rules") -> Installed:
    """Install a package of one module, as each has a name of its own, and load what is installed."""
    name = f"rules_of_{next(NUMBERS)}"
    (site / f"{name}.py").write_text(module)
    describe(site, package, "1.0", {GROUP: {"one": value if " " in value else f"{name}:{value}"}})
    return load_installed()


def test_nothing_is_installed_where_nobody_brings_anything() -> None:
    assert load_installed([]) == Installed((), ())


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("replace(TEXT, id='own/1')", ["own/1"]),
        ("[replace(TEXT, id='own/2'), replace(TEXT, id='own/1')]", ["own/2", "own/1"]),
        ("lambda: replace(TEXT, id='own/1')", ["own/1"]),
        ("lambda: (replace(TEXT, id=f'own/{n}') for n in (1, 2))", ["own/1", "own/2"]),
        ("()", []),
    ],
)
def test_one_ruleset_several_and_a_function_that_gives_them_are_taken(
    site: Path, value: str, ids: list[str]
) -> None:
    installed = loaded(site, HEAD + f"RULESETS = {value}")
    assert [(one.ruleset.id, one.origin, one.source) for one in installed.known] == [
        (one, "installed", "some-rules") for one in ids
    ]
    assert installed.problems == ()


def test_what_packages_bring_comes_in_order_of_their_names(site: Path) -> None:
    loaded(site, HEAD + "RULESETS = replace(TEXT, id='own/1')", package="b-rules")
    installed = loaded(site, HEAD + "RULESETS = replace(TEXT, id='own/2')", package="a-rules")
    assert [one.ruleset.id for one in installed.known] == ["own/2", "own/1"]


def test_what_a_package_prints_is_not_taken_for_data(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded(site, "print('loading')\nRULESETS = []")
    assert capsys.readouterr() == ("", "loading\n")


def test_a_rule_of_ones_own_has_a_name_of_its_own(site: Path) -> None:
    rules = "exit_rules=(count_may_be_wrong,)"
    [known] = loaded(site, OTHER_NAME + f"RULESETS = replace(TEXT, id='own/1', {rules})").known
    assert "count_may_be_wrong" in {told.name for told in known.ruleset.tell_rules()}


BROKEN = {
    "import nothing_like_it": "found ModuleNotFoundError: No module named 'nothing_like_it'; mend or uninst",
    "import sys\nsys.exit(3)": "found SystemExit: 3; mend or uninstall it",
    "": "has no attribute 'RULESETS'; mend or uninstall it",
    "RULESETS = 1": "expected rulesets, found int; mend or uninstall it",
    "RULESETS = None": "expected rulesets, found NoneType; mend or uninstall it",
    "RULESETS = ['x']": "expected rulesets, found str; mend or uninstall it",
    "def RULESETS(): 1 / 0": "found ZeroDivisionError: division by zero; mend or uninstall it",
    HEAD + "RULESETS = TEXT": "found 'collection-profile/0.1.0', which is that of a ruleset of this version",
    HEAD + "RULESETS = [replace(TEXT, id='a')] * 2": "that of a ruleset of the package some-rules; choose",
    HEAD + "RULESETS = replace(TEXT, id='')": "expected an id of 1 to 100 printable characters",
    HEAD + "RULESETS = replace(TEXT, id=7)": "found TypeError: ",
    HEAD + "RULESETS = replace(TEXT, id='a', end_rules=(len,))": "found AttributeError: ",
    SAME_NAME + "RULESETS = replace(TEXT, id='a', exit_rules=(count_is_right,))": (
        "expected of a that the rule count_is_right is the shipped one, found another function"
    ),
}


@pytest.mark.parametrize("module", BROKEN, ids=range(len(BROKEN)))
def test_a_package_that_is_broken_is_named_and_ends_nothing(site: Path, module: str) -> None:
    loaded(site, HEAD + "RULESETS = replace(TEXT, id='sound/1')", package="a-sound-one")
    installed = loaded(site, module)
    assert "sound/1" in {one.ruleset.id for one in installed.known}
    [problem] = installed.problems
    assert problem.startswith("the package some-rules brings a ruleset one that cannot be used: ")
    assert BROKEN[module] in problem


@pytest.mark.parametrize("value", ["no reference at all", " "])
def test_an_entry_point_that_names_nothing_is_a_problem_too(site: Path, value: str) -> None:
    assert len(loaded(site, "", value).problems) == 1
