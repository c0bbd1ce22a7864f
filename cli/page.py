"""A page of text for people: indented, wrapped lines, in colour where that is wanted.

Whatever a program wrote may end up on a page, so every line is made visible first: control characters are
spelled out and reach no terminal.
"""

import re
import textwrap
from collections.abc import Iterable

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\n\r\t]")
_STYLES = {
    "bold": "1",
    "dim": "2",
    "good": "32",
    "bad": "1;31",
    "warn": "33",
    "loud": "1;97;41",
    "name": "36",
}


def visible(text: str) -> str:
    """Spell out control characters and marks of direction, so that a terminal only ever shows them."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


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
        clean = visible(text)
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

    def columns(
        self, rows: Iterable[tuple[str, ...]], *, indent: int = 0, styles: Iterable[str] = ()
    ) -> None:
        """Add rows whose cells stand under each other; the first row is the heading."""
        table = [tuple(map(visible, row)) for row in rows]
        if not table:
            return
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        styles = list(styles) or [""] * len(table)
        for row, style in zip(table, ["dim", *styles], strict=False):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self._lines.append(self.style((" " * indent + "  ".join(cells)).rstrip(), style))

    def text(self) -> str:
        """Return the page, ending in a line feed."""
        return "\n".join(self._lines).rstrip("\n") + "\n"
