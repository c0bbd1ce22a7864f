"""Rulesets that packages bring: an example of one, and what is said of those that are broken."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.cli.running import Done, run
from tests.cli.transcripts import ROOT
from tests.installing import PLUGIN, describe, install

Command: TypeAlias = Callable[..., Done]

NOTICES = "run_noticeboard_0031"
GROUP = "runledger.rulesets"
TEXT = "collection-profile/0.1.0"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder on the path of the command."""
    path = tmp_path / "site"
    path.mkdir()
    return path


def with_path(site: Path) -> Command:
    return lambda *words: run(*words, PYTHONPATH=f"{site}:{ROOT}")


@pytest.fixture
def acme(site: Path) -> Command:
    """The command where the example is installed."""
    install(PLUGIN, site)
    return with_path(site)


def bring(site: Path, module: str) -> Command:
    """Install a package of one module, and return the command."""
    (site / "broken.py").write_text(module)
    describe(site, "broken-rules", "1.0", {GROUP: {"one": "broken:RULESET"}})
    return with_path(site)


def test_a_package_brings_a_ruleset_with_a_rule_of_its_own(acme: Command, ledger: Path) -> None:
    done = acme("-l", ledger, "rules", "list", "-o", "json")
    assert (done.status, done.err) == (0, "")
    row = next(row for row in done.json if row["id"] == "acme/1")
    assert (row["origin"], row["default"]) == ("installed: acme-rules", False)
    told = acme("-l", ledger, "rules", "diff", TEXT, "acme/1", "-o", "json").json
    assert [(one["asked_of"], one["rule"], one["a"], one["b"]) for one in told["rules"]] == [
        ("checkpoint, coverage", "acme_something_was_collected", None, 3)
    ]
    assert told["switches"] == []


def test_runs_are_decided_under_it_and_its_words_are_told(acme: Command, ledger: Path) -> None:
    decision = acme("-l", ledger, "show", NOTICES, "--ruleset", "acme/1", "-o", "json").json
    reasons = {
        one["stream"]: [reason["code"] for reason in one["reasons"]] for one in decision["checkpoints"]
    }
    assert reasons["members"] == ["acme_nothing_collected"]
    page = " ".join(acme("-l", ledger, "why", NOTICES, "members", "--ruleset", "acme/1").out.split())
    assert "members staged a checkpoint and sent no record in this run. [acme/1]" in page
    assert "A checkpoint moves only over records that were seen." in page
    again = acme("-l", ledger, "recompute", "--ruleset", "acme/1", "--against", TEXT, "--jobs", "2")
    assert "commit → withhold: acme_nothing_collected (acme/1), 2 in 2 runs" in again.out


def test_what_was_decided_under_it_is_known_to_have_been_once_it_is_gone(
    acme: Command, ledger: Path, site: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('id = "own/1"\nextends = "acme/1"\n[switches]\nunlisted_gap = "accounted"\n')
    for name in ("acme/1", own):
        assert acme("-l", ledger, "show", NOTICES, "--ruleset", name).status == 0
    assert acme("-l", ledger, "show", NOTICES, "--ruleset", "own/1").status == 0
    (site / "acme_rules.py").unlink()
    for folder in site.glob("*.dist-info"):
        folder.rename(site / "gone")
    rows = {row["id"]: row for row in acme("-l", ledger, "rules", "list", "-o", "json").json}
    for name in ("acme/1", "own/1"):
        assert rows[name]["origin"] == "stored"
        assert "nothing can be decided under it" in rows[name]["summary"]
        done = acme("-l", ledger, "show", NOTICES, "--ruleset", name)
        assert (done.status, done.out) == (4, "")
        assert "found some that are not here: it was made by another version, or with a package" in done.err
    assert acme("-l", ledger, "verify").status == 0


def test_a_package_is_loaded_only_for_what_is_not_shipped(site: Path, ledger: Path, tmp_path: Path) -> None:
    seen = tmp_path / "loaded"
    command = bring(site, f"from pathlib import Path\nPath({str(seen)!r}).touch()\nRULESET = []")
    for words in (("runs",), ("show", "@latest", "--ruleset", TEXT), ("rules", "show", TEXT), ("--help",)):
        assert command("-l", ledger, *words).status == 0
        assert not seen.exists()
    assert command("-l", ledger, "rules", "list").status == 0
    assert seen.exists()


def test_a_broken_package_is_named_and_ends_nothing(site: Path, ledger: Path, tmp_path: Path) -> None:
    command = bring(site, "import nothing_like_it")
    done = command("-l", ledger, "rules", "list")
    assert (done.status, len(done.lines)) == (0, 4)
    assert done.err.startswith(
        "runledger: the package broken-rules brings a ruleset one that cannot be used: "
    )
    assert done.err.count("\n") == 1
    own = tmp_path / "own.toml"
    own.write_text(f'id = "own/1"\nextends = "{TEXT}"')
    done = command("-l", ledger, "show", NOTICES, "--ruleset", own)
    assert (done.status, "under own/1" in done.out) == (0, True)
    assert "the package broken-rules" in done.err


FAILING = """
import sys
from dataclasses import replace
from ledger.core.findings import rule
from ledger.dialects.collection_profile.rulesets import TEXT

@rule("acme/1")
def acme_fails(state, plan, checkpoint):
    {}

RULES = (*TEXT.checkpoint_rules["coverage"], acme_fails)
RULESET = replace(TEXT, id="acme/1", checkpoint_rules={{**TEXT.checkpoint_rules, "coverage": RULES}})
"""


@pytest.mark.parametrize("more", [(), ("--twice",)], ids=["here", "in workers"])
@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("raise ValueError('boom')", "ValueError where run run_noticeboard_0031 was folded: boom"),
        ("open('/nowhere')", "FileNotFoundError where run run_noticeboard_0031 was folded: "),
        ("sys.exit(0)", "SystemExit where run run_noticeboard_0031 was folded: 0"),
    ],
)
def test_a_rule_that_fails_is_told_with_the_run_and_never_ends_as_if_all_were_well(
    site: Path, ledger: Path, does: str, told: str, more: tuple[str, ...]
) -> None:
    command = bring(site, FAILING.format(does))
    done = command("-l", ledger, "recompute", "--ruleset", "acme/1", "--runs", NOTICES, "--no-cache", *more)
    assert (done.status, done.out) == (70, "")
    assert told in done.err
    assert done.err.count("\n") == 1
