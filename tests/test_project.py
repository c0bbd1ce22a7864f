"""The shape of the project: what lies where, how long a module may grow, what is pinned."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ledger.dialects import DIALECTS

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TRACKED = subprocess.run(
    ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
).stdout.split("\0")[:-1]
MODULES = sorted(path for package in ("ledger", "cli") for path in (ROOT / package).rglob("*.py"))
DIALECT_FOLDERS = sorted(path.parent for path in (ROOT / "ledger" / "dialects").glob("*/__init__.py"))

TOP_LEVEL = {
    *("pyproject.toml", "ledger", "cli", "tests", "sample_runs", "README.md"),
    *("Makefile", "CHANGELOG.md", "LICENSE", "docs", "constraints.txt", ".ci", ".gitignore"),
}
DIALECT_FILES = {
    *("messages.py", "manifest.py", "machine.py", "state.py", "fold.py", "redact.py", "decide.py"),
    *("rulesets/__init__.py", "rules/__init__.py"),
}
LONGEST_MODULE = 400
LONGEST_FUNCTION = 60


def name_in_tree(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


every_module = pytest.mark.parametrize("module", MODULES, ids=name_in_tree)


# Layout.


def test_the_top_level_holds_what_it_should_and_nothing_else() -> None:
    assert {name.split("/")[0] for name in TRACKED} <= TOP_LEVEL


@every_module
def test_a_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))


def test_every_folder_of_modules_is_a_package() -> None:
    assert {module.parent for module in MODULES} == {
        module.parent for module in MODULES if module.name == "__init__.py"
    }


@every_module
def test_a_module_stays_short(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= LONGEST_MODULE


@every_module
def test_a_function_stays_short(module: Path) -> None:
    lengths = {
        node.name: (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


@pytest.mark.parametrize("folder", DIALECT_FOLDERS, ids=name_in_tree)
def test_a_dialect_is_laid_out_like_every_other(folder: Path) -> None:
    assert {name for name in DIALECT_FILES if not (folder / name).is_file()} == set()
    name = folder.name.replace("_", "-")
    assert name in DIALECTS
    assert list((ROOT / "sample_runs" / name).glob("*/run.jsonl"))


def test_every_dialect_has_a_folder() -> None:
    assert {folder.name.replace("_", "-") for folder in DIALECT_FOLDERS} == set(DIALECTS)


# What may be imported, and what may be written.


def imported(module: Path) -> Iterator[str]:
    """Yield the names of what a module imports, wherever in it."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@every_module
def test_only_the_log_knows_sqlite(module: Path) -> None:
    if not name_in_tree(module).startswith("ledger/log/"):
        assert {"sqlite3", "sqlite_utils"}.isdisjoint(name.split(".")[0] for name in imported(module))


PLACES = re.compile(
    r"(?<![\w.~}$])/(?:work|root|home|Users|opt)/\w"  # a path of somebody's machine
    r"|[.]{2}/shared\b"
    r"|\bpypi[.]org|\bpythonhosted[.]org|\bnpmjs[.]|\bdeb[.]debian[.]"
    r"|--(?:extra-)?index-url|--find-links"
)


def test_nothing_names_a_place_that_only_one_machine_has() -> None:
    texts = {name: (ROOT / name).read_bytes() for name in TRACKED if (ROOT / name).is_file()}
    named = {
        name: found.group()
        for name, body in texts.items()
        if name != "tests/test_project.py" and (found := PLACES.search(body.decode("utf-8", "replace")))
    }
    assert named == {}


# What it is built from.

PINS = {
    canonicalize_name(name): version
    for name, version in re.findall(
        r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE
    )
}
DECLARED = [
    *PYPROJECT["project"]["dependencies"],
    *(text for extra in PYPROJECT["project"]["optional-dependencies"].values() for text in extra),
]


def needed(requirements: list[str]) -> set[str]:
    """Return the names of what is needed, directly and by what is needed, on this Python."""
    names: set[str] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        if name not in names or requirement.extras:
            names.add(name)
            below = [Requirement(text) for text in needed_by(name)]
            waiting += [(needs, extra) for needs in below for extra in (requirement.extras or {""})]
    return names


def needed_by(name: str) -> list[str]:
    """Return what an installed package needs; an extra such as the benchmark's need not be installed."""
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def test_every_package_is_pinned_to_one_version() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert len(PINS) == len(lines)
    assert needed(DECLARED) - set(PINS) - {"pip"} == set()


def test_the_pins_are_what_was_asked_for() -> None:
    for requirement in map(Requirement, DECLARED):
        assert requirement.specifier.contains(PINS[canonicalize_name(requirement.name)])


def test_every_release_says_what_it_means_for_rules_and_for_logs() -> None:
    releases = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    assert releases
    for release in releases:
        assert {"### Rules", "### Log format"} <= set(release.splitlines())
