"""From an input that fails to a smaller one that fails alike: first fewer lines, then fewer bytes."""

import time
from collections.abc import Callable, Sequence

Fails = Callable[[bytes], bool]


def shrink(body: bytes, fails: Fails, *, seconds: float = 60.0) -> bytes:
    """Return the smallest failing input that is found in time.

    Args:
        body: an input that fails.
        fails: tells whether an input fails in the same way.
        seconds: for how long to look.
    """
    until = time.monotonic() + seconds
    rows = _fewer(body.split(b"\n"), lambda some: fails(b"\n".join(some)), until)
    for at in sorted(range(len(rows)), key=lambda one: -len(rows[one])):

        def fails_with(row: Sequence[bytes], at: int = at) -> bool:
            return fails(b"\n".join([*rows[:at], b"".join(row), *rows[at + 1 :]]))

        one_by_one = [rows[at][i : i + 1] for i in range(len(rows[at]))]
        rows[at] = b"".join(_fewer(one_by_one, fails_with, until))
    return b"\n".join(rows)


def _fewer(parts: list[bytes], fails: Callable[[list[bytes]], bool], until: float) -> list[bytes]:
    """Leave parts out, in halves, then in ever smaller pieces, as long as it still fails."""
    size = max(1, len(parts) // 2)
    while parts:
        begin = 0
        while begin < len(parts):
            if time.monotonic() > until:
                return parts
            without = parts[:begin] + parts[begin + size :]
            if fails(without):
                parts = without
            else:
                begin += size
        if size == 1:
            break
        size //= 2
    return parts
