"""Every row of the table of exit statuses, and that nothing else happens: no traceback, no other status."""

import re
import sqlite3
import subprocess
from pathlib import Path

import pytest

import cli.exits
from cli.exits import exits
from ledger.errors import LedgerError
from tests.cli.running import COMMAND, call, environment, run
from tests.cli.transcripts import ROOT, record, said, start, write


def status_of(error: BaseException) -> int:
    """Return the exit status that an error becomes."""
    with pytest.raises(BaseException) as caught, exits():  # noqa: PT011 - typer.Exit or SystemExit
        raise error
    stopped = caught.value
    return int(getattr(stopped, "exit_code", getattr(stopped, "code", None)))  # type: ignore[arg-type]


def test_the_readme_and_the_module_hold_the_same_table() -> None:
    in_module = re.findall(r"^(\d+)\s{2,}(.+)$", cli.exits.__doc__ or "", re.MULTILINE)
    in_readme = re.findall(r"^\| (\d+) \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert in_module == in_readme


# 0, 1, 2, 3, 4.


def test_0_is_yes(samples: Path) -> None:
    assert call("-l", samples, "runs").status == 0


@pytest.mark.parametrize("verb", ["show", "why"])
def test_1_is_no_and_only_where_it_was_asked_for(samples: Path, verb: str) -> None:
    words = ("-l", samples, verb, "run_chatter_0413")
    assert call(*words).status == 0
    asked = call(*words, "--exit-code")
    assert (asked.status, asked.out) == (1, call(*words).out)
    assert call("-l", samples, verb, "run_ical-1", "--exit-code").status == 0


def test_1_of_why_is_about_the_checkpoint_that_was_asked_about(samples: Path) -> None:
    assert call("-l", samples, "why", "run_chatter_0413", "direct_messages", "--exit-code").status == 0
    assert call("-l", samples, "why", "run_chatter_0413", "messages", "--exit-code").status == 1


@pytest.mark.parametrize(
    "name", ["run_netflix-3-since", "run_apple_contacts-1-no-credentials", "run_chatter_0412"]
)
def test_1_is_a_run_that_failed_too(samples: Path, name: str) -> None:
    assert call("-l", samples, "show", name, "--exit-code").status == 1
    assert call("-l", samples, "why", name, "--exit-code").status == 1


@pytest.mark.parametrize(
    "words",
    [
        ("frobnicate",),
        ("runs", "--limit", "many"),
        ("runs", "--limit", "-1"),
        ("runs", "--since", "yesterday"),
        ("runs", "-o", "xml"),
        ("runs", "extra"),
        ("show",),
        ("log", "@latest", "--origin", "nobody"),
        ("log", "@latest", "--from", "0"),
        ("runs", "--color", "blue"),
        ("rules",),
    ],
    ids=" ".join,
)
def test_2_is_wrong_usage(samples: Path, words: tuple[str, ...]) -> None:
    done = call("-l", samples, *words)
    assert done.status == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("import", "missing.jsonl"),
        ("import", "binary"),
        ("import", "folder"),
        ("manifest", "check", "missing.json"),
        ("manifest", "check", "binary"),
        ("manifest", "check", "folder"),
        ("-l", "folder", "runs"),
        ("-l", "folder", "import", "binary"),
    ],
    ids=" ".join,
)
def test_3_is_input_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    monkeypatch.chdir(tmp_path)
    done = call(*words)
    assert (done.status, done.out) == (3, "")
    assert words[-1] in done.err or "folder" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("show", "nothing"),
        ("why", "run_ical-1", "nothing"),
        ("export", "nothing", "-"),
        ("log", "nothing"),
        ("rules", "show", "nothing"),
        ("--ruleset", "nothing", "show", "@latest"),
        ("-l", "nothing.db", "runs"),
        ("-l", "nowhere/nothing.db", "import", "sample_runs"),
    ],
    ids=" ".join,
)
def test_4_is_not_found(samples: Path, words: tuple[str, ...]) -> None:
    done = call("-l", samples, *words) if words[0] != "-l" else call(*words)
    assert (done.status, done.out) == (4, "")
    assert "noth" in done.err


# 5 and 6: the ledger.


