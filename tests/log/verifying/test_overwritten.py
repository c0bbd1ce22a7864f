"""A file that was overwritten at random is broken, or says what it said."""

from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from ledger.errors import FormatError, IntegrityError
from tests.log.damages import (
    outside,
)
from tests.log.verifying.asking import findings


def overwritten(body: bytes, dice: Random) -> bytes:
    """Change some bytes, swap two pages, blank one, or cut the file off."""
    changed = bytearray(body)
    first, second = (dice.randrange(len(body) // 8192) * 8192 for _ in range(2))
    page, other = changed[first : first + 8192], changed[second : second + 8192]
    match dice.randrange(5):
        case 0:
            for _ in range(dice.randrange(1, 40)):
                changed[dice.randrange(len(body))] = dice.randrange(256)
        case 1:
            changed[first : first + 8192] = dice.randbytes(8192)
        case 2:
            changed[first : first + 8192] = bytes(8192)
        case 3:
            changed[first : first + 8192], changed[second : second + 8192] = other, page
        case _:
            del changed[dice.randrange(len(body)) :]
    return bytes(changed)


def logical(path: Path) -> list[str]:
    with closing(outside(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize("seed", range(150))
def test_a_file_that_was_overwritten_at_random_is_broken_or_says_what_it_said(path: Path, seed: int) -> None:
    with closing(outside(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    said_before = logical(path)
    path.write_bytes(overwritten(path.read_bytes(), Random(seed)))
    try:
        found = findings(path)
    except (FormatError, IntegrityError):
        return
    assert found or logical(path) == said_before
