"""A page: what is on it is visible, wrapped and aligned, whatever a program wrote."""

import pytest

from cli.page import Page, style_of, visible

RISKY = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "a\rb",
    "a\nb",
    "a\tb",
    "\x00",
    "\x7f",
    "\x85",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\u200f",
    "\u061c",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\udcff",
]


@pytest.mark.parametrize("text", RISKY, ids=ascii)
def test_what_a_terminal_would_obey_is_spelled_out(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert shown.encode("utf-8")
    assert "\\" in shown


@pytest.mark.parametrize("text", ["plain", "Grüße, 漢字, 🙂", "a · b", "C:\\x", ""])
def test_what_is_only_to_be_read_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def page(width: int = 40, color: bool = False) -> Page:
    return Page(color=color, width=width)


def test_a_line_wraps_and_its_continuation_hangs() -> None:
    sheet = page()
    sheet.line("one two three four five six seven eight nine ten", indent=2, hang=2)
    assert sheet.text() == "  one two three four five six seven\n    eight nine ten\n"


def test_no_width_means_no_wrapping() -> None:
    sheet = page(width=0)
    sheet.line("word " * 100)
    assert sheet.text().count("\n") == 1


def test_every_wrapped_line_is_styled_by_itself() -> None:
    sheet = page(width=10, color=True)
    sheet.line("aaaa bbbb cccc", "bad")
    assert [line.count("\x1b[0m") for line in sheet.text().splitlines()] == [1, 1]


def test_without_colour_a_style_leaves_no_trace() -> None:
    sheet = page()
    sheet.line("x", "loud")
    assert sheet.text() == "x\n"


def test_blank_lines_do_not_double_and_do_not_lead() -> None:
    sheet = page()
    sheet.blank()
    sheet.line("a")
    sheet.blank()
    sheet.blank()
    sheet.line("b")
    sheet.blank()
    assert sheet.text() == "a\n\nb\n"


def test_columns_stand_under_each_other() -> None:
    sheet = page()
    sheet.columns([("NAME", "N"), ("a", "1"), ("longer", "22")])
    assert sheet.text() == "NAME    N\na       1\nlonger  22\n"


def test_columns_hold_together_when_a_cell_holds_a_line_feed() -> None:
    sheet = page()
    sheet.columns([("NAME", "N"), ("a\nb", "1"), ("c", "2")])
    assert sheet.text() == "NAME  N\na\\nb  1\nc     2\n"


@pytest.mark.parametrize(
    ("verdict", "outcome", "style"),
    [
        ("commit", None, "good"),
        ("commit", "committed", "good"),
        ("commit", "failed", "bad"),
        ("commit", "not_attempted", "bad"),
        ("withhold", None, "bad"),
        ("withhold", "committed", "bad"),
        ("pending", None, "warn"),
        ("indeterminate", None, "warn"),
        ("indeterminate", "committed", "bad"),
    ],
)
def test_only_what_went_as_the_rules_say_looks_good(verdict: str, outcome: str | None, style: str) -> None:
    assert style_of(verdict, outcome) == style
