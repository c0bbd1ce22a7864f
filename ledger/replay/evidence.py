"""Which of the rules that a change touches a history gave any occasion for.

A rule that was asked and always held makes no difference to this history. One that was never asked is
another matter: the history says nothing about it, either way.
"""

from collections.abc import Iterable

import msgspec

from ledger.core.dialect import Ruleset
from ledger.replay.rulesets import Changes, changed_rules


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A rule or a switch that differs.

    Attributes:
        what: ``switch``, or ``rule on`` and what it is asked of.
        before: where the old ruleset has it: a switch's value, a rule's place; null where it does not.
        after: likewise of the new ruleset.
    """

    what: str
    name: str
    clause: str
    says: str
    before: str | None
    after: str | None


class Evidence:
    """What the runs of a history exercised, as they come."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, str], Changes] = {}
        self._before: set[str] = set()
        self._after: set[str] = set()

    def add(
        self, before: Ruleset, after: Ruleset, exercised_before: Iterable[str], exercised_after: Iterable[str]
    ) -> None:
        """Add what one run exercised under the old rules and under the new ones."""
        pair = before.digest, after.digest
        if pair not in self._changes:
            self._changes[pair] = changed_rules(before, after)
        self._before.update(exercised_before)
        self._after.update(exercised_after)

    @property
    def changed(self) -> int:
        """How many rules and switches differ."""
        return len(self._changed())

    def never_exercised(self) -> list[Change]:
        """Return what differs, and was exercised by no run."""
        return [one for one in self._changed() if not self._is_exercised(one)]

    def _is_exercised(self, one: Change) -> bool:
        was = one.before is not None and one.name in self._before
        return was or (one.after is not None and one.name in self._after)

    def _changed(self) -> list[Change]:
        found: dict[tuple[str, str, str], Change] = {}
        for changes in self._changes.values():
            for switch in changes.switches:
                found.setdefault(
                    ("switch", switch.name, switch.clause),
                    Change(
                        what="switch",
                        name=switch.name,
                        clause=switch.clause,
                        says=switch.says,
                        before=switch.here,
                        after=switch.there,
                    ),
                )
            for rule in changes.rules:
                found.setdefault(
                    (rule.asked_of, rule.name, rule.clause),
                    Change(
                        what=f"rule on {rule.asked_of}",
                        name=rule.name,
                        clause=rule.clause,
                        says=rule.says,
                        before=None if rule.here is None else str(rule.here),
                        after=None if rule.there is None else str(rule.there),
                    ),
                )
        return list(found.values())
