"""What both stores do with a batch before they keep it: check it, salt it, hash it.

Invariant: a :class:`Batch` has no holes, every entry of it has a body and a salt, and its leaves are the
hashes of exactly what is in its rows; but for entries that were erased before they came here: of those the
leaf is what their erasure says, and body and salt only stand in until the erasure is kept too.
"""

import os
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import astuple

from ledger.core.digests import digest
from ledger.core.entries import Entry
from ledger.core.merkle import HASH_SIZE, SALT_SIZE, Row, append_leaves, leaf_hashes
from ledger.errors import IntegrityError, NotFoundError, SequenceConflict, UsageError
from ledger.log.store import DocumentRow, Erasure

BATCH_LINES = 1000
BATCH_BYTES = 8 * 1024 * 1024
"""Whoever appends closes a batch at whichever comes first, so that long lines do not fill the memory."""


class Batch(NamedTuple):
    """Entries that are ready to be kept.

    Attributes:
        first: seq of the first.
        last: seq of the last.
        at: the ``at`` of the last.
        rows: one an entry.
        leaves: one an entry.
        erased: what is known of its entries that were erased.
    """

    first: int
    last: int
    at: int
    rows: list[Row]
    leaves: list[bytes]
    erased: tuple[Erasure, ...]


def prepare(entries: Sequence[Entry], erased: Iterable[Erasure] = ()) -> Batch:
    """Check, salt and hash a batch.

    Args:
        entries: the batch; those that were erased have no body.
        erased: what is kept of those.

    Raises:
        ValueError: the batch is empty.
        IntegrityError: it has a hole, or an entry without body and erasure or with both, or a salt that is no
            salt.
    """
    known = {one.seq: one for one in erased}
    batch = _prepare([_stand_in(entry, known.get(entry.seq)) for entry in entries] if known else entries)
    for seq, erasure in known.items():
        if not batch.first <= seq <= batch.last or len(erasure.leaf) != HASH_SIZE:
            raise IntegrityError(
                f"expected an erasure of an entry of the batch, with its leaf, found one of entry {seq}"
            )
        batch.leaves[seq - batch.first] = erasure.leaf
    return batch._replace(erased=tuple(known.values())) if known else batch


def _stand_in(entry: Entry, erasure: Erasure | None) -> Entry:
    """Give an erased entry a body that can be appended; it goes, with its salt, when the erasure is kept."""
    if erasure is None:
        return entry
    if entry.body is not None:
        raise IntegrityError(f"expected no body of entry {entry.seq}, which was erased, found one")
    return msgspec.structs.replace(entry, body=b"", salt=None)


def _prepare(entries: Sequence[Entry]) -> Batch:
    if not entries:
        raise ValueError("expected a batch of at least one entry")
    first = expected = entries[0].seq
    fresh = os.urandom(SALT_SIZE * len(entries))
    rows: list[Row] = []
    drawn = 0
    for seq, at, origin, session, kind, stream, body, salt in map(astuple, entries):
        if seq != expected or body is None:
            what = f"entry {seq}" if seq != expected else "an entry without a body"
            raise IntegrityError(f"expected entry {expected} of the batch, found {what}; nothing was kept")
        if salt is None:
            salt = fresh[drawn : drawn + SALT_SIZE]
            drawn += SALT_SIZE
        elif len(salt) != SALT_SIZE:
            raise IntegrityError(f"entry {seq}: expected a salt of {SALT_SIZE} bytes, found {len(salt)}")
        rows.append((seq, at, origin, session, kind, stream, body, salt))
        expected += 1
    return Batch(first, expected - 1, entries[-1].at, rows, leaf_hashes(rows), ())


def checked_documents(documents: Iterable[DocumentRow]) -> dict[str, DocumentRow]:
    """Return documents by digest.

    Raises:
        IntegrityError: one is not what its digest says.
    """
    checked: dict[str, DocumentRow] = {}
    for document in documents:
        found = digest(document.body)
        if found != document.digest:
            raise IntegrityError(f"expected a document {document.digest}, found that its digest is {found}")
        checked[document.digest] = document
    return checked


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


def check_erasable(run: str, seqs: Iterable[int], size: int, accounts: Container[int]) -> list[int]:
    """Return the entries that are to be erased, in order.

    Args:
        run: which run, in words.
        seqs: what is to be erased.
        size: how many entries the run has.
        accounts: its ENTRIES_ERASED, which prove that what they name was erased by the log.

    Raises:
        UsageError: entry 1 or an ENTRIES_ERASED is among them.
        NotFoundError: the run has no such entry.
    """
    wanted = sorted(set(seqs))
    for seq in wanted:
        if seq == 1:
            raise UsageError(f"{run}: entry 1 cannot be erased, as it says what the run is; name others")
        if not 1 < seq <= size:
            raise NotFoundError(f"{run}: expected to erase entries 2 to {size}, found {seq} asked for")
        if seq in accounts:
            raise UsageError(f"{run}: entry {seq} cannot be erased, as it tells of an erasure; name others")
    return wanted
