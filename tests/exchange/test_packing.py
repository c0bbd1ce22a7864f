"""Packed files: read whatever they are called, in flat memory, and never half."""

import gzip
import io
import random
from collections.abc import Callable
from typing import Any

import pytest
import zstandard

from ledger.errors import TranscriptError
from ledger.exchange.packing import STEP, Packing, packed, packing_of, unpack

Pack = Callable[[bytes], bytes]

SMALL = random.Random(1).randbytes(3000) * 3
SKIPPABLE = b"\x52\x2a\x4d\x18\x03\x00\x00\x00abc"


def zstd(data: bytes, **how: Any) -> bytes:
    return zstandard.ZstdCompressor(level=3, **how).compress(data)


def zstd_stream(data: bytes) -> bytes:
    """Pack as a stream does, which does not know the size when it begins."""
    packer = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return (
        packer.compress(data[:5000])
        + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        + packer.compress(data[5000:])
        + packer.flush()
    )


PACKS: dict[str, Pack] = {
    "gzip": gzip.compress,
    "zstd": zstd,
    "zstd checked": lambda data: zstd(data, write_checksum=True, write_content_size=False),
    "zstd stream": zstd_stream,
}
every_packing = pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
checked = pytest.mark.parametrize("pack", [PACKS["gzip"], PACKS["zstd checked"]], ids=["gzip", "zstd"])


def unpacked(data: bytes) -> bytes:
    stream = unpack(io.BytesIO(data), "file")
    parts = list(iter(stream.read, b""))
    assert stream.position() == len(data)
    assert max(map(len, parts), default=0) <= STEP
    return b"".join(parts)


@every_packing
@pytest.mark.parametrize("size", [0, 1, 5000, STEP, 3 * STEP + 7])
def test_what_was_packed_is_unpacked(pack: Pack, size: int) -> None:
    data = (SMALL * (size // len(SMALL) + 1))[:size]
    assert unpacked(pack(data)) == data


@every_packing
def test_several_members_in_a_row_are_one_stream(pack: Pack) -> None:
    assert unpacked(pack(b"one\n") + pack(b"") + pack(SMALL) + pack(b"two\n")) == b"one\n" + SMALL + b"two\n"


def test_frames_that_are_to_be_skipped_are_skipped() -> None:
    assert packing_of(SKIPPABLE) is Packing.ZSTD
    assert unpacked(SKIPPABLE + zstd(b"one") + SKIPPABLE + zstd(b"two") + SKIPPABLE) == b"onetwo"


def test_zeros_behind_gzip_are_padding() -> None:
    assert unpacked(gzip.compress(b"one") + bytes(2 * STEP)) == b"one"


@every_packing
def test_a_stream_that_is_cut_short_is_never_taken_for_whole(pack: Pack) -> None:
    first, rest = pack(SMALL[:4000]), pack(SMALL[4000:])
    for size in range(4, len(first) + len(rest)):
        if size != len(first):
            with pytest.raises(
                TranscriptError, match=r"expected whole (gzip|zstd) data at byte \d+ of the file"
            ):
                unpacked((first + rest)[:size])
    assert unpacked(first) == SMALL[:4000]


@checked
def test_a_changed_byte_is_found_or_changes_nothing(pack: Pack) -> None:
    data, dice = pack(SMALL), random.Random(2)
    for place in range(4, len(data)):
        changed = bytearray(data)
        changed[place] ^= dice.randrange(1, 256)
        try:
            assert unpacked(bytes(changed)) == SMALL
        except TranscriptError:
            continue


@every_packing
@pytest.mark.parametrize("behind", [b"garbage", b"{}\n", b"\x00\x00x", b"\n"])
def test_what_follows_packed_data_is_an_error_that_says_where(pack: Pack, behind: bytes) -> None:
    data = pack(b"one\n")
    with pytest.raises(TranscriptError, match=rf"at byte {len(data)} of the file, found something else"):
        unpacked(data + behind)


@every_packing
def test_what_was_good_before_the_damage_has_been_given(pack: Pack) -> None:
    stream = unpack(io.BytesIO(pack(b"one\n") + pack(SMALL)[:-1]), "file")
    assert stream.read() == b"one\n"


def test_a_window_that_would_fill_the_memory_is_refused() -> None:
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00"
    with pytest.raises(TranscriptError, match="too much memory"):
        unpacked(frame)


@pytest.mark.parametrize("data", [bytes(1 << 27), b"\n" * (1 << 27)], ids=["zeros", "lines"])
@every_packing
def test_a_small_file_that_unpacks_to_a_huge_one_comes_in_small_steps(pack: Pack, data: bytes) -> None:
    stream = unpack(io.BytesIO(pack(data)), "file")
    sizes = [len(part) for part in iter(stream.read, b"")]
    assert (sum(sizes), max(sizes) <= STEP) == (len(data), True)


@pytest.mark.parametrize("packing", list(Packing))
def test_what_is_written_is_read_and_is_the_same_each_time(packing: Packing) -> None:
    written = []
    for _ in range(2):
        out = io.BytesIO()
        with packed(out, packing) as stream:
            stream.write(b"one\n")
            stream.write(SMALL)
        written.append(out.getvalue())
    assert written[0] == written[1]
    assert packing_of(written[0]) is packing
    assert unpacked(written[0]) == b"one\n" + SMALL


def test_where_writing_fails_the_error_is_the_writers() -> None:
    out = io.BytesIO()

    def fail() -> None:
        with packed(out, Packing.ZSTD) as stream:
            stream.write(b"one")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
