"""A run as it grows: entries that other processes append, as they come."""

import sys
import time
from collections.abc import Iterator

from ledger.core.entries import Entry
from ledger.log.remarks import is_closed
from ledger.log.store import Store

POLL_SECONDS = 0.2


def follow(store: Store, run_no: int, *, after: int, through: int | None) -> Iterator[Entry]:
    """Yield the entries behind one that was seen, and wait for more until the run is closed.

    What was printed of them is flushed before each wait. While nothing comes, each look is one small query.

    Args:
        store: the log; it must see what others write.
        run_no: the run.
        after: the entry behind which to begin.
        through: the last entry to yield; None for whatever comes.
    """
    seen = -1
    while through is None or after < through:
        size = store.size(run_no)
        if size != seen:
            was_closed = is_closed(store, run_no)  # asked first: what comes before the end is yielded too
            for entry in store.entries(run_no, after=after, through=through):
                after = entry.seq
                yield entry
            if was_closed:
                return
            seen = size
        sys.stdout.flush()
        time.sleep(POLL_SECONDS)
