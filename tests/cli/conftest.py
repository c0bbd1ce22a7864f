"""A ledger of all the sample runs, made once; a test that writes gets a copy."""

import shutil
from pathlib import Path

import pytest

from ledger.dialects import DIALECTS
from ledger.exchange.importing import import_transcript
from ledger.log.sqlite_store import SqliteStore
from tests.cli.transcripts import TRANSCRIPTS


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of the sample runs; to be read only."""
    path = tmp_path_factory.mktemp("samples") / "ledger.db"
    with SqliteStore.open(path, create=True) as store:
        for transcript in TRANSCRIPTS:
            import_transcript(store, transcript, DIALECTS)
    return path


@pytest.fixture
def ledger(samples: Path, tmp_path: Path) -> Path:
    """A copy of it, to write to."""
    path = tmp_path / "ledger.db"
    shutil.copyfile(samples, path)
    return path


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """Where a ledger may be made."""
    return tmp_path / "ledger.db"
