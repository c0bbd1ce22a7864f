"""What was erased of a run, as the commands about it tell it: why, and by which entry that is told."""

from functools import cache
from typing import NamedTuple

from cli.page import Page, entries_of
from ledger.core.entries import OBSERVER, Entry
from ledger.core.instants import write_micros
from ledger.core.json_reader import printable
from ledger.core.observations import EntriesErased, decode_observation, observation_type
from ledger.log.store import RunRow, Store, account_of

SHOWN = 20
"""The newest accounts of erasures; older ones are counted."""


class ErasureTold(NamedTuple):
    """What is known of the erasure of one entry.

    Attributes:
        account: the ENTRIES_ERASED that tells of it, None where the log names none.
        reason: why, None where that cannot be read.
    """

    account: int | None
    reason: str | None

    def __str__(self) -> str:
        why = f": {printable(self.reason)}" if self.reason else ""
        return f"erased{why}" if self.account is None else f"erased by entry {self.account}{why}"


class Erasures:
    """The erasures of one run, looked up as they are asked for."""

    def __init__(self, store: Store, run: RunRow) -> None:
        self._store = store
        self._run_no = run.run_no
        self._reason = cache(self._read_reason)

    def told(self, seq: int) -> ErasureTold:
        """Return what is known of the erasure of an entry."""
        erasure = next(self._store.erasures(self._run_no, after=seq - 1, through=seq), None)
        account = account_of(erasure.erased_by) if erasure is not None else 0
        if not account:  # another program erased it
            return ErasureTold(None, None)
        return ErasureTold(account, self._reason(account))

    def _read_reason(self, account: int) -> str | None:
        entries = self._store.entries(self._run_no, after=account - 1, through=account)
        told = _account(next(entries, None))
        return told.reason if told is not None else None


def accounts_of(store: Store, run: RunRow) -> list[Entry]:
    """Return the entries that tell of erasures, oldest first."""
    return [entry for _, entry in store.observations(observation_type(EntriesErased), run_no=run.run_no)]


def write_erasures(page: Page, accounts: list[Entry]) -> None:
    """Write what was erased below whatever is on the page, where anything was."""
    told = (f"{_told(entry)} (entry {entry.seq})" for entry in accounts[-SHOWN:])
    page.newest("Erased", told, len(accounts), all_of_them="runledger log RUN --type ENTRIES_ERASED")


def _told(entry: Entry) -> str:
    told = _account(entry)
    if told is None:
        return f"what and why {'cannot be read' if entry.body else 'was erased too'}"
    day = f", {write_micros(entry.at)[:10]}" if entry.at else ""
    return f"{entries_of(told.entries) or 'no entry'}{day}: {printable(told.reason)}"


def _account(entry: Entry | None) -> EntriesErased | None:
    if entry is None or entry.body is None or entry.origin != OBSERVER:
        return None
    observation = decode_observation(entry.body)
    return observation if isinstance(observation, EntriesErased) else None
