"""The DETAIL_GAPs of a run, kept so that each question about them is answered without going through all."""

from collections.abc import Iterable

import msgspec

from ledger.core.findings import LIST_LIMIT, Fault, Tally
from ledger.dialects.collection_profile.messages import DetailGap, Key, show_key


class Gap(msgspec.Struct, frozen=True, gc=False):
    """What is kept of an accepted DETAIL_GAP; a run may have any number of them.

    Attributes:
        parent: the boundary that it accounts to, None where there is none.
    """

    entry: int
    stream: str
    parent: str | None
    key: Key | None


class GapTold(msgspec.Struct, frozen=True):
    """A gap, and what its message says besides."""

    gap: Gap
    message: DetailGap


_OWED = Fault(code="restart_gap_pending", clause="restart/3")


class Gaps:
    """All gaps so far.

    Attributes:
        total: how many there are.
        first: the first hundred.
    """

    def __init__(self) -> None:
        self.total = 0
        self.first: list[GapTold] = []
        self._boundaries: dict[tuple[str, str | None], tuple[str, str | None]] = {}
        self._counts: dict[str, int] = {}
        self._latest: dict[tuple[str, str | None], int] = {}
        self._backed: dict[tuple[str, str | None], set[Key]] = {}
        self._keyless: dict[tuple[str, str | None], Gap] = {}
        self._by_key: dict[str, tuple[Gap, ...]] = {}
        self._owed: dict[tuple[str, str | None], Tally] = {}
        self._of_stream: dict[str, list[tuple[str, str | None]]] = {}
        self._of_parent: dict[str | None, list[tuple[str, str | None]]] = {}

    def add(self, entry: int, message: DetailGap, parent: str | None) -> None:
        """Keep the gap of an entry, and the boundary that it accounts to."""
        boundary = self._boundaries.setdefault((message.stream, parent), (message.stream, parent))
        stream, parent = boundary  # one text for all of a boundary
        key = message.record_key
        gap = Gap(entry, stream, parent, key)
        self.total += 1
        if len(self.first) < LIST_LIMIT:
            self.first.append(GapTold(gap, message))
        self._counts[stream] = self._counts.get(stream, 0) + 1
        self._latest[boundary] = entry
        if boundary not in self._owed:
            self._owed[boundary] = Tally(_OWED)
            self._of_stream.setdefault(stream, []).append(boundary)
            self._of_parent.setdefault(parent, []).append(boundary)
        self._owed[boundary].add(entry)
        if key is None:
            self._keyless.setdefault(boundary, gap)
        else:
            self._backed.setdefault(boundary, set()).add(key)
            shown = show_key(key)
            alike = self._by_key.get(shown, ())
            if len(alike) < LIST_LIMIT:
                self._by_key[shown] = (*alike, gap)

    def boundaries(self) -> Iterable[tuple[str, str | None]]:
        """Return the streams that have gaps, each with the boundary or none."""
        return self._owed.keys()

    def of_stream(self, stream: str) -> int:
        """Return how many gaps a stream has."""
        return self._counts.get(stream, 0)

    def keys(self, stream: str, parent: str | None) -> set[Key]:
        """Return the keys that gaps of a stream stand behind, under one boundary or none."""
        return self._backed.get((stream, parent), set())

    def latest(self, stream: str, parent: str | None) -> int:
        """Return the entry of the last gap of a boundary, 0 where there is none."""
        return self._latest.get((stream, parent), 0)

    def keyless(self, stream: str, parent: str) -> Gap | None:
        """Return the first gap of a boundary that names no key."""
        return self._keyless.get((stream, parent))

    def of_key(self, shown: str) -> tuple[Gap, ...]:
        """Return the first hundred gaps, of any stream, whose key is shown like this."""
        return self._by_key.get(shown, ())

    def owed(self, streams: Iterable[str], parent: str) -> dict[tuple[str, str | None], Tally]:
        """Return the entries of the gaps of some streams, or under one boundary, in order of the first."""
        found = {boundary for stream in streams for boundary in self._of_stream.get(stream, ())}
        found.update(self._of_parent.get(parent, ()))
        return {boundary: self._owed[boundary] for boundary in sorted(found, key=self._first_entry)}

    def _first_entry(self, boundary: tuple[str, str | None]) -> int:
        return self._owed[boundary].first[0]
