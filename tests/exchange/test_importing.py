"""Importing: what is appended, what is refused, and what an import does to a run that is known already."""

import json
from pathlib import Path

import pytest

from ledger.core.digests import digest
from ledger.core.entries import OBSERVER, Entry
from ledger.core.instants import read_micros
from ledger.core.observations import Note, RunOpened, decode_observation, encode_observation
from ledger.errors import DiffersError, DiskError, TranscriptError
from ledger.exchange import files, importing
from ledger.exchange.importing import Imported, import_transcript
from ledger.exchange.opening import RECORDER
from ledger.log.memory_store import MemoryStore
from ledger.log.store import Store
from tests.exchange.scripted_dialect import DIALECTS

MANIFEST = '{"connector_id": "c", "n":1e2}'
HEADER = (
    '{"transcript":1,"dialect":"scripted","run_id":"run_1","trigger":{"kind":"proactive"},'
    f'"manifest": {MANIFEST} }}'
)
EXIT = '{"at":"2026-11-30T00:00:09Z","origin":"observer","observed":{"type": "PROGRAM_EXITED", "code": 0}}'


def at(second: int) -> int:
    return read_micros(f"2026-11-30T00:00:{second:02}Z") or 0


def wire(second: int | None, text: str, origin: str = "program", **more: str) -> str:
    when = {} if second is None else {"at": f"2026-11-30T00:00:{second:02}Z"}
    return json.dumps({**when, "origin": origin, "line": text, **more})


LINES = [
    wire(1, '{"type":"START"}', "runtime"),
    wire(2, '{"type":"RECORD","stream":"a"}'),
    wire(3, '{"type":"DONE"}'),
    EXIT,
]


@pytest.fixture
def store() -> Store:
    return MemoryStore()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def write(path: Path, *lines: str | bytes, end: bytes = b"\n") -> Path:
    path.write_bytes(b"\n".join(x.encode() if isinstance(x, str) else x for x in lines) + end)
    return path


def run(
    store: Store, path: Path, *lines: str | bytes, end: bytes = b"\n", keep_partial: bool = False
) -> Imported:
    return import_transcript(store, write(path, *lines, end=end), DIALECTS, keep_partial=keep_partial)


def held(store: Store, run_id: str = "run_1") -> list[Entry]:
    row = store.run(run_id)
    return [] if row is None else list(store.entries(row.run_no))


def bodies(store: Store) -> list[bytes | None]:
    return [entry.body for entry in held(store)]


# ---- what is appended -------------------------------------------------------------------------------------


def test_a_run_is_opened_from_its_header_and_closed_at_its_end(store: Store, path: Path) -> None:
    imported = run(store, path, HEADER, *LINES)
    assert (imported.outcome, imported.entries, imported.appended) == ("imported", 6, 6)
    assert (imported.times_raised, imported.torn, imported.stopped) == (0, None, None)
    row = imported.run
    assert (row.run_id, row.dialect, row.program, row.namespace) == ("run_1", "scripted", "c", "global")
    assert (row.trigger, row.via, row.opened_at) == ("proactive", "imported", at(1))
    entries = held(store)
    assert [(e.seq, e.at, e.origin, e.type, e.stream) for e in entries] == [
        (1, at(1), "observer", "RUN_OPENED", ""),
        (2, at(1), "runtime", "START", ""),
        (3, at(2), "program", "RECORD", "a"),
        (4, at(3), "program", "DONE", ""),
        (5, at(9), "observer", "PROGRAM_EXITED", ""),
        (6, at(9), "observer", "RUN_CLOSED", ""),
    ]
    assert entries[4].body == b'{"type": "PROGRAM_EXITED", "code": 0}'
    opened = decode_observation(entries[0].body or b"")
    assert isinstance(opened, RunOpened)
    assert (opened.via, opened.recorder) == ("imported", RECORDER)
    assert opened.manifest == digest(MANIFEST.encode())
    assert store.documents([digest(MANIFEST.encode())]) == {digest(MANIFEST.encode()): MANIFEST.encode()}


