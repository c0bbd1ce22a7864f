"""``import``: packed files, pipes and stdin, bare captures, and lines that are too long."""

import gzip
import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest
import zstandard

from tests.cli.running import COMMAND, call, environment, run, why
from tests.cli.test_import import bring_in, outcomes
from tests.cli.transcripts import (
    MANIFEST,
    ROOT,
    record,
    said,
    sample,
    state,
    whole,
)
from tests.memory import growth

RUN_ID, TRANSCRIPT = sample("gap-under-wrong-parent")
BODY = TRANSCRIPT.read_bytes()
zstd = zstandard.ZstdCompressor().compress

LINES = [json.loads(line) for line in BODY.splitlines()[1:]]
STDOUT = b"".join(line["line"].encode() + b"\n" for line in LINES if line["origin"] == "program")
START = next(line["line"] for line in LINES if line["origin"] == "runtime")
CAPTURE_ID = "capture-" + hashlib.sha256(STDOUT).hexdigest()[:16]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "stdout.log"
    path.write_bytes(STDOUT)
    return path


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(MANIFEST, indent=2) + "\n")
    return path


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    path = tmp_path / "start.json"
    path.write_text(json.dumps(json.loads(START), indent=2) + "\n")
    return path


# Packed files, folders, pipes.


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz", "run"])
@pytest.mark.parametrize("body", [gzip.compress(BODY), zstd(BODY)], ids=["gzip", "zstd"])
def test_a_packed_transcript_is_that_transcript(into: Path, tmp_path: Path, name: str, body: bytes) -> None:
    (tmp_path / name).write_bytes(body)
    assert outcomes(bring_in(into, tmp_path / name)) == [(RUN_ID, "imported")]
    assert outcomes(bring_in(into, TRANSCRIPT)) == [(RUN_ID, "unchanged")]


