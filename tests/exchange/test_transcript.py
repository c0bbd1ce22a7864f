"""The format itself: what a header and a line may say, and how each refusal names its line."""

import json
import re

import pytest

from ledger.core.entries import Entry
from ledger.core.instants import read_micros
from ledger.core.observations import Note, Offered, ProgramExited, Trigger
from ledger.errors import IntegrityError, TranscriptError
from ledger.exchange.transcript import Header, Opened, TranscriptLine, parse_header, parse_line
from ledger.exchange.transcript_writer import write_header, write_line

NOON = read_micros("2026-11-30T12:00:00Z") or 0
SALT = bytes(range(16))
HEADER = b'{"transcript":1,"dialect":"d","run_id":"r","trigger":{"kind":"proactive"},"manifest":{}}'


def header_with(**members: object) -> bytes:
    base = {"transcript": 1, "dialect": "d", "run_id": "r", "trigger": {"kind": "proactive"}, "manifest": {}}
    return json.dumps({**base, **members}).encode()


# ---- headers ----------------------------------------------------------------------------------------------


def test_the_manifest_is_the_exact_text_of_the_file() -> None:
    raw = HEADER.replace(b'"manifest":{}', b'"manifest": {"b": 1e2, "a":[1 ,2], "\\ud83d\\ude00": 2.0} ')
    assert parse_header(raw).manifest == b'{"b": 1e2, "a":[1 ,2], "\\ud83d\\ude00": 2.0}'


def test_a_manifest_that_only_the_complete_reader_takes_is_the_exact_text_too() -> None:
    manifest = b'{"name" : "\\ud800", "a": {"manifest": [1, "}"]}}'
    raw = HEADER.replace(b'"manifest":{}', b'"x":"\\"manifest\\":1", "manifest" : ' + manifest + b" ")
    assert parse_header(raw).manifest == manifest


def test_of_two_members_of_one_name_the_last_counts_whichever_reader_reads() -> None:
    twice = HEADER.replace(b'"manifest":{}', b'"manifest":{"v":1},"manifest":{"v":2}')
    assert parse_header(twice).manifest == b'{"v":2}'
    assert parse_header(twice.replace(b'"d"', b'"d","x":"\\ud800"')).manifest == b'{"v":2}'


def test_a_header_carries_what_the_runtime_offered_and_how_the_run_was_opened() -> None:
    header = parse_header(
        header_with(
            trigger={"kind": "continuous", "grant_id": "g", "streams": ["a"]},
            offered={"bindings": ["network"], "protocol_capabilities": ["STREAM_EVIDENCE"]},
            ruleset="d/1",
            opened={"at": "2026-11-30T12:00:00Z", "salt": SALT.hex(), "recorder": "x 1", "via": "recorded"},
            more={"of": "the future"},
        )
    )
    assert header == Header(
        dialect="d",
        run_id="r",
        trigger=Trigger(kind="continuous", grant_id="g", streams=("a",)),
        manifest=b"{}",
        offered=Offered(bindings=("network",), protocol_capabilities=("STREAM_EVIDENCE",)),
        ruleset="d/1",
        opened=Opened(at=NOON, salt=SALT, recorder="x 1", via="recorded"),
    )


def test_a_version_that_is_one_by_value_is_read() -> None:
    assert parse_header(HEADER.replace(b":1,", b":1.0,")) == parse_header(HEADER)


