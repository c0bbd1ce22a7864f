"""Where the store and the replay meet: opening a ledger, and deciding a run that it holds."""

from collections.abc import Iterator
from contextlib import contextmanager

from cli.options import Common
from ledger.core.decision import Decision
from ledger.errors import NotFoundError
from ledger.log.store import RunRow, Store
from ledger.replay.replay import dialect_named, opening, replay


@contextmanager
def open_ledger(common: Common, *, write: bool = False) -> Iterator[Store]:
    """Open the ledger, and close it in the end; only ``write`` creates it.

    Raises:
        NotFoundError: there is none, and it was not to be created.
    """
    from ledger.log.sqlite_store import SqliteStore

    if not write and not common.ledger.exists():
        raise NotFoundError(
            f"there is no ledger at {common.ledger}; `runledger import FILE` makes one, "
            "and -l PATH or the variable RUNLEDGER names another"
        )
    store = SqliteStore.open(common.ledger, create=write, read_only=not write)
    try:
        yield store
    finally:
        store.close()


def decide_run(store: Store, run: RunRow, ruleset: str | None) -> Decision:
    """Fold a run that the ledger holds, and decide it.

    Raises:
        NotFoundError: the run's dialect is not known here, or has no such ruleset.
    """
    first = next(store.entries(run.run_no, through=1), None)
    opened = opening(first) if first is not None else None
    wanted = [opened.manifest] if opened is not None and opened.manifest is not None else []
    return replay(dialect_named(run.dialect), store.entries(run.run_no), store.documents(wanted), ruleset)
