"""Data on stdout: as a text table, a JSON document, JSON lines or CSV, with the same names in each."""

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from cli.options import Common, Output

Row = Mapping[str, Any]


def print_rows(rows: Iterable[Row], columns: Sequence[str], common: Common) -> None:
    """Print rows.

    Args:
        rows: mappings that have at least the columns.
        columns: the names that a table shows, in order; the other forms show every member.
        common: which form, and whether in colour.
    """
    match common.output:
        case Output.JSON:
            print_json(list(rows))
        case Output.JSONL:
            for row in rows:
                print_json(row)
        case Output.CSV:
            _print_csv(list(rows), columns)
        case Output.TEXT:
            page = common.page()
            heads = tuple(name.upper().replace("_", " ") for name in columns)
            cells = [tuple(_cell(row.get(name)) for name in columns) for row in rows]
            if cells:
                page.columns([heads, *cells])
                sys.stdout.write(page.text())


def print_json(value: Any) -> None:
    """Print one JSON document on one line."""
    print_bytes(msgspec.json.encode(value))


def print_bytes(body: bytes) -> None:
    """Print bytes as they are, and a line feed."""
    sys.stdout.flush()
    sys.stdout.buffer.write(body + b"\n")


def _print_csv(rows: list[Row], columns: Sequence[str]) -> None:
    names = list(dict.fromkeys([*columns, *(name for row in rows for name in row)]))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    return str(value)
