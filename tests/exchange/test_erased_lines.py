"""Runs with erased entries, out and in: the identity holds, and no import brings erased bytes back."""

import io
import json
import re
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.core.entries import OBSERVER, Entry
from ledger.core.merkle import append_leaves, leaf_hash
from ledger.core.observations import EntriesErased, RunOpened, decode_observation, encode_observation
from ledger.errors import BusyError, DiffersError, IntegrityError, TranscriptError, UsageError
from ledger.exchange.exporting import export_run
from ledger.exchange.importing import Imported, import_transcript
from ledger.exchange.transcript import ErasedLine, parse_line
from ledger.exchange.transcript_writer import write_line
from ledger.log.memory_store import MemoryStore
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import Erasure, RunRow, Store
from ledger.log.verifying import Verification
from tests.exchange.scripted_dialect import DIALECTS
from tests.exchange.test_exporting import exported, imported, opening_of, recorded, transcripts
from tests.exchange.test_importing import HEADER, wire

LEAF = bytes(range(32))


def account(seq: int, *seqs: int) -> Entry:
    body = encode_observation(EntriesErased(entries=seqs, reason="asked"))
    return Entry(seq, 0, OBSERVER, "", "ENTRIES_ERASED", "", body)


def erase(store: Store, run: RunRow, *seqs: int) -> None:
    store.erase(run.run_no, seqs, account(store.size(run.run_no) + 1, *seqs))


def state_of(store: Store, run: RunRow) -> tuple[list[Entry], list[Erasure]]:
    return list(store.entries(run.run_no, salts=True)), list(store.erasures(run.run_no))


def leaves(store: Store, run: RunRow) -> list[bytes]:
    kept = {one.seq: one.leaf for one in store.erasures(run.run_no)}
    return [
        kept[e.seq] if e.body is None else leaf_hash(e.salt or b"", e.origin, e.session, e.at, e.body)
        for e in store.entries(run.run_no, salts=True)
    ]


def bring(store: Store, path: Path, text: bytes, **how: Any) -> Imported:
    path.write_bytes(text)
    return import_transcript(store, path, DIALECTS, **how)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def five() -> tuple[MemoryStore, RunRow]:
    return recorded(opening_of(None), *(said(n) for n in range(2, 6)))


def said(seq: int) -> Entry:
    return Entry(seq, seq, "program", "s", "RECORD", "a", b'{"type":"RECORD","stream":"a","n":%d}' % seq)


# ---- the identity -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(transcripts(), st.data())
def test_export_then_import_of_an_erased_run_is_the_identity(text: bytes, data: st.DataObject) -> None:
    first, run = imported(text)
    for _ in range(data.draw(st.integers(1, 2))):
        some = st.integers(2, first.size(run.run_no))
        seqs = data.draw(st.lists(some, unique=True)) if first.size(run.run_no) > 1 else []
        told = {entry.seq for _, entry in first.observations("ENTRIES_ERASED", run_no=run.run_no)}
        seqs = [seq for seq in seqs if seq not in told]
        erase(first, run, *seqs)
    there = exported(first, run)
    second, again = imported(there)
    assert state_of(second, again) == state_of(first, run)
    assert exported(second, again) == there
    tree = append_leaves(b"", 0, leaves(first, run))
    assert tree == list(first.heads(run.run_no))[-1].peaks
    assert list(second.heads(again.run_no))[-1].peaks == tree
    assert not any(seq == 1 for seq in (one.seq for one in second.erasures(again.run_no)))


def test_an_erased_entry_is_a_line_with_its_leaf_and_no_body() -> None:
    store, run = five()
    before = leaves(store, run)
    erase(store, run, 3)
    lines = exported(store, run).split(b"\n")
    assert lines[2] == (
        b'{"at":"1970-01-01T00:00:00.000003Z","origin":"program","session":"s","type":"RECORD","stream":"a",'
        b'"erased":{"leaf":"' + before[2].hex().encode() + b'","by":"6"}}'
    )
    assert b'"n' not in lines[2]


def test_many_batches_with_erased_entries_come_in_as_they_were(path: Path) -> None:
    store, run = recorded(opening_of(None), *(said(n) for n in range(2, 4001)))
    erase(store, run, *range(2, 4001, 3))
    with SqliteStore.open(path.parent / "ledger.db", create=True) as second:
        again = bring(second, path, exported(store, run)).run
        assert state_of(second, again) == state_of(store, run)
    with Verification(path.parent / "ledger.db", DIALECTS) as verification:
        assert list(verification.findings()) == []


