"""What the stress tests have in common: how large they are, children that are cheap to start, a sound ledger.

Children are forked, so that two hundred of them start within seconds. The parent must hold no ledger open
when it forks: a connection to SQLite is not to be taken through a fork.
"""

import os
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from ledger.dialects import DIALECTS
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import Verification
from tests.log.scripted import ScriptedDialect

IS_FULL = os.environ.get("STRESS") == "full"
"""`make stress` sets it; `make test` runs the same in small."""

KILLS = 200 if IS_FULL else 20
SECONDS = 60.0 if IS_FULL else 5.0

FORK = get_context("fork")


def begin(work: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """Start a child that does some work."""
    child = FORK.Process(target=work, args=arguments, daemon=True)
    child.start()
    return child


def kill(child: BaseProcess) -> bool:
    """Kill a child as ``kill -9`` does; False where it was through already."""
    child.kill()
    child.join()
    status = child.exitcode
    child.close()
    assert status in (0, -9)
    return status == -9


def assert_sound(path: Path) -> None:
    """Recompute the whole ledger."""
    with Verification(path, {**DIALECTS, "scripted": ScriptedDialect()}) as verification:
        assert list(verification.findings()) == []


def heads_of(path: Path) -> dict[str, list[tuple[int, bytes]]]:
    """Every head of every run by the run's id: with the same salts, the same log."""
    with SqliteStore.open(path, create=False, read_only=True) as store:
        return {
            run.run_id: [(head.size, head.peaks) for head in store.heads(run.run_no)] for run in store.runs()
        }
