"""Exporting, and the identity: what is exported and imported again is the same run, byte for byte."""

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.core.digests import digest
from ledger.core.entries import OBSERVER, ORIGINS, Entry
from ledger.core.instants import write_micros
from ledger.core.observations import RunOpened, Trigger, encode_observation
from ledger.errors import FormatError, IntegrityError
from ledger.exchange.exporting import export_run
from ledger.exchange.importing import import_transcript
from ledger.log.memory_store import MemoryStore
from ledger.log.store import DocumentRow, RunRow, Store
from tests.exchange.scripted_dialect import DIALECTS

SAMPLES = sorted((Path(__file__).parents[2] / "sample_runs" / "collection-profile").glob("*/run.jsonl"))

OBSERVATIONS = [
    b'{"type":"PROGRAM_SPAWNED"}',
    b'{"type": "PROGRAM_EXITED", "code": 1}',
    b'{"code":1,"type":"PROGRAM_EXITED","new":[1e2,{"a": "b"}]}',
    '{"type":"NOTE","by":"Jürgen","text":"a\\nb \\ud83d\\ude00"}'.encode(),
    b'{"type":"CHECKPOINT_COMMITTED","stream":"a","namespace":null,"cursor_seq":2}',
    b'{"type":"RUN_CLOSED"}',
]
MANIFEST = b'{"connector_id": "c", "n":1e2}'

times = st.one_of(st.just(0), st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**51))
sessions = st.one_of(st.just(""), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
wire_bodies = st.one_of(
    st.binary(max_size=40).map(lambda body: body.replace(b"\n", b"")),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=40).map(str.encode),
    st.sampled_from([b'{"type":"RECORD","stream":"a","key":"SECRET"}', b'{"type":"DONE"}', b""]),
)
salts = st.one_of(st.none(), st.binary(min_size=16, max_size=16))
triggers = st.sampled_from(
    [
        Trigger(kind="proactive"),
        Trigger(kind="single_use"),
        Trigger(kind="continuous", grant_id="gränt", streams=("a", "b")),
    ]
)


@st.composite
def transcripts(draw: st.DrawFn) -> bytes:
    """Draw a transcript as JSON text, written without any of the code under test."""
    header: dict[str, object] = {
        "transcript": 1,
        "dialect": "scripted",
        "run_id": draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)),
        "trigger": msgspec.to_builtins(draw(triggers)),
        "manifest": draw(st.sampled_from([None, {}, {"connector_id": "ä", "n": 1e2}, [1], "text"])),
    }
    if draw(st.booleans()):
        header["offered"] = {"bindings": ["network"]}
    if draw(st.booleans()):
        header["whole"] = draw(st.booleans())
    lines = [json.dumps(header, ensure_ascii=draw(st.booleans())).encode()]
    for _ in range(draw(st.integers(0, 12))):
        lines.append(draw(transcript_lines()))
    torn = draw(
        st.sampled_from([b"", b"", b'{"at":"2026', b"\xff\xfe", b'{"origin":"runtime","line":"SECRET'])
    )
    return b"\n".join([*lines, torn])


@st.composite
def transcript_lines(draw: st.DrawFn) -> bytes:
    origin = draw(st.sampled_from(ORIGINS))
    line: dict[str, object] = {"origin": origin}
    at = draw(times)
    if at:
        line["at"] = write_micros(at)
    if session := draw(sessions):
        line["session"] = session
    if salt := draw(salts):
        line["salt"] = salt.hex()
    if origin == OBSERVER and draw(st.booleans()):
        text = json.dumps(line).encode()
        return text[:-1] + b', "observed": ' + draw(st.sampled_from(OBSERVATIONS)) + b" }"
    body = draw(wire_bodies)
    try:
        line["line"] = body.decode()
    except UnicodeDecodeError:
        line["b64"] = msgspec.to_builtins(body)
    return json.dumps(line).encode()


def imported(text: bytes) -> tuple[MemoryStore, RunRow]:
    store = MemoryStore()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_bytes(text)
        run = import_transcript(store, path, DIALECTS).run
    return store, run


def exported(store: Store, run: RunRow) -> bytes:
    out = io.BytesIO()
    export_run(store, run, out)
    return out.getvalue()


def entries(store: Store, run: RunRow) -> list[Entry]:
    return list(store.entries(run.run_no, salts=True))


def roots(held: list[Entry]) -> list[bytes]:
    """Return the root at every size, by giving a log the entries one by one."""
    store = MemoryStore()
    row = RunRow(run_id="r", dialect="", program="", namespace="", trigger="", via="recorded", opened_at=0)
    row = store.open_run(row, held[:1])
    for entry in held[1:]:
        store.append(row.run_no, [entry])
    return [head.peaks for head in store.heads(row.run_no)]


def recorded(opening: bytes, *rest: Entry, manifest: bytes | None = None) -> tuple[MemoryStore, RunRow]:
    """Return a log that holds a run as a recorder, not an import, would have written it."""
    store = MemoryStore()
    row = RunRow(
        run_id="run_1",
        dialect="scripted",
        program="c",
        namespace="global",
        trigger="proactive",
        via="recorded",
        opened_at=0,
    )
    documents = (
        []
        if manifest is None
        else [DocumentRow(digest=digest(manifest), media_type="text/plain", body=manifest)]
    )
    first = Entry(1, 0, OBSERVER, "", "RUN_OPENED", "", opening)
    return store, store.open_run(row, [first, *rest], documents)