def test_a_file_that_closes_its_run_is_not_closed_again(store: Store, path: Path) -> None:
    closed = '{"origin":"observer","observed":{"type":"RUN_CLOSED"}}'
    assert run(store, path, HEADER, *LINES, closed).entries == 6
    assert [entry.type for entry in held(store)].count("RUN_CLOSED") == 1


def test_a_file_that_is_not_the_whole_run_leaves_it_open(store: Store, path: Path) -> None:
    assert run(store, path, HEADER.replace("{", '{"whole":false,', 1), *LINES).entries == 5


def test_a_header_alone_is_a_run_without_lines(store: Store, path: Path) -> None:
    assert [entry.type for entry in held(store)] == []
    run(store, path, HEADER)
    assert [(entry.type, entry.at) for entry in held(store)] == [("RUN_OPENED", 0), ("RUN_CLOSED", 0)]


def test_a_run_without_a_known_manifest_has_no_program(store: Store, path: Path) -> None:
    imported = run(store, path, HEADER.replace(f"{MANIFEST} ", "null"))
    assert imported.run.program == ""
    assert b'"manifest":null' in (bodies(store)[0] or b"")


def test_a_single_use_run_commits_nowhere(store: Store, path: Path) -> None:
    assert run(store, path, HEADER.replace("proactive", "single_use")).run.namespace == ""


def test_secrets_are_gone_before_anything_is_stored(store: Store, path: Path) -> None:
    note = '{"origin":"observer","observed":{"type":"NOTE","by":"SECRET","text":""}}'
    torn = b'{"origin":"runtime","line":"SECRET'
    run(store, path, HEADER, wire(1, "SECRET", "runtime"), wire(2, "a SECRET"), note, torn, end=b"")
    assert bodies(store)[1:] == [
        b"[redacted]",
        b"a [redacted]",
        b'{"type":"NOTE","by":"[redacted]","text":""}',
        b'{"origin":"runtime","line":"[redacted]',
    ]


def test_times_that_go_back_are_raised_and_unknown_ones_stay_unknown(store: Store, path: Path) -> None:
    lines = [wire(5, "a"), wire(None, "b"), wire(3, "c"), wire(5, "d"), wire(4, "e"), wire(6, "f")]
    imported = run(store, path, HEADER, *lines)
    assert imported.times_raised == 2
    assert [entry.at for entry in held(store)] == [at(x) if x else 0 for x in (5, 5, 0, 5, 5, 5, 6, 6)]
    assert run(store, path, HEADER, *lines).outcome == "unchanged"


def test_blank_lines_and_carriage_returns_around_lines_mean_nothing(store: Store, path: Path) -> None:
    run(store, path, b"", HEADER + "\r", b" \r", wire(1, "a\r") + "\r", b"\t", wire(2, "b"), end=b"")
    assert bodies(store)[1:-1] == [b"a\r", b"b"]


def test_sessions_and_salts_come_from_the_file(store: Store, path: Path) -> None:
    imported = run(store, path, HEADER, wire(1, "a", session="s", salt="ab" * 16), wire(1, "b"))
    entries = list(store.entries(imported.run.run_no, salts=True))
    assert (entries[1].session, entries[1].salt) == ("s", b"\xab" * 16)
    assert len(entries[2].salt or b"") == 16


def test_a_long_run_is_appended_in_batches(store: Store, path: Path) -> None:
    imported = run(store, path, HEADER, *[wire(1, str(n)) for n in range(2500)])
    assert [head.size for head in store.heads(imported.run.run_no)] == [1000, 2000, 2502]


