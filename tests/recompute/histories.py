"""Ledgers of generated or built runs, and a recomputation of one, so that a test can say what came of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from ledger.core.decision import encode_decision
from ledger.core.dialect import Ruleset
from ledger.core.digests import digest
from ledger.core.entries import OBSERVER, Entry
from ledger.core.observations import Decided, EntriesErased, RunOpened, decode_observation, encode_observation
from ledger.log.decision_cache import DecisionCache
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow, Erasure, RunRow, Store
from ledger.recompute.choosing import Choice
from ledger.recompute.planning import RunLeft
from ledger.recompute.recomputation import Recomputation, RunDecided
from ledger.recompute.workers import Folding, Workers
from ledger.replay.replay import replay
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE, Run

TEXT, REFERENCE, LATER = r.TEXT, r.REFERENCE, r.LATER

FLAT = r.streams("a", "b")
NESTED = r.streams("p", d=r.detail("p"))

GOOD = r.run(FLAT, r.start("a", "b"), r.record("a"), r.state("a"), r.done(1), r.exited(0))
"""Decided alike under 0.1.0 and the reference."""

CREDITED = r.run(
    NESTED,
    r.start("p", "d"),
    r.record("p"),
    r.coverage("d", "p", ["k"], optional_skip_keys=["k"]),
    r.state("p"),
    r.done(1),
    r.exited(0),
)
"""Commits p under the reference, which credits optional skips, and withholds it under 0.1.0."""


def named(run: Run, run_id: str, **opened: Any) -> Run:
    """Return a run under another id, where its opening can be read; ``opened`` replaces members of that."""
    first = run.entries[0]
    said = decode_observation(first.body) if first.body is not None else None
    if not isinstance(said, RunOpened):
        return run
    body = encode_observation(replace(said, run_id=run_id, **opened))
    return Run([replace(first, body=body), *run.entries[1:]], run.documents)


def decided_at(run: Run, through: int, ruleset: str = TEXT, *, decision: str | None = None) -> Run:
    """Return a run with a DECIDED over so many entries at its end; its digest is the right one, or given."""
    made = replay(PROFILE, run.entries[:through], run.documents, PROFILE.rulesets[ruleset])
    told = decision or digest(encode_decision(made))
    entry = r.to_entry(len(run.entries) + 1, Decided(ruleset=ruleset, through_seq=through, decision=told))
    return Run([*run.entries, entry], run.documents)


def keep(store: Store, run: Run, run_id: str, *, documents: bool = True, **row: Any) -> RunRow:
    """Append a run to a ledger as it is, under an id that its opening has too."""
    run = named(run, run_id)
    first = run.entries[0]
    said = decode_observation(first.body) if first.body is not None else None
    members: dict[str, Any] = {
        "dialect": PROFILE.name,
        "program": "",
        "namespace": "",
        "trigger": "proactive",
    }
    known = RunRow(run_id=run_id, via="recorded", opened_at=0, **members)
    if isinstance(said, RunOpened):
        known = RunRow.of(said, 0, via="recorded")
    bodies = [
        DocumentRow(digest=name, media_type="application/json", body=body)
        for name, body in run.documents.items()
        if documents
    ]
    erased = [Erasure(seq=one.seq, leaf=bytes(32), erased_by="2") for one in run.entries if one.body is None]
    return store.open_run(replace(known, **row), run.entries, bodies, erased=erased)


def append(store: Store, run: RunRow, *steps: r.Step) -> None:
    """Append to a run."""
    size = store.size(run.run_no)
    store.append(run.run_no, [r.to_entry(seq, step) for seq, step in enumerate(steps, start=size + 1)])


def erase(store: Store, run: RunRow, *seqs: int) -> None:
    """Erase entries of a run, and say so."""
    body = encode_observation(EntriesErased(entries=seqs, reason="asked to"))
    account = Entry(store.size(run.run_no) + 1, 0, OBSERVER, "", "ENTRIES_ERASED", "", body)
    assert store.erase(run.run_no, seqs, account) == len(seqs)


@contextmanager
def made(path: Path, *runs: Run) -> Iterator[SqliteStore]:
    """Make a ledger of runs, the first ``run_1``, and hold it open."""
    with SqliteStore.open(path, create=True) as store:
        for number, run in enumerate(runs, start=1):
            keep(store, run, f"run_{number}")
        yield store


def rules(name: str) -> Ruleset:
    return PROFILE.rulesets[name]


class Recomputed:
    """What came of recomputing a whole ledger.

    Attributes:
        told: what came of each run, in order.
    """

    def __init__(self, recomputation: Recomputation, told: list[RunDecided | RunLeft]) -> None:
        self.told = told
        self.folded = recomputation.folded
        self.kept = recomputation.kept
        self.unkept = recomputation.unkept

    @property
    def decided(self) -> list[RunDecided]:
        return [one for one in self.told if isinstance(one, RunDecided)]

    @property
    def left(self) -> list[RunLeft]:
        return [one for one in self.told if isinstance(one, RunLeft)]

    def bytes(self) -> list[tuple[bytes | None, bytes, bool | None]]:
        """Return what was decided of each run, as it is encoded."""
        return [
            (encode_decision(one.before) if one.before else None, encode_decision(one.after), one.reproduced)
            for one in self.decided
        ]


def recompute(
    path: Path,
    after: str | None = None,
    before: str | None = None,
    *,
    jobs: int = 1,
    keeps: Literal["all", "nothing", "no more"] = "all",
    is_proof: bool = False,
    folding: Folding | None = None,
    store: Store | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> Recomputed:
    """Recompute a ledger.

    Args:
        path: the ledger.
        after: the new rules, None for the default.
        before: the old ones, None for what each run was recorded under.
        jobs: how many processes fold.
        keeps: whether decisions are taken and kept, neither, or only taken.
        is_proof: whether they are held against what is folded.
        folding: where runs are folded, where that is to be elsewhere.
        store: how the ledger is read, where that is to be another way.
        meanwhile: what happens once all runs have been looked at and before the last are folded.
    """

    def runs(store: Store) -> Iterator[RunRow]:
        yield from store.runs_as_appended()
        meanwhile()

    choice = Choice(rules(after) if after else None, rules(before) if before else None)
    with ExitStack() as held:
        if store is None:
            store = held.enter_context(SqliteStore.open(path, create=False, read_only=True))
        if folding is None:
            folding = Workers(path, jobs)
            held.callback(folding.close)
        cache = None
        if keeps != "nothing":
            cache = held.enter_context(DecisionCache.open(path, read_only=is_proof or keeps == "no more"))
        recomputation = Recomputation(store, choice, folding, cache=cache, is_proof=is_proof)
        return Recomputed(recomputation, list(recomputation.decide(runs(store))))
