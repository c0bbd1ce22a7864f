"""The contract of a store of runs, held against every store that there is."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest

from ledger.core.digests import digest
from ledger.core.entries import OBSERVER, RUNTIME, Entry
from ledger.core.merkle import append_leaves, leaf_hash, root
from ledger.core.observations import EntriesErased, encode_observation
from ledger.errors import IntegrityError, NotFoundError, SequenceConflict, UsageError
from ledger.log.memory_store import MemoryStore
from ledger.log.paging import PAGE_ROWS
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import RULESET_MEDIA_TYPE, DocumentRow, Erasure, Store
from tests.log.scripted import line, lines, observed, run_row

Reopen: TypeAlias = Callable[[Store], Store]
Kept: TypeAlias = tuple[Store, Reopen]


@pytest.fixture(params=["sqlite", "memory"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    """A store, and what a restart makes of it."""
    opened: list[Store] = []

    def open_file(before: Store | None = None) -> Store:
        if before is not None:
            before.close()
        opened.append(SqliteStore.open(tmp_path / "ledger.db", create=True))
        return opened[-1]

    yield (MemoryStore(), lambda store: store) if request.param == "memory" else (open_file(), open_file)
    for store in opened:
        store.close()


@pytest.fixture
def store(kept: Kept) -> Store:
    return kept[0]


# ---- appending --------------------------------------------------------------------------------------------


def test_a_run_reads_back_as_it_was_appended(store: Store) -> None:
    given = [
        line(1, b"", origin=OBSERVER, at=-5),
        line(2, b"\xff\x00", session="é", type="", stream="", at=0),
        line(3, b"x" * 100_000, origin=RUNTIME, at=2**62),
    ]
    run = store.open_run(run_row(), given)
    assert run.run_no == 1
    assert list(store.entries(1)) == given


def test_entries_of_a_type_and_some_streams_are_read_alone_and_in_order(store: Store) -> None:
    labels = [("RECORD", "a"), ("STATE", "a"), ("RECORD", "b"), ("RECORD", 'q"\u2028'), ("RECORD", "c")]
    numbers = range(1, 2 * PAGE_ROWS + 8)
    given = [line(n, type=labels[n % 5][0], stream=labels[n % 5][1]) for n in numbers]
    run = store.open_run(run_row(), given)
    store.open_run(run_row("run_2"), given)
    wanted = {"a", 'q"\u2028', "nowhere"}
    expected = [one for one in given if one.type == "RECORD" and one.stream in wanted]
    assert list(store.labelled(run.run_no, "RECORD", wanted)) == expected
    assert list(store.labelled(run.run_no, "RECORD", ())) == []
    assert list(store.labelled(7, "RECORD", wanted)) == []


def test_batches_follow_each_other(store: Store) -> None:
    run = store.open_run(run_row(), lines(1, 2))
    store.append(run.run_no, lines(3, 3))
    store.append(run.run_no, lines(4, 9))
    assert list(store.entries(run.run_no)) == lines(1, 9)
    assert store.size(run.run_no) == 9


def test_runs_grow_side_by_side(store: Store) -> None:
    first = store.open_run(run_row("a"), lines(1, 1))
    second = store.open_run(run_row("b"), lines(1, 2))
    store.append(first.run_no, lines(2, 3))
    assert (first.run_no, second.run_no) == (1, 2)
    assert list(store.entries(1)) == lines(1, 3)
    assert list(store.entries(2)) == lines(1, 2)


def test_a_run_id_is_opened_once(store: Store) -> None:
    store.open_run(run_row(), lines(1, 3))
    with pytest.raises(SequenceConflict) as caught:
        store.open_run(run_row(program="other"), lines(1, 1))
    assert (caught.value.expected, caught.value.found) == (1, 4)
    assert store.size(1) == 3
    assert [run.program for run in store.runs()] == ["mail"]


@pytest.mark.parametrize("first", [2, 3, 5, 6])
def test_a_writer_that_is_not_where_it_thinks_it_is_forks_nothing(store: Store, first: int) -> None:
    store.open_run(run_row(), lines(1, 3))
    with pytest.raises(SequenceConflict) as caught:
        store.append(1, lines(first, first + 1))
    assert (caught.value.expected, caught.value.found) == (first, 4)
    assert list(store.entries(1)) == lines(1, 3)
    assert [head.size for head in store.heads(1)] == [3]


def test_a_batch_with_a_hole_is_refused_whole(store: Store) -> None:
    store.open_run(run_row(), lines(1, 3))
    for batch in ([line(4), line(6)], [line(4), line(4)], [line(5), line(4)]):
        with pytest.raises((IntegrityError, SequenceConflict)):
            store.append(1, batch)
    assert store.size(1) == 3


def test_a_run_begins_at_one(store: Store) -> None:
    with pytest.raises(IntegrityError, match="expected entry 1 first, found entry 2"):
        store.open_run(run_row(), lines(2, 3))
    assert store.run("run_1") is None


def test_an_entry_without_a_body_or_with_a_short_salt_is_refused(store: Store) -> None:
    for wrong in (Entry(1, 0, "program", "", "", "", None), line(1, salt=b"short")):
        with pytest.raises(IntegrityError):
            store.open_run(run_row(), [wrong])
    assert list(store.runs()) == []


def test_an_empty_batch_is_a_mistake_of_the_caller(store: Store) -> None:
    with pytest.raises(ValueError, match="at least one"):
        store.open_run(run_row(), [])


def test_appending_to_a_run_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.append(7, lines(1, 1))


def test_a_refused_append_leaves_the_store_usable(store: Store) -> None:
    store.open_run(run_row(), lines(1, 1))
    with pytest.raises(SequenceConflict):
        store.append(1, lines(9, 9))
    store.append(1, lines(2, 2))
    assert store.size(1) == 2


def test_a_run_goes_on_after_a_restart(kept: Kept) -> None:
    store, reopen = kept
    run = store.open_run(run_row(), lines(1, 5))
    store.append(run.run_no, lines(6, 11))
    store = reopen(store)
    found = store.run("run_1")
    assert found == run
    store.append(run.run_no, lines(12, 13))
    assert list(store.entries(run.run_no)) == lines(1, 13)
    assert_heads_hold(store, run.run_no)


# ---- the tree ---------------------------------------------------------------------------------------------


def assert_heads_hold(store: Store, run_no: int) -> None:
    """Hold every head against the root of the leaves, computed one by one."""
    leaves = []
    for entry in store.entries(run_no, salts=True):
        assert entry.salt is not None
        assert entry.body is not None
        leaves.append(leaf_hash(entry.salt, entry.origin, entry.session, entry.at, entry.body))
    size = 0
    for head in store.heads(run_no):
        assert head.run_no == run_no
        assert head.size > size
        size = head.size
        assert root(head.peaks, size) == root(append_leaves(b"", 0, leaves[:size]), size)
    assert size == len(leaves)


def test_there_is_a_head_a_batch_and_each_holds(store: Store) -> None:
    store.open_run(run_row(), lines(1, 1))
    first = 2
    for count in (1, 2, 5, 1, 30, 64, 3):
        store.append(1, lines(first, first + count - 1))
        first += count
    assert [head.size for head in store.heads(1)] == [1, 2, 4, 9, 10, 40, 104, 107]
    assert [head.at for head in store.heads(1)][-1] == 1_107
    assert_heads_hold(store, 1)


def test_salts_are_random_and_read_only_when_asked_for(store: Store) -> None:
    store.open_run(run_row(), lines(1, 50))
    salts = [entry.salt for entry in store.entries(1, salts=True)]
    assert len({salt for salt in salts if salt is not None and len(salt) == 16}) == 50
    assert {entry.salt for entry in store.entries(1)} == {None}


def test_a_salt_that_is_given_is_kept(store: Store) -> None:
    store.open_run(run_row(), [line(1), line(2, salt=b"0123456789abcdef"), line(3)])
    salts = [entry.salt for entry in store.entries(1, salts=True)]
    assert salts[1] == b"0123456789abcdef"
    assert len(set(salts)) == 3


def test_the_same_entries_and_salts_give_the_same_peaks_in_every_store(tmp_path: Path) -> None:
    batch = [line(seq, salt=bytes([seq]) * 16) for seq in range(1, 8)]
    with SqliteStore.open(tmp_path / "ledger.db", create=True) as file, MemoryStore() as memory:
        file.open_run(run_row(), batch)
        memory.open_run(run_row(), batch)
        assert list(file.heads(1)) == list(memory.heads(1))


# ---- reading ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "through"), [(0, None), (3, None), (0, 4), (3, 4), (9, 9), (10, None), (4, 3)]
)
def test_a_range_is_after_one_seq_and_through_another(store: Store, after: int, through: int | None) -> None:
    store.open_run(run_row("before"), lines(1, 20))
    store.open_run(run_row("run"), lines(1, 10))
    store.open_run(run_row("behind"), lines(1, 20))
    found = [entry.seq for entry in store.entries(2, after=after, through=through)]
    assert found == list(range(after + 1, min(10 if through is None else through, 10) + 1))


@pytest.mark.parametrize("size", [PAGE_ROWS - 1, PAGE_ROWS, PAGE_ROWS + 1, 2 * PAGE_ROWS])
def test_pages_join_without_a_seam(store: Store, size: int) -> None:
    store.open_run(run_row(), lines(1, size))
    store.open_run(run_row("behind"), lines(1, 3))
    assert [entry.seq for entry in store.entries(1)] == list(range(1, size + 1))
    assert [entry.seq for entry in store.entries(1, after=5, salts=True)] == list(range(6, size + 1))


def test_a_range_never_reaches_into_another_run(store: Store) -> None:
    for run_id in ("before", "run", "behind"):
        store.open_run(run_row(run_id), lines(1, 2))
    assert len(list(store.entries(2, after=-(2**40), through=2**40))) == 2
    assert list(store.entries(2, through=-1)) == []
    assert list(store.entries(2, after=2)) == []


def test_a_read_sees_what_is_appended_while_it_goes_on(store: Store) -> None:
    store.open_run(run_row(), lines(1, PAGE_ROWS))
    reader = store.entries(1)
    assert next(reader).seq == 1
    store.append(1, lines(PAGE_ROWS + 1, PAGE_ROWS + 10))
    assert 1 + sum(1 for _ in reader) == PAGE_ROWS + 10


def test_a_run_that_is_not_there_is_empty(store: Store) -> None:
    assert store.run("nowhere") is None
    assert store.size(7) == 0
    assert list(store.entries(7)) == []
    assert list(store.heads(7)) == []
    assert list(store.observations("NOTE", run_no=7)) == []


def test_runs_come_newest_first(store: Store) -> None:
    for run_id, opened_at in [("b", 20), ("unknown", 0), ("c", 30), ("a", 10), ("c2", 30)]:
        store.open_run(run_row(run_id, opened_at=opened_at), lines(1, 1))
    assert [run.run_id for run in store.runs()] == ["c2", "c", "b", "a", "unknown"]
    assert [run.run_id for run in store.runs(since=20)] == ["c2", "c", "b"]


def test_runs_are_found_by_program(store: Store) -> None:
    for run_id, program, opened_at in [("a", "mail", 10), ("b", "chat", 20), ("c", "mail", 30)]:
        store.open_run(run_row(run_id, program=program, opened_at=opened_at), lines(1, 1))
    assert [run.run_id for run in store.runs(program="mail")] == ["c", "a"]
    assert [run.run_id for run in store.runs(program="mail", since=11)] == ["c"]
    assert list(store.runs(program="none")) == []


def test_runs_come_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.log.sqlite_store.PAGE_ROWS", 3)
    for number in range(10):
        store.open_run(run_row(f"run_{number}", opened_at=number // 4), lines(1, 1))
    assert [run.run_id for run in store.runs()] == [f"run_{number}" for number in range(9, -1, -1)]


def test_runs_are_found_by_the_beginning_of_their_id(store: Store) -> None:
    for run_id in ["run_b", "run_a", "RUN_A", "ru", "run_%", "run_a\U0010ffff", "rux"]:
        store.open_run(run_row(run_id), lines(1, 1))
    found = [run.run_id for run in store.runs_with_prefix("run_", 10)]
    assert found == ["run_%", "run_a", "run_a\U0010ffff", "run_b"]
    assert [run.run_id for run in store.runs_with_prefix("run_a", 10)] == ["run_a", "run_a\U0010ffff"]
    assert [run.run_id for run in store.runs_with_prefix("run_", 2)] == ["run_%", "run_a"]
    assert len(store.runs_with_prefix("", 10)) == 7


def test_observations_come_oldest_first_and_never_from_the_wire(store: Store) -> None:
    store.open_run(run_row("a"), [observed(1, "RUN_OPENED"), line(2, type="NOTE"), observed(3, "NOTE")])
    store.open_run(run_row("b"), [observed(1, "RUN_OPENED"), observed(2, "NOTE")])
    store.append(1, [observed(4, "NOTE")])
    found = [(run_no, entry.seq) for run_no, entry in store.observations("NOTE")]
    assert found == [(1, 3), (1, 4), (2, 2)]
    assert [entry.seq for _, entry in store.observations("NOTE", run_no=1)] == [3, 4]
    assert list(store.observations("DECIDED")) == []
    assert next(store.observations("NOTE")) == (1, observed(3, "NOTE"))


def test_observations_come_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.log.sqlite_store.PAGE_ROWS", 3)
    for number in range(3):
        store.open_run(run_row(f"run_{number}"), [observed(seq, "NOTE") for seq in range(1, 6)])
    found = [(run_no, entry.seq) for run_no, entry in store.observations("NOTE")]
    assert found == [(run_no, seq) for run_no in (1, 2, 3) for seq in range(1, 6)]


# ---- documents --------------------------------------------------------------------------------------------


def document(body: bytes, name: str | None = None) -> DocumentRow:
    return DocumentRow(digest=name or digest(body), media_type="application/json", body=body)


def test_documents_are_kept_by_their_digest_and_once(store: Store) -> None:
    one, two = document(b'{"a":1}'), document(b"\xff\x00" * 9_000)
    store.open_run(run_row("a"), lines(1, 1), [one, one])
    store.open_run(run_row("b"), lines(1, 1), [one, two])
    assert store.documents([one.digest, two.digest, digest(b"other")]) == {
        one.digest: one.body,
        two.digest: two.body,
    }
    assert store.documents([]) == {}


def test_documents_are_kept_without_a_run_and_read_by_their_media_type(kept: Kept) -> None:
    store, reopen = kept
    bodies = [b"%d" % number for number in range(PAGE_ROWS + 3)]
    rows = [msgspec.structs.replace(document(body), media_type=RULESET_MEDIA_TYPE) for body in bodies]
    store.keep_documents(rows[:2])
    store.keep_documents([])
    store.open_run(run_row(), lines(1, 1), [document(b"{}")])
    store.keep_documents(rows)
    store = reopen(store)
    assert list(store.documents_of(RULESET_MEDIA_TYPE)) == sorted(rows, key=lambda row: row.digest)
    assert list(store.documents_of("application/json")) == [document(b"{}")]
    assert list(store.documents_of("text/plain")) == []


def test_of_documents_that_are_not_what_they_say_none_is_kept(store: Store) -> None:
    sound, broken = document(b"{}"), document(b"[]", digest(b"{}"))
    with pytest.raises(IntegrityError, match="expected a document sha256:"):
        store.keep_documents([sound, broken])
    assert list(store.documents_of("application/json")) == []


def test_a_document_that_is_not_what_its_digest_says_opens_no_run(store: Store) -> None:
    with pytest.raises(IntegrityError, match="expected a document sha256:"):
        store.open_run(run_row(), lines(1, 1), [document(b"{}", digest(b"[]"))])
    assert store.run("run_1") is None
    store.open_run(run_row(), lines(1, 1))


def test_the_newest_head_is_the_last_of_all(store: Store) -> None:
    run = store.open_run(run_row(), lines(1, 2))
    store.append(run.run_no, lines(3, 9))
    assert store.head(run.run_no) == list(store.heads(run.run_no))[-1]
    assert store.head(run.run_no + 1) is None


def test_closing_twice_is_no_error(store: Store) -> None:
    store.close()
    store.close()


# ---- erasing ----------------------------------------------------------------------------------------------


def account(seq: int, entries: tuple[int, ...]) -> Entry:
    body = encode_observation(EntriesErased(entries=entries, reason="asked to"))
    return line(seq, body, origin=OBSERVER, type="ENTRIES_ERASED", stream="")


def test_an_erased_entry_keeps_its_columns_and_its_leaf_and_loses_body_and_salt(kept: Kept) -> None:
    store, reopen = kept
    run = store.open_run(run_row(), lines(1, 5))
    before = list(store.entries(run.run_no, salts=True))
    heads = list(store.heads(run.run_no))
    assert store.erase(run.run_no, [2, 4], account(6, (2, 4))) == 2
    store = reopen(store)
    after = list(store.entries(run.run_no, salts=True))
    for seq in (2, 4):
        was = before[seq - 1]
        assert after[seq - 1] == msgspec.structs.replace(was, body=None, salt=None)
    assert [after[0], after[2], after[4]] == [before[0], before[2], before[4]]
    assert list(store.erasures(run.run_no)) == [
        Erasure(seq=was.seq, leaf=leaf_of(was), erased_by="6") for was in (before[1], before[3])
    ]
    assert list(store.erasures(run.run_no, after=2, through=4)) == list(store.erasures(run.run_no))[1:]
    assert list(store.heads(run.run_no))[:-1] == heads
    leaves = [*map(leaf_of, before), leaf_of(after[5])]
    assert list(store.heads(run.run_no))[-1].peaks == append_leaves(b"", 0, leaves)


def test_erasing_again_changes_nothing_and_appends_nothing(store: Store) -> None:
    run = store.open_run(run_row(), lines(1, 3))
    store.erase(run.run_no, [2], account(4, (2,)))
    once = list(store.entries(run.run_no)), list(store.erasures(run.run_no))
    assert store.erase(run.run_no, [2], account(5, (2,))) == 0
    assert store.erase(run.run_no, [], account(5, ())) == 0
    assert (list(store.entries(run.run_no)), list(store.erasures(run.run_no))) == once
    assert store.erase(run.run_no, [2, 3], account(5, (2, 3))) == 1
    assert [one.erased_by for one in store.erasures(run.run_no)] == ["4", "5"]


@pytest.mark.parametrize(
    ("seqs", "error"), [([1], UsageError), ([2, 1], UsageError), ([9], NotFoundError), ([0], NotFoundError)]
)
def test_what_cannot_be_erased_is_refused_and_nothing_changes(
    store: Store, seqs: list[int], error: type[Exception]
) -> None:
    run = store.open_run(run_row(), lines(1, 3))
    with pytest.raises(error):
        store.erase(run.run_no, seqs, account(4, tuple(seqs)))
    assert list(store.entries(run.run_no)) == lines(1, 3)
    assert not list(store.erasures(run.run_no))


def test_what_tells_of_an_erasure_cannot_be_erased_and_nothing_changes(store: Store) -> None:
    run = store.open_run(run_row(), lines(1, 3))
    store.erase(run.run_no, [2], account(4, (2,)))
    before = list(store.entries(run.run_no)), list(store.erasures(run.run_no))
    for seqs in ([4], [3, 4]):
        with pytest.raises(UsageError, match="entry 4 cannot be erased, as it tells of an erasure"):
            store.erase(run.run_no, seqs, account(5, tuple(seqs)))
    assert (list(store.entries(run.run_no)), list(store.erasures(run.run_no))) == before
    other = store.open_run(run_row("run_2"), lines(1, 4))  # whose entry 4 is another
    assert store.erase(other.run_no, [4], account(5, (4,))) == 1


def test_erasing_expects_the_next_seq_as_appending_does(store: Store) -> None:
    run = store.open_run(run_row(), lines(1, 3))
    with pytest.raises(SequenceConflict):
        store.erase(run.run_no, [2], account(3, (2,)))
    with pytest.raises(NotFoundError):
        store.erase(7, [2], account(3, (2,)))
    assert list(store.entries(run.run_no)) == lines(1, 3)


def test_entries_that_were_erased_elsewhere_come_in_with_their_leaves(store: Store) -> None:
    run = store.open_run(run_row(), lines(1, 5))
    before = [leaf_of(entry) for entry in store.entries(run.run_no, salts=True)]
    store.erase(run.run_no, [2, 5], account(6, (2, 5)))
    held = list(store.entries(run.run_no, salts=True))
    erased = list(store.erasures(run.run_no))
    copy = store.open_run(run_row("run_2"), held[:3], erased=erased[:1])
    store.append(copy.run_no, held[3:], erased=erased[1:])
    assert list(store.entries(copy.run_no, salts=True)) == held
    assert list(store.erasures(copy.run_no)) == erased
    newest = list(store.heads(copy.run_no))[-1]
    assert newest.peaks == append_leaves(b"", 0, [*before, leaf_of(held[5])])


@pytest.mark.parametrize(
    ("given", "erased"),
    [
        ([line(1), msgspec.structs.replace(line(2), body=None)], []),
        ([line(1), line(2)], [2]),
        ([line(1), line(2)], [3]),
    ],
)
def test_an_entry_has_a_body_or_an_erasure(store: Store, given: list[Entry], erased: list[int]) -> None:
    known = [Erasure(seq=seq, leaf=bytes(32), erased_by="9") for seq in erased]
    with pytest.raises(IntegrityError):
        store.open_run(run_row(), given, erased=known)
    assert store.run("run_1") is None


def leaf_of(entry: Entry) -> bytes:
    return leaf_hash(entry.salt or b"", entry.origin, entry.session, entry.at, entry.body or b"")