def test_long_lines_close_a_batch_early(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH_BYTES", 1000)
    imported = run(store, path, HEADER, *[wire(1, "x" * 600) for _ in range(4)])
    assert [head.size for head in store.heads(imported.run.run_no)] == [3, 5, 6]


def test_progress_counts_both_readings(store: Store, path: Path) -> None:
    told: list[int] = []
    write(path, HEADER, *[wire(1, "x" * 1000)] * 3000)
    import_transcript(store, path, DIALECTS, progress=told.append)
    size = path.stat().st_size
    assert told == sorted(told)
    assert size in told
    assert told[-1] == 2 * size
    assert len(told) > 5


def test_an_opening_that_export_wrote_is_kept_byte_for_byte(store: Store, path: Path) -> None:
    run(store, path, HEADER, *LINES)
    body = (bodies(store)[0] or b"").decode().replace('"via":"imported"', '"via": "recorded", "more":[1e2]')
    opened = f'{{"at":0,"salt":"{"cd" * 16}","body":{body}}}'
    other = MemoryStore()
    imported = run(other, path, HEADER.replace("{", f'{{"opened":{opened},', 1), *LINES)
    first = next(iter(other.entries(imported.run.run_no, salts=True)))
    assert (first.body, first.at, first.salt) == (body.encode(), 0, b"\xcd" * 16)
    assert imported.run.via == "imported"


# ---- what is refused --------------------------------------------------------------------------------------

TWO = '{"transcript":1,"dialect":"scripted","run_id":"run_1","trigger":{"kind":"proactive"}}'

REFUSED_FILES = [
    ([], b"", 1, "found an empty file"),
    ([b"", b" "], b"", 1, "found an empty file"),
    ([b"\xef\xbb\xbf" + HEADER.encode()], b"\n", 1, "byte order mark"),
    ([b"\x00\x01\x02SQLite"], b"", 1, 'the first line of a transcript, a JSON object with "transcript": 1'),
    ([b"", b"Dear diary,"], b"\n", 2, "no JSON: unexpected character at byte 0"),
    ([HEADER[:40]], b"", 1, "no JSON: unexpected end"),
    ([LINES[0], LINES[1]], b"\n", 1, 'no "transcript"'),
    ([HEADER.replace(":1,", ":2,", 1)], b"\n", 1, "a newer format"),
    ([HEADER.replace('"scripted"', '"klingon"')], b"\n", 1, "to be one of scripted, found 'klingon'"),
    ([TWO], b"\n", 1, 'no "manifest"; add it'),
    ([HEADER.replace("{", '{"opened":{"body":{"type":"NOTE"}},', 1)], b"\n", 1, "to be a RUN_OPENED"),
    ([HEADER, LINES[0], "", HEADER, LINES[1]], b"\n", 4, "missing required field `origin`"),
    ([HEADER, LINES[0], "{", LINES[1]], b"\n", 3, "no JSON: unexpected end"),
    ([HEADER, LINES[0], "{"], b"\n", 3, "no JSON: unexpected end"),
    ([HEADER, LINES[0], '{"a":1}'], b"", 3, "missing required field `origin`"),
    ([HEADER, *LINES, wire(1, "a\nb")], b"\n", 6, "without line feeds"),
]


@pytest.mark.parametrize(("lines", "end", "number", "said"), REFUSED_FILES)
def test_a_file_that_is_no_transcript_leaves_nothing_behind(
    store: Store, path: Path, lines: list[str | bytes], end: bytes, number: int, said: str
) -> None:
    with pytest.raises(TranscriptError) as caught:
        run(store, path, *lines, end=end)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}, line {number}: expected ")
    assert caught.value.line_number == number
    assert list(store.runs()) == []


@pytest.mark.parametrize("name", ["run_id", "dialect", "manifest", "trigger", "ruleset", "recorder", "via"])
def test_a_header_that_contradicts_its_own_opening_is_refused(store: Store, path: Path, name: str) -> None:
    opening = {
        "type": "RUN_OPENED",
        "run_id": "run_1",
        "dialect": "scripted",
        "program": "elsewhere",
        "manifest": digest(MANIFEST.encode()),
        "trigger": {"kind": "proactive"},
        "namespace": None,
        "via": "recorded",
        "recorder": "me",
        "ruleset": "r",
    }
    rest = '{"ruleset":"r","opened":{"via":"recorded","recorder":"me","body":'
    other = {"trigger": {"kind": "single_use"}, "via": "tapped"}.get(name, "x")
    with pytest.raises(TranscriptError, match=f"found another {name}"):
        run(store, path, HEADER.replace("{", rest + json.dumps({**opening, name: other}) + "},", 1))
    assert (
        run(store, path, HEADER.replace("{", rest + json.dumps(opening) + "},", 1)).run.program == "elsewhere"
    )


