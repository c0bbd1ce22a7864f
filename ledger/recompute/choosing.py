"""Which rulesets a run is held against: what was asked for, else what its own log says of it."""

from collections.abc import Callable, Sequence

import msgspec

from ledger.core.dialect import Ruleset
from ledger.errors import NotFoundError
from ledger.replay.replay import dialect_named
from ledger.replay.rulesets import Known, named


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's own log says of how it was decided.

    Attributes:
        ruleset: the ruleset's id, null where it says none.
        cut: the entry through which it was decided, 0 where it says none.
        decision: the digest of that decision, '' where it says none.
    """

    ruleset: str | None = None
    cut: int = 0
    decision: str = ""


class Choice:
    """The two rulesets of each run: what it is decided under now, and what that is held against."""

    def __init__(
        self,
        after: Ruleset | None,
        before: Ruleset | None,
        known: Callable[[], Sequence[Known]] = lambda: (),
    ) -> None:
        """Choose.

        Args:
            after: the new rules, None for each dialect's default.
            before: the old ones, None for what each run was recorded under.
            known: gives the rulesets that a run may name, once one does that is not shipped.
        """
        self._after = after
        self._before = before
        self._known = known
        self._found: dict[str, Ruleset | None] = {}

    def after(self, dialect: str) -> Ruleset | None:
        """Return the new rules for a dialect's runs, None where they are for those of another."""
        if self._after is None:
            found = dialect_named(dialect)
            return found.rulesets[found.default_ruleset]
        return self._after if self._after.dialect == dialect else None

    def before(self, dialect: str, recorded: Recorded) -> Ruleset | None:
        """Return the old rules for a run, None where there are none that are known here and of its dialect.

        A run that names none is held against its dialect's default.
        """
        if self._before is not None:
            return self._before if self._before.dialect == dialect else None
        return self.recorded_under(dialect, recorded)

    def recorded_under(self, dialect: str, recorded: Recorded) -> Ruleset | None:
        """Return the rules that a run was recorded under, None where nobody knows them here."""
        found = dialect_named(dialect)
        name = recorded.ruleset or found.default_ruleset
        ruleset = found.rulesets.get(name) or self._named(name)
        return ruleset if ruleset is not None and ruleset.dialect == dialect else None

    def _named(self, name: str) -> Ruleset | None:
        """Return what is known by a name beside what is shipped, None where that is not one ruleset."""
        if name not in self._found:
            try:
                self._found[name] = named(self._known(), name).ruleset
            except NotFoundError:
                self._found[name] = None
        return self._found[name]
