"""What is observed of a run after it was recorded: one entry behind its last, whoever else writes there.

Not for recording: a recorder numbers its entries ahead, and whoever appends to its run cuts it off.
Invariant: what is appended is one observation, redacted, at a time that does not go back.
"""

import time

from ledger.core.dialect import LineReader
from ledger.core.entries import OBSERVER, Entry
from ledger.core.observations import (
    Observation,
    RunClosed,
    encode_observation,
    observation_stream,
    observation_type,
)
from ledger.errors import SequenceConflict
from ledger.log.store import Store

_ATTEMPTS = 100
_RETRY_SECONDS = 0.01


def is_closed(store: Store, run_no: int) -> bool:
    """Tell whether the log holds the end of a run."""
    return any(True for _ in store.observations(observation_type(RunClosed()), run_no=run_no))


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
    body = dialect.redact(OBSERVER, encode_observation(observation))
    name, stream = observation_type(observation), observation_stream(observation)
    for attempt in range(_ATTEMPTS):
        size, last = _end_of(store, run_no)
        entry = Entry(size + 1, max(at, last), OBSERVER, "", name, stream, body)
        try:
            store.append(run_no, [entry])
        except SequenceConflict:
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            break
    return entry


def _end_of(store: Store, run_no: int) -> tuple[int, int]:
    """Return how many entries a run has, and the last time that is known of it."""
    before = size = last = 0
    for head in store.heads(run_no):
        before, size, last = size, head.size, max(last, head.at)
    ats = (entry.at for entry in store.entries(run_no, after=before, through=size))
    return size, max(ats, default=0) if last == 0 else max(last, *ats)
