"""Decoding: the shortcut for RECORDs and the complete reader are one, wherever they are called from."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.core.json_reader import Malformed, read_json
from ledger.dialects.collection_profile.decode import read_program_line, read_runtime_line, record_value
from ledger.dialects.collection_profile.messages import Blank, Misshapen, Record, Repeated
from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.dialects.collection_profile.rulesets import RULESETS, TEXT
from ledger.dialects.collection_profile.shapes import shape_message
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE
from tests.properties.json_lines import damaged, json_values, respelled, to_bytes
from tests.properties.strategies import wire_lines


def read_slowly(line: bytes, ruleset: Ruleset) -> Any:
    """Read a line of the connector by the complete reader and the shape tables of a ruleset alone."""
    document = read_json(line)
    if isinstance(document, Malformed):
        return document if line.strip() else Blank()
    message = shape_message(ruleset.wire.shapes, document.value)
    if isinstance(message, Record) and message.data is None and message.op != "delete":
        message = Misshapen(type="RECORD", member="data", expected="present", clause="record/data")
    is_record = isinstance(document.value, dict) and document.value.get("type") == "RECORD"
    repeated = document.repeated and not is_record
    return Repeated(message=message, names=document.repeated) if repeated else message


def plain(message: Any) -> Any:
    """Return a message with the values of its data decoded; NaN does not occur."""
    if not isinstance(message, Record) or message.data is None:
        return message
    return msgspec.structs.replace(message, data={n: record_value(v) for n, v in message.data.items()})


def agree(line: bytes) -> None:
    for ruleset in RULESETS.values():
        fast, slow = plain(ruleset.wire.read(line)), plain(read_slowly(line, ruleset))
        assert repr(fast) == repr(slow)
    assert repr(plain(read_program_line(line))) == repr(plain(TEXT.wire.read(line)))


RECORD = b'{"type":"RECORD","stream":"a","key":"k","data":{"x":%s},"emitted_at":"t"}'
LINES = [
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t"}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t","data":null}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t","op":"delete"}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t","op":"delete","data":null}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t","op":"upsert","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t","op":null,"data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t","op":"DELETE","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"t","data":[]}',
    b'{"type":"RECORD","stream":null,"key":"k","emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"","key":"k","emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"","emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":" ","emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":1,"emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":[],"emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":["k",""],"emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":["k",1],"emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":["k","j"],"emitted_at":"t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":" \\t\\u00a0","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"\\ufeff\\u2028","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":" t","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"\\u0085","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":"\xc3\xa9","data":{}}',
    b'{"type":"RECORD","stream":"a","key":"k","emitted_at":1,"data":{}}',
    b'{"type":"RECORD","type":"STATE","stream":"a","key":"k","data":{},"emitted_at":"t","cursor":{}}',
    b'{"type":"STATE","type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"}',
    b'{"type":1,"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":"a","stream":"b","key":"k","data":{"x":1,"x":2},"data":{},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":"a","stream":1,"key":"k","data":{},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":1,"stream":"a","key":"k","data":{},"emitted_at":"t"}',
    b'{"\\u0074ype":"RECORD","str\\u0065am":"\\u0061","key":"k","data":{"\\u0078":1},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":"\\ud83d\\ude00","key":"\\ud83d\\ude00","data":{},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":"\\ud800","key":"\\udfff","data":{"\\ud800":1},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":"a","key":"k","data":{"x":1},"emitted_at":"t","more":{"\\ud800":"\\udc00"}}',
    b'{"type":"RECORD","stream":"a","key":"k","data":{"x":1},"emitted_at":"t","more":"\xff"}',
    b'{"type":"RECORD","stream":"a","key":"k","data":{"x":1},"emitted_at":"t","more":NaN}',
    b'{"type":"RECORD","stream":"a","key":"k","data":{"x":1},"emitted_at":"t","more":[01]}',
    b'{"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"}\r',
    b' \t{"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"} \n\r',
    b'\xef\xbb\xbf{"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"}\x00',
    b'{"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"},',
    b'\x0b{"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t"}',
    b'{"type":"RECORD","stream":"a","key":"k","data":{},"emitted_at":"t",}',
    b'{"stream":"a","key":"k","data":{},"emitted_at":"t"}',
    b'{"type":null,"stream":"a","key":"k","data":{},"emitted_at":"t"}',
    b"[]",
    b"",
    b" \r",
]
VALUES = [
    *(b"1e2", b"1.0", b"-0", b"-0.0", b"01", b"-", b"1.", b".5", b"+1", b"1e", b"0x1", b"1_0", b"1e400"),
    *(b"-1e9999999", b"1e99999999999999999999", b"9" * 400, b"9" * 5000, b"0." + b"3" * 5000),
    *(b"NaN", b"Infinity", b"-Infinity", b"nul", b"True", b"tru", b"null", b"/**/1", b"1//", b"", b"1,2"),
    *(b'"\\x"', b'"\\u12"', b'"\\u00zz"', b'"\x01"', b'"\t"', b'"\x7f"', b'"\\ud800"', b'"\\ud800\\ud800"'),
    *(
        b'"\\ude00\\ud83d"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\xc0\xaf"',
        b'"\xf4\x90\x80\x80"',
        b'"\xe2\x80\xa8"',
    ),
    *(b'"a', b"'a'", b"[1,]", b"[,1]", b"[1 2]", b"[[]]", b"]", b"\xa0", b"\x0c1"),
    *(b"{", b"{}", b'{"a"}', b'{"a":}', b'{"a":1,}', b"{a:1}", b'{"a":1 "b":2}', b"{1:2}"),
]


@pytest.mark.parametrize("line", LINES)
def test_the_shortcut_reads_what_the_complete_reader_reads(line: bytes) -> None:
    agree(line)


@pytest.mark.parametrize("value", VALUES)
def test_the_shortcut_takes_no_value_that_is_no_json(value: bytes) -> None:
    agree(RECORD % value)
    agree(RECORD % (b"[[" + value + b"]]"))
    agree(RECORD.replace(b'"t"}', b'"t","more":%s}') % (b"1", value))


@given(json_values, st.sampled_from(["k", ["k"], "", 1]), st.sampled_from([None, "upsert", "delete", "x"]))
def test_records_are_read_alike_whatever_they_hold(data: Any, key: Any, op: Any) -> None:
    agree(to_bytes(r.record("a", key, data={"x": data}, op=op)))
    agree(to_bytes(r.record("a", key, data=data, op=op)))


@given(respelled(r.record("a", data={"at": "2026-01-01"})).flatmap(damaged))
def test_damaged_records_are_read_alike(line: bytes) -> None:
    agree(line)


@given(st.binary(max_size=6), st.integers(0, 90))
def test_records_are_read_alike_with_any_bytes_in_them(bytes_: bytes, place: int) -> None:
    whole = RECORD % b'"text"'
    agree(whole[:place] + bytes_ + whole[place:])
    agree(whole[:place] + bytes_ + whole[place + len(bytes_) :])


@given(wire_lines)
@example(b'{"type":"PROGRESS","message":"x","count":1e9999999}')
@example(b'{"type":"PROGRESS","message":"x","total":-1e9999999}')
@example(b'{"type":"INTERACTION","request_id":"r","kind":"otp","message":"x","timeout_seconds":1e9999999}')
@example(b'{"type":"DONE","status":"succeeded","records_emitted":1e9999999}')
@example(b'{"type":"DONE","status":"succeeded","records_emitted":' + b"9" * 5000 + b"}")
def test_every_line_becomes_something(line: bytes) -> None:
    agree(line)
    read_runtime_line(line)
    type_, stream = PROFILE.label("program", line)
    (type_ + stream).encode("utf-8")


@given(wire_lines)
def test_reading_twice_gives_the_same(line: bytes) -> None:
    assert repr(plain(read_program_line(line))) == repr(plain(read_program_line(line)))
    assert repr(read_runtime_line(line)) == repr(read_runtime_line(line))


# Depth, stack and limits of the interpreter.


def nested(depth: int) -> bytes:
    """Return a RECORD that nests ``depth`` deep in all: two levels of its own, then arrays."""
    return RECORD % (b"[" * (depth - 2) + b"]" * (depth - 2))


@contextmanager
def limit_of_int_text(digits: int) -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(digits)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("frames", [0, 200, 500, 800])
@pytest.mark.parametrize(
    ("depth", "readable"), [(3, True), (100, True), (511, True), (512, True), (513, False), (3000, False)]
)
def test_nesting_is_judged_alike_from_any_depth_of_the_stack(frames: int, depth: int, readable: bool) -> None:
    def deeper(left: int) -> Any:
        return (
            deeper(left - 1)
            if left
            else (read_program_line(nested(depth)), PROFILE.label("program", nested(depth)))
        )

    message, label = deeper(frames)
    assert isinstance(message, Record) == readable
    assert label.type == ("RECORD" if readable else "")
    if not readable:
        assert message == Malformed("nesting_too_deep", len(RECORD.split(b"%s")[0]) + 510)


@pytest.mark.parametrize("frames", [0, 500, 800])
@pytest.mark.parametrize("depth", [511, 512, 513])
def test_nesting_of_control_messages_is_judged_alike(frames: int, depth: int) -> None:
    def deeper(left: int) -> Any:
        return deeper(left - 1) if left else read_program_line(line)

    line = b'{"type":"STATE","stream":"a","cursor":' + b'{"x":' * (depth - 1) + b"1" + b"}" * depth
    assert isinstance(deeper(frames), Malformed) == (depth > 512)


@pytest.mark.parametrize("brackets", [b"[", b"{", b"}", b"]"])
def test_brackets_inside_a_text_do_not_nest(brackets: bytes) -> None:
    agree(RECORD % (b'"' + brackets * 5000 + b'"'))
    assert isinstance(read_program_line(RECORD % (b'"' + brackets * 5000 + b'"')), Record)


@pytest.mark.parametrize("digits", [640, 4300, 0])
@pytest.mark.parametrize("length", [599, 600, 639, 641, 4301, 10_000])
def test_long_integers_are_read_alike_under_any_limit(digits: int, length: int) -> None:
    number = b"7" * length
    keys = b'{"type":"DETAIL_COVERAGE","reference_only":true,"stream":"a","state_stream":"a",'
    report = keys + b'"required_keys":[%s],"hydrated_keys":[%s]}' % (number, number)
    with limit_of_int_text(0):
        usual = repr(read_program_line(report)), repr(read_program_line(RECORD % number))
    with limit_of_int_text(digits):
        assert repr(read_program_line(RECORD % number)) == usual[1]
        message = read_program_line(report)
        decision = r.succeeded(r.streams("a"), report, r.state("a"))
    with limit_of_int_text(0):
        assert repr(message) == usual[0]
        assert r.verdicts(decision) == {"a": "commit"}
