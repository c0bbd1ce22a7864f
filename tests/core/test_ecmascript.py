"""What ECMAScript makes of numbers and names; the right columns are what an ECMAScript engine printed."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.ecmascript import is_array_index, number_to_string, time_value
from ledger.core.json_reader import Document, read_json

WRITTEN = [
    ("0", "0"),
    ("-0", "0"),
    ("-0.0", "0"),
    ("1", "1"),
    ("1.0", "1"),
    ("-1.50", "-1.5"),
    ("1e2", "100"),
    ("12345.678", "12345.678"),
    ("4.35", "4.35"),
    ("0.1", "0.1"),
    ("1e-5", "0.00001"),
    ("0.000001", "0.000001"),
    ("0.000001234", "0.000001234"),
    ("1e-7", "1e-7"),
    ("1.5e-7", "1.5e-7"),
    ("-123e-20", "-1.23e-18"),
    ("5e-324", "5e-324"),
    ("1e-400", "0"),
    ("1e20", "100000000000000000000"),
    ("123456789012345680000", "123456789012345680000"),
    ("999999999999999900000", "999999999999999900000"),
    ("1e21", "1e+21"),
    ("1234567890123456789012", "1.2345678901234568e+21"),
    ("1e23", "1e+23"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ("9007199254740991", "9007199254740991"),
    ("9007199254740992", "9007199254740992"),
    ("9007199254740993", "9007199254740992"),
    ("-9007199254740995", "-9007199254740996"),
    ("1e400", "Infinity"),
    ("-1e400", "-Infinity"),
    ("1e9999999", "Infinity"),
    ("1e99999999999999999999", "Infinity"),
    ("9" * 400, "Infinity"),
    ("-" + "9" * 5000, "-Infinity"),
]


@pytest.mark.parametrize(("json", "text"), WRITTEN, ids=[json[:24] for json, _ in WRITTEN])
def test_a_number_is_written_as_ecmascript_writes_it(json: str, text: str) -> None:
    document = read_json(json.encode())
    assert isinstance(document, Document)
    assert number_to_string(document.value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_written_reads_back_to_the_same_double(number: float) -> None:
    assert float(number_to_string(number)) == number


@given(st.integers() | st.decimals(allow_nan=False, allow_infinity=False))
def test_an_exact_number_is_written_as_the_double_that_it_is_read_as(number: int | Decimal) -> None:
    try:
        double = float(number)
    except OverflowError:
        double = float("inf") if number > 0 else float("-inf")
    assert number_to_string(number) == number_to_string(double)


@given(st.floats(min_value=1e-6, max_value=1e21, exclude_max=True))
def test_there_is_an_exponent_only_where_the_number_is_far_from_one(number: float) -> None:
    assert "e" not in number_to_string(number)
    assert "e" in number_to_string(number * 1e22 if number >= 1 else number * 1e22 * 1e6)


@pytest.mark.parametrize(
    ("number", "milliseconds"),
    [
        (0, 0),
        (-0.9, 0),
        (1.9, 1),
        (-1.9, -1),
        (1767225600000, 1767225600000),
        (8_640_000_000_000_000, 8_640_000_000_000_000),
        (-8_640_000_000_000_000, -8_640_000_000_000_000),
        (8_640_000_000_000_001, None),
        (-8.64e15 - 1, None),
        (10**400, None),
        (Decimal("1e9999999"), None),
        (float("inf"), None),
    ],
)
def test_a_number_is_a_date_only_within_its_range(number: int | float, milliseconds: int | None) -> None:
    assert time_value(number) == milliseconds


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *[(name, True) for name in ("0", "7", "2024", "4294967294")],
        *[
            (name, False)
            for name in ("4294967295", "99999999999", "01", "-1", "1.0", "1e3", "", " 1", "1\n", "٣")
        ],
    ],
)
def test_an_array_index_is_canonical_and_below_two_to_the_32_minus_one(name: str, is_one: bool) -> None:
    assert is_array_index(name) == is_one
