"""A schema that was changed is found, and the rest verified all the same; so are the bytes of the file."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ledger.dialects import DIALECTS
from ledger.errors import FormatError, IntegrityError, NotFoundError
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import Verification
from tests.log.damages import (
    damage,
    open_run,
    opened,
    outside,
    said,
)
from tests.log.verifying.asking import findings, named
from tests.log.verifying.row_damages import AT, DAMAGES

SCHEMA_DAMAGES = {
    "a trigger dropped": ("DROP TRIGGER entries_no_update", "trigger entries_no_update"),
    "a trigger made toothless": (
        "DROP TRIGGER runs_no_delete;CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs BEGIN SELECT 1; END",
        "trigger runs_no_delete",
    ),
    "a trigger added": (
        "CREATE TRIGGER sneaky AFTER INSERT ON entries BEGIN SELECT 1; END",
        "'sneaky'",
    ),
    "a trigger added under a name of ours": (
        "CREATE TRIGGER aux_sneaky AFTER INSERT ON entries BEGIN SELECT 1; END",
        "'aux_sneaky'",
    ),
    "a view added": ("CREATE VIEW more AS SELECT 1", "'more'"),
    "a view changed": ("DROP VIEW messages; CREATE VIEW messages AS SELECT 1", "view messages"),
    "a table added": ("CREATE TABLE notes (text)", "'notes'"),
    "a table changed": ("ALTER TABLE runs ADD COLUMN note TEXT", "table runs"),
    "an index dropped": ("DROP INDEX entries_observed", "index entries_observed"),
    "the text of the schema changed": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'BEFORE', 'AFTER')"
        " WHERE name = 'documents_no_update'",
        "trigger documents_no_update",
    ),
}


@pytest.mark.parametrize("what", SCHEMA_DAMAGES)
def test_a_schema_that_was_changed_is_found_and_the_rest_is_verified_all_the_same(
    path: Path, what: str
) -> None:
    script, expected = SCHEMA_DAMAGES[what]
    damage(path, DAMAGES["the time of an entry edited"][0])
    with closing(outside(path)) as connection:
        connection.executescript(script)
    with pytest.raises(IntegrityError):
        SqliteStore.open(path, create=False)
    found = findings(path)
    assert [one.code for one in found] == ["schema_changed", "entries_changed"]
    assert expected in f"expected {found[0].expected}, found {found[0].found}"


def test_all_triggers_dropped_are_all_named(path: Path) -> None:
    with closing(outside(path)) as connection:
        names = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        }
        for name in names:
            connection.execute(f"DROP TRIGGER {name}")
    found = findings(path)
    assert {one.code for one in found} == {"schema_changed"}
    assert {one.expected.split()[1] for one in found} == names


@pytest.mark.parametrize("pragma", ["application_id = 0", "user_version = 0", "user_version = 2"])
def test_a_header_that_was_changed_is_found(path: Path, pragma: str) -> None:
    with closing(outside(path)) as connection:
        connection.execute(f"PRAGMA {pragma}")
    assert named(path) == [("header_changed", None, None, None)]


def test_a_ledger_of_a_newer_format_and_another_programs_database_are_not_verified(path: Path) -> None:
    with closing(outside(path)) as connection:
        connection.executescript("PRAGMA user_version = 2; CREATE TABLE witnesses (run_no)")
    with pytest.raises(FormatError, match="newer runledger"):
        Verification(path, DIALECTS)
    other = path.with_name("other.db")
    with closing(outside(other)) as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(FormatError, match="another program's"):
        Verification(other, DIALECTS)
    with pytest.raises(NotFoundError):
        Verification(path.with_name("none.db"), DIALECTS)


def test_a_table_that_is_gone_is_said_and_the_others_are_verified(path: Path) -> None:
    damage(path, f"UPDATE entries SET at = 1 WHERE {AT[7]}")
    with closing(outside(path)) as connection:
        connection.execute("DROP TABLE documents")
    codes = [code for code, *_ in named(path)]
    assert codes == [*["schema_changed"] * 4, "table_unreadable", "entries_changed"]
    with closing(outside(path)) as connection:
        connection.execute("DROP TABLE erasures")
    assert ("table_unreadable", "run_2", None, None) in named(path)


def test_every_cell_may_be_of_any_type_once_the_tables_are_not_strict(path: Path) -> None:
    with closing(outside(path)) as connection:
        connection.executescript(
            "PRAGMA writable_schema = ON;"
            "UPDATE sqlite_master SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')"
            " WHERE type = 'table' AND name NOT IN ('documents', 'tree_heads')"
        )
    for cell in ("'text'", "x'00'", "NULL", "1.5", "12"):
        for column in ("at", "origin", "session", "type", "stream", "salt", "body"):
            copy = path.with_name("copy.db")
            shutil.copyfile(path, copy)
            damage(copy, f"PRAGMA writable_schema = ON; UPDATE entries SET {column} = {cell} WHERE {AT[7]}")
            codes = {code for code, *_ in named(copy)}
            assert codes > {"schema_changed"} or "file_damaged" in codes, (column, cell)


def test_an_index_that_lacks_what_its_table_holds_is_found(path: Path) -> None:
    change = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'entries_observed'"
    with closing(outside(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change, ("'observer'", "'nobody'"))
    with closing(outside(path)) as connection:
        connection.execute("REINDEX entries_observed")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change, ("'nobody'", "'observer'"))
    found = findings(path)
    assert {one.code for one in found} == {"file_damaged"}
    assert "entries_observed" in found[0].found


def test_pages_that_were_overwritten_are_findings_and_what_is_left_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        number = open_run(store, opened("run_1", None), said(2))
        for first in range(3, 603, 100):
            store.append(number, [said(seq, pad=300) for seq in range(first, first + 100)])
        open_run(store, opened("run_2", None), said(2))
    with closing(outside(path)) as connection:
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    body = bytearray(path.read_bytes())
    middle = len(body) // page_size // 2 * page_size
    body[middle : middle + page_size] = b"\xff" * page_size
    path.write_bytes(body)
    with Verification(path, DIALECTS) as verification:
        found = list(verification.findings())
        summary = verification.summary
    codes = [one.code for one in found]
    assert codes[0] == "file_damaged"
    assert "entries_unreadable" in codes
    assert set(codes) <= {"file_damaged", "entries_unreadable", "entries_unproved", "label_changed"}
    assert {one.run_id for one in found if one.run_id} == {"run_1"}
    assert summary.runs == 2
    assert summary.entries > 300
