"""The README, and the READMEs of the sample runs: their console blocks run, and what they show is true."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("sample_runs/**/README.md")),
    *sorted(page for page in ROOT.glob("docs/*.md") if page.name != "trust.md"),
]
"""On the page about trust a ledger is damaged, in a shell: ``tests/log/test_trust_page.py`` follows it."""


def console_blocks() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield (page and number, [(command, output)]) for every ``console`` block."""
    for page in PAGES:
        for number, block in enumerate(re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL), 1):
            steps: list[tuple[str, str]] = []
            for line in block.splitlines():
                if line.startswith("$ "):
                    steps.append((line[2:], ""))
                else:
                    command, output = steps[-1]
                    steps[-1] = (command, output + line + "\n")
            yield f"{page.relative_to(ROOT)}-{number}", steps


BLOCKS = list(console_blocks())


def run(command: str, ledger: Path) -> str:
    """Run a ``runledger`` command of a block from the project's root, on a ledger of its own."""
    words = shlex.split(command)
    assert words[0] == "runledger", f"a console block shows runledger commands only: {command}"
    environment = {**os.environ, "RUNLEDGER": str(ledger), "NO_COLOR": "1", "COLUMNS": "110"}
    done = subprocess.run(
        [sys.executable, "-m", "cli", *words[1:]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_has_blocks_to_run() -> None:
    assert sum(name.startswith("README.md") for name, _ in BLOCKS) >= 1


@pytest.mark.parametrize(("name", "steps"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_a_console_block_does_what_it_shows(name: str, steps: list[tuple[str, str]], tmp_path: Path) -> None:
    for command, shown in steps:
        printed = run(command, tmp_path / "ledger.db")
        if shown:
            assert printed.rstrip() == shown.rstrip(), command
