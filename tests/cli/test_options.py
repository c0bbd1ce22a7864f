"""The options that every command has, the help of every command, and what the README says of them."""

import csv
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from cli.main import app
from tests.cli.running import COMMAND, at_terminal, call, environment, run
from tests.cli.transcripts import ROOT, TRANSCRIPTS, sample

README = (ROOT / "README.md").read_text()


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that does something, by the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
        return
    for name, sub in inner.items():
        yield from commands(sub, (*words, name))


COMMANDS = dict(commands(typer.main.get_command(app)))
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


def test_the_commands_are_found() -> None:
    assert {("import",), ("why",), ("manifest", "check"), ("rules", "show")} <= set(COMMANDS)


# Help.


@every_command
def test_help_is_one_plain_sentence_and_two_examples(words: tuple[str, ...]) -> None:
    done = call(*words, "--help")
    assert done.status == 0
    assert done.err == ""
    sentence = " ".join(COMMANDS[words].help.split())
    assert sentence in " ".join(done.out.split())
    assert re.fullmatch(r"[A-Z][^.]*(\.db[^.]*)?\.", sentence)
    examples = [line.strip() for line in done.lines if re.match(r"\s+(cat .*\| )?runledger ", line)]
    assert len(examples) == 2
    assert all(" ".join(words) in example for example in examples)


