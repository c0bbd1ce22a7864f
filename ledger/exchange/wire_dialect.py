"""The part of a dialect that an import asks: what a line and a header mean before anything is decided."""

from typing import Protocol

from ledger.core.dialect import Label
from ledger.core.entries import Origin
from ledger.core.observations import Trigger


class WireDialect(Protocol):
    """What :class:`ledger.core.dialect.Dialect` offers for lines and headers; see there."""

    def redact(self, origin: Origin, line: bytes) -> bytes: ...

    def label(self, origin: Origin, line: bytes) -> Label: ...

    def program(self, manifest: bytes) -> str: ...

    def namespace(self, trigger: Trigger) -> str | None: ...
