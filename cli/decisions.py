"""Where the store and the replay meet: opening a ledger, and deciding a run that it holds."""

from collections.abc import Iterator
from contextlib import contextmanager

from cli.options import Common
from ledger.core.decision import Decision
from ledger.core.dialect import Ruleset
from ledger.errors import NotFoundError
from ledger.log.store import RunRow, Store
from ledger.recompute.openings import documents_of
from ledger.replay.replay import dialect_named, replay, replay_under_all


@contextmanager
def open_ledger(common: Common, *, write: bool = False, create: bool = True) -> Iterator[Store]:
    """Open the ledger, and close it in the end; only ``write`` makes it, unless ``create`` is false.

    Raises:
        NotFoundError: there is none, and it was not to be created.
    """
    from ledger.log.sqlite_store import SqliteStore

    try:
        store = SqliteStore.open(common.ledger, create=write and create, read_only=not write)
    except NotFoundError:
        if write and create:
            raise
        raise NotFoundError(
            f"there is no ledger at {common.ledger}; `runledger import FILE` makes one, "
            "and -l PATH or the variable RUNLEDGER names another"
        ) from None
    try:
        yield store
    finally:
        store.close()


def decide_run(store: Store, run: RunRow, ruleset: Ruleset | None) -> Decision:
    """Fold a run that the ledger holds, and decide it; None is the dialect's default ruleset.

    Raises:
        NotFoundError: the run's dialect is not known here.
    """
    dialect, documents = dialect_named(run.dialect), documents_of(store, run)
    return replay(dialect, store.entries(run.run_no), documents, ruleset)


def decide_run_under_all(store: Store, run: RunRow, ruleset: Ruleset | None) -> tuple[Decision, ...]:
    """Fold a run once, and decide it under the ruleset that is asked for and then under every other.

    Raises:
        NotFoundError: the run's dialect is not known here.
    """
    dialect, documents = dialect_named(run.dialect), documents_of(store, run)
    return replay_under_all(dialect, store.entries(run.run_no), documents, ruleset)
