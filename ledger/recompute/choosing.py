"""Which rulesets a run is held against, and how a process comes by them."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ledger.core.dialect import Ruleset
from ledger.dialects import DIALECTS
from ledger.replay.replay import dialect_named


class RulesetsByDigest(Mapping[str, Ruleset]):
    """Rulesets by digest: those that are shipped, and those of which a document was added."""

    def __init__(self) -> None:
        self._known = {one.digest: one for dialect in DIALECTS.values() for one in dialect.rulesets.values()}

    def add(self, document: bytes) -> None:
        """Add the ruleset that a document describes."""

    def __getitem__(self, name: str) -> Ruleset:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


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

    def __init__(self, after: Ruleset | None, before: Ruleset | None, known: Iterable[Ruleset] = ()) -> None:
        """Choose.

        Args:
            after: the new rules, None for each dialect's default.
            before: the old ones, None for what each run was recorded under.
            known: rulesets beside those that are shipped, which a run may name.
        """
        self._after = after
        self._before = before
        self._known = {one.id: one for one in known}

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
        return self.recorded(dialect, recorded)

    def recorded(self, dialect: str, recorded: Recorded) -> Ruleset | None:
        """Return the rules that a run was recorded under, None where nobody knows them here."""
        found = dialect_named(dialect)
        name = recorded.ruleset or found.default_ruleset
        ruleset = found.rulesets.get(name) or self._known.get(name)
        return ruleset if ruleset is not None and ruleset.dialect == dialect else None
