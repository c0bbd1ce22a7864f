"""Packed bytes, in and out: gzip and zstd, told by their first bytes in reading, by a name's end in writing.

Reading gives the bytes of every gzip member or zstd frame of a file, one after the other. Invariants: no step
unpacks more than :data:`STEP` bytes, so that a small file that unpacks to a huge one costs time and no
memory; a stream that is cut short, broken, or followed by something else is an error that names the byte of
the file, and all that was good before it has been given by then.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from io import BufferedWriter
from typing import Any, BinaryIO, Protocol, cast

from ledger.errors import DiskError, TranscriptError

STEP = 256 * 1024
"""Bytes that are read, and at most unpacked, at a time."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte of 0x50 to 0x5f
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 3
_GZIP_WINDOW = 31


class Packing(StrEnum):
    """How a file is packed; the value is the end of such a file's name."""

    PLAIN = ""
    GZIP = ".gz"
    ZSTD = ".zst"


class Unpacked(Protocol):
    """A stream of unpacked bytes."""

    def read(self) -> bytes:
        """Return some bytes, never many; b"" at the end.

        Raises:
            TranscriptError: what is there is not packed as it says.
            DiskError: the file system failed.
        """
        ...

    def position(self) -> int:
        """Return how many bytes of the file were used up."""
        ...


def packing_of(head: bytes) -> Packing:
    """Tell by the first bytes of a file, four are enough, how it is packed."""
    if head.startswith(_GZIP_MAGIC):
        return Packing.GZIP
    return Packing.ZSTD if _begins_zstd(head) else Packing.PLAIN


def unpack(file: BinaryIO, name: str) -> Unpacked:
    """Read a file from its beginning, unpacked.

    Args:
        file: any stream that can be wound back.
        name: what errors of the file system call it.
    """
    source = _Source(file, name)
    match packing_of(source.peek(4)):
        case Packing.GZIP:
            return _Gzip(source)
        case Packing.ZSTD:
            return _Zstd(source)
        case Packing.PLAIN:
            return _Plain(source)


@contextmanager
def packed(out: BinaryIO, packing: Packing) -> Iterator[BinaryIO]:
    """Give a stream whose bytes reach ``out`` packed; the same bytes are packed the same.

    ``out`` stays open.
    """
    if packing is Packing.PLAIN:
        yield out
        return
    packer: Any
    if packing is Packing.GZIP:
        from gzip import GzipFile

        packer = GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=out, mtime=0)
    else:
        from zstandard import ZstdCompressor

        compressor = ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True)
        packer = compressor.stream_writer(out, closefd=False)
    with packer:
        buffered = BufferedWriter(packer, STEP)
        yield cast(BinaryIO, buffered)
        buffered.flush()
        buffered.detach()


