"""Sizes as people write them."""

import pytest

from cli.sizes import read_size
from ledger.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("5", 5),
        ("5B", 5),
        ("2K", 2048),
        ("2kb", 2048),
        ("2 KiB", 2048),
        (" 3M ", 3 << 20),
        ("3MiB", 3 << 20),
        ("1G", 1 << 30),
        ("1gib", 1 << 30),
    ],
)
def test_a_size_is_read_in_bytes(text: str, size: int) -> None:
    assert read_size(text, option="--max", least=1, most=1 << 40) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1.5M", "1T", "1 0", "١", "9" * 99, "0", "2G", "5iB"])
def test_what_is_no_size_or_out_of_bounds_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected --max to be a size such as 16MiB, from 1 to 1073741824"):
        read_size(text, option="--max", least=1, most=1 << 30)
