"""The tree of a run is RFC 9162's, whatever the batches were."""

from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.entries import ORIGINS
from ledger.core.merkle import (
    EMPTY_ROOT,
    HASH_SIZE,
    append_leaves,
    leaf_hash,
    leaf_hashes,
    root,
    split_peaks,
)


def naive_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 9162 §2.1.1 as it is written there; the leaves are hashed already."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + naive_root(leaves[:split]) + naive_root(leaves[split:])).digest()


def numbered_leaves(count: int) -> list[bytes]:
    return [sha256(b"\x00%d" % number).digest() for number in range(count)]


def test_the_root_is_rfc_9162_at_every_size_when_all_leaves_come_at_once() -> None:
    for size in range(301):
        leaves = numbered_leaves(size)
        assert root(append_leaves(b"", 0, leaves), size) == naive_root(leaves)


def test_the_root_is_rfc_9162_at_every_size_when_leaves_come_one_by_one() -> None:
    leaves = numbered_leaves(300)
    peaks = b""
    for size, leaf in enumerate(leaves):
        assert root(peaks, size) == naive_root(leaves[:size])
        peaks = append_leaves(peaks, size, [leaf])


@given(st.lists(st.integers(0, 300), max_size=12).map(sorted))
def test_how_leaves_are_split_into_batches_changes_nothing(cuts: list[int]) -> None:
    leaves = numbered_leaves(300)
    peaks = b""
    for start, end in pairwise([0, *cuts, 300]):
        peaks = append_leaves(peaks, start, leaves[start:end])
        assert len(split_peaks(peaks)) == end.bit_count()
        assert root(peaks, end) == root(append_leaves(b"", 0, leaves[:end]), end)


def test_the_empty_tree_has_the_root_of_no_bytes() -> None:
    assert root(b"", 0) == EMPTY_ROOT == sha256(b"").digest()


def test_appending_nothing_changes_nothing() -> None:
    peaks = append_leaves(b"", 0, numbered_leaves(7))
    assert append_leaves(peaks, 7, []) == peaks


@pytest.mark.parametrize(("peaks", "size"), [(b"", 1), (bytes(HASH_SIZE), 0), (bytes(31), 1), (b"", -1)])
def test_peaks_that_cannot_belong_to_the_size_are_refused(peaks: bytes, size: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        append_leaves(peaks, size, numbered_leaves(1))
    with pytest.raises(ValueError, match="expected"):
        root(peaks, size)


def test_a_leaf_can_be_computed_from_the_documented_encoding_alone() -> None:
    salt, body = bytes(range(16)), b'{"type":"RECORD"}'
    encoded = (
        b"\x00"
        + (16).to_bytes(8, "big")
        + salt
        + (7).to_bytes(8, "big")
        + b"program"
        + (2).to_bytes(8, "big")
        + "é".encode()
        + (8).to_bytes(8, "big")
        + (-5).to_bytes(8, "big", signed=True)
        + (17).to_bytes(8, "big")
        + body
    )
    assert leaf_hash(salt, "program", "é", -5, body) == sha256(encoded).digest()


def test_the_leaf_encoding_is_frozen() -> None:
    found = leaf_hash(bytes(16), "observer", "s", 1_796_000_000_000_000, b"{}")
    assert found.hex() == "086cc1acc7db5ec5f84a083d819477ced62a433ea8e2c91155c22fda6977431e"


rows = st.tuples(
    st.integers(1, 9),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from(ORIGINS),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.just(""),
    st.just(""),
    st.binary(max_size=40),
    st.binary(min_size=16, max_size=16),
)


@given(st.lists(rows, max_size=8))
def test_a_batch_of_leaves_is_every_leaf_by_itself(batch: list[tuple]) -> None:  # type: ignore[type-arg]
    alone = [leaf_hash(row[7], row[2], row[3], row[1], row[6]) for row in batch]
    assert leaf_hashes(batch) == alone


def test_moving_bytes_between_fields_changes_the_leaf() -> None:
    leaves = {
        leaf_hash(bytes(16), "program", "ab", 0, b"c"),
        leaf_hash(bytes(16), "program", "a", 0, b"bc"),
        leaf_hash(bytes(16), "program", "", 0, b"abc"),
        leaf_hash(bytes(16) + b"a", "program", "", 0, b"bc"),
    }
    assert len(leaves) == 4
