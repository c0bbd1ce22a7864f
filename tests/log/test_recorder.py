"""Recording: redacted before it is buffered, in order, and in the store in time."""

import hashlib
from collections.abc import Iterable, Sequence

import pytest

from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry
from ledger.core.line_cutting import CutLine
from ledger.core.observations import (
    CheckpointCommitFailed,
    CheckpointCommitted,
    Decided,
    LineCut,
    Note,
    Observation,
    ProgramExited,
    ProgramSpawned,
    ProgramStderr,
    RecordsDurable,
    RunClosed,
    RunOpened,
    Trigger,
    decode_observation,
)
from ledger.errors import BusyError, SequenceConflict
from ledger.log import recorder as recording
from ledger.log.memory_store import MemoryStore
from ledger.log.recorder import RunRecorder
from ledger.log.store import Erasure
from tests.log.scripted import ScriptedDialect

OPENED = RunOpened(
    run_id="run_1",
    dialect="scripted",
    program="mail",
    manifest=None,
    trigger=Trigger(kind="continuous", grant_id="grant_1"),
    namespace="grant_1",
    via="recorded",
    recorder="tests",
)


class Clock:
    """Seconds that go on only when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class FailingStore(MemoryStore):
    """A store that another process holds for a while."""

    is_busy = False

    def append(self, run_no: int, entries: Sequence[Entry], *, erased: Iterable[Erasure] = ()) -> None:
        if self.is_busy:
            raise BusyError("busy")
        super().append(run_no, entries, erased=erased)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> FailingStore:
    return FailingStore()


@pytest.fixture
def recorder(store: FailingStore, clock: Clock) -> RunRecorder:
    return RunRecorder(store, ScriptedDialect(), OPENED, at=1_000, clock=clock)


def test_opening_appends_run_opened_and_the_row_says_the_same(
    recorder: RunRecorder, store: MemoryStore
) -> None:
    (entry,) = store.entries(1)
    assert (entry.seq, entry.at, entry.origin, entry.type) == (1, 1_000, OBSERVER, "RUN_OPENED")
    assert decode_observation(entry.body or b"") == OPENED
    run = store.run("run_1")
    assert run == recorder.run
    assert run is not None
    assert (run.program, run.namespace, run.trigger, run.via, run.opened_at) == (
        "mail",
        "grant_1",
        "continuous",
        "recorded",
        1_000,
    )


def test_a_run_id_that_is_taken_is_refused_at_once(
    recorder: RunRecorder, store: MemoryStore, clock: Clock
) -> None:
    with pytest.raises(SequenceConflict):
        RunRecorder(store, ScriptedDialect(), OPENED, at=0, clock=clock)


def test_lines_are_labelled_and_kept_byte_for_byte(recorder: RunRecorder, store: MemoryStore) -> None:
    recorder.line(1_001, RUNTIME, "", b"START mail scope")
    recorder.line(1_002, PROGRAM, "s1", b"RECORD messages \xff\r")
    recorder.line(1_003, PROGRAM, "s1", b"")
    recorder.flush()
    assert list(store.entries(1, after=1)) == [
        Entry(2, 1_001, RUNTIME, "", "START", "mail", b"START mail scope"),
        Entry(3, 1_002, PROGRAM, "s1", "RECORD", "messages", b"RECORD messages \xff\r"),
        Entry(4, 1_003, PROGRAM, "s1", "", "", b""),
    ]


def test_what_is_returned_is_what_is_read_again(recorder: RunRecorder, store: MemoryStore) -> None:
    given = [recorder.line(1_001, PROGRAM, "", b"RECORD a SECRET"), recorder.observe(1_002, RunClosed())]
    assert list(store.entries(1, after=1)) == given


def test_secrets_are_gone_before_anything_is_buffered(recorder: RunRecorder, store: MemoryStore) -> None:
    for entry in (
        recorder.line(1_001, RUNTIME, "", b"START SECRET x"),
        recorder.line(1_002, PROGRAM, "", b"RECORD a SECRET"),
        recorder.observe(1_003, ProgramStderr(text="the SECRET is out")),
    ):
        assert b"SECRET" not in (entry.body or b"")
        assert "SECRET" not in entry.stream
    recorder.flush()
    assert all(b"SECRET" not in (entry.body or b"") for entry in store.entries(1))


def test_a_line_with_its_lf_is_a_mistake_of_the_caller(recorder: RunRecorder) -> None:
    with pytest.raises(ValueError, match="LF"):
        recorder.line(0, PROGRAM, "", b"RECORD a\n")
    with pytest.raises(ValueError, match="observe"):
        recorder.line(0, OBSERVER, "", b"{}")
    assert recorder.seq == 1


def test_of_a_line_that_is_too_long_the_head_is_kept_and_told(store: FailingStore, clock: Clock) -> None:
    recorder = RunRecorder(store, ScriptedDialect(), OPENED, at=1_000, clock=clock, line_limit=20)
    line = b"RECORD messages 12345"
    entry = recorder.line(1_001, PROGRAM, "s1", line)
    recorder.line(1_002, PROGRAM, "s1", line[:20])
    recorder.cut_line(1_003, RUNTIME, "", CutLine(b"RECORD a SECRET", 10**9, "ab", True))
    recorder.flush()
    head, told, _, secret, told_of_secret = store.entries(1, after=1)
    assert entry == head
    assert (head.body, head.session, head.at) == (line[:20], "s1", 1_001)
    sha256 = hashlib.sha256(line).hexdigest()
    assert decode_observation(told.body or b"") == LineCut(seq=2, length=21, sha256=sha256)
    assert (told.session, told.at) == ("s1", 1_001)
    assert secret.body == b"RECORD a [redacted]"
    assert decode_observation(told_of_secret.body or b"") == LineCut(seq=5, length=10**9, sha256="")
    with pytest.raises(ValueError, match="observe"):
        recorder.cut_line(0, OBSERVER, "", CutLine(b"", 1, "", True))


def test_a_head_is_never_kept_without_the_word_that_it_is_one(
    store: FailingStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BATCH_LINES", 1)
    recorder = RunRecorder(store, ScriptedDialect(), OPENED, at=1_000, clock=clock, line_limit=5)
    store.is_busy = True
    with pytest.raises(BusyError):
        recorder.line(1_001, PROGRAM, "", b"RECORD messages")
    store.is_busy = False
    recorder.flush()
    assert next(iter(store.entries(1, after=1))).body == b"RECOR"
    assert [head.size for head in store.heads(1)] == [1, 3]


def test_times_that_go_back_are_raised_and_counted(recorder: RunRecorder, store: MemoryStore) -> None:
    for at in (2_000, 1_500, 0, 1_999, 2_001, 0, 2_001):
        recorder.line(at, PROGRAM, "", b"x")
    recorder.flush()
    assert [entry.at for entry in store.entries(1, after=1)] == [2_000, 2_000, 0, 2_000, 2_001, 0, 2_001]
    assert recorder.times_raised == 2


def test_a_time_before_the_opening_is_raised_to_it(recorder: RunRecorder) -> None:
    assert recorder.line(999, PROGRAM, "", b"x").at == 1_000


def test_an_opening_at_an_unknown_time_precedes_nothing(store: MemoryStore, clock: Clock) -> None:
    recorder = RunRecorder(store, ScriptedDialect(), OPENED, at=0, clock=clock)
    assert recorder.line(-7, PROGRAM, "", b"x").at == -7
    assert recorder.times_raised == 0


def test_a_thousand_lines_are_a_batch(recorder: RunRecorder, store: MemoryStore) -> None:
    for _ in range(2_500):
        recorder.line(0, PROGRAM, "", b"x")
    assert [head.size for head in store.heads(1)] == [1, 1_001, 2_001]
    recorder.flush()
    recorder.flush()
    assert [head.size for head in store.heads(1)] == [1, 1_001, 2_001, 2_501]


def test_long_lines_close_a_batch_early(
    recorder: RunRecorder, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BATCH_BYTES", 100)
    for _ in range(3):
        recorder.line(0, PROGRAM, "", b"x" * 60)
    assert store.size(1) == 3


def test_fifty_milliseconds_after_the_first_line_the_batch_is_due(
    recorder: RunRecorder, store: MemoryStore, clock: Clock
) -> None:
    assert recorder.due_in() is None
    recorder.line(0, PROGRAM, "", b"a")
    clock.now += 0.03
    recorder.line(0, PROGRAM, "", b"b")
    assert recorder.due_in() == pytest.approx(0.02)
    recorder.flush_if_due()
    assert store.size(1) == 1
    clock.now += 0.03
    recorder.flush_if_due()
    assert store.size(1) == 3
    assert recorder.due_in() is None


def test_a_line_that_comes_late_takes_the_batch_with_it(
    recorder: RunRecorder, store: MemoryStore, clock: Clock
) -> None:
    recorder.line(0, PROGRAM, "", b"a")
    clock.now += 0.06
    recorder.line(0, PROGRAM, "", b"b")
    assert store.size(1) == 3


@pytest.mark.parametrize(
    "observation",
    [
        ProgramExited(code=0),
        CheckpointCommitted(stream="a", namespace="global", cursor_seq=2),
        CheckpointCommitFailed(stream="a", namespace="global"),
        RecordsDurable(through_seq=2),
        Decided(ruleset="r", through_seq=2, decision="d"),
        RunClosed(),
    ],
)
def test_what_happened_outside_is_flushed_at_once(
    recorder: RunRecorder, store: MemoryStore, observation: Observation
) -> None:
    recorder.line(0, PROGRAM, "", b"x")
    recorder.observe(0, observation)
    assert store.size(1) == 3


@pytest.mark.parametrize("observation", [ProgramSpawned(), Note(by="me", text="é")])
def test_other_observations_wait_with_the_lines(
    recorder: RunRecorder, store: MemoryStore, observation: Observation
) -> None:
    recorder.observe(0, observation, session="s")
    assert store.size(1) == 1
    recorder.flush()
    (entry,) = store.entries(1, after=1)
    assert (entry.origin, entry.session, decode_observation(entry.body or b"")) == (
        OBSERVER,
        "s",
        observation,
    )


def test_an_observation_is_filed_under_its_stream(recorder: RunRecorder) -> None:
    committed = CheckpointCommitted(stream="messages", namespace="global", cursor_seq=2)
    entry = recorder.observe(0, committed)
    assert (entry.type, entry.stream) == ("CHECKPOINT_COMMITTED", "messages")


def test_a_failed_flush_loses_nothing(recorder: RunRecorder, store: FailingStore) -> None:
    recorder.line(0, PROGRAM, "", b"a")
    store.is_busy = True
    with pytest.raises(BusyError):
        recorder.observe(0, ProgramExited(code=0))
    store.is_busy = False
    recorder.flush()
    assert [entry.seq for entry in store.entries(1)] == [1, 2, 3]


def test_leaving_the_block_flushes(store: MemoryStore, clock: Clock) -> None:
    with RunRecorder(store, ScriptedDialect(), OPENED, at=0, clock=clock) as recorder:
        recorder.line(0, PROGRAM, "", b"a")
    assert store.size(1) == 2


def test_another_writer_on_the_run_is_noticed(recorder: RunRecorder, store: MemoryStore) -> None:
    store.append(1, [Entry(2, 0, PROGRAM, "", "", "", b"theirs")])
    recorder.line(0, PROGRAM, "", b"ours")
    with pytest.raises(SequenceConflict):
        recorder.flush()
    assert [entry.body for entry in store.entries(1, after=1)] == [b"theirs"]