def test_what_is_no_file_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="found no such file"):
        import_transcript(store, tmp_path / "none", DIALECTS)
    with pytest.raises(TranscriptError, match="found a directory"):
        import_transcript(store, tmp_path, DIALECTS)
    with pytest.raises(DiskError, match="that can be read"):
        import_transcript(store, tmp_path / ("x" * 300), DIALECTS)


def test_a_line_beyond_the_limit_is_refused_without_reading_it_whole(path: Path) -> None:
    longest = files.ESCAPED * 100 + files.MEMBERS_LIMIT
    write(path, b"x" * longest, b"y" * longest, b"z" * (longest + 1), b"end")
    with files.open_source(path) as source:
        lines = files.read_transcript_lines(source, 100)
        assert [next(lines).raw[:1] for _ in range(2)] == [b"x", b"y"]
        with pytest.raises(TranscriptError, match=f"line 3: expected at most {longest} bytes in a line"):
            next(lines)


# ---- torn and partial files -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "torn", [b'{"at":"2026-11-30T00:', b"\xff\x00\x00", b'{"origin":"program","line":"a']
)
def test_a_torn_last_line_is_kept_and_the_run_is_not_closed(store: Store, path: Path, torn: bytes) -> None:
    imported = run(store, path, HEADER, LINES[0], torn, end=b"")
    assert (imported.torn, imported.entries) == (3, 3)
    last = held(store)[-1]
    assert (last.origin, last.type, last.at, last.body) == (OBSERVER, "", 0, torn)
    assert run(store, path, HEADER, LINES[0], torn, end=b"").outcome == "unchanged"


def test_a_last_line_that_lacks_only_its_line_feed_is_whole(store: Store, path: Path) -> None:
    imported = run(store, path, HEADER, *LINES, end=b"")
    assert (imported.torn, imported.entries) == (None, 6)


def test_a_torn_answer_keeps_no_secret_that_only_its_wire_text_shows(store: Store, path: Path) -> None:
    class Fussy(type(DIALECTS["scripted"])):  # type: ignore[misc]
        def redact(self, origin: str, line: bytes) -> bytes:
            return b"[mark]" if origin == "runtime" and line.startswith(b'{"type":"ANSWER"') else line

    write(
        path,
        HEADER,
        b'{"at":0,"origin":"runtime","line": "{\\"type\\":\\"ANSWER\\",\\"data\\":\\"hunter2',
        end=b"",
    )
    import_transcript(store, path, {"scripted": Fussy()})
    assert bodies(store)[-1] == b"[mark]"


def test_keep_partial_imports_what_stands_before_the_first_bad_line(store: Store, path: Path) -> None:
    imported = run(store, path, HEADER, *LINES[:2], "{", LINES[2], keep_partial=True)
    assert (imported.outcome, imported.entries, imported.torn) == ("imported", 3, None)
    assert "line 4: expected " in (imported.stopped or "")
    assert bodies(store)[1:] == [b'{"type":"START"}', b'{"type":"RECORD","stream":"a"}']


def test_a_mended_file_completes_what_keep_partial_began(store: Store, path: Path) -> None:
    run(store, path, HEADER, *LINES[:2], "{", LINES[2], keep_partial=True)
    mended = run(store, path, HEADER, *LINES)
    assert (mended.outcome, mended.appended, mended.entries) == ("completed", 3, 6)


def test_keep_partial_needs_a_header_all_the_same(store: Store, path: Path) -> None:
    with pytest.raises(TranscriptError, match="line 1"):
        run(store, path, "{", *LINES, keep_partial=True)


def test_a_file_that_shrinks_while_it_is_read_is_never_closed(store: Store, path: Path) -> None:
    write(path, HEADER, *LINES)
    size = path.stat().st_size

    def shrink(read: int) -> None:
        if read == size:
            write(path, HEADER, *LINES[:2])

    with pytest.raises(TranscriptError, match="was changed while it was read"):
        import_transcript(store, path, DIALECTS, progress=shrink)
    assert "RUN_CLOSED" not in [entry.type for entry in held(store)]
    assert run(store, path, HEADER, *LINES).entries == 6


# ---- the same run again -----------------------------------------------------------------------------------