@pytest.mark.parametrize("manifest", [None, b"null", b'{"a":\n1}', b"\xff", b"", b"{} ", b"[1e2]", b"{"])
def test_any_manifest_is_written_so_that_it_is_read_back(manifest: bytes | None) -> None:
    header = Header(
        dialect="d", run_id="r", trigger=Trigger(kind="proactive"), manifest=manifest, whole=False
    )
    line = write_header(header)
    assert line.count(b"\n") == 1
    assert parse_header(line[:-1]) == header


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\xef\xbb\xbf" + HEADER, "byte order mark"),
        (HEADER.decode().encode("utf-16"), "byte order mark"),
        (b"\x1f\x8b\x08\x00", "no JSON: invalid utf8 at byte 1"),
        (b"hello", "no JSON: unexpected character at byte 0"),
        (b"[1]", "another JSON value"),
        (b'{"type":"RECORD"}', 'no "transcript"'),
        (b'{"transcript":true}', '"transcript": true'),
        (b'{"transcript":"1"}', '"transcript": "1"'),
        (b'{"transcript":0}', '"transcript": 0'),
        (b'{"transcript":2,"shape":"unheard of"}', '"transcript": 2, a newer format'),
        (HEADER.replace(b'"dialect":"d",', b""), "missing required field `dialect`"),
        (HEADER.replace(b'"r"', b'""'), 'an empty "run_id"'),
        (HEADER.replace(b'"r"', b"7"), "got `int` - at `$.run_id`"),
        (HEADER.replace(b'"r"', b'"\\udc00"'), 'a lone surrogate in "run_id"'),
        (HEADER.replace(b"proactive", b"lunar"), "Invalid enum value 'lunar'"),
        (HEADER.replace(b',"manifest":{}', b""), 'no "manifest"; add it, or "manifest": null'),
        (header_with(manifest_b64="e30="), 'both "manifest" and "manifest_b64"'),
        (header_with(opened=7), "another JSON value"),
        (header_with(opened={"salt": "00"}), "\"salt\" to be 32 hex digits, found '00'"),
        (header_with(opened={"at": "noon"}), "found 'noon'"),
        (header_with(opened={"via": "stolen"}), "Invalid enum value 'stolen'"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused_with_what_was_found(raw: bytes, said: str) -> None:
    with pytest.raises(TranscriptError, match=re.escape(said)) as caught:
        parse_header(raw, 3)
    assert caught.value.line_number == 3
    assert str(caught.value).startswith("line 3: expected ")
    assert len(str(caught.value)) < 400


# ---- lines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b'{"origin":"program","line":""}', TranscriptLine(0, "program", "", b"")),
        (
            b'{"at":"2026-11-30T12:00:00.5Z","origin":"runtime","session":"s","line":"\\ud83d\\ude00\\u0000"}',
            TranscriptLine(NOON + 500_000, "runtime", "s", "\U0001f600\0".encode()),
        ),
        (b'{"at":null,"origin":"program","b64":"/wA="}', TranscriptLine(0, "program", "", b"\xff\x00")),
        (b'{"at":0,"origin":"program","line":"x\\r"}', TranscriptLine(0, "program", "", b"x\r")),
        (
            b'{"origin":"observer","observed": {"code" : 1, "type":"PROGRAM_EXITED"} }',
            TranscriptLine(
                0, "observer", "", b'{"code" : 1, "type":"PROGRAM_EXITED"}', None, ProgramExited(code=1)
            ),
        ),
        (b'{"origin":"observer","line":"{\\"at\\":"}', TranscriptLine(0, "observer", "", b'{"at":')),
        (
            b'{"origin":"observer","line":"{\\"type\\":\\"NOTE\\",\\"by\\":\\"a\\",\\"text\\":\\"\\"}"}',
            TranscriptLine(
                0, "observer", "", b'{"type":"NOTE","by":"a","text":""}', None, Note(by="a", text="")
            ),
        ),
        (
            b'{"origin":"program","line":"x","salt":"000102030405060708090A0B0C0D0E0F","new":{"a":"\\ud800"}}',
            TranscriptLine(0, "program", "", b"x", SALT),
        ),
        (
            b'{"at":"-99999999999999999","origin":"program","line":""}',
            TranscriptLine(-(10**17) + 1, "program", "", b""),
        ),
    ],
)
def test_a_line_gives_exact_bytes(raw: bytes, line: TranscriptLine) -> None:
    assert parse_line(raw, 2) == line


DEEP = (
    b'{"origin":"observer","observed":{"type":"NOTE","by":"","text":"","x":' + b"[" * 600 + b"]" * 600 + b"}}"
)

