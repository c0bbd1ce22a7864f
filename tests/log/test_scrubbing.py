"""What was erased is in no file of the ledger: the bytes are looked for in every one of them."""

import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger.core.entries import OBSERVER, Entry
from ledger.core.observations import EntriesErased, encode_observation
from ledger.errors import BusyError
from ledger.log.sqlite_store import SqliteStore
from tests.log.scripted import line, run_row

SIZES = (10, 100, 250, 250, 900, 3_000, 7_000, 100_000)
"""Bodies within a page, and in one and many overflow pages."""

Named = set[tuple[int, int]]


def secret(run_no: int, seq: int, size: int) -> bytes:
    """A body that says where it is from, at both ends."""
    return b'{"a":"<%03d-%06d>%s<%03d-%06d>"}' % (run_no, seq, b"x" * size, run_no, seq)


def found_in_files(folder: Path) -> Named:
    raw = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    return {(int(run_no), int(seq)) for run_no, seq in re.findall(rb"<(\d{3})-(\d{6})>", raw)}


def account(seq: int, entries: list[int]) -> Entry:
    body = encode_observation(EntriesErased(entries=tuple(entries), reason="asked to"))
    return line(seq, body, origin=OBSERVER, type="ENTRIES_ERASED", stream="")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "ledger.db", create=True) as opened:
        yield opened


def grown(store: SqliteStore, dice: random.Random, runs: int = 12, batches: int = 80) -> dict[int, int]:
    """Fill a ledger by turns, so that pages split and rows move; return the runs' sizes."""
    sizes: dict[int, int] = {}
    for number in range(1, runs + 1):
        store.open_run(run_row(f"run_{number}"), [line(1, secret(number, 1, 10))])
        sizes[number] = 1
    for _ in range(batches):
        number = dice.choice(list(sizes))
        more = range(sizes[number] + 1, sizes[number] + dice.choice((1, 3, 20)) + 1)
        store.append(number, [line(seq, secret(number, seq, dice.choice(SIZES))) for seq in more])
        sizes[number] = more[-1]
    return sizes


def erase_some(store: SqliteStore, sizes: dict[int, int], dice: random.Random) -> Named:
    gone: Named = set()
    for number, size in sizes.items():
        seqs = [seq for seq in range(2, size + 1) if dice.random() < 0.5]
        if seqs:
            store.erase(number, seqs, account(size + 1, seqs))
            gone |= {(number, seq) for seq in seqs}
    return gone


@pytest.mark.parametrize("seed", range(4))
def test_erased_bytes_are_in_no_file_and_the_others_are_in_one(
    store: SqliteStore, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    sizes = grown(store, dice)
    everything = {(number, seq) for number, size in sizes.items() for seq in range(1, size + 1)}
    gone = erase_some(store, sizes, dice)
    store.scrub()
    assert found_in_files(tmp_path) == everything - gone


def test_salts_of_erased_entries_are_in_no_file(store: SqliteStore, tmp_path: Path) -> None:
    sizes = grown(store, random.Random(9), runs=2)
    salts = [entry.salt for entry in store.entries(1, after=1, salts=True)]
    store.erase(1, range(2, sizes[1] + 1), account(sizes[1] + 1, list(range(2, sizes[1] + 1))))
    store.scrub()
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert salts
    assert not any(salt in raw for salt in salts if salt is not None)


def test_a_reader_that_stays_keeps_the_bytes_and_the_error_says_where(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.log.transactions.BUSY_SECONDS", 0.1)
    sizes = grown(store, random.Random(5), runs=2)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        store.erase(1, [2], account(sizes[1] + 1, [2]))
        with pytest.raises(BusyError, match=r"ledger\.db-wal") as told:
            store.scrub()
        assert "erase --finish" in str(told.value)
        assert (1, 2) in found_in_files(tmp_path)
        reader.execute("COMMIT")
    assert next(iter(store.entries(1, after=1, through=2))).body is None
    store.scrub()
    assert (1, 2) not in found_in_files(tmp_path)


def test_scrubbing_keeps_the_ledger_what_it_is(store: SqliteStore, tmp_path: Path) -> None:
    sizes = grown(store, random.Random(6), runs=3)
    before = [list(store.entries(number, salts=True)) for number in sizes]
    store.scrub()
    assert [list(store.entries(number, salts=True)) for number in sizes] == before
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as outside:
        assert outside.execute("PRAGMA page_size").fetchone() == (8192,)
        assert outside.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with SqliteStore.open(tmp_path / "ledger.db", create=False) as again:
        assert again.size(1) == sizes[1]
