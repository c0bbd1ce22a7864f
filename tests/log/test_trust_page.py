"""The page about trust: its walk goes as it says, in a shell, and its codes are those that there are."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.log.verifying import CODES, FINDINGS_PER_RUN

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "trust.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)

# What a shell finds under these names: this package, and SQLite's shell as far as the page needs it.
COMMANDS = {
    "runledger": "import runpy; sys.argv[0] = 'runledger'; runpy.run_module('cli', run_name='__main__')",
    "sqlite3": "import sqlite3; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])",
}


def steps() -> list[tuple[str, str]]:
    """Every command of the page, in order, with what it is said to print."""
    found: list[tuple[str, str]] = []
    for line in "".join(BLOCKS).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            command, shown = found[-1]
            found[-1] = (command, shown + line + "\n")
    return found


def masked(text: str) -> str:
    """Hide what differs from ledger to ledger: hashes, which are over random salts."""
    return re.sub(r"\b[0-9a-f]{16}(?:…|[0-9a-f]{48}\b)", "<hash>", text)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """A folder with the sample runs, and the environment of a shell in which the commands are found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, code in COMMANDS.items():
        start = f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        (folder / name).write_text(start + code + "\n")
        (folder / name).chmod(0o755)
    shutil.copytree(ROOT / "sample_runs", tmp_path / "sample_runs")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RUNLEDGER")}
    return {**clean, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "110"}


def test_the_walk_goes_as_the_page_says(tmp_path: Path, shell: dict[str, str]) -> None:
    for command, shown in steps():
        words = ["sh", "-c", command]
        done = subprocess.run(
            words, cwd=tmp_path, env=shell, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, (command, done.stderr)
        if shown:
            printed = "".join(f"{line.rstrip()}\n" for line in (done.stderr + done.stdout).splitlines())
            assert masked(printed) == masked(shown), command
        else:
            assert "exit status" not in done.stdout, command


def test_every_code_is_on_the_page_with_what_it_means() -> None:
    table = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE)
    assert dict(table) == CODES
    assert f"At most {FINDINGS_PER_RUN} findings" in PAGE