def test_the_same_transcript_again_changes_nothing(store: Store, path: Path) -> None:
    run(store, path, HEADER, *LINES)
    before = bodies(store)
    again = run(store, path, HEADER, *LINES)
    assert (again.outcome, again.appended, again.entries) == ("unchanged", 0, 6)
    assert bodies(store) == before


def test_salts_and_how_it_was_recorded_do_not_make_a_transcript_another(store: Store, path: Path) -> None:
    run(store, path, HEADER, *LINES)
    salted = [line.replace("{", '{"salt":"' + "00" * 16 + '",', 1) for line in LINES]
    header = HEADER.replace("{", '{"opened":{"at":"2026-11-29T00:00:00Z","recorder":"another 2"},', 1)
    assert run(store, path, header, *salted).outcome == "unchanged"


def test_later_remarks_in_the_ledger_do_not_make_a_transcript_another(store: Store, path: Path) -> None:
    imported = run(store, path, HEADER, *LINES)
    note = encode_observation(Note(by="me", text="odd"))
    store.append(imported.run.run_no, [Entry(7, 0, OBSERVER, "", "NOTE", "", note)])
    assert run(store, path, HEADER, *LINES).outcome == "unchanged"


@pytest.mark.parametrize("kept", range(1, 6))
def test_an_import_that_was_killed_is_completed(path: Path, kept: int) -> None:
    whole, cut = MemoryStore(), MemoryStore()
    imported = run(whole, path, HEADER, *LINES)
    cut.open_run(imported.run, list(whole.entries(1, through=kept, salts=True)))
    again = run(cut, path, HEADER, *LINES)
    assert (again.outcome, again.appended, again.entries) == ("completed", 6 - kept, 6)
    assert bodies(cut) == bodies(whole)


def test_the_whole_file_after_its_torn_copy_is_refused_and_says_why(store: Store, path: Path) -> None:
    run(store, path, HEADER, LINES[0], LINES[1][:20], end=b"")
    with pytest.raises(DiffersError, match="at entry 3 the file has a whole line"):
        run(store, path, HEADER, *LINES)


OTHERS = [
    ([HEADER.replace("1e2", "2e2"), *LINES], 1, "another manifest"),
    ([HEADER.replace("proactive", "single_use"), *LINES], 1, "another trigger"),
    ([HEADER, wire(1, '{"type":"START"}'), *LINES[1:]], 2, "another origin"),
    (
        [HEADER, LINES[0], wire(2, '{"type":"RECORD","stream":"a"}', session="s"), *LINES[2:]],
        3,
        "another session",
    ),
    ([HEADER, *LINES[:2], wire(4, '{"type":"DONE"}'), EXIT], 4, "another time"),
    ([HEADER, *LINES[:2], wire(3, '{"type": "DONE"}'), EXIT], 4, "another body"),
    ([HEADER, *LINES[:2]], 4, "nothing more"),
    ([HEADER, *LINES, wire(9, "more")], 6, "more, where the ledger holds the end of the run"),
]


@pytest.mark.parametrize(("lines", "seq", "what"), OTHERS)
def test_other_content_under_a_known_id_is_refused_by_its_first_entry(
    store: Store, path: Path, lines: list[str], seq: int, what: str
) -> None:
    run(store, path, HEADER, *LINES)
    before = bodies(store)
    with pytest.raises(DiffersError, match=f"run run_1: .* at entry {seq} the file has {what};"):
        run(store, path, *lines)
    assert bodies(store) == before


def test_a_run_that_this_ledger_recorded_itself_is_never_appended_to(store: Store, path: Path) -> None:
    whole = MemoryStore()
    imported = run(whole, path, HEADER, *LINES)
    recorded = imported.run.__class__(
        **{**{f: getattr(imported.run, f) for f in imported.run.__struct_fields__}, "via": "recorded"}
    )
    store.open_run(recorded, list(whole.entries(1, through=5, salts=True)))
    assert run(store, path, HEADER, *LINES).outcome == "unchanged"
    with pytest.raises(DiffersError, match="the 5 entries that this ledger recorded itself"):
        run(store, path, HEADER, *LINES, wire(9, "more"))
    assert len(held(store)) == 5
