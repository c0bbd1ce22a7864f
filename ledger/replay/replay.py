"""Replay: from the entries of a run to its decision, under any ruleset."""

from collections.abc import Iterable, Mapping

from ledger.core.decision import Decision
from ledger.core.dialect import Dialect, Ruleset
from ledger.core.entries import Entry
from ledger.core.observations import RunOpened, decode_observation
from ledger.dialects import DIALECTS
from ledger.errors import NotFoundError


def dialect_named(name: str) -> Dialect:
    """Return a dialect by name.

    Raises:
        NotFoundError: this version does not know it.
    """
    dialect = DIALECTS.get(name)
    if dialect is None:
        known = ", ".join(DIALECTS)
        raise NotFoundError(f"the dialect {name!r} is not known to this version, which knows: {known}")
    return dialect


def ruleset_named(dialect: Dialect, ruleset: str | None) -> Ruleset:
    """Return a shipped ruleset of a dialect by its id; None stands for the dialect's default.

    Raises:
        NotFoundError: the dialect has no such ruleset.
    """
    found = dialect.rulesets.get(dialect.default_ruleset if ruleset is None else ruleset)
    if found is None:
        known = ", ".join(dialect.rulesets)
        raise NotFoundError(f"there is no ruleset {ruleset!r} for {dialect.name}; there are: {known}")
    return found


def opening(entry: Entry) -> RunOpened | None:
    """Read a run's first entry; None where it is not the opening of a run."""
    observation = decode_observation(entry.body) if entry.body is not None else None
    return observation if isinstance(observation, RunOpened) else None


def replay(
    dialect: Dialect, entries: Iterable[Entry], documents: Mapping[str, bytes], ruleset: Ruleset | None = None
) -> Decision:
    """Fold a run and decide it.

    Args:
        dialect: what the run speaks.
        entries: its entries in order, or a prefix of them.
        documents: manifests by digest; at least the one that the run was opened with.
        ruleset: a ruleset of the dialect, None for its default.

    Returns:
        The decision, a ``run-decision/1``.
    """
    state = dialect.initial_state(ruleset or ruleset_named(dialect, None), documents)
    dialect.evolve(state, entries)
    return dialect.decide(state)


def replay_under_all(
    dialect: Dialect, entries: Iterable[Entry], documents: Mapping[str, bytes], ruleset: Ruleset | None = None
) -> tuple[Decision, ...]:
    """Fold a run once under every shipped ruleset, and decide it under each.

    Args:
        dialect: what the run speaks.
        entries: its entries in order, or a prefix of them; gone through once.
        documents: manifests by digest; at least the one that the run was opened with.
        ruleset: the ruleset whose decision comes first, None for the dialect's default.

    Returns:
        That decision, then the others in the order in which the dialect ships them.
    """
    first = ruleset or ruleset_named(dialect, None)
    others = (one for one in dialect.rulesets.values() if one.id != first.id)
    states = [dialect.initial_state(one, documents) for one in (first, *others)]
    dialect.evolve_all(states, entries)
    return tuple(dialect.decide(state) for state in states)
