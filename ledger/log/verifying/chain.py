"""The Merkle tree of one run, recomputed along its heads.

Pure. A head that does not hold blames the entries since the head before it, or is itself what was changed;
the next head tells which. The chain goes on in two ways until then: over the leaves alone, and from the
peaks that the doubtful head holds. Invariant: damage in one range is told of that range, and damage later on
is found all the same.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from ledger.core.merkle import append_leaves, check_peaks, root, split_peaks

DOUBTS_HELD = 100
SHOWN_DIGITS = 16


class Add(Protocol):
    """Takes a finding; see :meth:`ledger.log.verifying.findings.Findings.add`."""

    def __call__(
        self, code: str, expected: str, found: str, *, first: int | None = None, last: int | None = None
    ) -> None: ...


class _Doubt(NamedTuple):
    """A head that the entries do not give, and the entries that may be at fault."""

    size: int
    first: int
    last: int
    expected: str
    found: str


class Chain:
    """Takes leaves and heads, in order, and tells where they part.

    Attributes:
        size: leaves taken so far.
        is_whole: whether the tree stands on the leaves alone, and nowhere on a head that they do not give.
    """

    def __init__(self, add: Add) -> None:
        self.size = 0
        self.is_whole = True
        self._add = add
        self._head = 0
        self._own: bytes | None = b""
        self._rebased: bytes | None = None
        self._doubts: list[_Doubt] = []

    def extend(self, leaves: Sequence[bytes | None]) -> None:
        """Take leaves; None stands for one that cannot be known."""
        if None in leaves:
            self._own = self._rebased = None
            self.is_whole = False
        known: Sequence[bytes] = leaves  # type: ignore[assignment]  # only used where none is None
        if self._own is not None:
            self._own = append_leaves(self._own, self.size, known)
        if self._rebased is not None:
            self._rebased = append_leaves(self._rebased, self.size, known)
        self.size += len(leaves)

    def skip(self, size: int) -> None:
        """Go on to a size without the leaves before it."""
        self._own = self._rebased = None
        self.is_whole = False
        self.size = size

    def prove(self) -> None:
        """Take it from a head kept elsewhere that the leaves so far are right."""
        if self._own is not None:
            self._settle_on_leaves()

    def roots(self) -> Iterator[bytes]:
        """Yield the roots that the tree may have at this size; none where a leaf is missing."""
        for peaks in (self._own, self._rebased):
            if peaks is not None:
                yield root(peaks, self.size)

    def hold(self, peaks: bytes, known: bytes | None = None) -> None:
        """Hold the tree against the head that the log keeps of this size.

        Args:
            peaks: what the log keeps.
            known: the root at this size, where somebody kept it elsewhere; it tells entries from head.
        """
        try:
            check_peaks(peaks, self.size)
        except ValueError:
            count = self.size.bit_count()
            self._add(
                "head_changed",
                f"a head at size {self.size} of {count} peaks, {32 * count} bytes",
                f"{len(peaks)} bytes",
                first=self.size,
            )
            return
        if self._own is None:
            self._rest_on(peaks)
        elif self._own == peaks:
            self._settle_on_leaves()
        elif self._rebased == peaks:
            self._blame_entries(peaks)
        else:
            self._doubt(peaks)
            if known == root(peaks, self.size) and self._doubts:
                self._blame_entries(peaks)
            elif known == root(self._own, self.size):
                self._settle_on_leaves()

    def close(self) -> None:
        """Tell what no later head could settle."""
        self._give_up(self._doubts)
        self._doubts = []

    def _rest_on(self, peaks: bytes) -> None:
        """Go on from a head, after leaves that nobody knows."""
        self.close()
        self._add(
            "entries_unproved",
            f"a leaf for each entry before the head at size {self.size}",
            "one without; what comes after is held against that head as it stands",
            first=self._head + 1,
            last=self.size,
        )
        self._settle(peaks)

    def _settle_on_leaves(self) -> None:
        """The leaves are right, so the heads that they do not give were changed."""
        assert self._own is not None
        for doubt in self._doubts:
            self._add("head_changed", doubt.expected, doubt.found, first=doubt.size)
        self._settle(self._own)

    def _blame_entries(self, peaks: bytes) -> None:
        """The last doubtful head is right, so entries before it were changed."""
        *others, last = self._doubts
        self._give_up(others)
        self._add("entries_changed", last.expected, last.found, first=last.first, last=last.last)
        self._settle(peaks)
        self.is_whole = False

    def _settle(self, peaks: bytes) -> None:
        self._own, self._rebased, self._doubts = peaks, None, []
        self._head = self.size

    def _doubt(self, peaks: bytes) -> None:
        mine = self._own if self._rebased is None else self._rebased
        assert mine is not None
        ranges = _differing(mine, peaks, self.size)
        expected, found = _told(self.size, peaks), f"entries that give {_short(root(mine, self.size))}"
        if ranges[0][1] <= self._head and not self._doubts:
            # A peak differs all of whose entries the head before it proves.
            self._add("head_changed", expected, found, first=self.size)
            return
        fresh = [(max(first, self._head + 1), last) for first, last in ranges if last > self._head]
        first, last = (fresh[0][0], fresh[-1][1]) if fresh else (self._head + 1, self.size)
        self._doubts.append(_Doubt(self.size, first, last, expected, found))
        if len(self._doubts) > DOUBTS_HELD:
            self._give_up([self._doubts.pop(0)])
        self._rebased = peaks
        self._head = self.size

    def _give_up(self, doubts: Sequence[_Doubt]) -> None:
        for doubt in doubts:
            self._add("tree_broken", doubt.expected, doubt.found, first=doubt.first, last=doubt.last)


def _differing(mine: bytes, theirs: bytes, size: int) -> list[tuple[int, int]]:
    """Return the first and the last entry below each of the peaks that differ; at least one does."""
    ranges = []
    end = 0
    widths = [1 << bit for bit in range(size.bit_length() - 1, -1, -1) if size >> bit & 1]
    for width, one, other in zip(widths, split_peaks(mine), split_peaks(theirs), strict=True):
        start, end = end + 1, end + width
        if one != other:
            ranges.append((start, end))
    return ranges


def _told(size: int, peaks: bytes) -> str:
    return f"the root {_short(root(peaks, size))} that the head at size {size} holds"


def _short(digest: bytes) -> str:
    return digest.hex()[:SHOWN_DIGITS] + "…"
