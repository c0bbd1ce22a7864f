"""Bare captures: what is one, what its lines become, and that nothing of it is lost or made up."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ledger.core.digests import digest
from ledger.core.entries import Entry
from ledger.core.line_cutting import LINE_LIMIT
from ledger.core.observations import LineCut, RunOpened, Trigger, decode_observation
from ledger.errors import DiffersError, InputError, TranscriptError, UsageError
from ledger.exchange.captures import Known, read_start
from ledger.exchange.importing import Imported, import_transcript
from ledger.log.memory_store import MemoryStore
from ledger.log.store import Store
from tests.exchange.scripted_dialect import DIALECTS

RECORD = b'{"type":"RECORD","stream":"a"}'
DONE = b'{"type":"DONE"}'
MANIFEST = b'{"connector_id": "c", "n":1e2}'
START = b'{"type":"START"}'


@pytest.fixture
def store() -> Store:
    return MemoryStore()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stdout.log"


def run(
    store: Store,
    path: Path,
    body: bytes,
    known: Known | None = None,
    *,
    max_line: int = LINE_LIMIT,
    keep_partial: bool = False,
) -> Imported:
    path.write_bytes(body)
    return import_transcript(store, path, DIALECTS, known=known, max_line=max_line, keep_partial=keep_partial)


def held(store: Store, imported: Imported) -> list[Entry]:
    return list(store.entries(imported.run.run_no))


def told(store: Store, imported: Imported) -> list[Any]:
    return [(entry.origin, entry.type, entry.body) for entry in held(store, imported)][1:]


def test_a_capture_is_known_by_its_first_line(store: Store, path: Path) -> None:
    body = RECORD + b"\n" + DONE + b"\n"
    imported = run(store, path, body)
    assert (imported.outcome, imported.is_capture) == ("imported", True)
    assert imported.run.run_id == "capture-" + hashlib.sha256(body).hexdigest()[:16]
    assert (imported.run.program, imported.run.opened_at, imported.run.via) == ("", 0, "imported")
    assert [(e.seq, e.at, e.origin, e.type) for e in held(store, imported)] == [
        (1, 0, "observer", "RUN_OPENED"),
        (2, 0, "program", "RECORD"),
        (3, 0, "program", "DONE"),
        (4, 0, "observer", "RUN_CLOSED"),
    ]


def test_the_same_bytes_are_the_same_run_however_they_are_packed_and_called(store: Store, path: Path) -> None:
    body = RECORD + b"\n" + DONE + b"\n"
    run(store, path, body)
    again = run(store, path.with_name("other.jsonl"), gzip.compress(body))
    assert (again.outcome, len(list(store.runs()))) == ("unchanged", 1)


def test_what_is_known_beside_it_opens_the_run(store: Store, path: Path) -> None:
    grant = Trigger(kind="continuous", grant_id="g")
    known = Known(manifest=MANIFEST, start=START, trigger=grant, run_id="run_1")
    imported = run(store, path, RECORD + b"\n", known)
    assert (imported.run.run_id, imported.run.program, imported.run.namespace) == ("run_1", "c", "g")
    first, start, *_ = held(store, imported)
    opened = decode_observation(first.body or b"")
    assert isinstance(opened, RunOpened)
    assert (opened.manifest, opened.trigger) == (digest(MANIFEST), grant)
    assert store.documents([digest(MANIFEST)]) == {digest(MANIFEST): MANIFEST}
    assert (start.origin, start.type, start.body) == ("runtime", "START", START)


def test_every_line_is_kept_as_it_was_captured(store: Store, path: Path) -> None:
    lines = [b"", RECORD + b"\r", b"", b" \t", b"\x00\x01\xff", b"\xef\xbb\xbf{}", b"NaN", b"\r", DONE]
    imported = run(store, path, b"\n".join(lines) + b"\n")
    assert [entry.body for entry in held(store, imported)][1:-1] == lines


def test_a_last_line_without_its_line_feed_is_told(store: Store, path: Path) -> None:
    imported = run(store, path, RECORD + b"\n" + DONE[:5])
    assert told(store, imported)[1:] == [
        ("program", "", DONE[:5]),
        ("observer", "LINE_UNTERMINATED", b'{"type":"LINE_UNTERMINATED","seq":3}'),
        ("observer", "RUN_CLOSED", b'{"type":"RUN_CLOSED"}'),
    ]
    assert run(store, path, RECORD + b"\n" + DONE[:5]).outcome == "unchanged"


def test_a_long_line_is_cut_where_it_stands(store: Store, path: Path) -> None:
    long = RECORD[:-1] + b" " * 1000 + b"}"
    imported = run(store, path, RECORD + b"\n" + long + b"\n" + long, max_line=100)
    _, _, head, cut, again, *rest = held(store, imported)
    assert (head.body, again.body) == (long[:100], long[:100])
    sha256 = hashlib.sha256(long).hexdigest()
    assert decode_observation(cut.body or b"") == LineCut(seq=3, length=len(long), sha256=sha256)
    assert [(entry.type, entry.seq) for entry in rest] == [
        ("LINE_CUT", 6),
        ("LINE_UNTERMINATED", 7),
        ("RUN_CLOSED", 8),
    ]
    assert b'"seq":5' in (rest[1].body or b"")
    assert imported.cuts == 2
    assert run(store, path, path.read_bytes(), max_line=100).outcome == "unchanged"
    with pytest.raises(DiffersError, match="at entry 3 the file has another body, cut at another length"):
        run(store, path, path.read_bytes(), max_line=99)
    with pytest.raises(DiffersError, match="at entry 3 the file has another body, cut at another length"):
        run(store, path, path.read_bytes())


def test_a_capture_with_other_facts_is_another_run(store: Store, path: Path) -> None:
    body = RECORD + b"\n"
    run(store, path, body, Known(manifest=MANIFEST))
    with pytest.raises(DiffersError, match="another manifest"):
        run(store, path, body)
    with pytest.raises(DiffersError, match="another trigger"):
        run(store, path, body, Known(manifest=MANIFEST, trigger=Trigger(kind="single_use")))
    with pytest.raises(DiffersError, match="at entry 2 the file has another origin"):
        run(store, path, body, Known(manifest=MANIFEST, start=START))
    assert run(store, path, body, Known(manifest=MANIFEST, run_id="run_2")).outcome == "imported"


@pytest.mark.parametrize(
    "body", [b"", b"\n", b"Traceback:\n", b"\x00\xff", b"[1]\n", b'{"type":"Feature"}\n']
)
def test_what_is_said_to_be_a_capture_is_one_whatever_it_looks_like(
    store: Store, path: Path, body: bytes
) -> None:
    imported = run(store, path, body, Known(manifest=MANIFEST))
    lines = [entry.body for entry in held(store, imported) if entry.origin == "program"]
    assert b"\n".join([line or b"" for line in lines]) == body.removesuffix(b"\n")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"Dear diary,\n", "found no JSON"),
        (b'{"type":"Feature"}\n', "a type that no program sends, 'Feature'; --manifest imports it anyway"),
        (b'{"type":"START"}\n' + RECORD, "what the runtime sent goes into --start"),
        (b'{"data":{"type":"RECORD"},"type":"ANSWER"}\n', "'ANSWER', which a runtime sends"),
        (b'{"stream":"s","dir":"a","adapter":"b","msg":{}}\n', "does not read that dialect yet"),
        (b'{"data":{"type":"RECORD"}}\n', 'no "transcript"'),
        (b'{"type":1}\n', 'no "transcript"'),
        (b'[{"type":"RECORD"}]\n', "another JSON value"),
        (b"\xef\xbb\xbf" + RECORD, "byte order mark"),
    ],
)
def test_what_is_nothing_known_is_refused(store: Store, path: Path, body: bytes, said: str) -> None:
    with pytest.raises(TranscriptError) as caught:
        run(store, path, body)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}, line 1: expected ")
    assert list(store.runs()) == []


def test_a_type_at_the_end_of_a_long_first_line_of_many_members_is_found(store: Store, path: Path) -> None:
    line = json.dumps({"data": {f"m{n}": ["x", {"type": "DONE"}] for n in range(99)}, "type": "RECORD"})
    assert run(store, path, line.encode()).is_capture


def test_a_transcript_is_no_capture_whatever_is_said(store: Store, path: Path) -> None:
    header = {"transcript": 1, "dialect": "scripted", "run_id": "r", "trigger": {"kind": "proactive"}}
    body = json.dumps({"type": "RECORD", "manifest": None, **header}).encode()
    with pytest.raises(UsageError, match="found a transcript"):
        run(store, path, body, Known(manifest=MANIFEST))
    assert not run(store, path, body).is_capture


def test_a_line_that_only_a_runtime_sends_is_the_programs_and_said(store: Store, path: Path) -> None:
    imported = run(store, path, RECORD + b'\n{"type":"ANSWER"}\n{"type":"START"}\n')
    assert imported.runtime_line == 3
    assert [entry.origin for entry in held(store, imported)] == ["observer", *["program"] * 3, "observer"]
    assert run(store, path, RECORD).runtime_line is None


def test_secrets_of_a_capture_are_gone_before_anything_is_stored(store: Store, path: Path) -> None:
    known = Known(start=b'{"type":"START","SECRET":1}')
    imported = run(store, path, RECORD + b"\nSECRET\n" + b"x" * 50 + b"SECRET", known, max_line=52)
    assert not [entry for entry in held(store, imported) if b"SECRET" in (entry.body or b"")]


def test_of_a_capture_that_is_packed_and_broken_nothing_stays_unless_asked(store: Store, path: Path) -> None:
    packed = gzip.compress(RECORD + b"\n" + DONE + b"\n" + b"x" * 9)[:-8]
    with pytest.raises(TranscriptError, match="expected whole gzip data at byte"):
        run(store, path, packed)
    assert list(store.runs()) == []
    imported = run(store, path, packed, keep_partial=True)
    assert "gzip data" in (imported.stopped or "")
    assert [entry.type for entry in held(store, imported)][:3] == ["RUN_OPENED", "RECORD", "DONE"]
    assert "RUN_CLOSED" not in [entry.type for entry in held(store, imported)]


def test_a_capture_that_changes_while_it_is_read_is_never_closed(store: Store, path: Path) -> None:
    path.write_bytes(RECORD + b"\n" + DONE + b"\n")

    def change(read: int) -> None:
        path.write_bytes(RECORD + b"\n" + DONE.lower() + b"\n")

    with pytest.raises(TranscriptError, match="was changed while it was read"):
        import_transcript(store, path, DIALECTS, progress=change)
    assert not [e for row in store.runs() for e in store.entries(row.run_no) if e.type == "RUN_CLOSED"]


def test_a_start_is_put_on_one_line_and_nothing_else_of_it_changes() -> None:
    text = b' {\n  "n": 1e2,\r\n  "type": "ST\\u0041RT"\n}\n'
    assert read_start(text, "start.json") == b'{   "n": 1e2,\r   "type": "ST\\u0041RT" }'
    for other in (b"{}", b'{"type":"DONE"}', b'{"type":["START"]}', b'{"start":{"type":"START"}}'):
        with pytest.raises(InputError, match=r"start\.json: expected the START that was sent"):
            read_start(other, "start.json")
