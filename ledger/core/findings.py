"""What a rule has to say, as values.

A rule is a pure function that says where the clause it enforces is broken: a :class:`Fault` about a message,
a reason about a checkpoint. A fault becomes a violation (it ends the run) or a finding (it is shown), as the
ruleset says; either way it keeps its clause, its entries and the facts that its wording needs. Nothing here
is prose.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from ledger.core.digests import digest
from ledger.core.json_reader import printable

By: TypeAlias = Literal["program", "runtime", "store", "owner", "observer"]
Detail: TypeAlias = Mapping[str, str | int | tuple[str, ...]]
"""Facts that a wording needs, by name."""

LIST_LIMIT = 100
"""Lists of keys and entries in a decision hold at most this many, beside their total."""


TEXT_LIMIT = 1000
"""What somebody wrote, such as an error's message, stands in a decision with at most this many characters."""

NAME_LIMIT = 1000
"""Characters of a name, or a key, that stand in a decision; a checkpoint may name what others also do."""

_DIGEST_SHOWN = 16


def show_name(name: str) -> str:
    """Return a name as decisions show it: printable, and of an over-long one its beginning and a digest.

    Names that differ are shown differently, as far as a digest tells.
    """
    if len(name) <= NAME_LIMIT:
        return printable(name)
    whole = printable(name)
    return f"{whole[:NAME_LIMIT]}… ({digest(whole.encode())[: len('sha256:') + _DIGEST_SHOWN]})"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A clause that does not hold.

    Attributes:
        code: the public name of what is wrong, such as ``record_outside_resources``.
        clause: the clause of the specification, such as ``scope/2``.
        by: whose obligation it was.
        detail: the facts that the wording needs, by name.
        entries: the entries it rests on, besides the one that is being read.
    """

    code: str
    clause: str
    by: By = "program"
    detail: Detail = {}
    entries: tuple[int, ...] = ()


class Violation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A broken clause that ends the run, at ``entry``; ``entries`` are what it rests on besides."""

    entry: int
    code: str
    clause: str
    by: By
    entries: tuple[int, ...] = ()
    detail: Detail = {}


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something worth showing that decides nothing by itself; ``entries`` holds the first hundred."""

    code: str
    clause: str
    entries: tuple[int, ...]
    entries_total: int
    by: By
    detail: Detail = {}


class Tally:
    """The entries behind one finding: the first hundred, and how many there were."""

    __slots__ = ("fault", "first", "total")

    def __init__(self, fault: Fault, *entries: int) -> None:
        self.fault = fault
        self.first: list[int] = []
        self.total = 0
        self.add(*entries)

    def add(self, *entries: int) -> None:
        for entry in entries:
            if len(self.first) < LIST_LIMIT:
                self.first.append(entry)
            self.total += 1

    def retold(self, fault: Fault) -> "Tally":
        """Return the same entries under another fault."""
        told = Tally(fault)
        told.first, told.total = self.first, self.total
        return told

    def finding(self) -> Finding:
        return Finding(
            code=self.fault.code,
            clause=self.fault.clause,
            entries=tuple(self.first),
            entries_total=self.total,
            by=self.fault.by,
            detail=self.fault.detail,
        )


RuleFunction = TypeVar("RuleFunction", bound=Callable[..., Any])


def rule(
    clause: str, *, needs: str = "", when: Callable[..., bool] | None = None
) -> Callable[[RuleFunction], RuleFunction]:
    """Tag a rule with the clause that it enforces.

    Args:
        clause: the clause id, read again by :func:`rule_clause`.
        needs: what a plan must hold for the rule to be able to fire, '' for nothing; see :func:`rule_needs`.
        when: tells of what the rule is asked of whether there is anything to judge, None where there always
            is; see :func:`rule_occasion`.
    """

    def tag(function: RuleFunction) -> RuleFunction:
        function.clause = clause  # type: ignore[attr-defined]
        function.needs = needs  # type: ignore[attr-defined]
        function.when = when  # type: ignore[attr-defined]
        return function

    return tag


def rule_clause(function: Callable[..., Any]) -> str:
    """Return the clause that a rule was tagged with."""
    return str(function.clause)  # type: ignore[attr-defined]


def rule_needs(function: Callable[..., Any]) -> str:
    """Return what a rule was tagged as needing."""
    return str(function.needs)  # type: ignore[attr-defined]


def rule_occasion(function: Callable[..., Any]) -> Callable[..., bool] | None:
    """Return what tells whether a rule had anything to judge, None where being asked is enough.

    It takes what the rule takes; that of a rule about RECORDs takes the stream's plan, once the run is over.
    """
    when: Callable[..., bool] | None = function.when  # type: ignore[attr-defined]
    return when
