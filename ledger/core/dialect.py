"""What every dialect offers to the rest of the ledger, as one Protocol.

The log needs :meth:`Dialect.redact` and :meth:`Dialect.label` before it appends; replay needs the fold.
Nobody else asks which dialect a run speaks.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from ledger.core.entries import Entry, Origin
from ledger.core.observations import Trigger
from ledger.core.wording import Catalogue


class Label(NamedTuple):
    """The type and the stream of a line, '' where they cannot be read; always printable."""

    type: str
    stream: str


class Ruleset(Protocol):
    """One reading of a dialect's specification: an id, and a digest of everything that makes it up."""

    @property
    def id(self) -> str: ...

    @property
    def digest(self) -> str: ...


class Dialect(Protocol):
    """A wire protocol, and what a run that speaks it means. Pure."""

    name: str
    fold_version: int
    default_ruleset: str
    catalogue: Catalogue

    @property
    def rulesets(self) -> Mapping[str, Ruleset]:
        """The shipped rulesets by id, the default first."""
        ...

    def redact(self, origin: Origin, line: bytes) -> bytes:
        """Return the line without its secrets; total, and idempotent."""
        ...

    def label(self, origin: Origin, line: bytes) -> Label:
        """Read the type and stream of a redacted line; total."""
        ...

    def program(self, manifest: bytes) -> str:
        """Read the program's id from a manifest, '' where it names none."""
        ...

    def namespace(self, trigger: Trigger) -> str | None:
        """Return where a run with this trigger commits, None where it does not."""
        ...

    def fold(self, entries: Iterable[Entry], documents: Mapping[str, bytes], ruleset: str) -> Any:
        """Fold entries, in order, into a fresh state; ``documents`` holds manifests by digest."""
        ...

    def tell(self, entry: Entry) -> Mapping[str, str]:
        """Return the telling fields of an entry, by name, for people; total, bounded, printable."""
        ...

    def decide(self, state: Any) -> Any:
        """Decide at the state's last entry; changes nothing, and may be asked at any prefix."""
        ...
