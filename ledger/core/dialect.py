"""What every dialect offers to the rest of the ledger: three Protocols, each with what its users need.

:class:`LineReader` is all that a recorder asks before it appends; :class:`WireDialect` adds what an import
asks of a header; :class:`Dialect` adds the meaning of a run. A run is decided by ``initial_state``,
``evolve`` and ``decide``, live and in replay alike.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ledger.core.decision import Decision
from ledger.core.entries import Entry, Origin
from ledger.core.observations import Trigger
from ledger.core.wording import Catalogue

SIGN_LIMIT = 64
"""Bytes that a sign of a secret has at most, so that it is found across the seam of two parts of a line."""


class Label(NamedTuple):
    """The type and the stream of a line, '' where they cannot be read; always printable."""

    type: str
    stream: str


class RuleTold(NamedTuple):
    """A rule, for people: what it is asked of, its name, its clause, and its first sentence."""

    asked_of: str
    name: str
    clause: str
    says: str


class SwitchTold(NamedTuple):
    """A switch: its name and value, the clause that leaves the choice, and what it decides.

    Attributes:
        values: all that it can be set to.
        default: what it is where a ruleset's document does not name it.
    """

    name: str
    value: str
    clause: str
    says: str
    values: tuple[str, ...]
    default: str


class Ruleset(Protocol):
    """One reading of a dialect's specification."""

    @property
    def id(self) -> str:
        """The public name, such as ``collection-profile/0.1.0``."""
        ...

    @property
    def dialect(self) -> str:
        """The name of the dialect whose runs it decides."""
        ...

    @property
    def summary(self) -> str:
        """One line for people."""
        ...

    @property
    def document(self) -> bytes:
        """Everything that makes the ruleset up, as JSON: its id, its switches, the names of its rules."""
        ...

    @property
    def digest(self) -> str:
        """The digest of the document."""
        ...

    @property
    def catalogue(self) -> Catalogue:
        """The words of its codes and clauses; no part of the document."""
        ...

    def rules(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield every rule itself, beside what it is asked of."""
        ...

    def tell_rules(self) -> Iterator[RuleTold]:
        """Yield every rule."""
        ...

    def tell_switches(self) -> Iterator[SwitchTold]:
        """Yield every switch."""
        ...


class LineReader(Protocol):
    """What must happen to a line before it is appended. Pure."""

    def redact(self, origin: Origin, line: bytes) -> bytes:
        """Return the line without its secrets; total, and idempotent."""
        ...

    def may_hold_secret(self, part: bytes) -> bool:
        """Tell whether a part of a line, of whichever origin, has a sign of a secret in the whole; total.

        A line of the program from which ``redact`` takes anything has one, of at most ``SIGN_LIMIT`` bytes.
        """
        ...

    def mark(self, length: int) -> bytes:
        """Return what stands in place of a whole line of so many bytes; ``redact`` leaves it as it is."""
        ...

    def label(self, origin: Origin, line: bytes) -> Label:
        """Read the type and stream of a redacted line; total."""
        ...


class WireDialect(LineReader, Protocol):
    """What a run's header means. Pure."""

    @property
    def program_types(self) -> frozenset[str]:
        """The types of message that a program sends."""
        ...

    @property
    def runtime_types(self) -> frozenset[str]:
        """The types of message that a runtime sends."""
        ...

    def program(self, manifest: bytes) -> str:
        """Read the program's id from a manifest, '' where it names none."""
        ...

    def namespace(self, trigger: Trigger) -> str | None:
        """Return where a run with this trigger commits, None where it does not."""
        ...


class Dialect(WireDialect, Protocol):
    """A wire protocol, and what a run that speaks it means. Pure."""

    name: str
    default_ruleset: str
    fold_version: int
    catalogue: Catalogue

    @property
    def rulesets(self) -> Mapping[str, Ruleset]:
        """The shipped rulesets by id, the default first."""
        ...

    def derive(self, base: Any, *, id: str, summary: str, switches: Mapping[str, str]) -> Ruleset:
        """Return a ruleset that asks the same rules as another, with some of its switches turned.

        Args:
            base: a ruleset of this dialect.
            id: the new one's.
            summary: one line for people.
            switches: values by the names of switches; the others stay as they are.

        Raises:
            UsageError: there is no such switch or value, or a value that does nothing without a rule that
                ``base`` does not ask.
        """
        ...

    def initial_state(self, ruleset: Any, documents: Mapping[str, bytes]) -> Any:
        """Return the state before the first entry.

        Args:
            ruleset: a ruleset of this dialect.
            documents: manifests by digest.
        """
        ...

    def evolve(self, state: Any, entries: Iterable[Entry]) -> None:
        """Take entries, in order, into the state, in place."""
        ...

    def evolve_all(self, states: Sequence[Any], entries: Iterable[Entry]) -> None:
        """Take entries, in order, into several states in one pass; the same as ``evolve`` for each."""
        ...

    def decide(self, state: Any) -> Decision:
        """Decide at the state's last entry; changes nothing, and may be asked at any prefix."""
        ...

    def exercised(self, state: Any) -> frozenset[str]:
        """Return the names of the rules and switches of the state's ruleset that had anything to judge.

        What is not named made no difference to the decision; what is named may have made none either.
        Changes nothing.
        """
        ...

    def record_key(self, entry: Entry) -> str | None:
        """Return the canonical key of the record that an entry carries; None where it carries none; total."""
        ...

    def tell(self, entry: Entry) -> Mapping[str, str]:
        """Return the telling fields of an entry, by name, for people; total, bounded, printable."""
        ...
