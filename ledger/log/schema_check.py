"""Whether a file is a ledger of format 1, and its schema still that of format 1.

What stands in ``sqlite_master`` is compared with format 1, text by text. Invariant: no trigger on a table of
the log, and no view or table besides, goes unnoticed. That what hangs on an ``aux_`` table can be told by the
column ``tbl_name`` is SQLite's doing: it refuses a schema in which that is not what the text says.
"""

import re
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from ledger.errors import FormatError, IntegrityError
from ledger.log.schema import APPLICATION_ID, FORMAT, SCHEMA, TABLES, pragma

_GUARDS = "the log's guards no longer hold; verify it, and go back to a copy that was not changed"
_EXTRA = "drop it, or name its table aux_…"

_ON = re.compile(r" ON (\w+)")


class SchemaFault(NamedTuple):
    """Where a ledger's schema or header is not format 1's: what was expected, what found, what to do."""

    expected: str
    found: str
    next: str


class _Object(NamedTuple):
    """A row of ``sqlite_master``."""

    kind: str
    name: str
    table: str
    sql: str


def check_schema(connection: sqlite3.Connection, path: str) -> None:
    """Hold a file against format 1.

    Raises:
        FormatError: another program's database, or another format.
        IntegrityError: a ledger whose schema was changed; names the first object that differs.
    """
    for fault in _header_faults(connection):
        raise FormatError(f"{path}: expected {fault.expected}, found {fault.found}; {fault.next}")
    for fault in _object_faults(_objects(connection)):
        raise IntegrityError(f"{path}: expected {fault.expected}, found {fault.found}; {fault.next}")


def inspect_schema(connection: sqlite3.Connection, path: str) -> tuple[list[SchemaFault], list[SchemaFault]]:
    """Return what is wrong with a ledger's header, and with its schema.

    A file with a wrong header is a ledger all the same where its tables are those of format 1, and a ledger
    of no newer format where all of its schema is.

    Raises:
        FormatError: another program's database, or another format.
    """
    found = _objects(connection)
    header, objects = list(_header_faults(connection)), list(_object_faults(found))
    if header:
        is_newer = pragma(connection, "user_version") > FORMAT
        if (is_newer and objects) or any(
            found.get(name) != _expected(name, sql) for name, sql in TABLES.items()
        ):
            check_schema(connection, path)
    return header, objects


def _header_faults(connection: sqlite3.Connection) -> Iterator[SchemaFault]:
    application_id, version = pragma(connection, "application_id"), pragma(connection, "user_version")
    if application_id != APPLICATION_ID:
        yield SchemaFault(
            f"a ledger (application_id {APPLICATION_ID:#x})",
            f"another program's database ({application_id & 0xFFFFFFFF:#x})",
            "name another file",
        )
    if version != FORMAT:
        hint = "open it with a newer runledger" if version > FORMAT else "name another file"
        yield SchemaFault(f"log format {FORMAT}", f"format {version}", hint)


def _object_faults(found: dict[str, _Object]) -> Iterator[SchemaFault]:
    for name, sql in SCHEMA.items():
        expected = _expected(name, sql)
        if name not in found:
            yield SchemaFault(f"{expected.kind} {name} in the schema", "none", _GUARDS)
        elif found[name] != expected:
            yield SchemaFault(f"{expected.kind} {name} as format {FORMAT} has it", "it changed", _GUARDS)
    for name in sorted(found.keys() - SCHEMA.keys()):
        yield SchemaFault("only the log's own objects", f"{name!r}", _EXTRA)


def _expected(name: str, sql: str) -> _Object:
    kind = sql.split()[1].lower()
    on = _ON.search(sql) if kind in ("index", "trigger") else None
    return _Object(kind, name, on.group(1) if on is not None else name, sql)


def _objects(connection: sqlite3.Connection) -> dict[str, _Object]:
    """Read the objects that are not aside, by name; as bytes, for an overwritten file holds no text."""
    rows = connection.execute(
        "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB)"
        " FROM sqlite_master"
        " WHERE tbl_name NOT GLOB 'aux_*' AND tbl_name NOT GLOB 'sqlite_*' AND name NOT GLOB 'sqlite_*'"
    )
    objects = (_Object(*((cell or b"").decode("utf-8", "backslashreplace") for cell in row)) for row in rows)
    return {one.name: one for one in objects}
