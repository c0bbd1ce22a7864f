"""Whatever cell of the log somebody edits, verifying finds it, save the few that no hash is over."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ledger.dialects import DIALECTS
from ledger.log.verifying import CODES, Verification
from tests.log.damages import ERASED, make_ledger, outside

TABLES = {
    "runs": ("run_no",),
    "entries": ("entry_id",),
    "documents": ("digest",),
    "tree_heads": ("run_no", "size"),
    "erasures": ("entry_id",),
}

ERASED_ID = 1 << 32 | ERASED
KEPT_OF_ERASED = ("at", "origin", "session", "type", "stream")


def is_unseen(table: str, key: tuple[Any, ...], column: str, value: Any) -> bool:
    """Tell the edits that ``docs/trust.md`` says nobody can see."""
    return (
        (table == "entries" and key == (ERASED_ID,) and column in KEPT_OF_ERASED)
        or (table == "runs" and column == "via" and value == "imported")
        or (table, column) == ("documents", "media_type")
    )


@pytest.fixture(scope="module")
def unguarded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger whose triggers somebody dropped, which is found too and here of no interest."""
    path = tmp_path_factory.mktemp("unguarded") / "ledger.db"
    make_ledger(path)
    with closing(outside(path)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA journal_mode = DELETE")
    return path


def cells(path: Path) -> list[tuple[str, tuple[Any, ...], str, Any]]:
    """Every cell of the log: its table, the key of its row, its column and what it holds."""
    found = []
    with closing(outside(path)) as connection:
        for table, keys in TABLES.items():
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY {', '.join(keys)}")
            names = [column[0] for column in cursor.description]
            for row in cursor:
                held = dict(zip(names, row, strict=True))
                key = tuple(held[name] for name in keys)
                found += [(table, key, name, value) for name, value in held.items()]
    return found


def other_values(value: Any) -> st.SearchStrategy[Any]:
    """Values that SQLite takes in place of one."""
    match value:
        case int():
            near = st.integers(-3, 3).map(lambda step: value + step)
            return near | st.integers(-(2**63), 2**63 - 1)
        case str():
            words = st.sampled_from(["", "imported", "tapped", "program", "runtime", "observer", "RECORD"])
            return words | st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
        case _:
            held = value or b""
            one_bit = st.integers(0, max(0, len(held) * 8 - 1)).map(lambda bit: flipped(held, bit))
            return one_bit | st.binary(max_size=64) | st.none()


def flipped(value: bytes, bit: int) -> bytes:
    if not value:
        return b"\x00"
    changed = bytearray(value)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_edit_of_any_cell_is_found(unguarded: Path, tmp_path: Path, data: st.DataObject) -> None:
    table, key, column, held = data.draw(st.sampled_from(cells(unguarded)))
    value = data.draw(other_values(held))
    assume(value != held and not is_unseen(table, key, column, value))
    path = tmp_path / "ledger.db"
    shutil.copyfile(unguarded, path)
    where = " AND ".join(f"{name} = ?" for name in TABLES[table])
    with closing(outside(path)) as connection:
        try:
            connection.execute(f'UPDATE {table} SET "{column}" = ? WHERE {where}', (value, *key))
        except sqlite3.IntegrityError:  # a key that is taken, or no value where there must be one
            assume(False)
    with Verification(path, DIALECTS) as verification:
        codes = {finding.code for finding in verification.findings()}
    assert codes - {"schema_changed"}
    assert codes <= CODES.keys()
