"""Rows on stdout: the same names in every form, printed as they come, and safe to look at."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.options import Common, Output
from cli.render import ROWS_MEASURED, print_bytes, print_rows

COLUMNS = ("seq", "who")
MANY = ROWS_MEASURED + 500


class Terminal(io.StringIO):
    """A stdout that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def common(output: Output, *, color: bool = False) -> Common:
    return Common(ledger=Path("ledger.db"), output=output, ruleset=None, color=color)


def rows(number: int) -> Iterator[dict[str, Any]]:
    for seq in range(1, number + 1):
        yield {"seq": seq, "who": None if seq % 2 else "program", "more": [seq, True]}


def printed(
    capsys: pytest.CaptureFixture[str], output: Output, given: Iterator[dict[str, Any]], **more: Any
) -> str:
    print_rows(given, COLUMNS, common(output), **more)
    sys.stdout.flush()
    return capsys.readouterr().out


@pytest.mark.parametrize("number", [0, 1, 2, MANY])
def test_every_form_holds_every_row(capsys: pytest.CaptureFixture[str], number: int) -> None:
    whole = list(rows(number))
    assert json.loads(printed(capsys, Output.JSON, rows(number))) == whole
    lines = printed(capsys, Output.JSONL, rows(number)).splitlines()
    assert [json.loads(line) for line in lines] == whole
    table = list(csv.DictReader(io.StringIO(printed(capsys, Output.CSV, rows(number)))))
    assert [row["seq"] for row in table] == [str(row["seq"]) for row in whole]
    text = printed(capsys, Output.TEXT, rows(number)).splitlines()
    assert len(text) == (number + 1 if number else 0)


def test_csv_of_no_rows_has_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, Output.CSV, rows(0)) == "seq,who\n"


def test_csv_shows_members_that_a_table_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, Output.CSV, rows(2)) == 'seq,who,more\n1,,"1, yes"\n2,program,"2, yes"\n'


@pytest.mark.parametrize("output", [Output.JSONL, Output.CSV, Output.TEXT, Output.JSON])
def test_rows_are_printed_before_all_of_them_are_read(
    capsys: pytest.CaptureFixture[str], output: Output
) -> None:
    def breaks_late() -> Iterator[dict[str, Any]]:
        yield from rows(MANY)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        print_rows(breaks_late(), COLUMNS, common(output))
    sys.stdout.flush()
    assert len(capsys.readouterr().out.splitlines()) >= MANY - 1


def test_a_table_has_neither_boxes_nor_blanks_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, Output.TEXT, rows(2)) == "SEQ  WHO\n1\n2    program\n"


def test_an_optional_column_is_left_out_where_it_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, Output.TEXT, rows(1), optional=("who",)) == "SEQ\n1\n"
    assert "WHO" in printed(capsys, Output.TEXT, rows(2), optional=("who",))
    assert "WHO" in printed(capsys, Output.TEXT, rows(1))


def test_a_wide_cell_after_the_measured_rows_pushes_only_its_own_row(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def given() -> Iterator[dict[str, Any]]:
        yield from ({"seq": 1, "who": "x"} for _ in range(ROWS_MEASURED))
        yield {"seq": 1234567, "who": "x"}
        yield {"seq": 2, "who": "x"}

    assert printed(capsys, Output.TEXT, given()).splitlines()[-3:] == ["1    x", "1234567  x", "2    x"]


def test_the_last_column_is_cut_at_a_narrow_terminal_and_nowhere_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [{"seq": 1, "who": "x" * 100}]
    monkeypatch.setenv("COLUMNS", "40")
    assert "x" * 100 in printed(capsys, Output.TEXT, iter(long), is_cut=True)
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    print_rows(long, COLUMNS, common(Output.TEXT), is_cut=True)
    print_rows(long, COLUMNS, common(Output.TEXT))
    cut, whole = terminal.getvalue().splitlines()[1::2]
    assert cut == "1    " + "x" * 34 + "…"
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setattr(sys, "stdout", narrow := Terminal())
    print_rows(long, COLUMNS, common(Output.TEXT), is_cut=True)
    assert narrow.getvalue().splitlines()[1] == "1    " + "x" * 19 + "…"
    assert whole == "1    " + "x" * 100


@pytest.mark.parametrize("output", list(Output))
def test_no_form_lets_a_control_character_reach_a_terminal(
    monkeypatch: pytest.MonkeyPatch, output: Output
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    print_rows([{"seq": "\x1b[2J", "who": "\x9b31m\x7f\r\u202e"}], COLUMNS, common(output))
    assert set(terminal.getvalue()).isdisjoint("\x1b\x9b\x7f\r\u202e")


def test_a_table_spells_control_characters_out_in_a_pipe_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in printed(capsys, Output.TEXT, iter([{"seq": "\x1b[2J", "who": "a\nb"}]))


def test_bytes_go_into_a_pipe_as_they_are(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    print_bytes(b"\xff\x1b[31m\r")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"\xff\x1b[31m\r\n"
