"""What ECMAScript makes of values where a peer written in it compares or orders them.

Pure arithmetic on values that :mod:`ledger.core.json_reader` read; nothing here knows a protocol.
"""

import re
from decimal import Decimal
from math import inf, trunc

MAX_TIME = 8_640_000_000_000_000
"""The furthest that a date lies from the epoch, in milliseconds. Source: ECMA-262, *TimeClip*."""

INHERITED_NAMES = frozenset(
    (
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    )
)
"""The names that every object inherits. Source: ECMA-262, *Properties of the Object Prototype Object*."""

_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_LARGEST_ARRAY_INDEX = 2**32 - 2


def to_double(number: int | float | Decimal) -> float:
    """Return the double that a peer reads for a number of JSON; beyond the largest it is infinite."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def number_to_string(number: int | float | Decimal) -> str:
    """Return a number as ``String(number)`` writes the double that it is read as.

    The shortest digits that read back to the same double; with an exponent from 1e21 on and below 1e-6;
    negative zero is ``0``. Integers beyond 2**53 become the double that is nearest.

    Source: ECMA-262, *Number::toString*, radix 10; its digits are those of :func:`repr`.
    """
    double = to_double(number)
    if double != double or double in (inf, -inf):
        return "NaN" if double != double else "Infinity" if double > 0 else "-Infinity"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    _, shortest, exponent = Decimal(repr(abs(double))).as_tuple()
    written = "".join(map(str, shortest))
    digits = written.rstrip("0")
    point = int(exponent) + len(written)  # the decimal point stands behind this many digits
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits + "0" * (point - len(digits))
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'+' if power > 0 else '-'}{abs(power)}"


def time_value(number: int | float | Decimal) -> int | None:
    """Return the milliseconds since the epoch that a date made of a number lies at, None where it is none.

    Source: ECMA-262, *TimeClip*: no further from the epoch than :data:`MAX_TIME`; a fraction is cut off.
    """
    double = to_double(number)
    return trunc(double) if abs(double) <= MAX_TIME else None


def is_array_index(name: str) -> bool:
    """Tell a property name that an object lists before all others, in ascending order.

    Source: ECMA-262, *OrdinaryOwnPropertyKeys*: canonical decimal integers below 2**32 - 1.
    """
    return _ARRAY_INDEX.fullmatch(name) is not None and int(name) <= _LARGEST_ARRAY_INDEX
