"""Where the bytes come from: files, pipes and stdin, plain and packed, as long as they may be."""

import errno
import gzip
import io
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.line_cutting import CutLine, LineCutter
from ledger.errors import DiskError, TranscriptError
from ledger.exchange import files
from ledger.exchange.files import STDIN, Source, open_source, read_lines, read_transcript_lines
from ledger.exchange.importing import import_transcript
from ledger.log.memory_store import MemoryStore
from tests.exchange.scripted_dialect import DIALECTS
from tests.exchange.test_importing import HEADER, LINES, held
from tests.memory import growth

BODY = "".join(line + "\n" for line in (HEADER, *LINES)).encode()
PACKED = {"plain": BODY, "gzip": gzip.compress(BODY), "zstd": zstandard.ZstdCompressor().compress(BODY)}
every_packing = pytest.mark.parametrize("body", PACKED.values(), ids=PACKED)


def entries_of(path: Path) -> list[Any]:
    store = MemoryStore()
    import_transcript(store, path, DIALECTS)
    return held(store)


@pytest.fixture
def expected(tmp_path: Path) -> list[Any]:
    (tmp_path / "plain.jsonl").write_bytes(BODY)
    return entries_of(tmp_path / "plain.jsonl")


@every_packing
def test_how_a_file_is_packed_is_told_by_its_bytes(tmp_path: Path, body: bytes, expected: list[Any]) -> None:
    for name in ("run.jsonl", "run.gz", "run.zst", "run"):
        (tmp_path / name).write_bytes(body)
        assert entries_of(tmp_path / name) == expected


@every_packing
def test_what_comes_through_a_pipe_is_read_twice_all_the_same(
    tmp_path: Path, body: bytes, expected: list[Any]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(body,))
    writer.start()
    try:
        assert entries_of(pipe) == expected
    finally:
        writer.join(10)


class Stdin:
    def __init__(self, buffer: io.BufferedIOBase) -> None:
        self.buffer = buffer


@every_packing
def test_stdin_is_read_from_where_it_stands(
    tmp_path: Path, body: bytes, expected: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(body)))
    assert entries_of(STDIN) == expected
    for before in (b"", b"a line that somebody else has read\n"):
        (tmp_path / "stdin").write_bytes(before + body)
        with (tmp_path / "stdin").open("rb") as file:
            file.seek(len(before))
            monkeypatch.setattr(sys, "stdin", Stdin(file))
            assert entries_of(STDIN) == expected


def test_where_a_pipe_does_not_fit_it_is_said_what_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "TemporaryFile", Full)
    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(BODY)))
    with pytest.raises(DiskError) as caught:
        entries_of(STDIN)
    assert f"expected room in {tempfile.gettempdir()}" in str(caught.value)
    assert "set TMPDIR" in str(caught.value)


def test_a_transcript_that_is_packed_and_broken_names_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(PACKED["gzip"][:-20])
    store = MemoryStore()
    with pytest.raises(TranscriptError) as caught:
        import_transcript(store, path, DIALECTS)
    assert str(caught.value).startswith(f"{path}, line ")
    assert "expected whole gzip data at byte" in str(caught.value)
    assert caught.value.line_number is not None
    assert list(store.runs()) == []


def test_the_good_lines_of_a_broken_one_can_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.zst"
    pack = zstandard.ZstdCompressor().compress
    first, rest = BODY[: len(HEADER) + 60], BODY[len(HEADER) + 60 :]
    path.write_bytes(pack(first) + pack(rest)[:-3])
    store = MemoryStore()
    imported = import_transcript(store, path, DIALECTS, keep_partial=True)
    assert "expected whole zstd data" in (imported.stopped or "")
    assert [entry.type for entry in held(store)] == ["RUN_OPENED", "START"][: imported.entries]


def test_progress_counts_bytes_of_the_file_and_not_what_they_unpack_to(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(BODY.replace(b"\n", b" " * 10**6 + b"\n")))
    told: list[int] = []
    import_transcript(MemoryStore(), path, DIALECTS, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 2 * path.stat().st_size


def test_a_line_that_unpacks_beyond_the_limit_is_refused_in_flat_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    header = HEADER.encode() + b"\n"
    path.write_bytes(gzip.compress(header) + gzip.compress(bytes(1 << 28)))
    setup = "from pathlib import Path\nfrom ledger.exchange.files import open_source, read_transcript_lines"
    code = """
with open_source(Path(sys.argv[1])) as source:
    try:
        list(read_transcript_lines(source, 1 << 20))
    except Exception as error:
        print(error)
"""
    grown, said = growth(setup, code, path)
    assert "line 2: expected at most" in said
    assert grown < 64  # the line would be 256


BLANKS = st.lists(
    st.sampled_from([b"\n", b"\n" * 40, b" \r\n" * 20, b"\t", b"  ", b"x\n", b"  {y}", b"\n" * 17 + b"z"])
)


@given(BLANKS, st.integers(1, 40))
def test_blank_lines_are_left_out_and_counted_however_the_bytes_come(parts: list[bytes], step: int) -> None:
    data = b"".join(parts)

    class Stepwise(Source):
        def begin(self) -> Any:
            stream = io.BytesIO(data)
            return SimpleNamespace(read=lambda: stream.read(step), position=stream.tell)

    found = [tuple(line) for line in read_transcript_lines(Stepwise(io.BytesIO(), "x"), 1000)]
    expected, end = [], 0
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data), 1):
        end += len(line)
        text = line.removesuffix(b"\n")
        if text.strip():
            expected.append((number, text.removesuffix(b"\r") if line != text else text, end, line != text))
    assert found == expected


@pytest.mark.parametrize("blank", [b"\n", b" \r\n"])
def test_of_a_run_of_blank_lines_none_is_made_a_line(blank: bytes) -> None:
    made: list[bytes | CutLine] = []

    class Counted(LineCutter):
        def push(self, data: bytes) -> Iterator[bytes | CutLine]:
            for line in super().push(data):
                made.append(line)
                yield line

    source = Source(io.BytesIO(gzip.compress(b"a\n" + blank * 3_000_000 + b"b\n" + blank * 100)), "x")
    lines = list(read_lines(source, Counted(9), cuts=False))
    assert [(line.number, line.raw) for line in lines if line.raw in (b"a", b"b")] == [
        (1, b"a"),
        (3_000_002, b"b"),
    ]
    assert len(made) < 100


def test_the_header_may_be_longer_than_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MEMBERS_LIMIT", 100)
    (tmp_path / "run.jsonl").write_bytes(b"\n" + b"x" * 9000 + b"\n" + b"y" * 701)
    with open_source(tmp_path / "run.jsonl") as source:
        lines = read_transcript_lines(source, 100)
        assert len(next(lines).raw) == 9000
        with pytest.raises(TranscriptError, match="line 3: expected at most 700 bytes"):
            next(lines)