def test_5_is_a_ledger_that_another_process_holds(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.log.transactions.BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(ledger, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        done = call("-l", ledger, "import", sample_under_new_name(ledger.parent))
        assert call("-l", ledger, "runs").status == 0, "reading goes on"
    finally:
        holder.close()
    assert (done.status, done.out) == (5, "")
    assert "try again later" in done.err


def sample_under_new_name(folder: Path) -> Path:
    return write(folder / "new.jsonl", *start(), run_id="run_new")


@pytest.mark.parametrize("verb", [("runs",), ("show", "@latest"), ("import", "sample_runs")])
def test_5_is_a_ledger_of_a_newer_format(ledger: Path, verb: tuple[str, ...]) -> None:
    change(ledger, "PRAGMA user_version = 99")
    done = call("-l", ledger, *verb)
    assert (done.status, done.out) == (5, "")
    assert "newer runledger" in done.err


@pytest.mark.parametrize("verb", [("runs",), ("import", "sample_runs")])
def test_5_is_another_programs_database_and_it_stays_as_it_was(tmp_path: Path, verb: tuple[str, ...]) -> None:
    path = tmp_path / "other.db"
    change(path, "CREATE TABLE runs (id)")
    before = path.read_bytes()
    done = call("-l", path, *verb)
    assert (done.status, done.out) == (5, "")
    assert path.read_bytes() == before


@pytest.mark.parametrize("body", [b"", b"not SQLite at all" * 100], ids=["empty", "text"])
def test_5_is_a_file_that_is_no_ledger(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "file.db"
    path.write_bytes(body)
    assert call("-l", path, "runs").status == 5
    assert path.read_bytes() == body


@pytest.mark.parametrize("verb", [("runs",), ("why", "@latest"), ("import", "sample_runs")])
def test_6_is_a_ledger_whose_guards_were_taken_off(ledger: Path, verb: tuple[str, ...]) -> None:
    change(ledger, "DROP TRIGGER entries_once")
    done = call("-l", ledger, *verb)
    assert (done.status, done.out) == (6, "")
    assert "entries_once" in done.err


def test_6_is_a_file_that_sqlite_finds_broken(ledger: Path) -> None:
    body = bytearray(ledger.read_bytes())
    body[8192:] = b"\xff" * (len(body) - 8192)
    ledger.write_bytes(body)
    done = call("-l", ledger, "runs")
    assert (done.status, done.out) == (6, "")


def change(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    try:
        connection.execute(sql)
        connection.commit()
    finally:
        connection.close()


# 70: what nobody foresaw.


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), AssertionError(), RecursionError("x"), MemoryError(), UnicodeError("x"), KeyError("x")],
    ids=lambda error: type(error).__name__,
)
def test_70_is_whatever_nobody_foresaw(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(error) == 70
    told = capsys.readouterr()
    assert told.out == ""
    assert type(error).__name__ in told.err
    assert "Traceback" not in told.err
    assert "RUNLEDGER_TRACEBACK=1" in told.err


def test_70_shows_its_traceback_to_who_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNLEDGER_TRACEBACK", "1")
    assert status_of(ValueError("where")) == 70
    assert "raise error\nValueError: where" in capsys.readouterr().err


def test_70_is_a_command_that_breaks_inside(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("inside \x1b[31m")

    monkeypatch.setattr("ledger.dialects.collection_profile.CollectionProfile.decide", broken)
    done = call("-l", samples, "why", "@latest")
    assert (done.status, done.out) == (70, "")
    assert "ZeroDivisionError" in done.err
    assert "\x1b" not in done.err


def tree(root: type[LedgerError]) -> list[type[LedgerError]]:
    return [root, *(below for sub in root.__subclasses__() for below in tree(sub))]


@pytest.mark.parametrize("kind", tree(LedgerError), ids=lambda kind: kind.__name__)
def test_every_error_of_ours_has_a_status_of_the_table(
    kind: type[LedgerError], capsys: pytest.CaptureFixture[str]
) -> None:
    error = kind.__new__(kind)
    Exception.__init__(error, "expected \x1b[2J, found something else")
    assert status_of(error) == kind.exit_status
    assert kind.exit_status in (1, 2, 3, 4, 5, 6, 70)
    assert capsys.readouterr().err == "runledger: expected \\u001b[2J, found something else\n"


# 130: interrupted; tests/cli/test_signals.py has the rest.


def test_130_is_an_interrupt_before_there_is_anything_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "runledger: interrupted\n"


# Streams that are not there.


def piped(tail: str, *words: str | Path) -> tuple[int, str]:
    """Run the command into a shell's pipe; return its own status and what it said."""
    line = f'"$@" | {tail}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", line, "bash", *COMMAND, *map(str, words)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a run of many entries."""
    folder = tmp_path_factory.mktemp("many")
    lines = said(*(record("messages", f"msg_{number}") for number in range(5000)))
    call("-l", folder / "ledger.db", "import", write(folder / "run.jsonl", *start(), *lines))
    return folder / "ledger.db"


@pytest.mark.parametrize(
    "words",
    [
        ("log", "@latest"),
        ("log", "@latest", "--raw"),
        ("log", "@latest", "-o", "json"),
        ("log", "@latest", "-o", "jsonl"),
        ("log", "@latest", "-o", "csv"),
        ("export", "@latest", "-"),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_seen_enough_is_no_error(many: Path, words: tuple[str, ...]) -> None:
    assert piped("head -1 >/dev/null", "-l", many, *words) == (0, "")


@pytest.mark.parametrize("words", [("--help",), ("why", "--help"), ("--version",)], ids=" ".join)
def test_a_reader_that_never_came_is_no_error_of_help(words: tuple[str, ...]) -> None:
    assert piped("true", *words) == (0, "")


def test_a_reader_that_never_came_does_not_hide_the_answer(samples: Path) -> None:
    words = ("-l", samples, "show", "run_chatter_0413", "--exit-code")
    assert piped("sleep 0", *words) == (1, "")


EVERYTHING = pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("log", "@latest"),
        ("export", "@latest", "-"),
        ("why", "run_chatter_0413"),
        ("show", "run_chatter_0413", "-o", "json"),
        ("verify", "-o", "csv"),
        ("heads",),
        ("rules", "list", "-o", "jsonl"),
        ("doctor",),
    ],
    ids=" ".join,
)


def redirected(how: str, *words: str | Path) -> tuple[int, str]:
    """Run the command with its streams redirected by a shell; return its status and what it said."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {how}', "bash", *COMMAND, *map(str, words)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


@EVERYTHING
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_cannot_be_written_is_an_error_of_the_file_system(
    samples: Path, words: tuple[str, ...]
) -> None:
    status, told = redirected(">/dev/full", "-l", samples, *words)
    assert status == 3
    assert told.endswith("the system refused: No space left on device\n")
    assert "Traceback" not in told


@EVERYTHING
def test_no_stdout_at_all_is_no_bug(samples: Path, words: tuple[str, ...]) -> None:
    status, told = redirected(">&-", "-l", samples, *words)
    assert status == 0
    assert "Traceback" not in told


@pytest.mark.parametrize("how", ["2>&-", "2>/dev/full", "2>&- >&- <&-"])
def test_no_stderr_to_talk_on_changes_no_status(samples: Path, how: str) -> None:
    assert redirected(how, "-l", samples, "runs") == (0, "")
    assert redirected(how, "-l", samples, "log", "nothing") == (4, "")
    assert redirected(how, "-l", samples, "runs", "--limit", "many") == (2, "")


def test_what_was_imported_is_kept_where_it_cannot_be_told(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    status, _ = redirected(">/dev/full", "-l", ledger, "import", "sample_runs")
    assert status == 3
    assert call("-l", ledger, "verify").status == 0
    assert {row["outcome"] for row in call("-l", ledger, "import", "sample_runs", "-o", "json").json} == {
        "unchanged"
    }


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_output_of_few_letters_spells_out_the_others(samples: Path, encoding: str) -> None:
    done = run("-l", samples, "why", "run_chatter_0413", PYTHONIOENCODING=encoding)
    assert done.status == 0
    assert done.err == ""
    assert b"att_3" in done.raw


def test_a_locale_of_ascii_is_enough(samples: Path) -> None:
    done = run("-l", samples, "log", "@latest", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (done.status, done.err) == (0, "")
