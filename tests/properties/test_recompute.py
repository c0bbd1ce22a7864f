"""Ledgers of generated runs, recomputed: what a fold decides, however it is folded and whatever is kept."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ledger.core.decision import encode_decision
from ledger.core.digests import digest
from ledger.core.observations import Decided, decode_observation
from ledger.dialects.collection_profile.clauses import CLAUSES
from ledger.log.decision_cache import NAME
from ledger.log.sqlite_store import SqliteStore
from ledger.recompute.twice import Twice
from ledger.replay.compare import compare
from ledger.replay.differences import Difference, differences
from ledger.replay.replay import replay
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE, Run
from tests.properties.strategies import HUNT, whole_runs
from tests.recompute.histories import TEXT, append, decided_at, keep, named, recompute
from tests.stress.conftest import MEMORY

RULESETS = st.sampled_from([*PROFILE.rulesets])
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
"""A ledger an example is too dear for shrinking one that fails."""

FEW = settings(max_examples=max(25, HUNT // 10), phases=QUICK)
FEWEST = settings(max_examples=max(2, HUNT // 500), phases=QUICK)


@st.composite
def histories(draw: st.DrawFn, longest: int = 5) -> list[Run]:
    """Draw runs; some say in the end how they were decided: at a cut of their own, by rules of their own."""
    drawn: list[Run] = []
    for number, run in enumerate(draw(st.lists(whole_runs(), min_size=1, max_size=longest)), start=1):
        one = named(run, f"run_{number}", ruleset=draw(st.sampled_from([None, *PROFILE.rulesets, "acme/7"])))
        if draw(st.booleans()):
            through = draw(st.integers(1, len(one.entries)))
            told = draw(st.sampled_from([None, None, "sha256:other"]))
            one = decided_at(one, through, draw(RULESETS), decision=told)
        drawn.append(one)
    return drawn


@contextmanager
def ledger(history: list[Run]) -> Iterator[Path]:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder) / "ledger.db"
        with SqliteStore.open(path, create=True) as store:
            for number, run in enumerate(history, start=1):
                keep(store, run, f"run_{number}")
        yield path


def bytes_under(run: Run, ruleset: str, through: int | None = None) -> bytes:
    entries = run.entries[:through]
    return encode_decision(replay(PROFILE, entries, run.documents, PROFILE.rulesets[ruleset]))


def naively_recorded(run: Run) -> Decided | None:
    """Return what the first DECIDED of a run says, None where that is none, or of no entries before it."""
    for entry in run.entries:
        if entry.origin == "observer" and entry.type == "DECIDED":
            said = decode_observation(entry.body) if entry.body is not None else None
            is_one = isinstance(said, Decided) and 1 <= said.through_seq < entry.seq
            return said if is_one else None  # type: ignore[return-value]
    return None


@FEW
@given(histories(), RULESETS)
def test_every_run_is_decided_as_a_fold_of_it_decides(history: list[Run], after: str) -> None:
    with ledger(history) as path:
        found = recompute(path, after)
    assert len(found.decided) == len(history)
    for run, one in zip(history, found.decided, strict=True):
        assert encode_decision(one.after) == bytes_under(run, after)
        assert one.size == len(run.entries)
        if one.rules_before is not None:
            assert one.before is not None
            assert encode_decision(one.before) == bytes_under(run, one.rules_before.id)


@FEW
@given(histories())
def test_a_recorded_decision_is_reproduced_where_its_digest_is_that_of_its_own_cut(
    history: list[Run],
) -> None:
    with ledger(history) as path:
        for _ in range(2):  # folded, and kept
            found = recompute(path)
            for run, one in zip(history, found.decided, strict=True):
                said = naively_recorded(run)
                if said is None:
                    assert one.reproduced is None
                    continue
                through = run.entries[: said.through_seq]
                same = digest(bytes_under(run, said.ruleset, said.through_seq)) == said.decision
                rests_on_erased = any(entry.body is None for entry in through)
                assert one.reproduced == (None if rests_on_erased and not same else same)


@FEW
@given(histories(), RULESETS, RULESETS, st.data())
def test_what_is_kept_changes_nothing(
    history: list[Run], after: str, before: str, data: st.DataObject
) -> None:
    with ledger(history) as path:
        expected = recompute(path, after, before, keeps="nothing").bytes()
        first = recompute(path, after, before)
        again = recompute(path, after, before)
        assert first.bytes() == again.bytes() == expected
        assert again.folded == sum(not is_known(run) for run in history) * len({after, before})
        gone = data.draw(st.sets(st.integers(1, len(history))))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executemany(f"DELETE FROM {NAME} WHERE run_no = ?", [(number,) for number in gone])
        assert recompute(path, after, before).bytes() == expected
        proof = recompute(path, after, before, is_proof=True)
        assert (proof.bytes(), sum(one.differing for one in proof.decided)) == (expected, 0)


def is_known(run: Run) -> bool:
    """Tell whether the manifest of a run is known, or it names none."""
    return bool(run.documents) or bytes_under(run, TEXT) == bytes_under(Run(run.entries, {}), TEXT)


@FEW
@given(histories(), RULESETS, st.data())
def test_only_runs_that_went_on_are_folded_again(history: list[Run], after: str, data: st.DataObject) -> None:
    with ledger(history) as path:
        recompute(path, after, after)
        grown = data.draw(st.sets(st.integers(1, len(history))))
        with SqliteStore.open(path, create=False) as store:
            for number in grown:
                row = store.run(f"run_{number}")
                assert row is not None
                append(store, row, r.progress())
        found = recompute(path, after, after)
        assert found.bytes() == recompute(path, after, after, keeps="nothing").bytes()
        folded = {one.run.run_no for one in found.decided if not one.kept}
        assert grown <= folded
        assert all(not is_known(history[number - 1]) for number in folded - grown)


@FEWEST
@given(histories(20), RULESETS, RULESETS)
def test_however_many_processes_fold_and_however_they_hash_the_same_comes_of_it(
    history: list[Run], after: str, before: str
) -> None:
    with ledger(history * 8) as path:  # runs of several batches
        expected = recompute(path, after, before, keeps="nothing").bytes()
        for jobs in (2, 3):
            assert recompute(path, after, before, keeps="nothing", jobs=jobs).bytes() == expected
        with closing(Twice(path, 1)) as twice:
            assert recompute(path, after, before, keeps="nothing", folding=twice).bytes() == expected
            assert not twice.differing


@given(whole_runs(), RULESETS, RULESETS)
def test_differences_are_those_of_the_verdicts_each_once_and_alike_from_both_sides(
    run: Run, before: str, after: str
) -> None:
    here, there = run.decided(before), run.decided(after)
    found = list(differences(here, there))
    turned = [(kind, stream, after, before) for kind, stream, before, after in map(sides, found)]
    assert sorted(turned) == sorted(map(sides, differences(there, here)))
    told = compare(here, there)
    staged = [(one.stream, one.before, one.after) for one in found if one.stream is not None]
    assert staged == [
        (one.stream, one.here, one.there)
        for one in told.checkpoints
        if {one.here, one.there} != {None, "withhold"}
    ]
    assert any(one.kind == "order" for one in found) == told.order_differs
    assert any(one.stream is None and one.kind != "order" for one in found) == (here.status != there.status)
    for one in found:
        assert one.why.clause in CLAUSES
        assert one.why.code
        assert len(one.why.entries) <= one.why.entries_total
        assert len(one.why.keys) <= one.why.keys_total
        assert one.is_flip == ("indeterminate" not in (one.before, one.after))
        assert 0 <= one.records <= sum(entry.type == "RECORD" for entry in run.entries)


def sides(one: Difference) -> tuple[str, str, str, str]:
    return one.kind, one.stream or "", one.before or "", one.after or ""
