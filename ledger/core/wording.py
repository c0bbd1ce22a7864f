"""How codes become sentences: what a dialect's catalogue offers to whoever explains a decision."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ledger.core.findings import Detail


class _Blank(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "?"


def fill(template: str, detail: Detail, **names: object) -> str:
    """Fill a template with a detail and further names; what it asks for and nobody gives becomes ``?``."""
    facts: dict[str, object] = {**detail, **names}
    shown = {name: ", ".join(v) if isinstance(v, tuple) else v for name, v in facts.items()}
    return template.format_map(_Blank(shown))


def suggest(name: str, names: Iterable[str]) -> str:
    """Say which of the names may be meant by one that is none of them, or which there are."""
    known = list(dict.fromkeys(names))
    near = get_close_matches(name, known, 3)
    return f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known) or 'none'}"


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """A dialect's sentences, by where a code stands, and what its clauses demand.

    Attributes:
        faults: violations, refusals and findings.
        causes: causes that are not faults.
        reasons: why a checkpoint is withheld or undecided.
        near_misses: what almost holds.
        discrepancies: where what happened is not what the rules say.
        unknowns: what no entry shows.
        failures: what a failed run is put down to.
        clauses: clause id to what it demands.
    """

    faults: Mapping[str, str]
    causes: Mapping[str, str]
    reasons: Mapping[str, str]
    near_misses: Mapping[str, str]
    discrepancies: Mapping[str, str]
    unknowns: Mapping[str, str]
    failures: Mapping[str, str]
    clauses: Mapping[str, str]

    def with_words(
        self,
        *,
        faults: Mapping[str, str] = {},
        causes: Mapping[str, str] = {},
        reasons: Mapping[str, str] = {},
        near_misses: Mapping[str, str] = {},
        clauses: Mapping[str, str] = {},
    ) -> "Catalogue":
        """Return a catalogue with further words, for rules that the dialect does not ship.

        What it says of a code or a clause already stays as it is.
        """
        return replace(
            self,
            faults={**faults, **self.faults},
            causes={**causes, **self.causes},
            reasons={**reasons, **self.reasons},
            near_misses={**near_misses, **self.near_misses},
            clauses={**clauses, **self.clauses},
        )

    def fault(self, code: str, detail: Detail) -> str:
        """Word a violation, a refusal or a finding."""
        return fill(self.faults.get(code, code), detail)

    def cause(self, code: str, detail: Detail) -> str:
        """Word a run's cause, which is a fault or an event."""
        return fill(self.causes.get(code) or self.faults.get(code, code), detail)

    def reason(self, code: str, names: Detail) -> str:
        """Word why a checkpoint is withheld or undecided."""
        return fill(self.reasons.get(code, code), names)

    def near_miss(self, code: str, detail: Detail, key: str | None, entry: int) -> str:
        """Word what almost holds."""
        return fill(self.near_misses.get(code, code), detail, key=key, entry=entry)

    def discrepancy(self, code: str, detail: Detail, stream: str | None) -> str:
        """Word where what happened is not what the rules say."""
        return fill(self.discrepancies.get(code, code), detail, stream=stream)

    def unknown(self, what: str) -> str:
        """Word what no entry shows."""
        return self.unknowns.get(what, what)

    def failure(self, cause: str) -> str:
        """Word what a failed run is put down to."""
        return self.failures.get(cause, cause)

    def demand(self, clause: str) -> str:
        """Say what a clause demands, '' where it is not known."""
        return self.clauses.get(clause, "")
