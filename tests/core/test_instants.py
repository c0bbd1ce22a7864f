"""Instants are compared exactly, whatever their offset and however many digits they carry."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.instants import (
    RisingTimes,
    is_date_time,
    is_iso_8601,
    read_instant,
    read_micros,
    write_micros,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.builds(
    lambda micros, zone: (EPOCH + timedelta(microseconds=micros)).astimezone(zone),
    st.integers(-62_135_400_000_000_000, 253_402_100_000_000_000),  # some days inside the years 1 to 9999
    OFFSETS,
)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01T00:00:00Z", (0, "")),
        ("1970-01-01t00:00:00z", (0, "")),
        ("1970-01-01T01:00:00+01:00", (0, "")),
        ("1969-12-31T18:30:00-05:30", (0, "")),
        ("1970-01-01T00:00:00-00:00", (0, "")),
        ("1970-01-01T00:00:01.5Z", (1, "5")),
        ("1970-01-01T00:00:01.500000000000Z", (1, "5")),
        ("1970-01-01T00:00:01.000Z", (1, "")),
        ("1970-01-01T00:00:01.0000000000001Z", (1, "0000000000001")),
        ("1969-12-31T23:59:59.25Z", (-1, "25")),
        ("2024-02-29", (1_709_164_800, "")),
        ("2000-02-29T23:59:59+23:59", (951_782_459, "")),
        ("9999-12-31T23:59:59Z", (253_402_300_799, "")),
        ("0001-01-01", (-62_135_596_800, "")),
    ],
)
def test_an_instant_is_its_second_and_its_fraction(text: str, instant: tuple[int, str]) -> None:
    assert read_instant(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-01T00:00:00",  # no offset: no instant
        "2026-01-01T00:00Z",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+01:60",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2016-12-31T23:59:60Z",  # leap seconds are not counted
        "2023-02-29",
        "1900-02-29",
        "2026-04-31",
        "2026-00-01",
        "2026-13-01",
        "2026-01-00",
        "0000-01-01",
        "20260101",
        "+2026-01-01",
        "2026-1-1",
        "2026-01-01\n",
        "2026-01-01T00:00:00Z\n",
        " 2026-01-01",
        "2026-01-01T00:00:00Z ",
        "٢٠٢٦-٠١-٠١",  # digits, but not those of the format
        "2026-01-0１",
        "2026-01-01T00:00:00.５Z",
    ],
)
def test_anything_else_is_no_instant(text: str) -> None:
    assert read_instant(text) is None
    assert read_micros(text) is None


@given(MOMENTS, MOMENTS)
def test_instants_order_as_the_moments_do(one: datetime, other: datetime) -> None:
    first, second = read_instant(one.isoformat()), read_instant(other.isoformat())
    assert first is not None
    assert second is not None
    assert (first < second, first == second) == (one < other, one == other)


@given(MOMENTS, st.text("0123456789", min_size=1), st.text("0123456789", min_size=1))
def test_fractions_order_as_numbers_do(moment: datetime, one: str, other: str) -> None:
    second = moment.strftime("%Y").zfill(4) + moment.strftime("-%m-%dT%H:%M:%S.")
    first, last = read_instant(f"{second}{one}Z"), read_instant(f"{second}{other}Z")
    assert first is not None
    assert last is not None
    width = max(len(one), len(other))
    padded = one.ljust(width, "0"), other.ljust(width, "0")
    assert (first < last, first == last) == (padded[0] < padded[1], padded[0] == padded[1])


@given(MOMENTS)
def test_microseconds_agree_with_datetime(moment: datetime) -> None:
    assert read_micros(moment.isoformat()) == (moment - EPOCH) // timedelta(microseconds=1)


@given(st.dates())
def test_a_date_alone_is_its_midnight_in_utc(day: date) -> None:
    assert read_instant(day.isoformat()) == read_instant(f"{day.isoformat()}T00:00:00Z")


@given(MOMENTS.map(lambda moment: (moment - EPOCH) // timedelta(microseconds=1)))
def test_the_logs_times_read_back_as_they_were_written(at: int) -> None:
    assert read_micros(write_micros(at)) == at


def test_finer_digits_than_microseconds_are_cut_off() -> None:
    assert read_micros("1970-01-01T00:00:00.1234569Z") == 123_456
    assert write_micros(123_456) == "1970-01-01T00:00:00.123456Z"


def test_any_year_is_written_alike() -> None:
    assert write_micros(-62_135_596_800_000_000) == "0001-01-01T00:00:00.000000Z"
    assert write_micros(-1) == "1969-12-31T23:59:59.999999Z"
    assert write_micros(253_402_300_799_999_999) == "9999-12-31T23:59:59.999999Z"


@pytest.mark.parametrize("at", [2**62, -(2**62)])
def test_a_time_outside_the_calendar_prints_as_its_number(at: int) -> None:
    assert write_micros(at) == str(at)


@pytest.mark.parametrize(
    ("first", "given", "filed", "raised"),
    [
        (5, [6, 6, 9], [6, 6, 9], 0),
        (5, [4, 7, 1, 8], [5, 7, 7, 8], 2),
        (5, [0, 3, 0], [0, 5, 0], 1),
        (0, [3, 0, 2], [3, 0, 3], 1),
        (-9, [-12, -3, -4], [-9, -3, -3], 2),
    ],
)
def test_times_never_go_back_and_unknown_ones_stay_unknown(
    first: int, given: list[int], filed: list[int], raised: int
) -> None:
    times = RisingTimes(first)
    assert [times.next(at) for at in given] == filed
    assert times.raised == raised


@given(MOMENTS)
def test_what_is_a_date_time_is_of_iso_8601(moment: datetime) -> None:
    for text in (moment.isoformat(), moment.isoformat().replace("+00:00", "Z")):
        assert is_iso_8601(text)
        assert is_date_time(text) == (read_instant(text) is not None)
    assert is_iso_8601(moment.date().isoformat())
    assert not is_date_time(moment.date().isoformat())


@pytest.mark.parametrize("text", ["2016-12-31T23:59:60Z", "2017-01-01t01:59:60.5+02:00"])
def test_a_leap_second_is_a_date_time_though_nothing_is_compared_with_it(text: str) -> None:
    assert is_date_time(text)
    assert is_iso_8601(text)
    assert read_instant(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-01T08:05:09",
        "2026-10-01T08:05:09,25",
        "2016-12-31T23:59:60",
        "2026-10-01T08:05",
        "2026-10-01T08+02",
        "2026-10-01T08:05:09+0230",
        "20261001T080509.5+02:00",
        "20261001T0805",
        "20261001",
    ],
)
def test_other_spellings_of_iso_8601_are_known_and_are_no_date_times(text: str) -> None:
    assert is_iso_8601(text)
    assert not is_date_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "1790841600",
        "1790841600000",
        "2026-10",
        "2026-1-1",
        "2026-02-30",
        "20260230",
        "2026-1001",
        "2026-10-01 08:05:09Z",
        "2026-10-01T",
        "2026-10-01T24:00:00Z",
        "2026-10-01T08:60:00Z",
        "2026-10-01T08:05:61Z",
        "2026-10-01T08:05:09.Z",
        "2026-10-01T0805Z",
        "20261001T08:05Z",
        "2026-10-01T08:05:09+24:00",
        "2026-10-01T08:05:09Z\n",
        "2026-W40-4",
        "Thu, 01 Oct 2026 08:05:09 GMT",
        "\u0662026-10-01",
    ],
)
def test_what_is_no_time_of_iso_8601(text: str) -> None:
    assert not is_iso_8601(text)
