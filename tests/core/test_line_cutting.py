"""Cutting bytes into lines: the same lines however the bytes come, and never more held than the limit."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.entries import PROGRAM, RUNTIME
from ledger.core.line_cutting import CutLine, LineCutter, Search, cut_line, redact_cut
from ledger.dialects import DIALECTS

PROFILE = DIALECTS["collection-profile"]


def cut(parts: list[bytes], limit: int, *search: Search) -> list[bytes | CutLine]:
    cutter = LineCutter(limit, *search)
    lines = [line for part in parts for line in cutter.push(part)]
    last = cutter.end()
    return lines if last is None else [*lines, last]


def naively(data: bytes, limit: int) -> list[bytes | CutLine]:
    *lines, last = data.split(b"\n")
    return [cut_line(line, limit) or line for line in ([*lines, last] if last else lines)]


@given(
    st.lists(st.binary(max_size=30) | st.sampled_from([b"\n", b"", b"x" * 2000, b"\n\n", b"\x00"])),
    st.integers(0, 40),
)
def test_the_lines_are_the_same_however_the_bytes_come(parts: list[bytes], limit: int) -> None:
    data = b"".join(parts)
    assert cut(parts, limit) == cut([data], limit) == naively(data, limit)


def test_of_a_long_line_the_head_is_kept_and_the_whole_is_measured() -> None:
    line = b"head" + b"x" * 5000 + b"the end"
    (found,) = cut([line[:3], line[3:2000], line[2000:] + b"\n"], 4)
    assert isinstance(found, CutLine)
    assert (found.head, found.length) == (b"head", len(line))
    assert found.sha256 == hashlib.sha256(line).hexdigest()


def test_a_line_of_the_limit_is_whole_and_one_byte_more_is_not() -> None:
    assert cut([b"1234\n", b"12345\n"], 4) == [b"1234", cut_line(b"12345", 4)]
    assert cut_line(b"1234", 4) is None


def test_the_limit_may_change_between_two_lines() -> None:
    cutter, lines = LineCutter(9), []
    for line in cutter.push(b"123456\n123456\n"):
        lines.append(line)
        cutter.limit = 3
    assert lines == [b"123456", cut_line(b"123456", 3)]


def test_what_is_under_way_is_counted() -> None:
    cutter = LineCutter(2)
    assert list(cutter.push(b"a\n12345")) == [b"a"]
    assert cutter.pending == 5


# Secrets.

ANSWER = {"type": "INTERACTION_RESPONSE", "request_id": "r", "status": "success", "data": {"pin": "hunter2"}}


def redacted(origin: str, line: bytes, limit: int) -> tuple[bytes, str]:
    found = cut_line(line, limit, PROFILE.may_hold_secret)
    assert found is not None
    pieces = [line[at : at + 7] for at in range(0, len(line), 7)]
    assert cut([*pieces, b"\n"], limit, PROFILE.may_hold_secret) == [found]
    return redact_cut(PROFILE, origin, found)  # type: ignore[arg-type]


@pytest.mark.parametrize("spelling", [ANSWER, dict(sorted(ANSWER.items()))], ids=["type first", "type last"])
@pytest.mark.parametrize("origin", [RUNTIME, PROGRAM])
def test_a_cut_answer_keeps_neither_the_secret_nor_a_digest_to_try_guesses_against(
    origin: str, spelling: dict[str, object]
) -> None:
    line = json.dumps({**spelling, "data": {"pin": "hunter2", "more": "x" * 500}}).encode()
    if spelling is ANSWER:
        line = json.dumps(dict(ANSWER, data={"pin": "hunter2", "more": "x" * 500})).encode()
    for limit in (100, len(line) - 60, len(line) - 1):
        body, sha256 = redacted(origin, line, limit)
        assert b"hunter2" not in body
        assert sha256 == ""
        assert PROFILE.redact(origin, body) == body  # type: ignore[arg-type]
        assert len(body) <= limit + 100


def test_a_cut_line_without_secrets_is_its_head_and_has_its_digest() -> None:
    line = b'{"type":"RECORD","data":"' + b"x" * 500 + b'"}'
    assert redacted(PROGRAM, line, 100) == (line[:100], hashlib.sha256(line).hexdigest())


def padded(tell: str, secret: str) -> bytes:
    """Put what tells of a secret far from it and far from both ends of the line."""
    y, z = "y" * 9000, "z" * 9000
    return f'{{"x":"x",{secret},"y":"{y}",{tell},"z":"{z}"}}'.encode()


@pytest.mark.parametrize("limit", [200, 9000, 9100, 9110])
@pytest.mark.parametrize(
    ("tell", "secret"),
    [
        ('"type":"INTERACTION_RESPONSE"', '"data":{"otp":"hunter2"}'),
        (r'"type":"INTERACTION\u005fRESPONSE"', '"data":{"otp":"hunter2"}'),
        ('"type":"START"', '"bindings":{"b":{"token":"hunter2"}}'),
        (r'"q":"{\\\"type\\\":\\\"START\\\"}"', '"bindings":{"b":{"token":"hunter2"}}'),
    ],
)
def test_what_tells_of_a_secret_may_stand_anywhere_in_a_cut_line(tell: str, secret: str, limit: int) -> None:
    line = padded(tell, secret)
    for origin in (PROGRAM, RUNTIME):
        body, sha256 = redacted(origin, line, limit)
        assert b"hunter2" not in body
        assert sha256 == ""
        assert PROFILE.redact(PROGRAM, body) == PROFILE.redact(RUNTIME, body) == body


def test_of_a_runtime_no_digest_is_kept_whatever_the_head_says() -> None:
    line = b" " * 300 + b'{"data":{"otp":"1234"}}' + b" " * 3000
    assert redacted(RUNTIME, line, 100) == (b" " * 100, "")


def test_where_nothing_is_searched_every_cut_line_is_suspect() -> None:
    line = b'{"type":"RECORD","data":"' + b"x" * 500 + b'"}'
    for found in (cut_line(line, 100), *cut([line, b"\n"], 100)):
        assert isinstance(found, CutLine)
        assert redact_cut(PROFILE, PROGRAM, found) == (PROFILE.mark(len(line)), "")


@given(st.binary(max_size=40), st.sampled_from([b"INTERACTION_RESPONSE", b'START"', b"\\u0053"]), st.data())
def test_a_sign_is_found_across_every_seam(around: bytes, sign: bytes, data: st.DataObject) -> None:
    line = (around + sign + around[::-1]).replace(b"\n", b"")
    size, limit = data.draw(st.integers(1, len(line))), data.draw(st.integers(0, len(line) - 1))
    pieces = [line[at : at + size] for at in range(0, len(line), size)]
    (found,) = cut([*pieces, b"\n"], limit, PROFILE.may_hold_secret)
    assert isinstance(found, CutLine)
    assert found.is_suspect
