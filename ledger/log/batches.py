"""What both stores do with a batch before they keep it: check it, salt it, hash it.

Invariant: a :class:`Batch` has no holes, every entry of it has a body and a salt, and its leaves are the
hashes of exactly what is in its rows.
"""

import os
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from ledger.core.entries import Entry, Origin
from ledger.core.merkle import SALT_SIZE, append_leaves, leaf_hashes
from ledger.errors import IntegrityError, SequenceConflict

Row: TypeAlias = tuple[int, int, Origin, str, str, str, bytes, bytes]
"""seq, at, origin, session, type, stream, salt, body."""

_COLUMNS = attrgetter("seq", "at", "origin", "session", "type", "stream", "salt", "body")


class Batch(NamedTuple):
    """Entries that are ready to be kept.

    Attributes:
        first: seq of the first.
        last: seq of the last.
        at: the ``at`` of the last.
        rows: one a entry.
        leaves: one a entry.
    """

    first: int
    last: int
    at: int
    rows: list[Row]
    leaves: list[bytes]


def prepare(entries: Sequence[Entry]) -> Batch:
    """Check, salt and hash a batch.

    Raises:
        ValueError: the batch is empty.
        IntegrityError: it has a hole, or an entry without body, or with a salt that is no salt.
    """
    if not entries:
        raise ValueError("expected a batch of at least one entry")
    first = entries[0].seq
    fresh = os.urandom(SALT_SIZE * len(entries))
    rows: list[Row] = []
    expected, drawn = first, 0
    for seq, at, origin, session, kind, stream, salt, body in map(_COLUMNS, entries):
        if seq != expected or body is None:
            what = f"entry {seq}" if seq != expected else "an entry without a body"
            raise IntegrityError(f"expected entry {expected} of the batch, found {what}; nothing was kept")
        if salt is None:
            salt = fresh[drawn : drawn + SALT_SIZE]
            drawn += SALT_SIZE
        elif len(salt) != SALT_SIZE:
            raise IntegrityError(f"entry {seq}: expected a salt of {SALT_SIZE} bytes, found {len(salt)}")
        rows.append((seq, at, origin, session, kind, stream, salt, body))
        expected += 1
    leaves = leaf_hashes((row[6] for row in rows), ((row[2], row[3], row[1], row[7]) for row in rows))
    return Batch(first, expected - 1, entries[-1].at, rows, leaves)


def grown_peaks(peaks: bytes, size: int, leaves: Sequence[bytes], where: str) -> bytes:
    """Return the peaks after a batch.

    Raises:
        IntegrityError: the peaks that the log holds cannot be those of its size.
    """
    try:
        return append_leaves(peaks, size, leaves)
    except ValueError as error:
        raise IntegrityError(f"{where}: {error}; verify the ledger") from error


def conflict(where: str, *, expected: int, found: int) -> SequenceConflict:
    """Return the error of a writer that is not where it thinks it is."""
    return SequenceConflict(
        f"{where}: expected to append entry {expected}, found that the next is {found}; "
        "another writer has this run: read it again before appending",
        expected=expected,
        found=found,
    )
