"""Rulesets that other packages bring, found by the entry point group ``runledger.rulesets``.

An entry point loads to a ruleset, to several of them, or to a function that returns one or several. To load
it is to run a package's code, so nobody does until a ruleset is asked for that is not shipped. Invariant: a
package that is broken is told of, and ends nothing; what a package prints is not taken for our data.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple, TypeAlias

from ledger.core.dialect import Ruleset
from ledger.dialects import DIALECTS
from ledger.errors import RulesetError
from ledger.replay.rulesets import Known, check_id, shipped

GROUP = "runledger.rulesets"

_Place: TypeAlias = tuple[str, str]
"""The module and the qualified name of a function."""


class Installed(NamedTuple):
    """What packages bring: the rulesets, and a sentence for each that cannot be used."""

    known: tuple[Known, ...]
    problems: tuple[str, ...]


def load_installed(points: Iterable[EntryPoint] | None = None) -> Installed:
    """Load the rulesets that packages bring, in order of package and name.

    Args:
        points: the entry points to load; None for those of the packages that are installed.
    """
    given = entry_points(group=GROUP) if points is None else points
    taken, places = shipped(DIALECTS.values()), _shipped_places()
    found: list[Known] = []
    problems: list[str] = []
    for point in sorted(given, key=lambda one: (_package(one), one.name, one.value)):
        try:
            with redirect_stdout(sys.stderr):
                loaded = list(_loaded(point))
            for ruleset in loaded:
                check_id(ruleset.id, [*taken, *found])
                _check_rules(ruleset, places)
                found.append(Known(ruleset=ruleset, origin="installed", source=_package(point)))
        except RulesetError as error:
            problems.append(_problem(point, str(error)))
        except (Exception, SystemExit) as error:
            problems.append(_problem(point, f"found {type(error).__name__}: {error}; mend or uninstall it"))
    return Installed(tuple(found), tuple(problems))


def _loaded(point: EntryPoint) -> Iterator[Ruleset]:
    """Yield what an entry point loads to.

    Raises:
        RulesetError: it is something else than rulesets; whatever the package's code raises besides.
    """
    value = point.load()
    if callable(value) and not _is_ruleset(value):
        value = value()
    values = [value] if _is_ruleset(value) or not isinstance(value, Iterable) else value
    for one in values:
        if not _is_ruleset(one):
            raise RulesetError(f"expected rulesets, found {type(one).__name__}; mend or uninstall it")
        yield one


def _is_ruleset(value: Any) -> bool:
    """Tell whether a value is a ruleset as a dialect here has them: only such a one can be folded under."""
    return any(isinstance(value, type(one.ruleset)) for one in shipped(DIALECTS.values()))


def _check_rules(ruleset: Ruleset, places: dict[str, set[_Place]]) -> None:
    """Refuse a rule that is not what its name says here: a digest covers names.

    Raises:
        RulesetError: a shipped rule has the name of one of these, and is another function.
    """
    for (_, rule), told in zip(ruleset.rules(), ruleset.tell_rules(), strict=True):
        if _place(rule) not in places.get(told.name, {_place(rule)}):
            raise RulesetError(
                f"expected of {ruleset.id} that the rule {told.name} is the shipped one, found another "
                "function, which no digest could tell from it; give it a name of its own"
            )


def _shipped_places() -> dict[str, set[_Place]]:
    places: dict[str, set[_Place]] = {}
    for one in shipped(DIALECTS.values()):
        for _, rule in one.ruleset.rules():
            places.setdefault(rule.__name__, set()).add(_place(rule))
    return places


def _place(rule: Any) -> _Place:
    return rule.__module__, rule.__qualname__


def _package(point: EntryPoint) -> str:
    return (point.dist.name if point.dist is not None else "") or point.value


def _problem(point: EntryPoint, why: str) -> str:
    return f"the package {_package(point)} brings a ruleset {point.name} that cannot be used: {why}"