def opening_of(manifest: bytes | None) -> bytes:
    return encode_observation(
        RunOpened(
            run_id="run_1",
            dialect="scripted",
            program="named otherwise today",
            manifest=None if manifest is None else digest(manifest),
            trigger=Trigger(kind="proactive"),
            namespace="global",
            via="recorded",
            recorder="runledger 0.0.1",
        )
    )


# ---- the identity -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(transcripts())
def test_export_then_import_is_the_identity(text: bytes) -> None:
    first, run = imported(text)
    there = exported(first, run)
    second, again = imported(there)
    assert again == run
    assert entries(second, again) == entries(first, run)
    assert roots(entries(second, again)) == roots(entries(first, run))
    assert exported(second, again) == there


@settings(deadline=None)
@given(transcripts())
def test_nothing_secret_comes_through(text: bytes) -> None:
    store, run = imported(text)
    assert not any(b"SECRET" in (entry.body or b"") for entry in entries(store, run))


@settings(deadline=None)
@given(transcripts())
def test_the_export_of_a_run_is_the_same_transcript_to_the_log_that_holds_it(text: bytes) -> None:
    store, run = imported(text)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_bytes(exported(store, run))
        assert import_transcript(store, path, DIALECTS).outcome == "unchanged"
        path.write_bytes(text)
        assert import_transcript(store, path, DIALECTS).outcome == "unchanged"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.parent.name)
def test_every_sample_run_comes_back_as_it_was(sample: Path) -> None:
    text = sample.read_bytes().replace(b'"collection-profile"', b'"scripted"', 1)
    first, run = imported(text)
    second, again = imported(exported(first, run))
    assert entries(second, again) == entries(first, run)
    assert roots(entries(second, again)) == roots(entries(first, run))


@pytest.mark.parametrize(
    "manifest", [None, MANIFEST, b'{\n  "connector_id": "c"\n}\n', b"\xff", b"null", b""]
)
@pytest.mark.parametrize("is_closed", [True, False])
def test_a_recorded_run_comes_back_as_it_was(manifest: bytes | None, is_closed: bool) -> None:
    closed = Entry(2, 0, OBSERVER, "", "RUN_CLOSED", "", b'{"type":"RUN_CLOSED"}')
    store, run = recorded(opening_of(manifest), *([closed] if is_closed else []), manifest=manifest)
    second, again = imported(exported(store, run))
    assert entries(second, again) == entries(store, run)
    assert (run.via, again.via) == ("recorded", "imported")
    if manifest is not None:
        assert second.documents([digest(manifest)]) == {digest(manifest): manifest}


def test_an_opening_with_members_of_a_later_version_comes_back_as_it_was() -> None:
    opening = opening_of(None).replace(b'"via"', b'"weather": "fair", "via"')
    store, run = recorded(opening)
    second, again = imported(exported(store, run))
    assert entries(second, again)[0].body == opening


# ---- the text ---------------------------------------------------------------------------------------------


def test_an_export_reads_as_the_design_shows_it() -> None:
    wire = Entry(2, 1_000_000, "program", "", "", "", b'{"type":"DONE"}', bytes(16))
    store, run = recorded(opening_of(MANIFEST), wire, manifest=MANIFEST)
    header, line, rest = exported(store, run).split(b"\n")
    assert header.startswith(
        b'{"transcript":1,"dialect":"scripted","run_id":"run_1","trigger":{"kind":"proactive"},'
        b'"manifest":' + MANIFEST + b',"whole":false,"opened":{"at":0,"salt":"'
    )
    assert b'"recorder":"runledger 0.0.1","via":"recorded","body":{"type":"RUN_OPENED",' in header
    assert line == (
        b'{"at":"1970-01-01T00:00:01.000000Z","origin":"program","line":"{\\"type\\":\\"DONE\\"}",'
        b'"salt":"00000000000000000000000000000000"}'
    )
    assert rest == b""


def test_progress_and_the_result_count_entries() -> None:
    lines = [Entry(n, 0, "program", "", "", "", b"x") for n in range(2, 2502)]
    store, run = recorded(opening_of(None), *lines)
    told: list[int] = []
    assert export_run(store, run, io.BytesIO(), progress=told.append) == 2501
    assert told == [1000, 2000, 2501]


# ---- what cannot be exported ------------------------------------------------------------------------------


def test_a_run_whose_manifest_the_log_lacks_is_refused() -> None:
    with pytest.raises(IntegrityError, match="expected its manifest sha256:"):
        exported(*recorded(opening_of(MANIFEST)))


@pytest.mark.parametrize("opening", [b"{}", b'{"type":"RUN_CLOSED"}', b"\xff"])
def test_a_run_whose_opening_cannot_be_read_is_refused(opening: bytes) -> None:
    with pytest.raises(FormatError, match="run run_1: expected RUN_OPENED as entry 1"):
        exported(*recorded(opening))


def test_an_opening_that_one_line_cannot_carry_is_refused() -> None:
    with pytest.raises(IntegrityError, match="other bytes at entry 1"):
        exported(*recorded(opening_of(None).replace(b"{", b"{\n", 1)))


def test_a_second_opening_is_refused() -> None:
    second = Entry(2, 0, OBSERVER, "", "RUN_OPENED", "", opening_of(None))
    with pytest.raises(IntegrityError, match="entry 2: expected an observation that can follow"):
        exported(*recorded(opening_of(None), second))
