"""Remarks: behind whatever others append meanwhile, at a time that does not go back."""

from collections.abc import Iterable, Sequence

import pytest

from ledger.core.entries import Entry
from ledger.core.observations import Note
from ledger.errors import NotFoundError, SequenceConflict
from ledger.log import remarks
from ledger.log.memory_store import MemoryStore
from ledger.log.remarks import append_remark, is_closed
from ledger.log.store import Erasure
from tests.log.scripted import ScriptedDialect, line, lines, observed, run_row

DIALECT = ScriptedDialect()
NOTE = Note(by="ana", text="odd")


class CrowdedStore(MemoryStore):
    """A store to which somebody else appends just before each of the first appends."""

    others = 0

    def append(self, run_no: int, entries: Sequence[Entry], *, erased: Iterable[Erasure] = ()) -> None:
        if self.others:
            self.others -= 1
            super().append(run_no, [line(self.size(run_no) + 1)])
        super().append(run_no, entries, erased=erased)


@pytest.fixture
def store() -> CrowdedStore:
    store = CrowdedStore()
    store.open_run(run_row(), lines(1, 3))
    return store


def test_a_remark_goes_behind_the_last_entry(store: CrowdedStore) -> None:
    entry = append_remark(store, 1, DIALECT, NOTE, at=5_000)
    assert (entry.seq, entry.at, entry.origin, entry.type) == (4, 5_000, "observer", "NOTE")
    assert list(store.entries(1, after=3)) == [entry]


def test_where_others_append_meanwhile_it_is_tried_again(store: CrowdedStore) -> None:
    store.others = 3
    assert append_remark(store, 1, DIALECT, NOTE, at=5_000).seq == 7
    assert [entry.seq for entry in store.entries(1)] == list(range(1, 8))


def test_it_is_not_tried_for_ever(store: CrowdedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remarks, "_RETRY_SECONDS", 0.0)
    store.others = 10**6
    with pytest.raises(SequenceConflict):
        append_remark(store, 1, DIALECT, NOTE, at=5_000)


@pytest.mark.parametrize(
    ("ats", "now", "at"),
    [((9_000,), 5_000, 9_000), ((9_000, 0), 5_000, 9_000), ((0, 0), 5_000, 5_000), ((1, 0), 0, 1_003)],
)
def test_its_time_is_raised_to_the_last_that_is_known(
    store: CrowdedStore, ats: tuple[int, ...], now: int, at: int
) -> None:
    store.append(1, [line(seq, at=given) for seq, given in enumerate(ats, start=4)])
    assert append_remark(store, 1, DIALECT, NOTE, at=now).at == at


def test_secrets_are_taken_out_of_it(store: CrowdedStore) -> None:
    assert b"SECRET" not in (
        append_remark(store, 1, DIALECT, Note(by="ana", text="SECRET"), at=0).body or b""
    )


def test_there_must_be_such_a_run(store: CrowdedStore) -> None:
    with pytest.raises(NotFoundError):
        append_remark(store, 2, DIALECT, NOTE, at=0)


def test_a_run_is_closed_by_its_end_alone(store: CrowdedStore) -> None:
    store.append(1, [line(4, type="RUN_CLOSED")])
    assert not is_closed(store, 1), "a program may say so, and it means nothing"
    store.append(1, [observed(5, "RUN_CLOSED")])
    assert is_closed(store, 1)
