"""Erased entries and the observations that account for them, held against each other as a transcript goes by.

Pure. A ledger in which the two differ is one that ``verify`` calls broken, so no such run is exported and no
such file is imported. Eight bytes an entry that is erased or named.
"""

from array import array

from ledger.core.entries import MOST_ENTRIES, OBSERVER
from ledger.core.observations import EntriesErased, Observation, observation_type

ERASED = observation_type(EntriesErased)

_SEQ_BITS = 32
_DIGITS = 10


class ErasuresSeen:
    """What was erased, by which account, and what the accounts name, in the entries seen so far."""

    def __init__(self) -> None:
        self._erased = array("Q")
        self._named = array("Q")
        self._silent: set[int] = set()
        self._last = 0

    def take_erased(self, seq: int, origin: str, type: str, by: str) -> None:
        """Take an erased entry; what an erased ENTRIES_ERASED named is not known."""
        self._last = seq
        is_number = by.isascii() and by.isdecimal() and len(by) <= _DIGITS
        self._erased.append(seq << _SEQ_BITS | min(int(by) if is_number else 0, MOST_ENTRIES))
        if origin == OBSERVER and type == ERASED:
            self._silent.add(seq)

    def take(self, seq: int, observation: Observation | None) -> None:
        """Take another entry, with what it says where it is an observation that can be read."""
        self._last = seq
        if isinstance(observation, EntriesErased):
            named = (one for one in observation.entries if 1 <= one < seq)
            self._named.extend(one << _SEQ_BITS | seq for one in named)

    def difference(self, *, is_whole: bool = True) -> str | None:
        """Say where the two differ, None where they agree.

        Args:
            is_whole: whether the run was seen to its end; what is erased may else be told of later.
        """
        named = set(self._named)
        for one in sorted(set(self._erased) - named):
            seq, account = one >> _SEQ_BITS, one & MOST_ENTRIES
            may_come = not is_whole and account > self._last
            if account not in self._silent and not may_come:
                where = f"entry {account}, by which entry {seq} was erased," if account else '"by"'
                what = "to be" if account else f"of the erased entry {seq} to be the number of"
                return f"{where} {what} an {ERASED} that names it, found none"
        undone = {one >> _SEQ_BITS for one in named} - {one >> _SEQ_BITS for one in self._erased}
        if undone:
            return f"no body of entry {min(undone)}, as an {ERASED} names it, found its body"
        return None
