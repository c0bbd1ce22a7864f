"""A ledger that nobody damaged, and a copy of it to damage."""

import shutil
from pathlib import Path

import pytest

from tests.log.damages import (
    make_ledger,
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that nobody damaged; to be read only."""
    path = tmp_path_factory.mktemp("sound") / "ledger.db"
    make_ledger(path)
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to damage."""
    path = tmp_path / "ledger.db"
    shutil.copyfile(sound, path)
    return path
