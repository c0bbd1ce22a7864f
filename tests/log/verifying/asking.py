"""What verifying says of a ledger, in the forms that the tests compare."""

from pathlib import Path

from ledger.core.merkle import root
from ledger.dialects import DIALECTS
from ledger.log.sqlite_store import SqliteStore
from ledger.log.verifying import IntegrityFinding, KnownHeads, Verification

Named = tuple[str, str | None, int | None, int | None]


def findings(path: Path, *runs: str, known: KnownHeads | None = None) -> list[IntegrityFinding]:
    with Verification(path, DIALECTS, known=known) as verification:
        rows = [row for row in verification.store.runs_as_appended() if row.run_id in runs] if runs else None
        found = list(verification.findings(rows))
        assert verification.summary.findings >= len(found) - 2
        assert bool(verification.summary.findings) == bool(found)
    return found


def named(path: Path, *runs: str, known: KnownHeads | None = None) -> list[Named]:
    """Where the ledger is broken; some versions of SQLite add that its own CHECK constraints are."""
    return [
        (one.code, one.run_id, one.first, one.last)
        for one in findings(path, *runs, known=known)
        if not one.found.startswith("CHECK constraint failed")
    ]


def known_heads(path: Path) -> dict[str, dict[int, bytes]]:
    with SqliteStore.open(path, create=False, read_only=True) as store:
        return {
            run.run_id: {head.size: root(head.peaks, head.size) for head in store.heads(run.run_no)}
            for run in store.runs_as_appended()
        }
