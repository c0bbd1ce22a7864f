"""Rulesets as data: which there are, how one is named, and where two differ.

A ruleset is shipped by its dialect, brought by a package, kept in a ledger, or written by a user
(:mod:`ledger.replay.own_rulesets`). Whoever names one does so by its id, or by the beginning of its digest.
Nothing here opens a file or a ledger: what is known is handed in.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from ledger.core.dialect import Dialect, Ruleset, RuleTold
from ledger.core.wording import suggest
from ledger.errors import NotFoundError, RulesetError, UsageError

Origin: TypeAlias = Literal["shipped", "installed", "stored", "file"]
"""Where a ruleset comes from: this version, a package, the ledger, or a file that somebody wrote."""

ID_LIMIT = 100
"""Characters of an id."""

_Named: TypeAlias = tuple[str, str]
"""The name and the clause of a rule; one name may stand for rules of several clauses."""

FILE_SUFFIX = ".toml"
"""What the name of a file ends in that a ruleset is written in."""

RECORDED = "recorded"
"""What stands for the rulesets that runs were decided under, where one is asked for."""

_DIGEST_SIGN = "sha256:"
_BY_DIGEST = re.compile(_DIGEST_SIGN + r"[0-9a-f]{8,64}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Known:
    """A ruleset that can be named, and where it comes from; ``source`` names the package or the file."""

    ruleset: Ruleset
    origin: Origin
    source: str = ""


class Unknown(NamedTuple):
    """A ruleset that a ledger keeps and that nobody can decide under here; ``why`` says why."""

    id: str
    digest: str
    why: str


class SwitchChange(msgspec.Struct, frozen=True, kw_only=True):
    """A switch that stands otherwise in two rulesets; null where a ruleset does not have it."""

    name: str
    clause: str
    says: str
    here: str | None
    there: str | None


class RuleChange(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that only one of two rulesets asks, or that they ask in another order.

    Attributes:
        asked_of: what the rule is asked of.
        name: the rule.
        here: its place among the rules that the first ruleset asks of this, from 1; null where it does not.
        there: its place in the second.
    """

    asked_of: str
    name: str
    clause: str
    says: str
    here: int | None
    there: int | None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Where two rulesets differ; what the first has stands as ``here``, what the second as ``there``."""

    switches: tuple[SwitchChange, ...]
    rules: tuple[RuleChange, ...]

    @property
    def are_none(self) -> bool:
        """Whether the two decide everything alike."""
        return not self.switches and not self.rules


def shipped(dialects: Iterable[Dialect]) -> list[Known]:
    """Return the rulesets that dialects ship, in their order."""
    return [Known(ruleset=one, origin="shipped") for dialect in dialects for one in dialect.rulesets.values()]


def check_id(id: str, known: Iterable[Known]) -> None:
    """Refuse an id that cannot be given to a ruleset of somebody's own.

    Raises:
        RulesetError: it is blank, too long, not printable, or read as something else; or it is taken.
    """
    shown = repr(id) if len(id) <= ID_LIMIT else f"one of {len(id)} characters"
    if not id.strip() or id != id.strip() or not id.isprintable() or len(id) > ID_LIMIT:
        raise RulesetError(
            f"expected an id of 1 to {ID_LIMIT} printable characters without space around it, "
            f"found {shown}; choose one such as acme/2026-12"
        )
    if id.startswith(_DIGEST_SIGN) or id.endswith(FILE_SUFFIX) or id == RECORDED:
        raise RulesetError(
            f"expected an id that is not read as a digest, a file or a word of ours, found {shown}; "
            "choose one such as acme/2026-12"
        )
    taken = next((one for one in known if one.ruleset.id == id), None)
    if taken is not None:
        whose = f"the package {taken.source}" if taken.origin == "installed" else "this version"
        raise RulesetError(
            f"expected an id of its own, found {shown}, which is that of a ruleset of {whose}; choose another"
        )


def named(known: Sequence[Known], name: str, unknown: Iterable[Unknown] = ()) -> Known:
    """Return the ruleset that a name means: an id, or ``sha256:`` and the first of its digest's digits.

    Of rulesets with one id a shipped one comes before an installed one, and that before those in a ledger.

    Raises:
        NotFoundError: none is meant, or more than one, or one of those that are unknown here.
    """
    found = [one for one in known if one.ruleset.id == name]
    found = [one for one in found if one.origin == found[0].origin]
    is_digest = _BY_DIGEST.fullmatch(name) is not None
    if not found and is_digest:
        found = [one for one in known if one.ruleset.digest.startswith(name)]
    if len({one.ruleset.digest for one in found}) > 1:
        digests = ", ".join(one.ruleset.digest for one in found)
        raise NotFoundError(f"{name!r} means more than one ruleset; name one of {digests}")
    for one in unknown if not found else ():
        if name == one.id or (is_digest and one.digest.startswith(name)):
            raise NotFoundError(one.why)
    if not found and name.startswith(_DIGEST_SIGN) and not is_digest:
        raise NotFoundError(f"expected {_DIGEST_SIGN} and 8 to 64 hex digits of a digest, found {name!r}")
    if not found:
        raise NotFoundError(
            f"there is no ruleset {name!r}; {suggest(name, (one.ruleset.id for one in known))}"
        )
    return found[0]


def of_dialect(ruleset: Ruleset, dialect: Dialect) -> Ruleset:
    """Return a ruleset that decides the runs of a dialect.

    Raises:
        UsageError: it decides those of another.
    """
    if ruleset.dialect != dialect.name:
        raise UsageError(
            f"expected a ruleset for {dialect.name}, found {ruleset.id}, which is for {ruleset.dialect}; "
            f"name another, such as {dialect.default_ruleset}"
        )
    return ruleset


def changed_rules(here: Ruleset, there: Ruleset) -> Changes:
    """Return where two rulesets of one dialect differ: switches, rules that one has, rules in another order.

    Of rules in another order those are named that would have to move, as few as can be.
    """
    return Changes(switches=tuple(_switch_changes(here, there)), rules=tuple(_rule_changes(here, there)))


def _switch_changes(here: Ruleset, there: Ruleset) -> list[SwitchChange]:
    ours = {one.name: one for one in here.tell_switches()}
    theirs = {one.name: one for one in there.tell_switches()}
    changes: list[SwitchChange] = []
    for name, told in {**theirs, **ours}.items():
        values = [side[name].value if name in side else None for side in (ours, theirs)]
        if values[0] != values[1]:
            changes.append(
                SwitchChange(name=name, clause=told.clause, says=told.says, here=values[0], there=values[1])
            )
    return changes


def _rule_changes(here: Ruleset, there: Ruleset) -> list[RuleChange]:
    ours, theirs = _by_asked_of(here), _by_asked_of(there)
    changes: list[RuleChange] = []
    for asked_of in dict.fromkeys((*ours, *theirs)):
        mine, other = ours.get(asked_of, {}), theirs.get(asked_of, {})
        first, second = list(mine), list(other)
        stays = _longest_common(first, second)
        changes += [
            RuleChange(
                asked_of=asked_of,
                name=told.name,
                clause=told.clause,
                says=told.says,
                here=first.index(key) + 1 if key in mine else None,
                there=second.index(key) + 1 if key in other else None,
            )
            for key, told in {**mine, **other}.items()
            if key not in stays
        ]
    return changes


def _by_asked_of(ruleset: Ruleset) -> Mapping[str, Mapping[_Named, RuleTold]]:
    """Return the rules in order, by what they are asked of."""
    found: dict[str, dict[_Named, RuleTold]] = {}
    for told in ruleset.tell_rules():
        found.setdefault(told.asked_of, {})[told.name, told.clause] = told
    return found


def _longest_common(first: Sequence[_Named], second: Sequence[_Named]) -> set[_Named]:
    """Return what two orders have in common in the same order, as much of it as can be."""
    place = {key: number for number, key in enumerate(second)}
    best: dict[_Named, tuple[_Named, ...]] = {}
    for key in first:
        if key in place:
            before = [run for last, run in best.items() if place[last] < place[key]]
            best[key] = (*_longest(before), key)
    return set(_longest(best.values()))


def _longest(runs: Iterable[tuple[_Named, ...]]) -> tuple[_Named, ...]:
    return max(runs, key=len, default=())
