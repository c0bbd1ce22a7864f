"""Lines of a transcript beyond the limit: read as any other line is, cut, and told at the end of the run."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.entries import Entry
from ledger.core.line_cutting import cut_line
from ledger.core.observations import Note, encode_observation
from ledger.errors import DiffersError, TranscriptError
from ledger.exchange import long_lines
from ledger.exchange.importing import Imported, import_transcript
from ledger.exchange.long_lines import parse_long_line
from ledger.exchange.transcript import TranscriptLine, parse_line
from ledger.log.memory_store import MemoryStore
from ledger.log.store import Store
from tests.exchange.scripted_dialect import DIALECTS, ScriptedDialect

LIMIT = 40
HEADER: dict[str, Any] = {
    "transcript": 1,
    "dialect": "scripted",
    "run_id": "run_1",
    "trigger": {"kind": "proactive"},
    "manifest": None,
}
LONG = '{"type":"RECORD","stream":"a","data":"' + "x" * 100 + '"}'
CLOSED = {"origin": "observer", "observed": {"type": "RUN_CLOSED"}}
NOTED = {"origin": "observer", "observed": {"type": "NOTE", "by": "me", "text": "odd"}}


def wire(text: str, **more: str) -> dict[str, str]:
    return {"origin": "program", "line": text, **more}


def bring(
    store: Store, tmp_path: Path, *lines: dict[str, Any], limit: int = LIMIT, **header: Any
) -> Imported:
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in ({**HEADER, **header}, *lines)))
    return import_transcript(store, path, DIALECTS, max_line=limit)


def held(store: Store) -> list[Entry]:
    row = store.run("run_1")
    return [] if row is None else list(store.entries(row.run_no))


def types(store: Store) -> list[str]:
    return [entry.type for entry in held(store)]


# ---- one line ---------------------------------------------------------------------------------------------

texts = st.text(max_size=80) | st.text(st.sampled_from('x"\\é\u2028😀\x00/'), max_size=80)


@st.composite
def spelled(draw: st.DrawFn) -> bytes:
    """Draw a line of a transcript whose wire line is spelled in some way."""
    line: dict[str, Any] = {"origin": draw(st.sampled_from(["program", "runtime", "observer"]))}
    if draw(st.booleans()):
        line |= {"at": "2026-11-30T00:00:00Z", "session": "s", "salt": "ab" * 16, "more": [{}]}
    if draw(st.booleans()):
        line["line"] = draw(texts).replace("\n", "")
    else:
        line["b64"] = base64.b64encode(draw(st.binary(max_size=60)).replace(b"\n", b"")).decode()
    names = draw(st.permutations(list(line)))
    body = json.dumps({name: line[name] for name in names}, ensure_ascii=draw(st.booleans()))
    return body.replace("/", draw(st.sampled_from(["/", "\\/"]))).encode("utf-8", "surrogatepass")


def read(raw: bytes) -> TranscriptLine | str:
    """Read a line the plain way, and cut it."""
    try:
        line = parse_line(raw, 7)
    except TranscriptError as error:
        return str(error)
    cut = cut_line(line.body, LIMIT, ScriptedDialect().may_hold_secret) if line.origin != "observer" else None
    return line if cut is None else msgspec.structs.replace(line, body=cut.head, cut=cut)


def read_long(raw: bytes) -> TranscriptLine | str:
    try:
        return parse_long_line(raw, 7, LIMIT, ScriptedDialect().may_hold_secret)
    except TranscriptError as error:
        return str(error)


@pytest.mark.parametrize("piece", [7, 16, 1 << 20])
@given(raw=spelled() | st.binary(max_size=60) | spelled().map(lambda raw: raw[:-9] + b'"}'))
def test_a_line_read_in_pieces_is_the_line_read_at_once(piece: int, raw: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_lines, "_PIECE", piece)
        found, expected = read_long(raw), read(raw)
    if isinstance(found, TranscriptLine) and found.cut is None and isinstance(expected, TranscriptLine):
        cut = expected.cut  # what is too odd to be taken out in pieces is cut by whoever asked
        assert found.body == expected.body or (cut is not None and found.body.startswith(cut.head))
    else:
        assert found == expected


@pytest.mark.parametrize(
    "line",
    [
        {"line": "x" * 90},
        {"line": "\x00" * 90},
        {"line": "😀" * 90},
        {"line": '"\\' * 90},
        {"b64": base64.b64encode(b"\xff" * 90).decode()},
    ],
    ids=["text", "NUL", "astral", "escapes", "base64"],
)
@pytest.mark.parametrize("piece", [12, 13, 14, 15, 1 << 20])
def test_a_long_line_is_cut_while_it_is_read(
    line: dict[str, str], piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_lines, "_PIECE", piece)
    raw = json.dumps({"origin": "program", **line}).encode()
    found = read_long(raw)
    assert isinstance(found, TranscriptLine)
    assert found.cut is not None
    assert found == read(raw)


@pytest.mark.parametrize(
    "line",
    [
        {"line": "a\nb" + "x" * 90},
        {"line": "\ud800" + "x" * 90},
        {"b64": "!" * 90},
        {"b64": "QQ==" * 90},
        {"line": "x" * 90, "b64": "QQ=="},
        {"line": ["x" * 90]},
        {},
        {"line": "x" * 90, "origin": "nobody"},
        {"line": "x" * 90, "at": "yesterday"},
        {"line": "x" * 90, "transcript": 1},
    ],
)
def test_a_long_line_that_is_none_is_refused_in_the_same_words(
    line: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_lines, "_PIECE", 16)
    raw = json.dumps({"origin": "program", **line}).encode()
    assert isinstance(read(raw), str)
    assert read_long(raw) == read(raw)


# ---- a run ------------------------------------------------------------------------------------------------


def test_a_long_line_is_told_behind_the_last_line_before_the_end(store: Store, tmp_path: Path) -> None:
    durable = {"origin": "observer", "observed": {"type": "RECORDS_DURABLE", "through_seq": 3}}
    imported = bring(store, tmp_path, wire("a"), wire(LONG, at="2026-11-30T00:00:00Z"), wire("b"), durable)
    assert imported.cuts == 1
    assert [(entry.body or b"")[:LIMIT] for entry in held(store)[1:4]] == [b"a", LONG.encode()[:LIMIT], b"b"]
    assert types(store)[4:] == ["RECORDS_DURABLE", "LINE_CUT", "RUN_CLOSED"]
    told = json.loads(held(store)[5].body or b"")
    sha256 = hashlib.sha256(LONG.encode()).hexdigest()
    assert told == {"type": "LINE_CUT", "seq": 3, "length": len(LONG), "sha256": sha256}
    assert held(store)[5].at == held(store)[2].at


def test_a_file_that_closes_its_run_still_ends_with_that(store: Store, tmp_path: Path) -> None:
    bring(store, tmp_path, wire(LONG), wire("b"), CLOSED)
    assert types(store)[1:] == ["", "", "LINE_CUT", "RUN_CLOSED"]


def test_what_follows_the_end_in_the_file_keeps_its_number(store: Store, tmp_path: Path) -> None:
    bring(store, tmp_path, wire(LONG), CLOSED, NOTED)
    assert types(store)[1:] == ["", "RUN_CLOSED", "NOTE", "LINE_CUT"]


def test_a_run_that_is_not_whole_stays_open(store: Store, tmp_path: Path) -> None:
    bring(store, tmp_path, wire(LONG), whole=False)
    assert types(store)[1:] == ["", "LINE_CUT"]


@pytest.mark.parametrize("end", [[], [CLOSED], [CLOSED, NOTED]])
def test_the_same_again_is_known_by_its_limit(
    store: Store, tmp_path: Path, end: list[dict[str, Any]]
) -> None:
    lines = [wire("a"), wire(LONG), wire(LONG, origin="runtime"), *end]
    first = bring(store, tmp_path, *lines)
    assert bring(store, tmp_path, *lines).outcome == "unchanged"
    note = encode_observation(Note(by="me", text="odd"))
    store.append(first.run.run_no, [Entry(first.entries + 1, 0, "observer", "", "NOTE", "", note)])
    assert bring(store, tmp_path, *lines).outcome == "unchanged"
    for limit in (LIMIT - 1, LIMIT + 1, 10**6):
        with pytest.raises(
            DiffersError, match=r"at entry 3 .* cut at another length \(import it with the --max"
        ):
            bring(store, tmp_path, *lines, limit=limit)


@pytest.mark.parametrize("kept", range(1, 7))
def test_an_import_that_was_killed_is_completed(tmp_path: Path, kept: int) -> None:
    whole, cut = MemoryStore(), MemoryStore()
    lines: list[dict[str, Any]] = [wire(LONG), wire("b"), CLOSED]
    imported = bring(whole, tmp_path, *lines)
    cut.open_run(imported.run, list(whole.entries(1, through=min(kept, 5), salts=True)))
    assert bring(cut, tmp_path, *lines).outcome == ("completed" if kept < 5 else "unchanged")
    assert [entry.body for entry in held(cut)] == [entry.body for entry in held(whole)]


def test_a_long_observation_is_no_wire_line(store: Store, tmp_path: Path) -> None:
    stderr = {"origin": "observer", "observed": {"type": "PROGRAM_STDERR", "text": "x" * 500}}
    assert bring(store, tmp_path, stderr).cuts == 0
    assert len(held(store)[1].body or b"") > 500


def test_a_secret_in_what_was_cut_leaves_no_digest(store: Store, tmp_path: Path) -> None:
    bring(store, tmp_path, wire(LONG + "SECRET"), wire("SECRET" + LONG))
    bodies = [entry.body or b"" for entry in held(store)]
    assert not [body for body in bodies if b"SECRET" in body]
    assert [json.loads(body)["sha256"] for body in bodies[3:5]] == ["", ""]


@pytest.fixture
def store() -> Store:
    return MemoryStore()
