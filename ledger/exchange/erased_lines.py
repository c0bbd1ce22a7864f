"""Erased entries and the observations that tell of them, held against each other as a transcript goes by.

Pure. A ledger in which the two differ is one that ``verify`` calls broken, so no such run is exported and no
such file is imported. Four bytes an entry that is erased or named.
"""

from array import array

from ledger.core.entries import OBSERVER
from ledger.core.observations import EntriesErased, Observation

ERASED = "ENTRIES_ERASED"
_LARGEST = (1 << 32) - 1


class ErasureTold:
    """What was erased, and what is said to be, in the entries seen so far."""

    def __init__(self) -> None:
        self._erased = array("I")
        self._named = array("I")
        self._says_more = False

    def take_erased(self, seq: int, origin: str, type: str) -> None:
        """Take an erased entry; what an erased ENTRIES_ERASED named is not known."""
        self._erased.append(seq)
        self._says_more = self._says_more or (origin == OBSERVER and type == ERASED)

    def take(self, seq: int, observation: Observation | None) -> None:
        """Take an observation that can be read."""
        if isinstance(observation, EntriesErased):
            self._named.extend(one for one in observation.entries if 1 <= one < min(seq, _LARGEST))

    def difference(self, *, is_whole: bool = True) -> str | None:
        """Say where the two differ, None where they agree.

        Args:
            is_whole: whether the run was seen to its end; what is erased may else be told of later.
        """
        erased, named = set(self._erased), set(self._named)
        if is_whole and erased - named and not self._says_more:
            seq = min(erased - named)
            return f"an {ERASED} after entry {seq} that names it, as it is erased, found none"
        if named - erased:
            return f"no body of entry {min(named - erased)}, as an {ERASED} names it, found its body"
        return None
