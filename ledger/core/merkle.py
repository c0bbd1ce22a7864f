"""The Merkle tree of a run: what makes its log tamper-evident.

Pure: bytes in, hashes out. A tree is held as its *peaks*, the roots of the perfect subtrees that its leaves
fall into, largest first. Peaks are all that it takes to append and to tell the root, so that a run can grow
after a restart without being read again. Invariant: the root over the peaks is the Merkle Tree Hash of
RFC 9162 §2.1.1 over the leaves, however the leaves were split into batches.

A second verifier needs only this: SHA-256 throughout; a leaf is :func:`leaf_hash`; an inner node is
``SHA-256(0x01 || left || right)``; a tree of n > 1 leaves is split at the largest power of two below n; the
root of no leaves is ``SHA-256("")``.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from struct import Struct
from typing import TypeAlias

from ledger.core.entries import Origin

HASH_SIZE = 32
SALT_SIZE = 16

EMPTY_ROOT = sha256(b"").digest()

Row: TypeAlias = tuple[int, int, Origin, str, str, str, bytes, bytes]
"""An entry that is neither erased nor unsalted: its members in their order, body and salt last."""

_NODE = b"\x01"
_LENGTH = Struct(">Q").pack
_AT_AND_BODY_LENGTH = Struct(">QqQ").pack


def leaf_hash(salt: bytes, origin: str, session: str, at: int, body: bytes) -> bytes:
    """Return the 32-byte hash of one entry.

    It is SHA-256 over the byte 0x00 and then five fields, each as its length in bytes (8 bytes, unsigned,
    big-endian) followed by its bytes: the salt; the origin, UTF-8; the session, UTF-8; ``at`` as an 8-byte
    signed big-endian number of microseconds (so its length is always 8); the body. An entry's seq is its
    place in the tree; its type and stream are read from the body, and can be read again.

    Raises:
        struct.error: ``at`` does not fit 64 bits.
        UnicodeEncodeError: the session holds a lone surrogate.

    Source: RFC 9162 §2.1.1 for the prefix; the encoding of an entry is ours.
    """
    fields = (_sized(salt), _speaker(origin, session), _AT_AND_BODY_LENGTH(8, at, len(body)), body)
    return sha256(b"\x00" + b"".join(fields)).digest()


def leaf_hashes(rows: Iterable[Row], salt_size: int = SALT_SIZE) -> list[bytes]:
    """Return the leaf of every row, as :func:`leaf_hash` does; for whole batches.

    Args:
        rows: entries as plain tuples, each with a body and with a salt of ``salt_size`` bytes.
        salt_size: the size of every salt, in bytes.
    """
    prefix = b"\x00" + _LENGTH(salt_size)
    speakers: dict[tuple[str, str], bytes] = {}
    leaves: list[bytes] = []
    for _, at, origin, session, _, _, body, salt in rows:
        speaker = speakers.get((origin, session))
        if speaker is None:
            speaker = speakers[origin, session] = _speaker(origin, session)
        fields = (prefix, salt, speaker, _AT_AND_BODY_LENGTH(8, at, len(body)), body)
        leaves.append(sha256(b"".join(fields)).digest())
    return leaves


def append_leaves(peaks: bytes, size: int, leaves: Sequence[bytes]) -> bytes:
    """Return the peaks of the tree with more leaves; one pass a level, not one leaf at a time.

    Args:
        peaks: the peaks of the tree so far, concatenated, largest first.
        size: how many leaves that tree has.
        leaves: the hashes of the leaves to add, in order.

    Raises:
        ValueError: the peaks are not those of a tree of this size.
    """
    check_peaks(peaks, size)
    old = split_peaks(peaks)
    new: list[bytes] = []
    nodes = list(leaves)
    rest = size
    while nodes or rest:
        if rest & 1:
            nodes.insert(0, old.pop())
        if len(nodes) & 1:
            new.append(nodes.pop())
        pairs = iter(nodes)
        nodes = [sha256(_NODE + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
        rest >>= 1
    new.reverse()
    return b"".join(new)


def root(peaks: bytes, size: int) -> bytes:
    """Return the 32-byte root of the tree that has these peaks.

    Raises:
        ValueError: the peaks are not those of a tree of this size.
    """
    check_peaks(peaks, size)
    if size == 0:
        return EMPTY_ROOT
    hashes = split_peaks(peaks)
    node = hashes.pop()
    while hashes:
        node = sha256(_NODE + hashes.pop() + node).digest()
    return node


def split_peaks(peaks: bytes) -> list[bytes]:
    """Return the peaks one by one, largest subtree first."""
    return [peaks[at : at + HASH_SIZE] for at in range(0, len(peaks), HASH_SIZE)]


def check_peaks(peaks: bytes, size: int) -> None:
    """Hold peaks against the size of their tree: one a bit that is set.

    Raises:
        ValueError: they cannot be the peaks of a tree of this size.
    """
    expected = size.bit_count()
    if size < 0 or len(peaks) != HASH_SIZE * expected:
        raise ValueError(
            f"expected {expected} peaks of {HASH_SIZE} bytes for {size} leaves, found {len(peaks)} bytes"
        )


def _sized(field: bytes) -> bytes:
    return _LENGTH(len(field)) + field


def _speaker(origin: str, session: str) -> bytes:
    return _sized(origin.encode("utf-8")) + _sized(session.encode("utf-8"))
