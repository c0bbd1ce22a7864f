"""What a check says, as a value, and what it is asked about."""

import sqlite3
from pathlib import Path
from typing import Literal

import msgspec

State = Literal["ok", "note", "problem"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What one check found.

    Attributes:
        check: what was looked at.
        state: ``note`` is worth knowing and stops nothing.
        found: what is there, in words.
        advice: what to do; '' where nothing is to be done.
        status: of a problem, the exit status that the table gives its kind; else 0.
    """

    check: str
    state: State
    found: str
    advice: str = ""
    status: int = 0


class Subject:
    """A ledger that is looked at.

    Attributes:
        path: where it is.
        connection: open for reading; None where it cannot be opened, or is no ledger.
        now: the machine's clock, microseconds since the epoch, UTC.
    """

    def __init__(self, path: Path, now: int) -> None:
        self.path = path
        self.now = now
        self.connection: sqlite3.Connection | None = None

    def beside(self, suffix: str) -> Path:
        """Return the path of one of SQLite's files beside the ledger; it puts them beside a link's target."""
        return Path(f"{self.path.resolve()}{suffix}")

    def size(self, suffix: str = "") -> int:
        """Return the bytes of the ledger, or of a file beside it; 0 where there is none."""
        try:
            return self.beside(suffix).stat().st_size
        except OSError:
            return 0

    def one(self, sql: str) -> int | None:
        """Return the one number that a query gives."""
        assert self.connection is not None
        value = self.connection.execute(sql).fetchone()[0]
        return None if value is None else int(value)


def ok(check: str, found: str) -> Check:
    """Return what is as it should be."""
    return Check(check=check, state="ok", found=found)


def note(check: str, found: str, advice: str) -> Check:
    """Return what is worth knowing."""
    return Check(check=check, state="note", found=found, advice=advice)


def problem(check: str, found: str, advice: str, status: int) -> Check:
    """Return what is wrong."""
    return Check(check=check, state="problem", found=found, advice=advice, status=status)


def size_of(number: int) -> str:
    """Write a number of bytes for people: 8,192 bytes, 24 MB, 3.1 GB."""
    if number < 10_000:
        return f"{number:,} bytes"
    for unit, name in ((1_000, "kB"), (1_000_000, "MB")):
        if number < 1_000 * unit:
            return f"{number / unit:.0f} {name}"
    return f"{number / 1_000_000_000:,.1f} GB"


def many(number: int, one: str, several: str = "") -> str:
    """Write a count and its noun."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"