@every_command
def test_the_examples_of_help_are_understood(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may find nothing to work on, but none of them is wrong usage."""
    monkeypatch.chdir(tmp_path)
    for line in call(*words, "--help").lines:
        if "runledger " in line and re.match(r"\s+(cat .*\| )?runledger ", line):
            called = shlex.split(line[line.index("runledger ") :])[1:]
            done = call(*called)
            assert done.status in (0, 3, 4), (line, done.err)


@every_command
def test_help_shows_the_options_for_all(words: tuple[str, ...]) -> None:
    out = call(*words, "-h").out
    for option in ("-l, --ledger", "-o, --output", "--ruleset", "--color"):
        assert option in out


@every_command
def test_every_command_is_in_the_readme(words: tuple[str, ...]) -> None:
    assert re.search(rf"`(runledger )?{' '.join(words)}\b", README)


def test_help_of_all_lists_every_command_with_a_whole_sentence() -> None:
    out = call("--help").out
    for words in COMMANDS:
        assert re.search(rf"^  {words[0]}\b", out, re.MULTILINE)
    assert "..." not in out.replace("FILE...", "").replace("RUN...", "").replace("[ARGS]...", "")


def test_no_words_at_all_show_the_help() -> None:
    done = run()
    assert done.status == 2
    assert "why" in done.out + done.err


def test_help_imports_nothing_heavy() -> None:
    """What makes it answer in well under 0.3 s; wall time would say more about the machine."""
    code = (
        "import sys; sys.argv = ['runledger', '--help']\n"
        "from cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [COMMAND[0], "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert "Commands:" in done.stdout
    heavy = {
        *("sqlite3", "sqlite_utils", "rich", "duckdb", "hypothesis", "zstandard", "asyncio"),
        *("ledger.log.sqlite_store", "ledger.log.schema", "ledger.exchange", "ledger.exchange.importing"),
    }
    assert heavy & set(done.stderr.split()) == set()


def test_the_list_of_commands_says_of_each_what_it_does() -> None:
    listed = dict(
        re.findall(r"^  ([a-z]+)  +(.+)$", call("--help").out.partition("Commands:")[2], re.MULTILINE)
    )
    assert listed["certificate"] == "Print the certificate of a run."
    assert all(len(told.split()) > 2 for told in listed.values()), listed


def test_the_version_is_told() -> None:
    assert re.fullmatch(r"runledger \d+\.\d+\.\d+\n", call("--version").out)


# Before and after the verb.


@pytest.mark.parametrize(
    "words",
    [
        ("-l", "{ledger}", "-o", "json", "runs"),
        ("runs", "-l", "{ledger}", "-o", "json"),
        ("--ledger", "{ledger}", "runs", "--output", "json"),
        ("-l", "nowhere.db", "-o", "csv", "runs", "-l", "{ledger}", "-o", "json"),
    ],
)
def test_options_before_and_after_the_verb_agree_and_after_wins(
    samples: Path, words: tuple[str, ...]
) -> None:
    done = call(*(word.format(ledger=samples) for word in words))
    assert done.status == 0, done.err
    assert len(done.json) == len(TRANSCRIPTS)


def test_options_stand_before_each_word_of_a_command() -> None:
    forms = [
        call("-o", "json", "rules", "list"),
        call("rules", "-o", "json", "list"),
        call("rules", "list", "-o", "json"),
    ]
    assert {form.out for form in forms} == {forms[0].out}
    assert forms[0].json[0]["id"] == "collection-profile/0.1.0"


def test_the_environment_names_the_ledger_and_an_option_wins(samples: Path) -> None:
    assert call("runs", RUNLEDGER=str(samples)).status == 0
    assert call("runs", "-l", samples, RUNLEDGER="nowhere.db").status == 0
    assert call("-l", "nowhere.db", "runs", RUNLEDGER=str(samples)).status == 4


def test_without_a_word_the_ledger_is_in_this_folder(tmp_path: Path) -> None:
    run_id, transcript = sample("calendar-snapshot")
    assert run("import", transcript, cwd=tmp_path).status == 0
    assert (tmp_path / "ledger.db").is_file()
    assert run_id in run("runs", cwd=tmp_path, RUNLEDGER="").out


@pytest.mark.parametrize(
    "words",
    [("runs",), ("show", "@latest"), ("why", "@latest"), ("log", "@latest"), ("export", "@latest", "-")],
    ids=lambda words: words[0],
)
def test_only_import_creates_the_ledger(tmp_path: Path, words: tuple[str, ...]) -> None:
    absent = tmp_path / "absent.db"
    done = call("-l", absent, *words)
    assert (done.status, done.out) == (4, "")
    assert str(absent) in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_needs_no_ledger_makes_none(tmp_path: Path) -> None:
    assert run("rules", "list", cwd=tmp_path).status == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("runs",), ("show", "@latest"), ("why", "@latest")])
def test_an_unknown_ruleset_is_not_found(samples: Path, words: tuple[str, ...]) -> None:
    done = call("-l", samples, "--ruleset", "collection-profile/9", *words)
    assert (done.status, done.out) == (4, "")
    assert "collection-profile/0.1.0" in done.err


def test_a_known_ruleset_may_be_named(samples: Path) -> None:
    named = call("-l", samples, "show", "@latest", "-o", "json", "--ruleset", "collection-profile/0.1.0")
    assert named.raw == call("-l", samples, "show", "@latest", "-o", "json").raw


# Colour.


def test_colour_is_for_terminals_and_for_who_asks(samples: Path) -> None:
    words = ("-l", samples, "why", "run_chatter_0413")
    assert "\x1b[" not in call(*words).out
    assert "\x1b[" in call(*words, "--color", "always").out
    assert "\x1b[" in call(*words, "--color", "always", NO_COLOR="1").out
    assert "\x1b[" not in call(*words, "--color", "never").out


def test_at_a_terminal_colour_is_on_and_no_color_turns_it_off(samples: Path) -> None:
    words = ("-l", samples, "show", "run_chatter_0413")
    assert b"\x1b[" in at_terminal(*words)[1]
    assert b"\x1b[" not in at_terminal(*words, NO_COLOR="1")[1]
    assert b"\x1b[" not in at_terminal(*words, "--color", "never")[1]


# The forms of data.

LISTS = [
    ("runs",),
    ("log", "run_chatter_0413"),
    ("rules", "list"),
]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_json_lines_csv_and_json_say_the_same(samples: Path, words: tuple[str, ...]) -> None:
    whole = call("-l", samples, *words, "-o", "json").json
    lines = [json.loads(line) for line in call("-l", samples, *words, "-o", "jsonl").lines]
    table = list(csv.DictReader(call("-l", samples, *words, "-o", "csv").out.splitlines(keepends=True)))
    assert whole == lines
    assert len(table) == len(whole)
    assert all(set(row) == set(whole[0]) for row in [*whole, *table])


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "csv"])
def test_data_goes_to_stdout_and_talk_to_stderr(samples: Path, form: str) -> None:
    done = call("-l", samples, "-o", form, "runs", "--limit", "3")
    assert "newest 3" in done.err
    assert "newest 3" not in done.out
    assert "run_chatter_0418" in done.out
    assert "run_chatter_0418" not in done.err


@every_command
def test_whether_a_path_may_be_read_is_asked_by_opening_it(words: tuple[str, ...]) -> None:
    """Asked by the parser, it would be wrong usage."""
    asked = [parameter.type_descriptor for parameter in COMMANDS[words].params]
    paths = [one for one in asked if "Path" in str(one.annotation)]
    assert paths
    assert [one for one in paths if one.parameter_info.readable] == []
