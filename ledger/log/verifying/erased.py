"""Erasures of a run, held against the observations that say that they were made.

Four bytes an erased entry, so that a run whose every entry was erased still fits. What somebody erased while
the run was read is looked at again before it is told.
"""

from array import array
from collections.abc import Callable, Iterable

from ledger.core.observations import EntriesErased, decode_observation
from ledger.log.verifying.chain import Add
from ledger.log.verifying.known_heads import MOST_ENTRIES

ERASED_TYPE = "ENTRIES_ERASED"


class ErasureBook:
    """What was found erased, and what is said to be."""

    def __init__(self) -> None:
        self._found = array("I")
        self._named = array("I")
        self._awaited = array("I")
        self._says_more = False

    def find(self, seqs: Iterable[int]) -> None:
        """Take entries that have an erasure."""
        self._found.extend(seqs)

    def wait(self, seqs: Iterable[int]) -> None:
        """Take those of them whose ENTRIES_ERASED has not come yet, as the run was imported only in part."""
        self._awaited.extend(seqs)

    @property
    def awaited(self) -> int:
        """How many erasures nothing in the run explains yet."""
        return len(set(self._awaited).difference(self._named))

    def read(self, rows: Iterable[tuple[int, bytes | None]]) -> None:
        """Take ENTRIES_ERASED, by seq and body; what an erased one named is not known."""
        for seq, body in rows:
            observation = decode_observation(body) if body is not None else None
            if isinstance(observation, EntriesErased):
                self._named.extend(one for one in observation.entries if 1 <= one < min(seq, MOST_ENTRIES))
            elif body is None:
                self._says_more = True

    def close(
        self,
        read_on: Callable[[], Iterable[tuple[int, bytes | None]]],
        has_body: Callable[[int], bool],
        add: Add,
    ) -> None:
        """Tell where the two differ.

        Args:
            read_on: reads the ENTRIES_ERASED that came after those that were taken.
            has_body: tells whether an entry has its body by now.
            add: takes the findings.
        """
        found = set(self._found)
        if found.difference(self._named):
            self.read(read_on())
        named = set(self._named)
        if not self._says_more:
            for seq in sorted(found - named - set(self._awaited)):
                expected = "an ENTRIES_ERASED in its run that names it"
                add("erasure_unexplained", expected, "none", first=seq)
        for seq in sorted(named - found):
            if has_body(seq):
                add("erasure_undone", "no body, as an ENTRIES_ERASED names the entry", "its body", first=seq)