def test_of_a_folder_packed_transcripts_come_in_too_and_a_broken_one_keeps_none_out(
    into: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    for name in ("a", "b", "c", "d"):
        whole(folder / f"{name}.jsonl", run_id=f"run_{name}")
    for name, pack in (("b", gzip.compress), ("c", zstd), ("d", gzip.compress)):
        plain = folder / f"{name}.jsonl"
        ending = ".zst" if pack is zstd else ".gz"
        packed = pack(plain.read_bytes())
        plain.with_name(plain.name + ending).write_bytes(packed[:-9] if name == "d" else packed)
        plain.unlink()
    (folder / "notes.gz").write_bytes(b"not looked at")
    os.mkfifo(folder / "pipe.jsonl")  # nobody would ever write to it
    done = bring_in(into, folder)
    assert done.status == 3
    assert outcomes(done) == [("run_a", "imported"), ("run_b", "imported"), ("run_c", "imported")]
    assert "d.jsonl.gz, line" in done.err
    assert "gzip data at byte" in done.err


@pytest.mark.parametrize("body", [BODY, gzip.compress(BODY), zstd(BODY)], ids=["plain", "gzip", "zstd"])
def test_a_transcript_comes_from_stdin(into: Path, body: bytes) -> None:
    done = run("-l", into, "import", "-", "-o", "json", stdin=body)
    assert (done.status, done.err) == (0, "")
    assert outcomes(done) == [(RUN_ID, "imported")]
    assert [row["file"] for row in done.json] == ["-"]
    again = run("-l", into, "import", "/dev/stdin", "-o", "json", stdin=body)
    assert outcomes(again) == [(RUN_ID, "unchanged")]


def test_what_a_shell_puts_in_the_place_of_a_file_is_read(into: Path) -> None:
    script = '"$0" -m cli -l "$1" import <(cat "$2") <(gzip -c "$3")'
    done = subprocess.run(
        ["bash", "-c", script, COMMAND[0], into, TRANSCRIPT, sample("calendar-snapshot")[1]],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout.splitlines()) == 3


def test_stdin_is_given_once(into: Path, manifest: Path) -> None:
    for words in (("-", "-"), ("-", "--manifest", "-"), ("x", "--manifest", "-", "--start", "-")):
        done = call("-l", into, "import", *words, stdin=b"")
        assert (done.status, done.out) == (2, "")
        assert "standard input can be read once" in done.err


def test_an_empty_stdin_makes_no_ledger(into: Path) -> None:
    done = run("-l", into, "import", "-", stdin=b"")
    assert (done.status, done.out) == (3, "")
    assert "standard input, line 1" in done.err
    assert not into.exists()


# Bare captures.


def test_a_capture_with_its_manifest_is_decided(
    into: Path, capture: Path, manifest: Path, sent: Path
) -> None:
    words = ("--manifest", manifest, "--start", sent)
    assert outcomes(bring_in(into, capture, *words)) == [(CAPTURE_ID, "imported")]
    assert outcomes(bring_in(into, capture, *words)) == [(CAPTURE_ID, "unchanged")]
    page = why(into, CAPTURE_ID)
    assert "WITHHOLD messages" in page
    assert "keys at fault: att_3" in page
    assert "How the program ended was not observed." in page
    log = run("-l", into, "log", CAPTURE_ID, "--raw", "--origin", "program")
    assert log.raw == STDOUT


def test_white_space_around_a_manifest_makes_it_no_other(
    into: Path, capture: Path, manifest: Path, tmp_path: Path
) -> None:
    manifest.write_text(f"\n {json.dumps(MANIFEST)}\n")
    bring_in(into, capture, "--manifest", manifest)
    bring_in(into, whole(tmp_path / "run.jsonl"))
    one, other = (call("-l", into, "show", name, "-o", "json").json for name in (CAPTURE_ID, "run_odd"))
    assert one["subject"]["manifest"] == other["subject"]["manifest"]


def test_a_capture_without_a_manifest_comes_in_and_nothing_is_said_of_its_checkpoints(
    into: Path, capture: Path
) -> None:
    assert outcomes(bring_in(into, capture)) == [(CAPTURE_ID, "imported")]
    decision = call("-l", into, "show", CAPTURE_ID, "-o", "json").json
    assert (decision["status"], decision["cause"]["code"]) == ("indeterminate", "manifest_unknown")


def test_a_capture_comes_straight_from_the_program(into: Path, manifest: Path) -> None:
    for body in (STDOUT, gzip.compress(STDOUT), zstd(STDOUT)):
        done = run("-l", into, "import", "-", "--manifest", manifest, "-o", "json", stdin=body)
        assert [name for name, _ in outcomes(done)] == [CAPTURE_ID]


def test_a_capture_under_a_grant_commits_to_its_namespace(into: Path, capture: Path, manifest: Path) -> None:
    words = ("--manifest", manifest, "--trigger", "continuous", "--grant-id", "grant_1", "--run-id", "mine")
    assert outcomes(bring_in(into, capture, *words)) == [("mine", "imported")]
    subject = call("-l", into, "show", "mine", "-o", "json").json["subject"]
    assert (subject["trigger"], subject["grant_id"], subject["namespace"]) == (
        "continuous",
        "grant_1",
        "grant_1",
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--trigger", "continuous"), "--grant-id"),
        (("--grant-id", "g"), "--trigger continuous or single_use"),
        (("--run-id", ""), "--run-id"),
        (("--run-id", "\udcff"), "--run-id"),
        (("--max-line", "many"), "--max-line"),
        (("--max-line", "1KiB"), "from 4096"),
        (("--max-line", "99GiB"), "to 536870912"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(
    into: Path, capture: Path, words: tuple[str, ...], told: str
) -> None:
    done = call("-l", into, "import", capture, *words)
    assert (done.status, done.out) == (2, "")
    assert told in done.err
    assert not into.exists()


def test_a_run_id_is_for_one_capture(into: Path, capture: Path, tmp_path: Path) -> None:
    for words in ((capture, capture), (tmp_path,)):
        done = call("-l", into, "import", *words, "--run-id", "mine")
        assert done.status == 2
        assert "one by one" in done.err


def test_what_is_said_of_a_capture_is_not_for_a_transcript(into: Path, capture: Path, manifest: Path) -> None:
    done = bring_in(into, TRANSCRIPT, capture, "--manifest", manifest)
    assert done.status == 2
    assert "found a transcript" in done.err
    assert outcomes(done) == [(CAPTURE_ID, "imported")], "it keeps no other out"


@pytest.mark.parametrize("option", ["--manifest", "--start"])
@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "found unexpected end"),
        (b"{}\n{}", ":2:1: expected a JSON object"),
        (b"[]", "another JSON value"),
    ],
)
def test_a_document_beside_the_capture_that_is_none_is_refused(
    into: Path, capture: Path, tmp_path: Path, option: str, body: bytes, told: str
) -> None:
    (tmp_path / "odd.json").write_bytes(body)
    done = call("-l", into, "import", capture, option, tmp_path / "odd.json")
    assert (done.status, done.out) == (3, "")
    assert "odd.json" in done.err
    assert told in done.err
    assert call("-l", into, "import", capture, option, tmp_path / "none.json").status == 3