# ---- the line ---------------------------------------------------------------------------------------------


def erased_line(**members: Any) -> bytes:
    line = {"origin": "program", "erased": {"leaf": LEAF.hex(), "by": "9"}, **members}
    return json.dumps({name: value for name, value in line.items() if value != ...}).encode()


def test_an_erased_line_is_read_as_it_was_written() -> None:
    entry = Entry(4, 7, "runtime", "s", "T", "ä", None)
    line = parse_line(write_line(entry, Erasure(seq=4, leaf=LEAF, erased_by="9"))[:-1], 4)
    assert (line.at, line.origin, line.session, line.body, line.salt) == (7, "runtime", "s", b"", None)
    assert line.erased == ErasedLine(type="T", stream="ä", leaf=LEAF, by="9")


@pytest.mark.parametrize(
    ("members", "erased"),
    [
        ({}, ErasedLine(type="", stream="", leaf=LEAF, by="9")),
        ({"type": None, "stream": "a"}, ErasedLine(type="", stream="a", leaf=LEAF, by="9")),
        (
            {"erased": {"leaf": LEAF.hex().upper(), "by": 9}},
            ErasedLine(type="", stream="", leaf=LEAF, by="9"),
        ),
        ({"erased": {"leaf": LEAF.hex()}}, ErasedLine(type="", stream="", leaf=LEAF, by="")),
    ],
)
def test_what_an_erased_line_may_leave_out(members: dict[str, Any], erased: ErasedLine) -> None:
    assert parse_line(erased_line(**members), 2).erased == erased


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"line": "x"}, "found more than one of them"),
        ({"b64": ""}, "found more than one of them"),
        ({"origin": "observer", "observed": {"type": "RUN_CLOSED"}}, "found more than one of them"),
        ({"salt": "00" * 16}, "no salt of an erased entry, found a salt"),
        ({"erased": {"leaf": "00" * 31}}, '"leaf" to be 64 hex digits'),
        ({"erased": {"leaf": "zz" * 32}}, '"leaf" to be 64 hex digits'),
        ({"erased": {"by": "9"}}, "leaf"),
        ({"erased": "yes"}, "Expected `object | null`, got `str`"),
        ({"erased": {"leaf": LEAF.hex(), "by": []}}, "by"),
        ({"erased": None}, "found none of them"),
        ({"type": 7}, "Expected `str | null`"),
        ({"stream": ["a"]}, "Expected `str | null`"),
        ({"stream": "\ud800"}, "lone surrogate"),
        ({"origin": "observer", "type": "RUN_OPENED"}, "found RUN_OPENED"),
    ],
)
def test_what_an_erased_line_may_not_say(members: dict[str, Any], message: str) -> None:
    with pytest.raises(TranscriptError, match=r"line 2: expected .*") as caught:
        parse_line(erased_line(**members), 2)
    assert message in str(caught.value)


def test_an_erased_line_was_of_no_longer_type_and_stream_than_a_wire_line(path: Path) -> None:
    def text(size: int) -> bytes:
        first = erased_line(type="T" * 10, stream="\x1b" * (size - 10), erased={"leaf": LEAF.hex(), "by": 3})
        return b"\n".join([HEADER.encode(), first, (TOLD % "2").encode(), b""])

    bring(MemoryStore(), path, text(100), max_line=100)
    with pytest.raises(
        TranscriptError, match=r'line 2: expected "type" and "stream" .* 100 bytes .* found 101'
    ):
        bring(MemoryStore(), path, text(101), max_line=100)


def test_members_named_like_those_of_an_erased_line_say_nothing_elsewhere() -> None:
    plain = b'{"at":"2026-11-30T00:00:00Z","origin":"program","line":"x"%b}'
    for more in (b',"type":7,"stream":["a"]', b',"erased":null', b""):
        line = parse_line(plain % more, 2)
        assert (line.body, line.erased) == (b"x", None)


def test_an_entry_without_body_and_erasure_is_refused_when_it_is_written() -> None:
    with pytest.raises(IntegrityError, match="entry 5: expected a body or an erasure"):
        write_line(Entry(5, 0, "program", "", "", "", None))


# ---- what is told of an erasure ---------------------------------------------------------------------------


def erased_by(by: int | str, **members: str) -> bytes:
    return erased_line(erased={"leaf": LEAF.hex(), "by": by}, **members)


