"""Format 1 of the log, as SQL; :mod:`ledger.log.schema_check` holds a file against it.

The schema is text on purpose: it is compared on every open, byte for byte, so it must not depend on what a
library of some version would generate. Invariant: every log table is append-only by trigger; the one UPDATE
that gets through empties an entry for which an erasure was inserted. Tables whose names begin with ``aux_``
(what is mutable or derivable), and what hangs on them, are nobody's business here.

Constraints are SQLite's, so they hold for any program that writes to the file; what SQL cannot compute (the
hashes) is what verifying is for.
"""

import sqlite3

from ledger.log.views import VIEWS

APPLICATION_ID = 0x524C4731
"""``RLG1`` in the header of the file; ``file(1)`` and SQLite tools show it."""

FORMAT = 1
SEQ_BITS = 32
SEQ_MASK = (1 << SEQ_BITS) - 1

TABLES = {
    "runs": """CREATE TABLE runs (
  run_no INTEGER PRIMARY KEY CHECK (run_no BETWEEN 1 AND 2147483647),
  run_id TEXT NOT NULL UNIQUE CHECK (run_id <> ''),
  dialect TEXT NOT NULL,
  program TEXT NOT NULL,
  namespace TEXT NOT NULL,
  "trigger" TEXT NOT NULL,
  via TEXT NOT NULL CHECK (via IN ('recorded', 'tapped', 'imported')),
  opened_at INTEGER NOT NULL
) STRICT""",
    # entry_id = run_no << 32 | seq. IN would build a table a row; three comparisons do not.
    "entries": """CREATE TABLE entries (
  entry_id INTEGER PRIMARY KEY CHECK (entry_id > 4294967296),
  at INTEGER NOT NULL,
  origin TEXT NOT NULL CHECK (origin = 'program' OR origin = 'runtime' OR origin = 'observer'),
  session TEXT NOT NULL,
  type TEXT NOT NULL,
  stream TEXT NOT NULL,
  salt BLOB,
  body BLOB
) STRICT""",
    "documents": """CREATE TABLE documents (
  digest TEXT NOT NULL PRIMARY KEY CHECK (length(digest) = 71 AND digest GLOB 'sha256:*'),
  media_type TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT, WITHOUT ROWID""",
    "tree_heads": """CREATE TABLE tree_heads (
  run_no INTEGER NOT NULL REFERENCES runs (run_no),
  size INTEGER NOT NULL CHECK (size BETWEEN 1 AND 4294967295),
  peaks BLOB NOT NULL CHECK (length(peaks) BETWEEN 32 AND 1024 AND length(peaks) % 32 = 0),
  at INTEGER NOT NULL,
  PRIMARY KEY (run_no, size)
) STRICT, WITHOUT ROWID""",
    "erasures": """CREATE TABLE erasures (
  entry_id INTEGER PRIMARY KEY REFERENCES entries (entry_id),
  leaf BLOB NOT NULL CHECK (length(leaf) = 32),
  erased_by TEXT NOT NULL
) STRICT""",
}

INDEXES = {
    "entries_observed": "CREATE INDEX entries_observed ON entries (type, stream) WHERE origin = 'observer'",
    "runs_by_time": "CREATE INDEX runs_by_time ON runs (opened_at)",
    "runs_by_program": "CREATE INDEX runs_by_program ON runs (program, opened_at)",
}

