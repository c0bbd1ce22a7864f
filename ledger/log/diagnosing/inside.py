"""Checks of what a ledger holds: whether its pages can be read, how it grows, what its newest times say."""

import sqlite3
import time
from typing import Any

from ledger.core.instants import write_micros
from ledger.errors import IntegrityError
from ledger.log.diagnosing.checks import Check, Subject, many, note, ok, problem, size_of
from ledger.log.schema import SEQ_BITS
from ledger.log.sqlite_errors import DAMAGED, primary_code

CHEAP_BYTES = 16 * 1000 * 1000
"""The size up to which SQLite's own check takes no time to speak of."""

COUNT_SECONDS = 0.25
RUNS_LOOKED_AT = 100
CLOCK_SECONDS = 300
OPEN_RUNS_NAMED = 3

_STEPS = 10_000


def check_pages(subject: Subject) -> Check:
    """Whether the file is whole pages, and SQLite's own check where it is cheap."""
    assert subject.connection is not None
    advice = f"{DAMAGED}; `runledger verify` names what is left"
    size, page_bytes = subject.size(), subject.one("PRAGMA page_size") or 1
    if size % page_bytes and not subject.size("-wal"):  # which may hold what is missing
        found = f"expected whole pages of {page_bytes} bytes, found {size % page_bytes} bytes more: cut off"
        return problem("pages", found, advice, IntegrityError.exit_status)
    if size > CHEAP_BYTES:
        return ok("pages", f"not read, as there are {size_of(size)}: `runledger verify` reads them all")
    found = subject.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        return problem("pages", f"SQLite finds: {found}", advice, IntegrityError.exit_status)
    return ok("pages", "sound by SQLite's quick check; `runledger verify` recomputes every hash")


def check_growth(subject: Subject) -> Check:
    """How large it is and what that comes to an entry."""
    total = subject.size() + subject.size("-wal")
    runs = subject.one("SELECT coalesce(max(run_no), 0) FROM runs") or 0
    counted = _within(
        subject,
        "SELECT coalesce(sum((SELECT max(size) FROM tree_heads WHERE run_no = runs.run_no)), 0) FROM runs",
    )
    if counted is None:
        return ok("growth", f"{many(runs, 'run')}, {size_of(total)}")
    entries = int(counted[0][0])
    each = f", {size_of(total // entries)} an entry" if entries else ""
    return ok("growth", f"{many(runs, 'run')}, {many(entries, 'entry', 'entries')}, {size_of(total)}{each}")


def check_open_runs(subject: Subject) -> Check:
    """Which runs have no end: they go on, or whoever recorded them was killed."""
    closed = "origin = 'observer' AND type = 'RUN_CLOSED' AND stream = ''"
    runs = subject.one("SELECT count(*) FROM runs") or 0
    ended = _within(subject, f"SELECT count(DISTINCT entry_id >> {SEQ_BITS}) FROM entries WHERE {closed}")
    named = _within(
        subject,
        f"SELECT run_id FROM runs WHERE NOT EXISTS (SELECT 1 FROM entries WHERE {closed}"
        f" AND entry_id > run_no << {SEQ_BITS} AND entry_id < run_no + 1 << {SEQ_BITS})"
        f" ORDER BY run_no DESC LIMIT {OPEN_RUNS_NAMED}",
    )
    if ended is None or named is None:
        return ok("open runs", "not counted, as there are many runs")
    if not named:
        return ok("open runs", "none")
    names = ", ".join(run_id for (run_id,) in named)
    found = f"{many(runs - ended[0][0], 'run')} without RUN_CLOSED, the newest {names}"
    return note("open runs", found, "nothing where they go on; else who recorded them was killed or left")


def check_clock(subject: Subject) -> Check:
    """Whether the machine's clock is behind what the log holds."""
    now = write_micros(subject.now)[:19] + "Z"
    newest = subject.one(
        f"SELECT max(at) FROM (SELECT (SELECT at FROM tree_heads WHERE run_no = runs.run_no"
        f" ORDER BY size DESC LIMIT 1) AS at FROM runs ORDER BY run_no DESC LIMIT {RUNS_LOOKED_AT})"
    )
    if not newest:
        return ok("clock", f"{now}, and no entry to hold it against")
    if newest > subject.now + CLOCK_SECONDS * 1_000_000:
        found = f"{now}, and the newest entry is of {write_micros(newest)[:19]}Z"
        return note(
            "clock", found, "set the machine's clock, unless that run came from a machine whose is ahead"
        )
    return ok("clock", f"{now}, after the newest entry")


def _within(subject: Subject, sql: str) -> list[tuple[Any, ...]] | None:
    """Return the rows of a query, None where it takes too long."""
    connection = subject.connection
    assert connection is not None
    until = time.monotonic() + COUNT_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_INTERRUPT:
            raise
        return None
    finally:
        connection.set_progress_handler(None, 0)
