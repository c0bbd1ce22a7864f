"""Sizes as people write them: ``65536``, ``64KiB``, ``16MiB``, ``1G``."""

import re

from ledger.errors import UsageError

_SIZE = re.compile(r"(\d{1,15})\s*(?:([KMG])(?:iB|B)?|B)?", re.ASCII | re.IGNORECASE)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def read_size(text: str, *, option: str, least: int, most: int) -> int:
    """Return a size in bytes; a K is 1,024 of them, however it is spelled.

    Raises:
        UsageError: it is no size, or not between the least and the most, bytes both.
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _UNITS[(match[2] or "").upper()] if match is not None else -1
    if not least <= size <= most:
        raise UsageError(
            f"expected {option} to be a size such as 16MiB, from {least} to {most} bytes, found {text!a}"
        )
    return size