REFUSED_LINES = [
    (b"{", "no JSON: unexpected end at byte 1"),
    (b'{"origin":"program","line":"\xff"}', "no JSON: invalid utf8 at byte 28"),
    (b'{"origin":"program","line":NaN}', "no JSON: unexpected character at byte 27"),
    (b'{"origin":"program","line":"a"} x', "no JSON: trailing data"),
    (DEEP, "no JSON: nesting too deep"),
    (b"7", "another JSON value"),
    (b'{"line":"x"}', "missing required field `origin`"),
    (b'{"origin":"kernel","line":"x"}', "one of program, runtime, observer, found 'kernel'"),
    (b'{"origin":"program"}', "found none of them"),
    (b'{"origin":"program","line":null}', "found none of them"),
    (b'{"origin":"program","line":"x","b64":""}', "found more than one of them"),
    (b'{"origin":"program","line":"a\\nb"}', "without line feeds, found one at byte 1"),
    (b'{"origin":"program","b64":"Cg=="}', "without line feeds, found one at byte 0"),
    (b'{"origin":"program","b64":"Cg"}', '"b64" to be base64'),
    (b'{"origin":"program","b64":"C g=="}', '"b64" to be base64'),
    (b'{"origin":"program","b64":"\xc3\xa4"}', '"b64" to be base64'),
    (
        b'{"origin":"program","line":"\\ud800"}',
        'a lone surrogate in "line"; what is not UTF-8 goes into "b64"',
    ),
    (b'{"origin":"program","session":"\\udfff","line":""}', 'a lone surrogate in "session"'),
    (b'{"origin":"program","line":"x","at":"yesterday"}', "found 'yesterday'"),
    (b'{"origin":"program","line":"x","at":""}', "found ''"),
    (b'{"origin":"program","line":"x","at":"2026-11-30T12:00:00"}', "date-time (RFC 3339)"),
    (b'{"origin":"program","line":"x","at":"1796040000000000"}', "date-time (RFC 3339)"),
    (b'{"origin":"program","line":"x","at":"9999999999999999999"}', "date-time (RFC 3339)"),
    (b'{"origin":"program","line":"x","at":1796040000}', "found '1796040000'"),
    (b'{"origin":"program","line":"x","at":true}', "got `bool` - at `$.at`"),
    (b'{"origin":"program","line":"x","salt":"0001"}', '"salt" to be 32 hex digits'),
    (
        b'{"origin":"program","line":"x","salt":"00 0102030405060708090a0b0c0d0e0"}',
        '"salt" to be 32 hex digits',
    ),
    (b'{"origin":"program","observed":{"type":"RUN_CLOSED"}}', "found it on a line of origin program"),
    (b'{"origin":"observer","observed":{"type":"SNEEZED"}}', "an observation that this version knows"),
    (
        b'{"origin":"observer","observed":{"type":"PROGRAM_EXITED","code":"1"}}',
        "an observation that this version",
    ),
    (b'{"origin":"observer","observed":7}', "an observation that this version knows, found none"),
    (
        b'{"origin":"observer","observed":{"type":"RUN_OPENED","run_id":"r","dialect":"d","program":"","manifest":'
        b'null,"trigger":{"kind":"proactive"},"namespace":null,"via":"imported","recorder":""}}',
        "found RUN_OPENED",
    ),
    (HEADER, "missing required field `origin`"),
    (HEADER.replace(b"{", b'{"origin":"program","line":"",', 1), "a second header"),
]


@pytest.mark.parametrize(("raw", "said"), REFUSED_LINES)
def test_a_line_that_cannot_be_read_is_refused_with_its_number_and_what_was_found(
    raw: bytes, said: str
) -> None:
    with pytest.raises(TranscriptError, match=re.escape(said)) as caught:
        parse_line(raw, 41)
    assert caught.value.line_number == 41
    assert str(caught.value).startswith("line 41: expected ")
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


# ---- writing ----------------------------------------------------------------------------------------------


def test_members_stand_in_a_fixed_order_without_white_space() -> None:
    wire = Entry(2, NOON, "program", "s", "RECORD", "a", '{"k": "ä"}'.encode(), SALT)
    assert write_line(wire).decode() == (
        '{"at":"2026-11-30T12:00:00.000000Z","origin":"program","session":"s",'
        '"line":"{\\"k\\": \\"ä\\"}","salt":"000102030405060708090a0b0c0d0e0f"}\n'
    )
    observed = Entry(3, 0, "observer", "", "RUN_CLOSED", "", b'{"type": "RUN_CLOSED"}', SALT)
    assert write_line(observed) == (
        b'{"origin":"observer","observed":{"type": "RUN_CLOSED"},"salt":"000102030405060708090a0b0c0d0e0f"}\n'
    )


@pytest.mark.parametrize(
    "body", [b"\xff{", b"", b"{", b"null", b' {"type":"RUN_CLOSED"}', b'{"type":"SNEEZED"}']
)
def test_an_observers_body_that_is_no_plain_observation_is_written_as_text(body: bytes) -> None:
    line = write_line(Entry(4, 0, "observer", "", "", "", body, SALT))
    assert b'"observed"' not in line
    assert parse_line(line[:-1], 4).body == body


def test_what_no_transcript_can_carry_is_refused_when_it_is_written() -> None:
    with pytest.raises(IntegrityError, match="entry 6: expected one line"):
        write_line(Entry(6, 0, "program", "", "", "", b"a\nb"))