TOLD = '{"origin":"observer","observed":{"type":"ENTRIES_ERASED","entries":[%s],"reason":"asked"}}'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([erased_by(3), wire(1, "{}")], "entry 3, by which entry 2 was erased, to be an ENTRIES_ERASED"),
        ([wire(1, "{}"), erased_by(4), TOLD % "2"], "entry 4, by which entry 3 was erased"),
        ([TOLD % "3", erased_by(2)], "entry 2, by which entry 3 was erased"),
        ([erased_by(4), TOLD % "2", wire(1, "{}")], "entry 4, by which entry 2 was erased"),
        ([erased_by("me"), TOLD % "2"], '"by" of the erased entry 2 to be the number of an ENTRIES_ERASED'),
        ([erased_by(""), TOLD % "2"], '"by" of the erased entry 2'),
        ([wire(1, "{}"), TOLD % "2"], "no body of entry 2, as an ENTRIES_ERASED names it"),
    ],
)
@pytest.mark.parametrize("keep_partial", [False, True])
def test_a_file_whose_erasures_are_not_what_it_tells_of_them_is_refused(
    path: Path, lines: list[str | bytes], message: str, keep_partial: bool
) -> None:
    store = MemoryStore()
    text = b"\n".join(line.encode() if isinstance(line, str) else line for line in (HEADER, *lines)) + b"\n"
    with pytest.raises(TranscriptError, match=message):
        bring(store, path, text, keep_partial=keep_partial)
    assert list(store.runs()) == []


@pytest.mark.parametrize("end", ["torn", "[]\n"])
def test_what_is_said_to_be_erased_and_is_there_is_refused_also_of_a_file_that_ends_early(
    path: Path, end: str
) -> None:
    store = MemoryStore()
    text = "\n".join([HEADER, wire(1, "{}"), TOLD % "2", end]).encode()
    with pytest.raises(TranscriptError, match="no body of entry 2"):
        bring(store, path, text, keep_partial=True)
    assert list(store.runs()) == []