def test_wrapped_lines_of_a_process_adapter_are_not_read_yet(into: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    path.write_text('{"stream":"s","dir":"runner->adapter","adapter":"a","msg":{"type":"END"}}\n')
    done = call("-l", into, "import", path)
    assert done.status == 3
    assert "process adapter" in done.err


def test_a_capture_of_both_directions_is_said_to_be_one(into: Path, tmp_path: Path, manifest: Path) -> None:
    path = tmp_path / "both.log"
    path.write_bytes(START.encode() + b"\n" + STDOUT)
    done = call("-l", into, "import", path)
    assert (done.status, done.out) == (3, "")
    assert "the START" in done.err or "--start" in done.err
    done = call("-l", into, "import", path, "--manifest", manifest)
    assert done.status == 0
    assert "entry 2 is what a runtime sends" in done.err


# Lines that are too long.


def long_run(path: Path, size: int, **header: str) -> Path:
    path = whole(path, record("contacts", "c1", text="x" * size), state("contacts"), **header)
    return path


def test_a_line_beyond_the_limit_keeps_its_head_and_breaks_the_run(into: Path, tmp_path: Path) -> None:
    path = long_run(tmp_path / "run.jsonl", 70_000)
    done = bring_in(into, path, "--max-line", "64KiB")
    assert (done.status, done.json[0]["cut"]) == (0, 1)
    assert "1 line longer than 65536 bytes" in done.err
    decision = call("-l", into, "show", "run_odd", "-o", "json").json
    assert (decision["status"], decision["cause"]["code"]) == ("failed", "line_too_long")
    assert decision["checkpoints"] == []
    (head,) = call("-l", into, "log", "run_odd", "-o", "json", "--from", "3", "--to", "3").json
    assert len(head["body"]) == 65536
    assert outcomes(bring_in(into, path, "--max-line", "65536")) == [("run_odd", "unchanged")]
    other = bring_in(into, path)
    assert other.status == 1
    assert "--max-line" in other.err


def test_a_line_that_only_its_escapes_make_long_is_whole(into: Path, tmp_path: Path) -> None:
    text = "\x00" * 700
    path = whole(tmp_path / "run.jsonl", record("contacts", "c1", text=text), state("contacts"))
    done = bring_in(into, path, "--max-line", "8KiB")
    assert (done.status, done.json[0]["cut"], done.err) == (0, 0, "")
    assert call("-l", into, "show", "run_odd", "-o", "json").json["status"] == "succeeded"


def test_a_cut_line_of_a_run_that_was_exported_stays_cut(into: Path, tmp_path: Path) -> None:
    bring_in(into, long_run(tmp_path / "run.jsonl", 70_000), "--max-line", "64KiB")
    before = run("-l", into, "log", "run_odd", "--raw").raw
    assert call("-l", into, "export", "run_odd", tmp_path / "out.jsonl.zst").status == 0
    again = tmp_path / "again.db"
    assert outcomes(bring_in(again, tmp_path / "out.jsonl.zst")) == [("run_odd", "imported")]
    assert run("-l", again, "log", "run_odd", "--raw").raw == before


# Memory.

SETUP = """
from ledger.dialects import DIALECTS
from ledger.exchange.exporting import export_run
from ledger.exchange.importing import import_transcript
from ledger.exchange.packing import Packing, packed
from ledger.log.sqlite_store import SqliteStore
"""
IMPORT = """
with SqliteStore.open(sys.argv[2], create=True) as store:
    print(import_transcript(store, Path(sys.argv[1]), DIALECTS).cuts)
"""
EXPORT = """
with SqliteStore.open(sys.argv[2], create=False) as store, open(sys.argv[1], "wb") as file:
    with packed(file, Packing(sys.argv[3])) as out:
        print(export_run(store, next(store.runs()), out))
"""
MEMORY = 100
"""MiB that an import or an export may take beside the program itself; the files here are larger."""


def fill(path: Path, text: str, count: int) -> Path:
    """Write a transcript of many records without holding it."""
    whole(path)
    *head, done, exited = path.read_bytes().splitlines(keepends=True)
    (line,) = said(record("contacts", "c1", text=text))
    line_bytes = json.dumps(line).encode() + b"\n"
    with path.open("wb") as file:
        file.writelines(head)
        for _ in range(count):
            file.write(line_bytes)
        file.writelines((done, exited))
    return path


@pytest.mark.parametrize(
    ("text", "count"),
    [("x" * 1000, 60_000), ("x" * 10_000_000, 12), ('"\x00é' * 1_000_000, 8)],
    ids=["many lines", "long lines", "escapes"],
)
def test_a_large_transcript_goes_in_and_out_in_flat_memory(tmp_path: Path, text: str, count: int) -> None:
    path, ledger = fill(tmp_path / "run.jsonl", text, count), tmp_path / "ledger.db"
    assert path.stat().st_size > 60_000_000
    grown, cuts = growth(SETUP, IMPORT, path, ledger)
    assert (cuts, grown < MEMORY) == ("0\n", True), grown
    out = tmp_path / "run.jsonl.zst"
    grown, _ = growth(SETUP, EXPORT, out, ledger, ".zst")
    assert grown < MEMORY
    ledger.unlink()
    grown, _ = growth(SETUP, IMPORT, out, ledger)
    assert grown < MEMORY


def test_a_line_far_beyond_the_limit_is_cut_in_flat_memory(tmp_path: Path) -> None:
    transcript = fill(tmp_path / "run.jsonl", "x" * 67_000_000, 1)
    grown, cuts = growth(SETUP, IMPORT, transcript, tmp_path / "a.db")
    assert (cuts, grown < 2 * MEMORY) == ("1\n", True), grown
    capture = tmp_path / "capture.gz"
    with gzip.open(capture, "wb", compresslevel=1) as file:
        file.write(b'{"type":"RECORD","data":"')
        for _ in range(300):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n{"type":"DONE"}\n')
    grown, cuts = growth(SETUP, IMPORT, capture, tmp_path / "b.db")
    assert (cuts, grown < MEMORY) == ("1\n", True), grown


def test_a_start_is_no_manifest(into: Path, tmp_path: Path) -> None:
    given = tmp_path / "start.json"
    given.write_text('{"type":"START","run_id":"r","scope":{"streams":[{"name":"a"}]}}')
    capture = tmp_path / "stdout.log"
    capture.write_text('{"type":"DONE","status":"succeeded","records_emitted":0}\n')
    done = call("-l", into, "import", capture, "--manifest", given)
    assert (done.status, "found a wire line; --start takes the START" in done.err) == (3, True)
    assert not into.exists()
