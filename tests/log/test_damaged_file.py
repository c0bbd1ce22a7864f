"""A file that was damaged byte by byte: it is said, and no read goes on for ever."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ledger.errors import IntegrityError
from ledger.log.sqlite_store import SqliteStore
from tests.log.scripted import lines, observed, run_row

PAGE = 8192
RUNS = 3000
LINES = 5000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A ledger that is large enough for its tables to have pages that only lead to other pages."""
    path = tmp_path_factory.mktemp("whole") / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row("run_1"), [observed(1, "RUN_OPENED"), *lines(2, LINES)])
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = ((number, f"run_{number}", 10**15 + number) for number in range(2, RUNS))
        connection.executemany("INSERT INTO runs VALUES (?, ?, 'd', 'p', '', 't', 'recorded', ?)", rows)
    return path.read_bytes()


def root_of(body: bytes, name: str, folder: Path) -> int:
    """Return where the page begins from which a table or an index hangs."""
    path = folder / "looked_at.db"
    path.write_bytes(body)
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        page: int = connection.execute(sql, (name,)).fetchone()[0]
    return (page - 1) * PAGE


def with_a_loop(body: bytes, name: str, folder: Path) -> bytes:
    """Let the second page of a table or an index be its first one again."""
    root = root_of(body, name, folder)
    assert body[root] in (2, 5), "a page that leads to others"
    first, second = (root + int.from_bytes(body[at : at + 2], "big") for at in (root + 12, root + 14))
    return body[:second] + body[first : first + 4] + body[second + 4 :]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("entries", lambda store: list(store.entries(1))),
        ("runs_by_time", lambda store: list(store.runs())),
    ],
)
def test_rows_that_come_round_again_end_a_read(
    whole: bytes, tmp_path: Path, name: str, read: Callable[[SqliteStore], object]
) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(with_a_loop(whole, name, tmp_path))
    with SqliteStore.open(path, create=False) as store, pytest.raises(IntegrityError):
        read(store)


@pytest.mark.parametrize(
    ("text", "damaged"),
    [(b"RECORDmessages", b"RECORDmess\xffges"), (b"CREATE VIEW messages", b"CREATE VIEW mess\xffges")],
)
def test_text_that_is_none_is_said(whole: bytes, tmp_path: Path, text: bytes, damaged: bytes) -> None:
    path = tmp_path / "ledger.db"
    assert text in whole
    path.write_bytes(whole.replace(text, damaged))
    with pytest.raises(IntegrityError), SqliteStore.open(path, create=False) as store:
        list(store.entries(1))


@pytest.mark.parametrize("gone", [1, 4, 6])
def test_a_run_that_lacks_an_entry_is_refused_and_not_decided_without_it(tmp_path: Path, gone: int) -> None:
    path = tmp_path / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        store.open_run(run_row(), lines(1, 6))
    with closing(sqlite3.connect(path, isolation_level=None)) as outside:
        (guard,) = outside.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'entries_no_delete'"
        ).fetchone()
        outside.execute("DROP TRIGGER entries_no_delete")
        outside.execute("DELETE FROM entries WHERE entry_id = ?", (1 << 32 | gone,))
        outside.execute(guard)
    with SqliteStore.open(path, create=False, read_only=True) as store:
        with pytest.raises(IntegrityError, match=f"expected entry {gone}, found none"):
            list(store.entries(1))
        assert [entry.seq for entry in store.entries(1, through=gone - 1)] == list(range(1, gone))
