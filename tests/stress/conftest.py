"""A folder in memory, where there is one: a kill takes nothing from the system's buffers."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where ledgers may be made by the hundred."""
    if not (MEMORY.is_dir() and os.access(MEMORY, os.W_OK)):
        yield tmp_path
        return
    with TemporaryDirectory(prefix="runledger-stress-", dir=MEMORY) as name:
        yield Path(name)
