"""The two limits: the least that any log in SQLite has to do, as bare as Python can do it.

They are limits of the way that was chosen (SQLite, Python, msgspec), on this machine, in this very run. What
the ledger does besides is the distance to them.
"""

import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from ledger.core.entries import PROGRAM
from tests.bench.lines import BATCH

_PAGE_BYTES = 8192
"""As the ledger has it; SQLite's own 4096 makes the limit lower."""


class _Record(msgspec.Struct, frozen=True, tag_field="type", tag="RECORD"):
    stream: str
    key: str | tuple[str, ...]
    emitted_at: str
    data: msgspec.Raw
    op: Literal["upsert", "delete"] | None = None


class _State(msgspec.Struct, frozen=True, tag_field="type", tag="STATE"):
    stream: str
    cursor: msgspec.Raw


class _Coverage(msgspec.Struct, frozen=True, tag_field="type", tag="DETAIL_COVERAGE"):
    stream: str
    state_stream: str
    required_keys: msgspec.Raw
    hydrated_keys: msgspec.Raw


class _Done(msgspec.Struct, frozen=True, tag_field="type", tag="DONE"):
    status: Literal["succeeded", "failed", "cancelled"]
    records_emitted: int
    error: msgspec.Raw | None = None


DECODE = msgspec.json.Decoder(_Record | _State | _Coverage | _Done).decode
"""Typed, with what is opaque left as it stands."""


def decode_all(lines: list[bytes]) -> None:
    """Decode every line, typed."""
    for line in lines:
        DECODE(line)


def hash_all(lines: list[bytes]) -> None:
    """Take one SHA-256 of every line."""
    for line in lines:
        sha256(line).digest()


def append_bare(path: Path, lines: list[bytes]) -> None:
    """The append limit: INSERT (id, body), 1,000 a transaction, WAL, synchronous=FULL."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE lines (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    for first in range(0, len(lines), BATCH):
        connection.execute("BEGIN IMMEDIATE")
        rows = enumerate(lines[first : first + BATCH], start=first + 1)
        connection.executemany("INSERT INTO lines (id, body) VALUES (?, ?)", rows)
        connection.execute("COMMIT")
    connection.close()


def scan_and_decode(path: Path) -> int:
    """The fold limit: read the seven columns that the fold reads, and decode what the program said."""
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT entry_id & 4294967295, at, origin, session, type, stream, body FROM entries ORDER BY entry_id"
    )
    read = 0
    for _, _, origin, _, _, _, body in rows:
        if origin == PROGRAM:
            DECODE(body)
            read += 1
    connection.close()
    return read
