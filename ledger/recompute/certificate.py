"""A certificate: which decision follows from which entries under which rules, so that anyone can check it.

It names the run's tree by size and root, the ruleset by its digest, the version of the fold, and the decision
by the digest of its bytes. Whoever holds the run's entries, this ledger's or an export's, comes to the same.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from ledger.core.decision import RulesetName, encode_decision
from ledger.core.dialect import Ruleset
from ledger.core.digests import digest
from ledger.core.entries import Entry
from ledger.core.merkle import append_leaves, leaf_hash, root
from ledger.errors import InputError, IntegrityError, NotFoundError
from ledger.log.store import RunRow, Store, root_of
from ledger.recompute.openings import documents_of
from ledger.replay.replay import dialect_named

LEAVES_AT_ONCE = 1000


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was decided as.

    Attributes:
        size: through which entry.
        root: the root of the run's tree at that size, in hex.
        fold: the version of the dialect's fold.
        decision: the digest of the decision, as ``show -o json`` prints it without its line feed.
    """

    schema: Literal["run-certificate/1"] = "run-certificate/1"
    run_id: str
    dialect: str
    size: int
    root: str
    ruleset: RulesetName
    fold: int
    decision: str


def certify(store: Store, run: RunRow, ruleset: Ruleset, *, size: int | None = None) -> Certificate:
    """Fold a run and recompute its tree, both in one pass over the entries themselves.

    Args:
        store: the ledger.
        run: the run.
        ruleset: under which to decide it.
        size: through which entry; None for all of them.

    Raises:
        NotFoundError: the run has not that many entries.
        IntegrityError: the entries do not give the root that the log keeps, or it keeps none; or the manifest
            is not the one whose digest the run names.
    """
    held = store.size(run.run_no)
    if held == 0:
        raise IntegrityError(f"run {run.run_id}: expected a tree head, found none; verify the ledger")
    through = held if size is None else size
    if not 0 < through <= held:
        raise NotFoundError(f"expected a size of 1 to {held} entries of run {run.run_id}, found {through}")
    dialect = dialect_named(run.dialect)
    state = dialect.initial_state(ruleset, _documents(store, run))
    tree = _Tree(store, run)
    dialect.evolve(state, tree.entries(through))
    found = tree.root()
    tree.check()
    return Certificate(
        run_id=run.run_id,
        dialect=run.dialect,
        size=through,
        root=found.hex(),
        ruleset=RulesetName(id=ruleset.id, digest=ruleset.digest),
        fold=dialect.fold_version,
        decision=digest(encode_decision(dialect.decide(state))),
    )


def _documents(store: Store, run: RunRow) -> Mapping[str, bytes]:
    """Return the manifest that a run was opened with, whose digest the run's first entry holds."""
    documents = documents_of(store, run)
    for name, body in documents.items():
        if digest(body) != name:
            raise IntegrityError(
                f"run {run.run_id}: expected the manifest {name}, found other bytes in its place; "
                "`runledger verify` says more"
            )
    return documents


def read_certificate(body: bytes, name: str) -> Certificate:
    """Read a certificate.

    Raises:
        InputError: it is none.
    """
    try:
        return msgspec.json.decode(body, type=Certificate)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{name}: expected a certificate, as `runledger certificate RUN` prints it, found: {error}"
        ) from None


def differing_members(given: Certificate, found: Certificate) -> list[str]:
    """Return the names of the members that differ, in the order in which a certificate has them."""
    names = Certificate.__struct_fields__
    return [name for name in names if getattr(given, name) != getattr(found, name)]


class _Tree:
    """The tree of a run, grown as its entries go by; an erased one gives the leaf that was kept of it."""

    def __init__(self, store: Store, run: RunRow) -> None:
        self._store = store
        self._run = run
        self._peaks = b""
        self._size = 0
        self._leaves: list[bytes] = []

    def entries(self, through: int) -> Iterator[Entry]:
        """Yield the entries that come next, and take each into the tree."""
        number = self._run.run_no
        for entry in self._store.entries(number, after=self._size, through=through, salts=True):
            self._leaves.append(self._leaf(entry))
            if len(self._leaves) == LEAVES_AT_ONCE:
                self._grow()
            yield entry

    def root(self) -> bytes:
        """Return the root over what went by."""
        self._grow()
        return root(self._peaks, self._size)

    def check(self) -> None:
        """Hold the tree against the next head that the log keeps, and take in what lies before that.

        Raises:
            IntegrityError: the entries do not give its root.
        """
        self._grow()
        head = next(head for head in self._store.heads(self._run.run_no) if head.size >= self._size)
        deque(self.entries(head.size), maxlen=0)
        if self.root() != root_of(self._run, head):
            raise IntegrityError(
                f"run {self._run.run_id}: expected the root that is kept of {head.size} entries, found "
                "another; `runledger verify` says where"
            )

    def _leaf(self, entry: Entry) -> bytes:
        if entry.body is not None and entry.salt is not None:
            return leaf_hash(entry.salt, entry.origin, entry.session, entry.at, entry.body)
        kept = self._store.erasures(self._run.run_no, after=entry.seq - 1, through=entry.seq)
        for erasure in kept:
            return erasure.leaf
        raise IntegrityError(
            f"run {self._run.run_id}: expected what is kept of the erased entry {entry.seq}, found nothing; "
            "`runledger verify` says more"
        )

    def _grow(self) -> None:
        self._peaks = append_leaves(self._peaks, self._size, self._leaves)
        self._size += len(self._leaves)
        self._leaves.clear()
