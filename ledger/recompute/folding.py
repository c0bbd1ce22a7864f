"""Runs folded in this process: each under one ruleset or two, in one pass over its entries."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from ledger.core.decision import encode_decision
from ledger.core.dialect import Ruleset
from ledger.core.digests import digest
from ledger.core.json_reader import printable
from ledger.errors import IntegrityError, LedgerError
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import Store
from ledger.recompute.rulesets_by_digest import RulesetsByDigest
from ledger.recompute.tasks import Batch, Folded, Result, Results, Task, Unread
from ledger.replay.replay import dialect_named


def fold(store: Store, rulesets: Mapping[str, Ruleset], task: Task) -> Result:
    """Fold a run, and decide it under each ruleset of the task.

    Args:
        store: the ledger.
        rulesets: rulesets by digest; at least those of the task.
        task: the run.

    Raises:
        LedgerError: the ledger can no longer be read.
        RuntimeError: a rule, which may be a package's own, or the fold failed; says of which run.
    """
    try:
        return _fold(store, rulesets, task)
    except LedgerError:
        raise
    except (Exception, SystemExit) as error:
        failed = f"{type(error).__name__} where run {_id_of(store, task)} was folded: {error}"
        raise RuntimeError(failed) from error


def _fold(store: Store, rulesets: Mapping[str, Ruleset], task: Task) -> Result:
    dialect = dialect_named(task.dialect)
    try:
        documents = store.documents([task.manifest] if task.manifest is not None else [])
        states = {name: dialect.initial_state(rulesets[name], documents) for name in task.rulesets}
        together = list(states.values())
        entries = store.entries(task.run_no, through=task.size)
        at_cut = None
        if task.cut_ruleset:
            dialect.evolve_all(together, islice(entries, task.cut))
            at_cut = digest(encode_decision(dialect.decide(states[task.cut_ruleset])))
        dialect.evolve_all(together, entries)
    except IntegrityError as error:
        return Unread(why=str(error))
    return tuple(
        Folded(
            ruleset=name,
            decision=encode_decision(dialect.decide(state)),
            exercised=tuple(sorted(dialect.exercised(state))),
            at_cut=at_cut if name == task.cut_ruleset else None,
        )
        for name, state in states.items()
    )


def _id_of(store: Store, task: Task) -> str:
    """Return the id of the run of a task, for who is told what went wrong with it."""
    found = (run.run_id for run in store.runs_as_appended() if run.run_no == task.run_no)
    return printable(next(found, f"number {task.run_no}"))


class BatchFolder:
    """Folds batches in this process, with the ledger open for itself."""

    def __init__(self, path: Path) -> None:
        self._store = SqliteStore.open(path, create=False, read_only=True)
        self._rulesets = RulesetsByDigest()

    def fold(self, batch: Batch) -> Results:
        """Fold every run of a batch.

        Raises:
            NotFoundError: a ruleset was made of rules that are not here.
        """
        for document in batch.documents:
            self._rulesets.add(document)
        return tuple(fold(self._store, self._rulesets, task) for task in batch.tasks)

    def close(self) -> None:
        self._store.close()
