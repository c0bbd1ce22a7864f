"""Decisions that were folded once and are kept: derived, droppable, dropped with what is erased.

A decision follows from a run's entries, a ruleset and a fold version, so it is kept under the root of the
run's tree, the ruleset's digest and the fold version. Nothing here is hashed or verified: who doubts it folds
again. Whoever wants to be rid of it all drops the table.

Invariant: a decision is only kept while its root is the newest of its run, and goes when one of the run as it
stands is kept. So none that was folded before an erasure is kept after it.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import msgspec

from ledger.core.merkle import root
from ledger.errors import IntegrityError
from ledger.log.connecting import connect
from ledger.log.sqlite_errors import translated
from ledger.log.transactions import Wal, write_transaction

NAME = "aux_cached_decisions"
"""A table of those that ``caches`` empties for a run of which something is erased."""

MOST_BYTES = 16 * 1024 * 1024
"""A decision that is longer is not kept; few runs have one, and folding them is what they cost anyway."""

_TABLE = f"""CREATE TABLE {NAME} (
  run_no INTEGER NOT NULL,
  ruleset TEXT NOT NULL,
  fold INTEGER NOT NULL,
  root BLOB NOT NULL,
  exercised TEXT NOT NULL,
  at_cut TEXT,
  decision TEXT NOT NULL,
  UNIQUE (run_no, ruleset, fold)
) STRICT"""
_GET = f"SELECT exercised, at_cut, decision FROM {NAME} WHERE (run_no, ruleset, fold, root) = (?, ?, ?, ?)"
_HAS = f"SELECT 1 FROM {NAME} WHERE (run_no, ruleset, fold, root) = (?, ?, ?, ?)"
_KEEP = (
    f"INSERT OR REPLACE INTO {NAME} (run_no, ruleset, fold, root, exercised, at_cut, decision)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_OUTLIVED = f"DELETE FROM {NAME} WHERE run_no = ? AND (root, fold) != (?, ?)"
_HEAD = "SELECT size, peaks FROM tree_heads WHERE run_no = ? ORDER BY size DESC LIMIT 1"
_TEXTS = "SELECT sql FROM sqlite_master WHERE tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL"
_TYPE = "SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')"
_Row: TypeAlias = tuple[bytes, bytes | None, bytes]
_NAMES = msgspec.json.Decoder(tuple[str, ...])


class DecisionKey(msgspec.Struct, frozen=True):
    """What a decision follows from.

    Attributes:
        ruleset: the digest of the ruleset.
        fold: the version of the dialect's fold.
        root: the root of the run's tree, 32 bytes.
    """

    run_no: int
    ruleset: str
    fold: int
    root: bytes


class KeptDecision(msgspec.Struct, frozen=True):
    """A decision as it was encoded, and what else folding the run showed.

    Attributes:
        exercised: the rules and switches of the ruleset for which the run held an occasion.
        at_cut: the digest of the decision at the run's own DECIDED, under this ruleset; None where it holds
            none.
    """

    decision: bytes
    exercised: tuple[str, ...]
    at_cut: str | None = None


def _columns(kept: KeptDecision) -> tuple[str, str | None, str]:
    return msgspec.json.encode(kept.exercised).decode(), kept.at_cut, kept.decision.decode()


class DecisionCache:
    """The decisions that a ledger keeps. It belongs to the thread that opened it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        connection.text_factory = bytes  # somebody may have put there what is no text
        self._connection = connection
        self._path = str(path)
        self._wal = Wal(path)
        self._is_there = self._has_table()

    @classmethod
    def open(cls, path: Path, *, read_only: bool) -> "DecisionCache":
        """Open what a ledger keeps; :func:`ledger.log.connecting.connect` says what it raises."""
        return cls(connect(path, create=False, read_only=read_only), path)

    def __enter__(self) -> "DecisionCache":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the ledger."""
        with translated(self._path):
            self._connection.close()

    def holds(self, key: DecisionKey) -> bool:
        """Tell whether a decision is kept."""
        return bool(self._kept(_HAS, key))

    def get(self, key: DecisionKey) -> KeptDecision | None:
        """Return the decision that is kept under a key, None where none is, or none that can be read."""
        for exercised, at_cut, decision in self._kept(_GET, key):
            try:
                names = _NAMES.decode(exercised)
                return KeptDecision(decision, names, at_cut.decode() if at_cut is not None else None)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None
        return None

    def keep(self, decisions: Iterable[tuple[DecisionKey, KeptDecision]]) -> int:
        """Keep decisions, in one transaction; those of its run before it went on go, whatever their ruleset.

        One whose run has gone on meanwhile, or that is too long, is left out.

        Returns:
            How many were kept.

        Raises:
            BusyError: others held the ledger for too long.
            DiskError: there is no room, or the ledger may not be written.
        """
        with translated(self._path):
            with write_transaction(self._connection):
                self._make_table()
                fresh = [
                    (key, one)
                    for key, one in decisions
                    if len(one.decision) <= MOST_BYTES and self._newest_root(key.run_no) == key.root
                ]
                standing = {(key.run_no, key.root, key.fold) for key, _ in fresh}
                self._connection.executemany(_OUTLIVED, standing)
                rows = [(*msgspec.structs.astuple(key), *_columns(one)) for key, one in fresh]
                self._connection.executemany(_KEEP, rows)
            self._wal.shorten(self._connection)
        return len(fresh)

    def _make_table(self) -> None:
        """Make the table, in the place of one that another version made, or of whatever has its name."""
        if not self._has_table():
            for (kind,) in self._connection.execute(_TYPE, (NAME,)).fetchall():
                self._connection.execute(f"DROP {kind.decode()} {NAME}")
            self._connection.execute(_TABLE)
        self._is_there = True

    def _newest_root(self, run_no: int) -> bytes | None:
        head = self._connection.execute(_HEAD, (run_no,)).fetchone()
        try:
            return root(head[1], head[0]) if head is not None else None
        except ValueError:  # it was tampered with
            return None

    def _has_table(self) -> bool:
        """Tell whether the table is there, and nobody hung a trigger or an index on it."""
        return [text for text, *_ in self._all(_TEXTS, (NAME,))] == [_TABLE.encode()]

    def _kept(self, sql: str, key: DecisionKey) -> list[_Row]:
        """Look for a decision; there is none where somebody drops the table meanwhile, or makes it anew."""
        if not self._is_there:
            return []
        try:
            return self._all(sql, msgspec.structs.astuple(key))
        except IntegrityError:
            self._is_there = self._has_table()
            if self._is_there:
                raise
            return []

    def _all(self, sql: str, values: tuple[object, ...]) -> list[_Row]:
        with translated(self._path):
            return self._connection.execute(sql, values).fetchall()
