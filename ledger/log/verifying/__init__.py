"""Whether a ledger still holds what it held: everything that can be recomputed, recomputed.

:class:`Verification` reads a ledger and yields a finding wherever the file, its schema, a document, a run's
row, an entry, a tree head or an erasure is not what the rest of the log says. It reads in flat memory and in
short transactions, so that others may write meanwhile; it never writes, and opens also a ledger that the
store refuses.

What it cannot see by itself: that the tail of a run was cut away together with its heads, that whole runs at
the end are gone, and that a history was rewritten with every hash over it. Heads that were kept elsewhere
(:func:`read_heads`) show these. ``docs/trust.md`` says what is proved.

* ``findings``: the findings and their codes · ``known_heads``: heads kept elsewhere
* ``ledger_walk``: the ledger · ``run_walk``: one run · ``chain``: its tree · ``columns``, ``erased``: its
  rows · ``pages``: how all of it is read
"""

from ledger.log.verifying.findings import CODES, FINDINGS_PER_RUN, IntegrityFinding
from ledger.log.verifying.known_heads import KnownHeads, read_heads
from ledger.log.verifying.ledger_walk import Summary, Verification

__all__ = [
    "CODES",
    "FINDINGS_PER_RUN",
    "IntegrityFinding",
    "KnownHeads",
    "Summary",
    "Verification",
    "read_heads",
]
