"""How a ruleset is named on the command line, and which there are to be named."""

from collections.abc import Callable
from functools import cache

from ledger.core.dialect import Dialect, Ruleset
from ledger.dialects import DIALECTS
from ledger.log.store import RunRow, Store
from ledger.replay.replay import dialect_named, ruleset_named
from ledger.replay.rulesets import Known, named, of_dialect, shipped


def find_ruleset(store: Store | None, dialect: Dialect, name: str | None) -> Ruleset:
    """Return the ruleset of a dialect that a name means; None stands for the dialect's default.

    Args:
        store: the ledger, None where there is none.
        dialect: whose runs it is to decide.
        name: an id, or ``sha256:`` and at least eight digits of a digest.

    Raises:
        NotFoundError: there is none of this name, or more than one.
        UsageError: it is for another dialect.
    """
    if name is None:
        return ruleset_named(dialect, None)
    return of_dialect(any_ruleset(store, name).ruleset, dialect)


def ruleset_finder(store: Store | None, name: str | None) -> Callable[[RunRow], Ruleset]:
    """Return what gives the ruleset of this name for a run, and looks for it once a dialect."""

    @cache
    def find(dialect: str) -> Ruleset:
        return find_ruleset(store, dialect_named(dialect), name)

    return lambda run: find(run.dialect)


def any_ruleset(store: Store | None, name: str) -> Known:
    """Return the ruleset that a name means, of whichever dialect.

    Raises:
        NotFoundError: there is none of this name, or more than one.
    """
    return named(shipped(DIALECTS.values()), name)