some_lines = st.lists(
    st.sampled_from(
        [
            *(erased_by(by) for by in ("", "x", 2, 3, 4, 5, "04")),
            *(erased_by(by, origin="observer", type="ENTRIES_ERASED") for by in (3, 4, 5)),
            *((TOLD % named).encode() for named in ("2", "3", "4", "2,3", "3,4", "")),
            wire(1, "{}").encode(),
            wire(1, "x" * 300).encode(),
        ]
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None, max_examples=60)
@given(some_lines, st.sampled_from([b"", b"[]\n", b'{"or']))
def test_whatever_erasures_a_file_tells_of_it_is_refused_or_the_ledger_holds(
    lines: list[bytes], end: bytes
) -> None:
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        text = b"\n".join([HEADER.encode(), *lines, end])
        with SqliteStore.open(ledger, create=True) as store, suppress(TranscriptError):
            bring(store, Path(folder) / "run.jsonl", text, keep_partial=True, max_line=200)
        with Verification(ledger, DIALECTS) as verification:
            assert list(verification.findings()) == []


def test_a_file_that_ends_early_may_tell_later_of_what_is_erased_in_it(path: Path) -> None:
    text = b"\n".join([HEADER.encode(), erased_by(4), wire(1, "{}").encode(), b""])
    bring(MemoryStore(), path, text + b"[]\n", keep_partial=True)
    with pytest.raises(TranscriptError, match="entry 4, by which entry 2 was erased"):
        bring(MemoryStore(), path, text + b'{"origin')  # which is entry 4, and tells of nothing
    text = b"\n".join([HEADER.encode(), erased_by(5), wire(1, "{}").encode(), b'{"origin'])
    bring(MemoryStore(), path, text)
    for by in (2, 3):
        text = b"\n".join([HEADER.encode(), erased_by(by), wire(1, "{}").encode(), b"[]\n"])
        with pytest.raises(TranscriptError, match=f"entry {by}, by which entry 2 was erased"):
            bring(MemoryStore(), path, text, keep_partial=True)


CLOSING = b'{"origin":"observer","observed":{"type":"RUN_CLOSED"}}'


@pytest.mark.parametrize("end", [b'{"origin', b"[]\n"])
def test_a_file_that_ends_early_behind_the_end_of_its_run_has_to_tell_of_what_is_erased(
    path: Path, end: bytes
) -> None:
    lines = [HEADER.encode(), erased_by(4), CLOSING]
    with pytest.raises(TranscriptError, match="entry 4, by which entry 2 was erased"):
        bring(MemoryStore(), path, b"\n".join([*lines, end]), keep_partial=True)
    told = [*lines, (TOLD % "2").encode(), end]
    assert bring(MemoryStore(), path, b"\n".join(told), keep_partial=True).outcome == "imported"


@pytest.mark.parametrize("erased", [2, 1001])
def test_an_import_that_is_killed_leaves_no_closed_run_that_does_not_tell_of_its_erasures(
    path: Path, erased: int
) -> None:
    found: list[str] = []

    def verify() -> None:
        with Verification(path.parent / "ledger.db", DIALECTS) as verification:
            found.extend(one.code for one in verification.findings())

    class Watched(SqliteStore):
        def append(self, *batch: Any, **more: Any) -> None:
            verify()
            super().append(*batch, **more)

    lines = [wire(1, "{}").encode()] * 2499
    for seq, line in ((erased, erased_by(2500)), (2000, CLOSING), (2500, (TOLD % erased).encode())):
        lines[seq - 2] = line
    with Watched.open(path.parent / "ledger.db", create=True) as store:
        assert bring(store, path, b"\n".join([HEADER.encode(), *lines, b""])).entries == 2500
        assert [head.size for head in store.heads(1)] == [1000, 2500]
    verify()
    assert found == []


def test_a_transcript_by_hand_may_hold_erased_lines(path: Path) -> None:
    first = erased_line(type="RECORD", stream="a", erased={"leaf": LEAF.hex(), "by": 4})
    text = b"\n".join([HEADER.encode(), first, wire(1, "{}").encode(), (TOLD % "2, 9").encode()]) + b"\n"
    with SqliteStore.open(path.parent / "ledger.db", create=True) as store:
        assert bring(store, path, text).outcome == "imported"
        assert bring(store, path, text).outcome == "unchanged"
        assert list(store.erasures(1)) == [Erasure(seq=2, leaf=LEAF, erased_by="4")]
    with Verification(path.parent / "ledger.db", DIALECTS) as verification:
        assert list(verification.findings()) == []


def test_an_erased_explanation_explains_nothing_and_comes_neither_in_nor_out(path: Path) -> None:
    gone = erased_line(origin="observer", type="ENTRIES_ERASED", erased={"leaf": LEAF.hex(), "by": 4})
    text = b"\n".join([HEADER.encode(), erased_by(3), gone, (TOLD % "3").encode(), b""])
    with pytest.raises(TranscriptError, match="entry 3, an ENTRIES_ERASED, to be there, found it erased"):
        bring(MemoryStore(), path, text)

    class Older(MemoryStore):
        def observations(self, *which: Any, **how: Any) -> Any:
            return iter(())

    store, run = five()
    erase(store, run, 3)
    store.__class__ = Older
    erase(store, run, 6)
    with pytest.raises(IntegrityError, match="entry 6, an ENTRIES_ERASED, to be there"):
        exported(store, run)


@pytest.mark.parametrize("via", ["imported", "recorded"])
def test_only_an_import_that_was_cut_short_may_lack_what_tells_of_its_erasures(path: Path, via: Any) -> None:
    store, run = five()
    erase(store, run, 3)
    ledger = path.parent / "ledger.db"
    with SqliteStore.open(ledger, create=True) as second:
        held, erased = state_of(store, run)
        opening = held[0].body or b""
        row = second.open_run(RunRow.of(decoded(opening), 0, via=via), held[:1])
        second.append(row.run_no, held[1:4], erased=erased)
    with Verification(ledger, DIALECTS) as verification:
        found = [one.code for one in verification.findings()]
        unchecked = verification.summary.unchecked
    if via == "recorded":
        assert found == ["erasure_unexplained"]
        return
    assert found == []
    assert unchecked == {
        "run_1": ("why entries are erased: the part of the run that tells is not imported yet",)
    }
    with SqliteStore.open(ledger, create=False) as second:
        assert bring(second, path, exported(store, run)).outcome == "completed"
        assert state_of(second, row) == state_of(store, run)
    with Verification(ledger, DIALECTS) as verification:
        assert list(verification.findings()) == []
        assert verification.summary.unchecked == {}


def decoded(opening: bytes) -> RunOpened:
    observation = decode_observation(opening)
    assert isinstance(observation, RunOpened)
    return observation


@pytest.mark.parametrize("seqs", [(3,), (2, 5)])
def test_an_export_of_what_nothing_tells_of_is_refused(seqs: tuple[int, ...]) -> None:
    store, run = five()
    store.erase(run.run_no, seqs, account(6))
    with pytest.raises(
        IntegrityError, match=f"run run_1: expected entry 6, by which entry {seqs[0]} was erased"
    ):
        exported(store, run)


def test_an_export_during_which_entries_were_erased_says_so() -> None:
    class Raced(MemoryStore):
        def entries(self, run_no: int, **how: Any) -> Any:
            for entry in super().entries(run_no, **how):
                if entry.seq == 2 and how.get("after"):
                    erase(self, run, 4)
                yield entry

    store, run = five()
    store.__class__ = Raced
    with pytest.raises(BusyError, match="export it again"):
        export_run(store, run, io.BytesIO())
    store.__class__ = MemoryStore
    assert b'"erased"' in exported(store, run)


def test_a_run_whose_opening_is_erased_cannot_be_exported() -> None:
    class Opened(MemoryStore):
        def entries(self, run_no: int, **how: Any) -> Any:
            for entry in super().entries(run_no, **how):
                yield entry if entry.seq > 1 else Entry(1, 0, OBSERVER, "", "RUN_OPENED", "", None)

    store, run = five()
    store.__class__ = Opened
    with pytest.raises(UsageError, match="expected RUN_OPENED as entry 1, found it erased"):
        exported(store, run)


# ---- over a ledger that holds the run ---------------------------------------------------------------------


def test_the_whole_transcript_over_an_erased_ledger_brings_nothing_back(path: Path) -> None:
    source, run = five()
    whole = exported(source, run)
    store = MemoryStore()
    run = bring(store, path, whole).run
    erase(store, run, 3, 4)
    before = state_of(store, run)
    assert bring(store, path, whole).outcome == "unchanged"
    assert state_of(store, run) == before
    assert bring(store, path, exported(store, run)).outcome == "unchanged"
    assert state_of(store, run) == before


def test_a_line_with_its_salt_is_the_one_that_was_erased_or_the_file_differs(path: Path) -> None:
    store, run = five()
    whole = exported(store, run)
    erase(store, run, 3)
    before = state_of(store, run)
    changed = whole.replace(b'\\"n\\":3', b'\\"n\\":7')
    assert changed != whole
    with pytest.raises(DiffersError, match="at entry 3 the file has another body than was erased"):
        bring(store, path, changed)
    assert bring(store, path, whole).outcome == "unchanged"
    assert state_of(store, run) == before


def test_salts_that_were_drawn_elsewhere_tell_nothing_of_what_was_erased(path: Path) -> None:
    source, run = five()
    whole = exported(source, run)
    store = MemoryStore()
    run = bring(store, path, re.sub(rb',"salt":"[0-9a-f]+"', b"", whole)).run
    erase(store, run, 3)
    assert bring(store, path, whole).outcome == "unchanged"


def test_an_erased_transcript_over_a_ledger_that_holds_the_bodies_erases_nothing(path: Path) -> None:
    source, run = five()
    whole = exported(source, run)
    erase(source, run, 3, 5)
    store = MemoryStore()
    run = bring(store, path, whole).run
    before = state_of(store, run)
    done = bring(store, path, exported(source, run))
    assert (done.outcome, done.appended, done.still_held) == ("unchanged", 0, (3, 5))
    assert state_of(store, run) == before


@pytest.mark.parametrize("change", ["leaf", "type", "stream", "both erased"])
def test_an_erased_line_that_is_not_the_entry_held_differs(path: Path, change: str) -> None:
    source, run = five()
    store = MemoryStore()
    run = bring(store, path, exported(source, run)).run
    erase(source, run, 3)
    text = exported(source, run)
    if change == "both erased":
        erase(store, run, 3)
    lines = [json.loads(line) for line in text.splitlines()]
    if change in ("type", "stream"):
        lines[2][change] = "OTHER"
    else:
        lines[2]["erased"]["leaf"] = "00" * 32
    with pytest.raises(DiffersError, match="at entry 3 the file has"):
        bring(store, path, b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def test_an_erased_closing_still_closes(path: Path) -> None:
    closed = erased_line(origin="observer", type="RUN_CLOSED", erased={"leaf": LEAF.hex(), "by": 4})
    text = b"\n".join([HEADER.encode(), wire(1, "{}").encode(), closed, (TOLD % "3").encode()])
    store = MemoryStore()
    run = bring(store, path, text).run
    assert [entry.type for entry in store.entries(run.run_no)][2:] == ["RUN_CLOSED", "ENTRIES_ERASED"]