class _Source:
    """The file's own bytes, with a look ahead."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._ahead = b""
        self._read = 0
        with self._translated():
            file.seek(0)

    @property
    def at(self) -> int:
        """The byte of the file that comes next."""
        return self._read - len(self._ahead)

    def peek(self, size: int) -> bytes:
        """Return the next bytes without taking them; fewer at the end of the file."""
        while len(self._ahead) < size and (more := self._more(STEP)):
            self._ahead += more
        return self._ahead[:size]

    def take(self, size: int) -> bytes:
        """Take the next bytes; fewer at the end of the file."""
        data = self.peek(size)
        self._ahead = self._ahead[size:]
        return data

    def some(self) -> bytes:
        """Take what is at hand, or else a step."""
        data, self._ahead = self._ahead or self._more(STEP), b""
        return data

    def put_back(self, data: bytes) -> None:
        """Give back bytes that were taken last."""
        self._ahead = data + self._ahead

    def _more(self, size: int) -> bytes:
        with self._translated():
            data = self._file.read(size)
        self._read += len(data)
        return data

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DiskError(
                f"{self._name}: cannot be read at byte {self._read}: {error.strerror or error}"
            ) from error


class _Plain:
    def __init__(self, source: _Source) -> None:
        self._source = source

    def read(self) -> bytes:
        return self._source.some()

    def position(self) -> int:
        return self._source.at


class _Gzip:
    """The members of a gzip file (RFC 1952); zeros may follow the last, as padding."""

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._member: Any = None

    def position(self) -> int:
        return self._source.at

    def read(self) -> bytes:
        while True:
            if self._member is None and not self._begin():
                return b""
            data = self._step()
            if data:
                return data

    def _begin(self) -> bool:
        """Begin the next member, and tell whether there is one."""
        head = self._source.peek(2)
        if not head:
            return False
        if head == _GZIP_MAGIC:
            self._member = zlib.decompressobj(_GZIP_WINDOW)
            return True
        at = self._source.at
        while padding := self._source.some():
            if padding.strip(b"\x00"):
                raise _broken("gzip", at, "something else behind its end")
        return False

    def _step(self) -> bytes:
        member = self._member
        at = self._source.at
        data = self._source.some()
        if not data:
            raise _broken("gzip", at, "the end of the file")
        try:
            unpacked: bytes = member.decompress(data, STEP)
        except zlib.error as error:
            raise _broken("gzip", at, _reason(error)) from None
        self._source.put_back(member.unused_data if member.eof else member.unconsumed_tail)
        if member.eof:
            self._member = None
        return unpacked


class _Zstd:
    """The frames of a zstd file (RFC 8878), block by block.

    The blocks are walked here, since a block unpacks to 128 KiB at most, and since the library does not tell
    a frame that ends from one that was cut short.
    """

    def __init__(self, source: _Source) -> None:
        from zstandard import ZstdDecompressor, ZstdError

        self._source = source
        self._decompressor = ZstdDecompressor()
        self._error = ZstdError
        self._frame: Any = None
        self._has_checksum = False

    def position(self) -> int:
        return self._source.at

    def read(self) -> bytes:
        while True:
            if self._frame is None and not self._begin():
                return b""
            if self._frame is not None and (data := self._block()):
                return data

    def _begin(self) -> bool:
        """Begin the next frame, or pass over a skippable one; tell whether there was either."""
        at = self._source.at
        magic = self._source.peek(4)
        if not magic:
            return False
        if not _begins_zstd(magic):
            raise _broken("zstd", at, "something else behind its end")
        if magic != _ZSTD_MAGIC:
            self._source.take(4)
            left = int.from_bytes(self._take(4), "little")
            while left:
                left -= len(self._take(min(left, STEP)))
            return True
        descriptor = self._source.peek(5)[4:]
        if not descriptor:
            raise _cut_short(at)
        self._has_checksum = bool(descriptor[0] & 4)
        self._frame = self._decompressor.decompressobj()
        self._feed(self._take(_header_size(descriptor[0])), at)
        return True

    def _block(self) -> bytes:
        at = self._source.at
        head = self._take(3)
        bits = int.from_bytes(head, "little")
        is_last, kind, size = bits & 1, bits >> 1 & 3, bits >> 3
        body = self._take(1 if kind == 1 else size)
        checksum = self._take(4) if is_last and self._has_checksum else b""
        data = self._feed(head + body + checksum, at)
        if is_last:
            self._frame = None
        return data

    def _feed(self, data: bytes, at: int) -> bytes:
        try:
            unpacked: bytes = self._frame.decompress(data)
        except self._error as error:
            raise _broken("zstd", at, _reason(error)) from None
        return unpacked

    def _take(self, size: int) -> bytes:
        at = self._source.at
        data = self._source.take(size)
        if len(data) < size:
            raise _cut_short(at)
        return data


def _begins_zstd(head: bytes) -> bool:
    return head[:4] == _ZSTD_MAGIC or (head[1:4] == _SKIPPABLE and 0x50 <= head[0] <= 0x5F)


def _header_size(descriptor: int) -> int:
    """Return the bytes of a frame's header, with its magic, by its descriptor (RFC 8878, 3.1.1.1)."""
    is_single = descriptor >> 5 & 1
    content = (is_single, 2, 4, 8)[descriptor >> 6]
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    return 5 + (1 - is_single) + dictionary + content


def _cut_short(at: int) -> TranscriptError:
    return _broken("zstd", at, "the end of the file")


def _broken(packing: str, at: int, found: str) -> TranscriptError:
    return TranscriptError(f"expected whole {packing} data at byte {at} of the file, found {found}")


def _reason(error: Exception) -> str:
    """Return a library's words for what is wrong, without what only it knows."""
    return f"it broken ({str(error).rpartition(': ')[2]})"
