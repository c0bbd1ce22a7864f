"""Data on stdout: as a text table, a JSON document, JSON lines or CSV, with the same names in each.

Rows are printed as they come, so that a run of a million entries needs no more memory than a short one. On a
terminal, control characters are spelled out; everywhere else bytes are what they are.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from cli.exits import let_go_of_stdout
from cli.options import Common, Output
from cli.page import columns_of, cut, pad, visible

Row = Mapping[str, Any]

ROWS_MEASURED = 1000
"""Rows of a table that are read before the first is printed, to find how wide its columns are."""

_NARROWEST = 20
_WIDEST = 100
"""Columns of a cell before it is cut; the last cell of a row has all that it needs."""


def print_rows(
    rows: Iterable[Row],
    columns: Sequence[str],
    common: Common,
    *,
    optional: Sequence[str] = (),
    is_cut: bool = False,
    later: Iterable[Row] | None = None,
    least: Mapping[str, int] | None = None,
) -> None:
    """Print rows.

    Args:
        rows: mappings that have at least the columns, and the same members each.
        columns: the names that a table shows, in order; the other forms show every member.
        common: which form, and whether in colour.
        optional: columns that a table leaves out where they are empty.
        is_cut: whether a table's last column is cut where a terminal is too narrow for it.
        later: rows that are yet to come, which no width is measured by; whoever yields them flushes.
        least: how wide a table's columns are at least, by name.
    """
    if later is not None and common.output is not Output.TEXT:
        rows = chain(rows, later)
    match common.output:
        case Output.JSON:
            print_lines(_array(rows))
        case Output.JSONL:
            print_lines(map(msgspec.json.encode, rows))
        case Output.CSV:
            _print_csv(iter(rows), columns)
        case Output.TEXT:
            _print_table(iter(rows), columns, common, optional, is_cut=is_cut, later=later, least=least or {})


def print_json(value: Any) -> None:
    """Print one JSON document on one line."""
    print_bytes(msgspec.json.encode(value))


def print_bytes(body: bytes) -> None:
    """Print bytes as they are, and a line feed."""
    print_lines([body])


def print_lines(lines: Iterable[bytes]) -> None:
    """Print lines of bytes as they are, each with a line feed."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        for line in lines:
            sys.stdout.write(visible(line.decode("utf-8", "backslashreplace")) + "\n")
        return
    for line in lines:
        sys.stdout.buffer.write(line + b"\n")


def print_text(text: str) -> None:
    """Print a text that is visible already; a reader who has left stops no command from answering."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        let_go_of_stdout()


def _array(rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield the lines of an array, one a row."""
    held: bytes | None = None
    for row in rows:
        if held is not None:
            yield held + b","
        held = (b"[" if held is None else b" ") + msgspec.json.encode(row)
    yield b"[]" if held is None else held + b"]"


def _print_csv(rows: Iterator[Row], columns: Sequence[str]) -> None:
    first = next(rows, {})
    names = list(dict.fromkeys([*columns, *first]))
    show = visible if sys.stdout.isatty() else str
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in chain([first] if first else [], rows):
        writer.writerow([show(_cell(row.get(name))) for name in names])


def _print_table(
    rows: Iterator[Row],
    columns: Sequence[str],
    common: Common,
    optional: Sequence[str],
    *,
    is_cut: bool,
    later: Iterable[Row] | None,
    least: Mapping[str, int],
) -> None:
    first = list(islice(rows, ROWS_MEASURED))
    if not first and later is None:
        return
    left_out = {name for name in optional if not any(row.get(name) for row in first)}
    names = [name for name in columns if name not in left_out]
    page = common.page()
    heads = [name.upper().replace("_", " ") for name in names]
    measured = [_cells(row, names) for row in first]
    widths = [max(map(columns_of, column)) for column in zip(heads, *measured, strict=True)]
    widths = [max(width, least.get(name, 0)) for width, name in zip(widths, names, strict=True)]
    room = 0
    if is_cut and sys.stdout.isatty():
        room = max(_NARROWEST, page.width - sum(widths[:-1]) - 2 * len(widths[:-1]))
    sys.stdout.write(page.style(_line(heads, widths, room), "dim") + "\n")
    for cells in chain(measured, (_cells(row, names) for row in chain(rows, later or ()))):
        sys.stdout.write(_line(cells, widths, room) + "\n")


def _cells(row: Row, names: Sequence[str]) -> list[str]:
    *inner, last = (visible(_cell(row.get(name))) for name in names)
    return [*(cut(cell, _WIDEST) for cell in inner), last]


def _line(cells: Sequence[str], widths: Sequence[int], room: int) -> str:
    """Set cells under each other; the last is cut to the room that there is, unless that is 0."""
    *inner, last = cells
    if room:
        last = cut(last, room)
    return "  ".join([*map(pad, inner, widths), last]).rstrip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    return str(value)
