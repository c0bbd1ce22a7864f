"""Erasures of a run, held against the observations that account for them.

An erasure names, in ``erased_by``, the ENTRIES_ERASED that tells why, and that names the entry. It must be
there to be read: no leaf is over the type of an erased entry, so an erased account accounts for nothing.
Eight bytes an erased entry, so that a run whose every entry was erased still fits. What somebody erased while
the run was read is looked at again before it is told.
"""

from array import array
from collections.abc import Callable, Iterable

from ledger.core.entries import MOST_ENTRIES
from ledger.core.observations import EntriesErased, decode_observation, observation_type
from ledger.log.store import account_of
from ledger.log.verifying.chain import Add

ERASED_TYPE = observation_type(EntriesErased)


class ErasureBook:
    """What was found erased, and what is said to be.

    Attributes:
        unaccounted: erased entries whose account a run that is not whole may yet bring.
    """

    def __init__(self) -> None:
        self.unaccounted = 0
        self._found = array("Q")
        self._named = array("Q")
        self._accounts: set[int] = set()

    def find(self, seq: int, erased_by: object, *, is_account: bool) -> None:
        """Take an entry that has an erasure, and whether its type is that of an account."""
        self._found.append(seq << 32 | account_of(erased_by))
        if is_account:
            self._accounts.add(seq)

    def read(self, rows: Iterable[tuple[int, bytes | None]]) -> None:
        """Take ENTRIES_ERASED, by seq and body; an erased one names nothing."""
        for account, body in rows:
            observation = decode_observation(body) if isinstance(body, bytes) else None
            if isinstance(observation, EntriesErased):
                before = (seq for seq in observation.entries if 1 <= seq < account)
                self._named.extend(seq << 32 | account for seq in before)

    def close(
        self,
        read_on: Callable[[], Iterable[tuple[int, bytes | None]]],
        has_body: Callable[[int], bool],
        add: Add,
        *,
        still_to_come: int | None = None,
    ) -> None:
        """Tell where the two differ.

        Args:
            read_on: reads the ENTRIES_ERASED that came after those that were taken.
            has_body: tells whether an entry has its body by now.
            add: takes the findings.
            still_to_come: the first account that may come yet, of a run that was erased from elsewhere and
                is being imported; None where all are there.
        """
        if set(self._found).difference(self._named):
            self.read(read_on())
        named = set(self._named)
        for one in sorted(one for one in set(self._found) if one not in named or one >> 32 in self._accounts):
            seq, account = one >> 32, one & MOST_ENTRIES
            if seq in self._accounts:
                add("erasure_unexplained", "an ENTRIES_ERASED to stay what it was", "it erased", first=seq)
            elif still_to_come is not None and account >= still_to_come:
                self.unaccounted += 1
            else:
                self._tell_unexplained(seq, account, add)
        for seq in sorted({one >> 32 for one in named} - {one >> 32 for one in self._found}):
            if has_body(seq):
                add("erasure_undone", "no body, as an ENTRIES_ERASED names the entry", "its body", first=seq)

    def _tell_unexplained(self, seq: int, account: int, add: Add) -> None:
        where = f"entry {account}, which the erasure names," if account else "an entry that the erasure names"
        expected = f"{where} to be an ENTRIES_ERASED that names the entry"
        add("erasure_unexplained", expected, "none that does", first=seq)
