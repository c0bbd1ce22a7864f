"""The page about rulesets: what it shows of files stands in them, and its package does what it shows."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.installing import PLUGIN, install

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "rulesets.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_files_are_as_the_page_shows_them() -> None:
    own, entry_point = blocks("toml")
    assert own == (ROOT / "docs" / "acme-2026-12.toml").read_text()
    assert entry_point in (PLUGIN / "pyproject.toml").read_text()
    assert blocks("python") == [(PLUGIN / "acme_rules.py").read_text()]


def test_the_example_is_a_project_that_can_be_built() -> None:
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["include"] == ["acme_rules.py"]
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dependencies"] == [ours["project"]["name"]]
    assert project["build-system"] == ours["build-system"]


def test_the_package_does_what_the_page_shows(tmp_path: Path) -> None:
    install(PLUGIN, tmp_path)
    [block] = blocks("shell")
    environment = {**os.environ, "RUNLEDGER": str(tmp_path / "ledger.db"), "NO_COLOR": "1", "COLUMNS": "110"}
    environment["PYTHONPATH"] = f"{tmp_path}:{ROOT}"
    steps = re.split(r"^\$ runledger ", block, flags=re.MULTILINE)[1:]
    assert len(steps) == 4
    for step in steps:
        command, _, shown = step.partition("\n")
        words = [sys.executable, "-m", "cli", *shlex.split(command)]
        done = subprocess.run(
            words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")
        if shown:
            assert done.stdout.rstrip() == shown.rstrip(), command
