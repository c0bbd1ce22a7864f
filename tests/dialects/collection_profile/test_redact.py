"""Secrets: what is taken out of a line before it is logged, and what stays as it came."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.core.entries import PROGRAM, RUNTIME, Origin
from ledger.core.observations import Offered
from tests.dialects.collection_profile.runs import (
    PROFILE,
    Sent,
    broken,
    decide,
    record,
    start,
    streams,
    to_line,
)
from tests.properties.json_lines import json_values
from tests.properties.strategies import wire_lines

SECRET = "hunter2-1f0c"
REQUEST = {"type": "INTERACTION_RESPONSE", "request_id": "req_1", "status": "success"}
both_origins = pytest.mark.parametrize("origin", [PROGRAM, RUNTIME])
origins = st.sampled_from([PROGRAM, RUNTIME])


def redact(origin: Origin, line: Any) -> bytes:
    return PROFILE.redact(origin, to_line(line))


MARKED = "[redacted]"
ANSWERS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("names stay", {"data": {"mail": SECRET, "pin": SECRET}}, {"data": {"mail": MARKED, "pin": MARKED}}),
    ("nested", {"data": {"login": {"password": SECRET}}}, {"data": {"login": MARKED}}),
    ("an array", {"data": [SECRET, SECRET]}, {"data": MARKED}),
    ("a text", {"data": SECRET}, {"data": MARKED}),
    ("a number", {"data": 123456}, {"data": MARKED}),
    ("false", {"data": False}, {"data": MARKED}),
    ("null", {"data": None}, {"data": None}),
    ("empty", {"data": {}}, {"data": {}}),
    ("unknown member", {"value": SECRET}, {"value": MARKED}),
    ("unknown object", {"error": {"message": SECRET}}, {"error": {"message": MARKED}}),
    ("status of another type", {"status": [SECRET]}, {"status": MARKED}),
    ("id of another type", {"request_id": {"x": SECRET}}, {"request_id": {"x": MARKED}}),
]


@both_origins
@pytest.mark.parametrize(("told", "kept"), [a[1:] for a in ANSWERS], ids=[a[0] for a in ANSWERS])
def test_an_answer_keeps_its_member_names_and_no_value(
    origin: Origin, told: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert json.loads(redact(origin, {**REQUEST, **told})) == {**REQUEST, **kept}


SPELLINGS = [
    r'{"type":"INTERACTION\u005fRESPONSE","data":{"p":"%s"}}',
    r'{"type":"INTERACTION\u005FRESPONSE","data":{"p":"%s"}}',
    r'{"\u0074ype":"INTERACTION_RESPONSE","data":{"p":"%s"}}',
    r'{"\u0074\u0079\u0070\u0065":"\u0049NTERACTION_RESPONS\u0045","data":{"p":"%s"}}',
    r'{"type":"INTERACTION_RESPONSE","d\u0061ta":{"p":"%s"}}',
    '{ "type" :\t"INTERACTION_RESPONSE" , "data" : { "p" : "%s" } } \r',
    '{"data":{"p":"%s"},"type":"INTERACTION_RESPONSE"}',
    '{"type":"INTERACTION_RESPONSE","data":{"p":"%s","p":"x"}}',
    '{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"data":null}',
    '{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"data":{"p":"[redacted]"}}',
    '{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"type":"PROGRESS"}',
    '{"type":"PROGRESS","data":{"p":"%s"},"type":"INTERACTION_RESPONSE"}',
    '[{"type":"INTERACTION_RESPONSE","data":{"p":"%s"}}]',
    '[{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"data":null}]',
    '{"msg":{"type":"INTERACTION_RESPONSE","data":{"p":"%s"}}}',
    '{"msg":{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"data":{"p":null}}}',
    '{"msg":{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"data":null}}',
    '{"msg":{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"type":"PROGRESS"}}',
    '{"msg":[[{"deep":[{"type":"INTERACTION_RESPONSE","value":["%s"]}]}]]}',
    '{"type":"RECORD","stream":"a","data":{"log":{"type":"INTERACTION_RESPONSE","data":"%s"}}}',
    '{"type":"INTERACTION_RESPONSE","data":{"p":{"type":"START","bindings":{"b":"%s"}}}}',
    '{"type":"START","bindings":{"b":{"token":"%s"}}}',
    '{"type":"START","bindings":{"b":{"token":["%s"]}}}',
    '{"type":"START","bindings":{"b":"%s"}}',
    '{"type":"START","bindings":["%s"]}',
    '{"type":"START","bindings":{"b":{"token":"%s"}},"bindings":{}}',
    '{"type":"START","bindings":{"b":{"token":"%s","token":"[redacted]"}}}',
    r'{"type":"\u0053TART","bindings":{"b":{"token":"%s"}}}',
    r'{"type":"START","bind\u0069ngs":{"b":{"token":"%s"}}}',
    '{"x":{"type":"START","bindings":{"b":{"token":"%s"}},"bindings":{}}}',
    '{"type":"START","bindings":{},"x":{"type":"INTERACTION_RESPONSE","data":{"p":"%s"},"data":null}}',
]


@both_origins
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_gets_a_secret_past(origin: Origin, spelling: str) -> None:
    assert SECRET.encode() not in redact(origin, spelling % SECRET)


UNREADABLE = [
    b'{"type":"INTERACTION_RESPONSE","data":{"p":"%s',
    b'{"type":"INTERACTION_RESPONSE","data":{"p":"%s"}',
    b'{"type":"INTERACTION_RESPONSE","data":{"p":"%s"}}}',
    b'{"type":"INTERACTION_RESPONSE","data":{"p":"%s\xff"}}',
    b'\xef\xbb\xbf{"type":"INTERACTION_RESPONSE","data":{"p":"%s"}}',
    b"{'type':'INTERACTION_RESPONSE','data':'%s'}",
    b'{"type":"INTERACTION\\u005fRESPONSE","data":{"p":"%s',
    b'{"type":"INTERACTION_RESPONSE","n":NaN,"data":"%s"}',
    b'{"type":"START","bindings":{"b":{"token":"%s',
]


@both_origins
@pytest.mark.parametrize("template", UNREADABLE)
def test_what_may_be_a_secret_and_cannot_be_read_is_replaced_whole(origin: Origin, template: bytes) -> None:
    line = template.replace(b"%s", SECRET.encode())
    redacted = redact(origin, line)
    assert json.loads(redacted)["redacted"] == {"length": len(line)}
    assert redact(origin, redacted) == redacted


def test_an_unreadable_line_of_the_runtime_is_replaced_whatever_it_looks_like() -> None:
    assert SECRET.encode() not in redact(RUNTIME, '{"data":{"p":"' + SECRET)


@pytest.mark.parametrize(
    "line",
    [
        record("a", data={"text": "INTERACTION_RESPONSE", "type": "INTERACTION"}),
        record("a", data={"START": 1, "word": '"START"', "bindings": {"b": {"x": 1}}}),
        '{"type":"RECORD","data":{"t":"INTERACTION\\u005fRESPONSE"},"n":1e2,"n":1.0}',
        '{ "type":"STATE" ,"stream":"a","cursor":{"at":1e2}}',
        '{"type":"INTERACTION","request_id":"r","kind":"otp","message":"INTERACTION_RESPONSE"}',
    ],
)
def test_a_line_of_the_program_that_only_names_an_answer_keeps_every_byte(line: Any) -> None:
    assert redact(PROGRAM, line) == to_line(line)


@both_origins
@pytest.mark.parametrize(
    "line",
    [
        '{"type":"START","run_id":"r","n":1e2,"bindings":{}}',
        '{"type":"START","n":1E400,"bindings":{"network":{}}}',
        '{"type":"INTERACTION_RESPONSE","request_id":"r","status":"timeout"}',
        "",
        " \r",
    ],
)
def test_a_line_without_secrets_keeps_every_byte(origin: Origin, line: Any) -> None:
    assert redact(origin, line) == to_line(line)


@pytest.mark.parametrize(
    "line",
    [
        '{"request_id":"r","status":"success","data":{"password":"SECRET"}}',
        '{"type":"interaction_response","request_id":"r","data":"SECRET"}',
        '{"type":["INTERACTION_RESPONSE"],"data":{"password":"SECRET"}}',
        '["INTERACTION_RESPONSE",{"password":"SECRET"}]',
        '"SECRET"',
    ],
)
def test_whatever_a_runtime_says_that_is_no_start_counts_as_an_answer(line: str) -> None:
    assert b"SECRET" not in redact(RUNTIME, line)


@both_origins
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    "quoted",
    [
        '{"type":"INTERACTION_RESPONSE","request_id":"r","data":{"password":"SECRET"}}',
        '{"type":"START","bindings":{"browser_automation":{"ws_url":"SECRET"}}}',
    ],
)
def test_text_that_quotes_an_answer_or_a_start_is_replaced(quoted: str, depth: int, origin: Origin) -> None:
    for _ in range(depth):
        quoted = json.dumps({"type": "PROGRAM_STDERR", "text": f"received {quoted}"})
    redacted = redact(origin, quoted)
    assert b"SECRET" not in redacted
    assert redact(origin, redacted.decode()) == redacted


@pytest.mark.parametrize("line", [b"\xff", b"{", b'{"type":"RECORD","data":{"x":"START', b"NaN"])
def test_an_unreadable_line_of_the_connector_that_is_no_answer_keeps_every_byte(line: bytes) -> None:
    assert redact(PROGRAM, line) == line


OTHERS = r'"n":1e2,"m":1.0,"text":"\u0061\/","big":123456789012345678901234567890,"x":[ 1 ]'


@pytest.mark.parametrize(
    "also", [OTHERS, OTHERS + r',"lone":"\ud800"', OTHERS + ',"huge":1e99999999999999999999']
)
def test_other_members_of_a_start_keep_their_bytes(also: str) -> None:
    template = '{"type":"START",' + also + ',"bindings":{"b":{"token":"hunter2-1f0c"}}}'
    redacted = redact(RUNTIME, template)
    assert also.encode() in redacted
    assert SECRET.encode() not in redacted


def test_a_descriptor_without_a_value_still_has_none_after_redaction() -> None:
    manifest = streams("a", required=["browser_automation"])
    bindings = {"browser_automation": {"interface": "cdp", "ws_url": None}}
    sent = to_line(start("a", bindings=bindings).line)
    for line in (sent, redact(RUNTIME, sent)):
        fault = broken(decide(manifest, Sent(line), offered=Offered(bindings=("browser_automation",))))
        assert fault == (2, "binding_not_described", "start/bindings")


def test_a_whole_descriptor_is_still_described_after_redaction() -> None:
    manifest = streams("a", required=["browser_automation"])
    bindings = {"browser_automation": {"interface": "cdp", "ws_url": f"ws://{SECRET}", "headed": True}}
    line = redact(RUNTIME, start("a", bindings=bindings).line)
    offered = Offered(bindings=("browser_automation",))
    assert decide(manifest, Sent(line), offered=offered).status == "running"


def test_an_answer_that_was_replaced_whole_still_answers() -> None:
    asked = {"type": "INTERACTION", "request_id": "req_1", "kind": "otp", "message": "?"}
    cut = redact(RUNTIME, to_line({**REQUEST, "data": {"p": SECRET}})[:-3])
    end = {"type": "DONE", "status": "succeeded", "records_emitted": 0}
    assert decide(streams("a"), start("a"), asked, Sent(cut), end).violations == ()


def nested(depth: int) -> bytes:
    answer = json.dumps({**REQUEST, "data": {"p": SECRET}})
    return ("[" * depth + answer + "]" * depth).encode()


@pytest.mark.parametrize("depth", [1, 200, 509, 510, 511, 600, 100_000])
@pytest.mark.parametrize("frames", [0, 400])
@both_origins
def test_no_depth_of_nesting_gets_a_secret_past_nor_breaks_the_reader(
    origin: Origin, depth: int, frames: int
) -> None:
    def deeper(left: int) -> bytes:
        return deeper(left - 1) if left else redact(origin, nested(depth))

    assert SECRET.encode() not in deeper(frames)


# Properties.

secrets = st.text("abcdefghjkmnpqrstvwxz0123456789", min_size=12, max_size=16)


@st.composite
def answers(draw: st.DrawFn, secret: str) -> bytes:
    """Draw an answer with the secret in a value, its type first, perhaps inside other values."""
    value: Any = draw(st.sampled_from([secret, f"-{secret}-"]))
    for _ in range(draw(st.integers(0, 3))):
        value = draw(st.sampled_from([[value], {"in": value}, [1, value, None], {"a": 1, "b": value}]))
    member = draw(st.sampled_from(["data", "value", "error", "answer"]))
    message: Any = {**REQUEST, member: value, "more": draw(json_values)}
    for _ in range(draw(st.integers(0, 2))):
        message = draw(st.sampled_from([[message], {"type": "PROGRESS", "msg": message}, [{}, message]]))
    return json.dumps(message, ensure_ascii=draw(st.booleans())).encode("utf-8", "replace")


@given(st.data(), secrets, origins)
def test_no_secret_survives_in_a_whole_answer(data: st.DataObject, secret: str, origin: Origin) -> None:
    line = data.draw(answers(secret))
    assert secret.encode() not in redact(origin, line)


@given(st.data(), secrets, origins)
def test_no_secret_survives_in_a_truncated_answer(data: st.DataObject, secret: str, origin: Origin) -> None:
    line = data.draw(answers(secret))
    cut = line[: data.draw(st.integers(0, len(line)))]
    assert secret[:8].encode() not in redact(origin, cut)


@given(st.data(), secrets, origins)
def test_no_secret_survives_in_a_damaged_answer(data: st.DataObject, secret: str, origin: Origin) -> None:
    line = bytearray(data.draw(answers(secret)))
    place = data.draw(st.integers(line.index(b"RESPONSE") + 9, len(line) - 1))
    line[place] = data.draw(st.integers(0, 255))
    assert secret.encode() not in redact(origin, bytes(line))


@given(origins, wire_lines)
@example(RUNTIME, b'[{"type":"INTERACTION_RESPONSE","data":{"a":1}},1e99999999999999999999]')
@example(RUNTIME, b'[{"type":"INTERACTION_RESPONSE","data":{"a":1}},"\\ud800",1E400]')
def test_redacting_twice_is_redacting_once(origin: Origin, line: bytes) -> None:
    once = redact(origin, line)
    assert redact(origin, once) == once
