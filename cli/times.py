"""Times as people give them on the command line."""

import re

from ledger.core.instants import read_micros
from ledger.errors import UsageError

_AGO = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def read_time(text: str, now: float, option: str = "--since") -> int:
    """Read a time, or how long ago, into microseconds since the epoch.

    Args:
        text: a date, an instant with its offset, or a number and one of s, m, h, d, w.
        now: seconds since the epoch.
        option: what it was given for.

    Raises:
        UsageError: it is neither.
    """
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return int((now - int(ago.group(1)) * _SECONDS[ago.group(2)]) * 1_000_000)
    at = read_micros(text)
    if at is None:
        raise UsageError(
            f"expected {option} as a date, an instant with its offset, or 7d or 12h; found {text!r}"
        )
    return at
