"""The complete reader takes what RFC 8259 takes, names the byte where a line goes wrong, and never falls."""

import inspect
import json
import sys
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core import json_reader
from ledger.core.json_reader import (
    MAX_NESTING,
    Document,
    Json,
    Malformed,
    is_finite,
    is_number,
    nests_too_deep,
    printable,
    read_json,
    whole_number,
)

# What the standard library says, less what it reads beyond the RFC.


def oracle(text: str) -> Json:
    """Read with the standard library; raises ValueError. Floats that overflow are kept as we keep them."""
    return json.loads(text, parse_float=_exact_where_it_overflows, parse_constant=_refuse)


def _exact_where_it_overflows(digits: str) -> float | Decimal:
    try:
        return Decimal(digits) if isinf(float(digits)) else float(digits)
    except InvalidOperation:
        return float(digits)


def _refuse(name: str) -> Json:
    raise ValueError(name)


def read_by_our_own(text: str) -> Document:
    """Read by the reader that takes over where the scanner of the standard library balks."""
    return json_reader._read(text)


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
SPACES = st.sampled_from([None, 0, 1, "\t"])
SNIPPETS = st.sampled_from(
    ["", *'"{}[],:-+.0', "\\", "00", "1e", "E5", "\\u", "\\ud800", "\\x", "nul", "null"]
) | (st.sampled_from(["NaN", "Infinity", "-Infinity", "true", *" \t\x0b\xa0\x00\u0661\u2028'"]))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw JSON texts, spelled in several ways."""
    return json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()), indent=draw(SPACES))


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """Draw JSON texts in which a few pieces were cut out and others put in."""
    text = draw(texts())
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(text)))
        end = draw(st.integers(begin, min(begin + 3, len(text))))
        text = text[:begin] + draw(SNIPPETS) + text[end:]
    return text


@given(texts() | damaged_texts() | st.text(alphabet='{}[]",:0123-.eE \\untrfals'))
def test_it_reads_what_the_standard_library_reads_and_nothing_else(text: str) -> None:
    read = read_json(text.encode())
    try:
        expected = oracle(text)
    except ValueError:
        assert isinstance(read, Malformed)
    else:
        assert isinstance(read, Document)
        assert repr(read.value) == repr(expected)


@given(texts() | damaged_texts())
def test_our_own_reader_gives_the_same_values(text: str) -> None:
    read = read_json(text.encode())
    if isinstance(read, Document):
        ours = read_by_our_own(text)
        assert repr(ours) == repr(read)


def nested(draw: st.DrawFn, levels: int) -> Json:
    """Draw a value of so many levels, with brackets in its strings that belong to none."""
    value: Json = draw(st.sampled_from([None, "]" * 9, {}]))
    for _ in range(levels - (value == {})):
        loose = draw(st.sampled_from(["[[", "}{", '"]', "\\", '\\"[', "x"]))
        value = {loose: value, "z": loose} if draw(st.booleans()) else [loose, value]
    return value


@given(st.data(), st.sampled_from([1, 2, MAX_NESTING - 1, MAX_NESTING, MAX_NESTING + 1, MAX_NESTING + 2]))
def test_nesting_is_counted_on_the_bytes_and_exactly(data: st.DataObject, levels: int) -> None:
    value = st.composite(nested)(levels)
    line = json.dumps(data.draw(value), ensure_ascii=data.draw(st.booleans())).encode()
    assert nests_too_deep(line) == (levels > MAX_NESTING)
    assert isinstance(read_json(line), Malformed) == (levels > MAX_NESTING)


@pytest.mark.parametrize("edge", [-2, -1, 0, 1])
def test_nesting_is_counted_right_where_a_string_lies_across_two_pieces(edge: int) -> None:
    text = "x" * (json_reader._PIECE + edge - 2)
    deep = "[" * (MAX_NESTING - 1) + "]" * (MAX_NESTING - 1)
    assert not nests_too_deep(f'["{text}[[[",{deep}]'.encode())
    assert nests_too_deep(f'["{text}[[[",[{deep}]]'.encode())


def test_many_objects_side_by_side_are_not_deep() -> None:
    assert not nests_too_deep(json.dumps([{"name": [str(one)]} for one in range(5000)]).encode())


@given(st.binary() | damaged_texts().map(str.encode))
def test_every_refusal_points_into_the_line(line: bytes) -> None:
    read = read_json(line)
    if isinstance(read, Malformed):
        assert 0 <= read.offset <= len(line)
        assert read.reason.replace("_", "").isalnum()


@given(VALUES.filter(lambda value: isinstance(value, dict | list)), st.data())
def test_a_container_that_is_cut_off_is_malformed(value: Any, data: st.DataObject) -> None:
    line = json.dumps(value, ensure_ascii=False).encode()
    assert isinstance(read_json(line[: data.draw(st.integers(0, len(line) - 1))]), Malformed)


@pytest.mark.parametrize(
    ("line", "reason", "offset"),
    [
        (b"", "unexpected_end", 0),
        (b"  ", "unexpected_end", 2),
        (b'{"a":1', "unexpected_end", 6),
        (b'{"a"', "unexpected_end", 4),
        (b'{"a":', "unexpected_end", 5),
        (b'["abc', "unexpected_end", 5),
        (b'{"a":1,}', "unexpected_character", 7),
        (b"[1,]", "unexpected_character", 3),
        (b"[1 2]", "unexpected_character", 3),
        (b"[1}", "unexpected_character", 2),
        (b"{1:2}", "unexpected_character", 1),
        (b'{"a" 1}', "unexpected_character", 5),
        (b"nul", "unexpected_character", 0),
        (b"[01]", "unexpected_character", 2),
        (b"[1.]", "unexpected_character", 2),
        (b"[+1]", "unexpected_character", 1),
        (b"[.5]", "unexpected_character", 1),
        (b"[NaN]", "unexpected_character", 1),
        (b"[-Infinity]", "unexpected_character", 1),
        (b"{}{}", "trailing_data", 2),
        (b"1 x", "trailing_data", 2),
        (b'"a\tb"', "invalid_string", 2),
        (b'"\\x"', "invalid_string", 1),
        (b'"\xff"', "invalid_utf8", 1),
        (b'{"a":"\xed\xa0\x80"}', "invalid_utf8", 6),
        (b'"\xc0\xaf"', "invalid_utf8", 1),
        (b"\xef\xbb\xbf{}", "byte_order_mark", 0),
        ('{"ä€😀":x}'.encode(), "unexpected_character", 13),  # bytes are counted, not characters
    ],
)
def test_a_refusal_names_the_byte(line: bytes, reason: str, offset: int) -> None:
    assert read_json(line) == Malformed(reason, offset)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_ends_at_its_limit(opening: str, closing: str) -> None:
    levels = len(opening.replace('"a":', ""))
    deepest = MAX_NESTING // levels
    assert isinstance(read_json((opening * deepest + "1" + closing * deepest).encode()), Document)
    deeper = read_json((opening * (deepest + 1) + "1" + closing * (deepest + 1)).encode())
    assert deeper == Malformed("nesting_too_deep", len(opening) * deepest)


def test_brackets_in_strings_and_side_by_side_are_not_depth() -> None:
    assert isinstance(read_json(json.dumps("[{" * 2000).encode()), Document)
    assert isinstance(read_json(json.dumps([[]] * 2000).encode()), Document)


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000])
def test_any_depth_is_refused_and_none_exhausts_the_stack(line: bytes) -> None:
    read = read_json(line)
    assert isinstance(read, Malformed)
    assert read.reason == "nesting_too_deep"


def test_what_is_read_does_not_depend_on_the_callers_stack() -> None:
    line = b"[" * (MAX_NESTING - 1) + b"1" + b"]" * (MAX_NESTING - 1)

    def read_after(frames: int) -> Document | Malformed:
        return read_json(line) if frames == 0 else read_after(frames - 1)

    room = sys.getrecursionlimit() - len(inspect.stack(0))
    assert read_after(room - 60) == read_json(line)


@pytest.mark.parametrize("digits", [19, 20, 599, 600, 4300, 4301, 20_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_are_exact_whatever_their_size(sign: str, digits: int) -> None:
    text = sign + "1" + "0" * (digits - 2) + "7"
    read = read_json(text.encode())
    assert isinstance(read, Document)
    assert read.value == Decimal(text)
    assert not isinstance(read.value, float)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1.5E+999999"])
def test_a_float_that_overflows_a_double_is_kept_exactly(text: str) -> None:
    read = read_json(text.encode())
    assert isinstance(read, Document)
    assert read.value == Decimal(text)
    assert not is_finite(read.value)


@pytest.mark.parametrize(
    ("text", "value", "repeated"),
    [
        ('{"a":1,"b":2}', {"a": 1, "b": 2}, ()),
        ('{"a":1,"a":2}', {"a": 2}, ("a",)),
        ('{"b":1,"a":{"c":1,"c":2},"b":3,"b":4}', {"b": 4, "a": {"c": 2}}, ("b", "c")),
        (r'{"a":1,"\u0061":2}', {"a": 2}, ("a",)),
        ('[{"a":1},{"a":2}]', [{"a": 1}, {"a": 2}], ()),
        ('{"":1,"":2}', {"": 2}, ("",)),
    ],
)
def test_the_last_of_repeated_names_wins_and_they_are_told(
    text: str, value: Json, repeated: tuple[str, ...]
) -> None:
    assert read_json(text.encode()) == Document(value, repeated)
    assert read_by_our_own(text) == Document(value, repeated)


@pytest.mark.parametrize("text", [r'"\ud800"', r'"\udc00x"', r'"\ud800\ud800"'])
def test_lone_surrogate_escapes_are_read_and_can_be_printed(text: str) -> None:
    read = read_json(text.encode())
    assert isinstance(read, Document)
    assert read.value == json.loads(text)
    assert printable(read.value).encode().decode() == text.strip('"')


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert read_json(rb'"\ud83d\ude00"') == Document("😀", ())


def test_a_carriage_return_around_a_text_is_white_space() -> None:
    assert read_json(b'{"a":1}\r') == Document({"a": 1}, ())


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (0, 0),
        (-3, -3),
        (2.0, 2),
        (1e3, 1000),
        (2.5, None),
        (True, None),
        ("2", None),
        (None, None),
        (2**80, 2**80),
    ],
)
def test_a_whole_number_is_one_by_value(value: Json, whole: int | None) -> None:
    assert whole_number(value) == whole


@pytest.mark.parametrize(
    ("value", "number", "finite"),
    [
        (0, True, True),
        (-1.5, True, True),
        (10**308, True, True),
        (10**309, True, False),
        (Decimal("1e400"), True, False),
        (True, False, False),
        ("1", False, False),
        (None, False, False),
    ],
)
def test_true_is_no_number_and_an_overflow_is_not_finite(value: Json, number: bool, finite: bool) -> None:
    assert is_number(value) is number
    assert is_finite(value) is finite