# Each checks an INSERT before it happens: INSERT OR REPLACE deletes without asking a delete trigger.
_INSERT_TRIGGERS = {
    "runs_in_order": """CREATE TRIGGER runs_in_order BEFORE INSERT ON runs
WHEN NEW.run_no IS NOT (SELECT coalesce(max(run_no), 0) + 1 FROM runs)
  OR EXISTS (SELECT 1 FROM runs WHERE run_id = NEW.run_id)
BEGIN
  SELECT RAISE(ABORT, 'runs are append-only: expected the next run_no and a new run_id');
END""",
    "entries_once": """CREATE TRIGGER entries_once BEFORE INSERT ON entries
WHEN EXISTS (SELECT 1 FROM entries WHERE entry_id = NEW.entry_id)
  OR NOT EXISTS (SELECT 1 FROM runs WHERE run_no = NEW.entry_id >> 32)
  OR NEW.entry_id & 4294967295 = 0 OR NEW.body IS NULL OR length(NEW.salt) IS NOT 16
BEGIN
  SELECT RAISE(ABORT, 'entries are append-only: expected a new entry of an open run, with body and salt');
END""",
    "documents_once": """CREATE TRIGGER documents_once BEFORE INSERT ON documents
WHEN EXISTS (SELECT 1 FROM documents WHERE digest = NEW.digest)
BEGIN
  SELECT RAISE(ABORT, 'documents are append-only: expected a new digest');
END""",
    # Every head but the first counts only what came after the head before it.
    "tree_heads_cover": """CREATE TRIGGER tree_heads_cover BEFORE INSERT ON tree_heads
WHEN NEW.size <= (SELECT coalesce(max(size), 0) FROM tree_heads WHERE run_no = NEW.run_no)
  OR NEW.size - (SELECT coalesce(max(size), 0) FROM tree_heads WHERE run_no = NEW.run_no) <> (
    SELECT count(*) FROM entries
    WHERE entry_id > NEW.run_no << 32
      | (SELECT coalesce(max(size), 0) FROM tree_heads WHERE run_no = NEW.run_no)
      AND entry_id <= NEW.run_no << 32 | NEW.size)
  OR EXISTS (
    SELECT 1 FROM entries
    WHERE entry_id > NEW.run_no << 32 | NEW.size AND entry_id <= NEW.run_no << 32 | 4294967295)
BEGIN
  SELECT RAISE(ABORT, 'a run has no holes: expected a head over every entry of the run, none missing');
END""",
    "erasures_once": """CREATE TRIGGER erasures_once BEFORE INSERT ON erasures
WHEN NOT EXISTS (SELECT 1 FROM entries WHERE entry_id = NEW.entry_id AND body IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'erasures are append-only: expected an entry that is not erased');
END""",
    "erasures_empty": """CREATE TRIGGER erasures_empty AFTER INSERT ON erasures
BEGIN
  UPDATE entries SET body = NULL, salt = NULL WHERE entry_id = NEW.entry_id;
END""",
}

# Lets through what erasures_empty does, and nothing that a TEMP trigger on erasures might do beside it.
_ENTRIES_FIXED = """CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE entry_id = OLD.entry_id)
  OR OLD.body IS NULL OR NEW.body IS NOT NULL OR NEW.salt IS NOT NULL
  OR NEW.entry_id IS NOT OLD.entry_id OR NEW.at IS NOT OLD.at OR NEW.origin IS NOT OLD.origin
  OR NEW.session IS NOT OLD.session OR NEW.type IS NOT OLD.type OR NEW.stream IS NOT OLD.stream
BEGIN
  SELECT RAISE(ABORT, 'entries are append-only: UPDATE refused');
END"""


def _refusing(verb: str, table: str) -> str:
    return f"""CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}
BEGIN
  SELECT RAISE(ABORT, '{table} are append-only: {verb} refused');
END"""


_CHANGE_TRIGGERS = {
    f"{table}_no_{verb.lower()}": _refusing(verb, table) for table in TABLES for verb in ("UPDATE", "DELETE")
} | {"entries_no_update": _ENTRIES_FIXED}

SCHEMA: dict[str, str] = {**TABLES, **INDEXES, **_INSERT_TRIGGERS, **_CHANGE_TRIGGERS, **VIEWS}
"""Every object of the log by name, as SQLite keeps its text."""


def is_empty(connection: sqlite3.Connection) -> bool:
    """Tell a database in which nobody has made anything yet."""
    objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return (pragma(connection, "application_id"), pragma(connection, "user_version"), objects) == (0, 0, 0)


def create_schema(connection: sqlite3.Connection) -> None:
    """Make the log's objects in an empty database, inside the caller's transaction."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for sql in SCHEMA.values():
        connection.execute(sql)


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """Return a number that SQLite keeps in the header of the file."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
