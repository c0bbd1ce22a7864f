"""What is observed of a run after it was recorded: one entry behind its last, whoever else writes there.

Not for recording: a recorder numbers its entries ahead, and whoever appends to its run cuts it off.
Invariant: what is appended is one observation, redacted, at a time that does not go back.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from ledger.core.dialect import LineReader
from ledger.core.entries import OBSERVER, Entry
from ledger.core.observations import (
    EntriesErased,
    Observation,
    RunClosed,
    encode_observation,
    observation_stream,
    observation_type,
)
from ledger.errors import SequenceConflict
from ledger.log.store import Store

_T = TypeVar("_T")

_ATTEMPTS = 100
_RETRY_SECONDS = 0.01


def is_closed(store: Store, run_no: int, *, through: int | None = None) -> bool:
    """Tell whether the log holds the end of a run, perhaps only among its entries up to one."""
    closings = store.observations(observation_type(RunClosed), run_no=run_no)
    return any(through is None or entry.seq <= through for _, entry in closings)


def append_remark(
    store: Store, run_no: int, dialect: LineReader, observation: Observation, *, at: int
) -> Entry:
    """Append an observation to a run, after whatever others append meanwhile.

    Args:
        store: the log.
        run_no: the run.
        dialect: what the run speaks; it takes secrets out.
        observation: what was observed; it must not depend on how long the run is.
        at: now, microseconds since the epoch, UTC; raised to the last time known of the run.

    Returns:
        The entry as it will be read again, save for its salt.

    Raises:
        NotFoundError: there is no such run.
        SequenceConflict: others appended each time that it was tried.
        BusyError: as for :meth:`ledger.log.store.Store.append`.
    """

    def append(entry: Entry) -> Entry:
        store.append(run_no, [entry])
        return entry

    return _at_the_end(store, run_no, dialect, observation, at, append)


def erase_entries(
    store: Store, run_no: int, dialect: LineReader, seqs: Sequence[int], reason: str, *, at: int
) -> Entry | None:
    """Erase entries of a run, and append the account of it, after whatever others append meanwhile.

    Args:
        store: the log.
        run_no: the run.
        dialect: what the run speaks; it takes secrets out of the reason.
        seqs: the entries.
        reason: why; it is kept.
        at: now, microseconds since the epoch, UTC; raised to the last time known of the run.

    Returns:
        The ENTRIES_ERASED; None where all of them were erased already.

    Raises:
        NotFoundError, UsageError: as for :meth:`ledger.log.store.Store.erase`.
        SequenceConflict, BusyError: as for :func:`append_remark`.
    """

    def erase(entry: Entry) -> Entry | None:
        return entry if store.erase(run_no, seqs, entry) else None

    account = EntriesErased(entries=tuple(seqs), reason=reason)
    return _at_the_end(store, run_no, dialect, account, at, erase)


def _at_the_end(
    store: Store,
    run_no: int,
    dialect: LineReader,
    observation: Observation,
    at: int,
    act: Callable[[Entry], _T],
) -> _T:
    """Do what appends an observation, again wherever somebody else appended first."""
    body = dialect.redact(OBSERVER, encode_observation(observation))
    name, stream = observation_type(observation), observation_stream(observation)
    attempts = _ATTEMPTS
    while True:
        size, last = _end_of(store, run_no)
        try:
            return act(Entry(size + 1, max(at, last), OBSERVER, "", name, stream, body))
        except SequenceConflict:
            attempts -= 1
            if not attempts:
                raise
            time.sleep(_RETRY_SECONDS)


def _end_of(store: Store, run_no: int) -> tuple[int, int]:
    """Return how many entries a run has, and the last time that is known of it."""
    before = size = last = 0
    for head in store.heads(run_no):
        before, size, last = size, head.size, max(last, head.at)
    ats = (entry.at for entry in store.entries(run_no, after=before, through=size))
    return size, max(ats, default=0) if last == 0 else max(last, *ats)
