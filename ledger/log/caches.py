"""What is derived from bodies and kept in the ledger: whoever adds such a table names it so that it is found.

An erasure drops it. Invariant: no table but those that :data:`CACHES` names holds anything of a body.
"""

import sqlite3

CACHES = "aux_cached_*"
"""Rowid tables of what was derived from bodies, such as decisions; a ``run_no`` says whose a row is."""


def clear_caches(connection: sqlite3.Connection, run_no: int) -> None:
    """Empty the tables that :data:`CACHES` names: of this run where they say whose a row is, else whole."""
    tables = connection.execute(
        "SELECT name, EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'run_no')"
        " FROM sqlite_master AS m WHERE type = 'table' AND name GLOB ?",
        (CACHES,),
    ).fetchall()
    for name, has_run_no in tables:
        quoted = '"' + name.replace('"', '""') + '"'
        if has_run_no:
            connection.execute(f"DELETE FROM {quoted} WHERE run_no = ?", (run_no,))
        else:
            connection.execute(f"DELETE FROM {quoted}")
