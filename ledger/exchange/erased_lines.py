"""Erased entries and the observations that account for them, held against each other as a transcript goes by.

Pure. A ledger in which the two differ is one that ``verify`` calls broken, so no such run is exported and no
such file is imported. Nine bytes an entry that is erased.
"""

from array import array
from bisect import bisect_left

from ledger.core.entries import OBSERVER
from ledger.core.observations import EntriesErased, Observation, observation_type
from ledger.log.store import account_of

ERASED = observation_type(EntriesErased)


class ErasuresSeen:
    """What was erased, by which account, and what the accounts name, in the entries seen so far."""

    def __init__(self) -> None:
        self._seqs = array("I")  # rising, as entries come
        self._accounts = array("I")
        self._is_told = bytearray()
        self._erased_account: int | None = None
        self._undone: int | None = None

    def take_erased(self, seq: int, origin: str, type: str, by: str) -> None:
        """Take an erased entry."""
        self._seqs.append(seq)
        self._accounts.append(account_of(by))
        self._is_told.append(False)
        if origin == OBSERVER and type == ERASED:
            self._erased_account = self._erased_account or seq

    def take(self, seq: int, observation: Observation | None) -> None:
        """Take another entry, with what it says where it is an observation that can be read."""
        if isinstance(observation, EntriesErased):
            for one in observation.entries:
                if 1 <= one < seq:
                    self._take_named(one, seq)

    def _take_named(self, seq: int, account: int) -> None:
        at = bisect_left(self._seqs, seq)
        if at == len(self._seqs) or self._seqs[at] != seq:
            self._undone = seq if self._undone is None else min(self._undone, seq)
        elif self._accounts[at] == account:
            self._is_told[at] = True

    def difference(self, *, told_after: int | None = None) -> str | None:
        """Say where the two differ, None where they agree.

        Args:
            told_after: of a run that was not seen to its end the last entry that is there; what is erased may
                be told of behind it. None where the run was seen to its end.
        """
        if self._erased_account is not None:
            return f"entry {self._erased_account}, an {ERASED}, to be there, found it erased"
        for seq, account, is_told in zip(self._seqs, self._accounts, self._is_told, strict=True):
            may_come = told_after is not None and account > told_after
            if not is_told and not may_come:
                where = f"entry {account}, by which entry {seq} was erased," if account else '"by"'
                what = "to be" if account else f"of the erased entry {seq} to be the number of"
                return f"{where} {what} an {ERASED} that names it, found none"
        if self._undone is not None:
            return f"no body of entry {self._undone}, as an {ERASED} names it, found its body"
        return None
