"""Points in time: the log's microseconds, and the instants that records carry.

The log's own times are integers, microseconds since the epoch, UTC. Times inside records come with any
number of fraction digits and any offset; they are compared as instants, exactly, by
:func:`read_instant`. Nothing here asks what time it is.
"""

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

Instant: TypeAlias = tuple[int, str]
"""Seconds since the epoch, and the fraction's digits without trailing zeros. Tuples compare as instants."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - in UTC like all else here; naive, it prints no offset
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d)))?",
    re.ASCII,
)
_HOUR = re.compile(r"(\d{4}-\d\d-\d\d)T([01]\d|2[0-3])", re.ASCII)
_HOURS, _MINUTES, _SECONDS = r"(?:[01]\d|2[0-3])", r"[0-5]\d", r"(?:[0-5]\d|60)(?:[.,]\d+)?"
_OFFSET = rf"(?:[Zz]|[+-]{_HOURS}(?::?{_MINUTES})?)?"
_EXTENDED = re.compile(
    rf"(\d{{4}})-(\d\d)-(\d\d)(?:[Tt]{_HOURS}(?::{_MINUTES}(?::{_SECONDS})?)?{_OFFSET})?", re.ASCII
)
_BASIC = re.compile(
    rf"(\d{{4}})(\d\d)(\d\d)(?:[Tt]{_HOURS}(?:{_MINUTES}(?:{_SECONDS})?)?{_OFFSET})?", re.ASCII
)
_USUAL = re.compile(  # only for speed: nearly all times are spelled so, on any day but a 29 February
    r"(?!0000)\d{4}-"
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z",
    re.ASCII,
)
_SIXTY = {f":{number:02}": number for number in range(60)}


def read_instant(text: str) -> Instant | None:
    """Read a date-time with its offset, or a date alone (midnight UTC).

    Args:
        text: ``YYYY-MM-DD`` or ``YYYY-MM-DDThh:mm:ss[.f…](Z|±hh:mm)``.

    Returns:
        The instant, or None where the text is neither: no offset, no such day, hour above 23, second
        above 59.

    Source: RFC 3339 §5.6, without leap seconds; the date alone is our reading of ``scope/2``.
    """
    usual = _read_usual(text)
    if usual is not None:
        return usual[0], usual[1].rstrip("0")
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, fraction, sign, off_hour, off_minute = match.groups()
    days = _days(day)
    if days is None:
        return None
    if hour is None:
        return days * 86400, ""
    h, m, s = int(hour), int(minute), int(second)
    if h > 23 or m > 59 or s > 59:
        return None
    seconds = days * 86400 + h * 3600 + m * 60 + s
    if sign is not None:
        oh, om = int(off_hour), int(off_minute)
        if oh > 23 or om > 59:
            return None
        seconds -= (oh * 3600 + om * 60) * (1 if sign == "+" else -1)
    return seconds, (fraction or "").rstrip("0")


def is_date_time(text: str) -> bool:
    """Tell a date-time with its offset, as :func:`read_instant` reads one; a date alone is none.

    A leap second is one, as nothing is compared with it.

    Source: RFC 3339 §5.6.
    """
    if text[16:19] == ":60":
        text = f"{text[:16]}:59{text[19:]}"
    return len(text) > len("YYYY-MM-DD") and read_instant(text) is not None


def is_iso_8601(text: str) -> bool:
    """Tell a date, or a date with a time of day, of ISO 8601.

    Extended or basic, throughout: ``2026-10-01T08:05:09.5+02:00`` or ``20261001T080509,5+0200``. Seconds, and
    minutes with them, may be left out; so may the offset, and the whole time. A leap second is one. Dates by
    week or by day of the year are not read, nor is 24:00.
    """
    if _USUAL.fullmatch(text) is not None:
        return True
    match = _EXTENDED.fullmatch(text) or _BASIC.fullmatch(text)
    return match is not None and _days("-".join(match.groups())) is not None


def _read_usual(text: str) -> tuple[int, str] | None:
    """Read the seconds and the fraction of ``YYYY-MM-DDThh:mm:ss[.f…]Z``, None of any other text.

    Only for speed: nearly all times are spelled so, and those read one after another are mostly of few hours.
    """
    hour, minute, second = _hour(text[:13]), _SIXTY.get(text[13:16]), _SIXTY.get(text[16:19])
    if hour is None or minute is None or second is None:
        return None
    rest = text[19:]
    if rest == "Z":
        return hour + minute * 60 + second, ""
    digits = rest[1:-1]
    if rest[:1] == "." and rest[-1] == "Z" and digits.isdecimal() and digits.isascii():
        return hour + minute * 60 + second, digits
    return None


@lru_cache(maxsize=4096)
def _hour(text: str) -> int | None:
    """Return the seconds from the epoch to ``YYYY-MM-DDThh``, None where there is no such hour."""
    match = _HOUR.fullmatch(text)
    days = _days(match.group(1)) if match is not None else None
    return days * 86400 + int(match.group(2)) * 3600 if match is not None and days is not None else None


@lru_cache(maxsize=4096)
def _days(day: str) -> int | None:
    """Return the days from the epoch to ``YYYY-MM-DD``, None where there is no such day."""
    try:
        return date.fromisoformat(day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None


def to_milliseconds(instant: Instant) -> int:
    """Return an instant as milliseconds since the epoch; finer digits are cut off."""
    seconds, fraction = instant
    return seconds * 1000 + int((fraction + "000")[:3])


def read_micros(text: str) -> int | None:
    """Read a date-time or a date into microseconds since the epoch; finer digits are cut off.

    Returns None where the text is neither.
    """
    instant = _read_usual(text) or read_instant(text)
    if instant is None:
        return None
    seconds, fraction = instant
    return seconds * 1_000_000 + int((fraction + "000000")[:6])


def write_micros(at: int) -> str:
    """Write microseconds since the epoch as RFC 3339, UTC, with six fraction digits.

    Times outside the years 1 to 9999 come out as their bare number, so that no entry is unprintable.
    """
    seconds, micros = divmod(at, 1_000_000)
    try:
        return f"{_second(seconds)}.{micros:06}Z"
    except OverflowError:
        return str(at)


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    """Return a second as RFC 3339, without its offset; lines come many a second.

    Raises:
        OverflowError: it lies outside the years 1 to 9999.
    """
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()


class RisingTimes:
    """Times that never go back: one that would is raised to the last one known; unknown ones (0) stay so.

    Attributes:
        last: the last time known, microseconds since the epoch, UTC; 0 where none is.
        raised: how many went back.
    """

    __slots__ = ("last", "raised")

    def __init__(self, first: int) -> None:
        self.last = first
        self.raised = 0

    def next(self, at: int) -> int:
        """Return the time to file the next thing under."""
        if at == 0:
            return 0
        if self.last and at < self.last:
            self.raised += 1
            return self.last
        self.last = at
        return at
