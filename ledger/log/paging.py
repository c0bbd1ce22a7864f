"""Pages of rows, as the store and verifying read them: what a row holds, and how much is held at a time.

Each page is one query that is read to its end, so that no read transaction outlives it. Which rows are asked
for, and what an error of SQLite's means, is for whoever reads. Invariant: beside its last row a page holds
bodies of fewer than :data:`PAGE_BYTES` bytes.
"""

import sqlite3
from contextlib import closing
from typing import Any

from ledger.log.schema import SEQ_MASK

PAGE_ROWS = 2000
PAGE_BYTES = 8 * 1024 * 1024
"""A page of entries ends at whichever comes first."""

RUN_COLUMNS = 'run_no, run_id, dialect, program, namespace, "trigger", via, opened_at'
ENTRY_COLUMNS = f"entry_id & {SEQ_MASK}, at, origin, session, type, stream, body"
SEQ, AT, ORIGIN, SESSION, TYPE, STREAM, BODY, SALT = range(8)
"""Where a row of :data:`ENTRY_COLUMNS`, and the salt behind them, holds what."""

TOTAL_ENTRIES = (
    "SELECT coalesce(sum(size), 0) FROM (SELECT max(size) AS size FROM tree_heads GROUP BY run_no)"
)


def read_page(connection: sqlite3.Connection, sql: str, values: tuple[Any, ...]) -> tuple[list[Any], bool]:
    """Read rows until the query ends or their bodies fill a page, so that long lines stay few.

    Returns:
        The rows, and whether bodies ended the page.
    """
    rows: list[Any] = []
    room = PAGE_BYTES
    with closing(connection.execute(sql, values)) as cursor:
        for row in cursor:
            rows.append(row)
            if isinstance(row[BODY], bytes):  # of a broken file it may be anything
                room -= len(row[BODY])
                if room <= 0:
                    return rows, True
    return rows, False
