"""A page of text for people: indented, wrapped lines, in colour where that is wanted.

Whatever a program wrote may end up on a page, so every line is made visible first: what a terminal would obey
instead of show is spelled out, and what would fill the screen is cut.
"""

import json
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

_STYLES = {
    "bold": "1",
    "dim": "2",
    "good": "32",
    "bad": "1;31",
    "warn": "33",
    "loud": "1;97;41",
    "name": "36",
}

LINE_LIMIT = 2000
WORD_LIMIT = 240
CELL_LIMIT = 60
"""Characters that a line, a word in a line and a cell of a table may have before they are cut."""

NUMBERS_SHOWN = 10
"""Entries that are named before the rest of them are only counted."""

_LONG_WORD = re.compile(rf"\S{{{WORD_LIMIT + 1},}}")


def visible(text: str) -> str:
    """Spell out all that is not printable, as JSON does, so that a terminal only ever shows it.

    That is every control character, mark of direction, line separator, invisible letter and lone surrogate.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def cut(text: str, limit: int) -> str:
    """Cut a text that is longer than the limit, and let it be seen."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a visible text takes."""
    if text.isascii():
        return len(text)
    return sum(_letter_columns(letter) for letter in text)


def pad(text: str, width: int) -> str:
    """Fill a visible text up with spaces to so many columns."""
    return text + " " * (width - columns_of(text))


def some_of(shown: Sequence[str], total: int) -> str:
    """List the first of several things, and how many more there are."""
    more = total - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def count_of(number: int, one: str, several: str = "") -> str:
    """Write a count and its noun: ``1 entry``, ``2,000 entries``."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def entries_of(numbers: Sequence[int], total: int | None = None) -> str:
    """Name entries: ``entry 9``, ``entries 7, 9``, ``entries 7, 9 and 500 more``; '' where there are none."""
    if not numbers:
        return ""
    known = len(numbers) if total is None else total
    return f"entr{'y' if known == 1 else 'ies'} {some_of([*map(str, numbers[:NUMBERS_SHOWN])], known)}"


def style_of(verdict: str, outcome: str | None) -> str:
    """Return the style of a checkpoint: good where the rules commit it and nothing else happened."""
    if verdict == "commit":
        return "good" if outcome in ("committed", None) else "bad"
    return "bad" if verdict == "withhold" or outcome == "committed" else "warn"


class Page:
    """Lines gathered for printing.

    Attributes:
        width: columns to wrap at; 0 never wraps.
    """

    def __init__(self, *, color: bool, width: int) -> None:
        self.width = width
        self._color = color
        self._lines: list[str] = []

    def style(self, text: str, style: str) -> str:
        """Colour a text, where colour is wanted; the text must be visible already."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._color and style else text

    def blank(self) -> None:
        """Add an empty line, unless the last one is."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def line(self, text: str, style: str = "", *, indent: int = 0, hang: int = 0) -> None:
        """Add a text, wrapped, its continuation ``hang`` columns further in."""
        clean = _LONG_WORD.sub(lambda word: cut(word.group(), WORD_LIMIT), visible(cut(text, LINE_LIMIT)))
        first, rest = " " * indent, " " * (indent + hang)
        wrapped = [first + clean]
        if self.width and len(first) + len(clean) > self.width:
            wrapped = textwrap.wrap(
                clean,
                self.width,
                initial_indent=first,
                subsequent_indent=rest,
                break_long_words=False,
                break_on_hyphens=False,
            )
        self._lines.extend(self.style(one, style) for one in wrapped)

    def newest(self, heading: str, told: Iterable[str], total: int, *, all_of_them: str) -> None:
        """Add the newest of many things under a heading, oldest first, and count those before them.

        Args:
            heading: what they are.
            told: those that are shown; nothing is added where there are none.
            total: how many there are.
            all_of_them: the command that prints every one.
        """
        shown = list(told)
        if not shown:
            return
        self.blank()
        self.line(heading, "bold")
        if total > len(shown):
            self.line(f"{total - len(shown)} older ones: `{all_of_them}` has them all", "dim", indent=2)
        for one in shown:
            self.line(one, indent=2, hang=2)

    def columns(self, rows: Iterable[tuple[str, ...]], *, styles: Iterable[str] = ()) -> None:
        """Add rows whose cells stand under each other; the first row is the heading."""
        table = [
            [
                *(cut(visible(cut(cell, LINE_LIMIT)), CELL_LIMIT) for cell in row[:-1]),
                visible(cut(row[-1], LINE_LIMIT)),
            ]
            for row in rows
        ]
        if not table:
            return
        widths = [max(map(columns_of, cells)) for cells in zip(*table, strict=True)]
        styles = list(styles) or [""] * len(table)
        for row, style in zip(table, ["dim", *styles], strict=False):
            cells = map(pad, row, widths)
            self._lines.append(self.style("  ".join(cells).rstrip(), style))

    def text(self) -> str:
        """Return the page, ending in a line feed."""
        return "\n".join(self._lines).rstrip("\n") + "\n"


def _letter_columns(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
