"""From bytes on a pipe to entries in a store, as they happen.

The one way into the log for a run that is being recorded: redact, label, number, buffer, append. It reads no
clock but the one it is given, and never interprets a line beyond its label. Invariants: nothing is buffered
before it was redacted; seq has no holes; all that was given to it is in the store after
:meth:`RunRecorder.flush`, and after 50 ms or 1,000 lines at the latest as long as it is called.
"""

from collections.abc import Callable, Iterable
from types import TracebackType

from ledger.core.dialect import LineReader
from ledger.core.entries import OBSERVER, Entry, Origin
from ledger.core.instants import RisingTimes
from ledger.core.line_cutting import LINE_LIMIT, CutLine, cut_line, redact_cut
from ledger.core.observations import (
    CheckpointCommitFailed,
    CheckpointCommitted,
    Decided,
    LineCut,
    Observation,
    ProgramExited,
    RecordsDurable,
    RunClosed,
    RunOpened,
    encode_observation,
    observation_stream,
    observation_type,
)
from ledger.log.batches import BATCH_BYTES, BATCH_LINES
from ledger.log.store import DocumentRow, RunRow, Store

BATCH_SECONDS = 0.05

_FLUSHED_AT_ONCE = (
    ProgramExited,
    CheckpointCommitted,
    CheckpointCommitFailed,
    RecordsDurable,
    Decided,
    RunClosed,
)
"""What happened outside and cannot be asked for again, and the end."""

_NO_OBSERVER = "expected a line of the program or the runtime; use observe() for observations"


class RunRecorder:
    """Records one run.

    Opening it appends RUN_OPENED, so a run id that is taken is refused before anything happens. Where an
    append fails, what was buffered stays buffered, and flushing can be tried again.

    Attributes:
        run: the run, as the store numbered it.
    """

    def __init__(
        self,
        store: Store,
        dialect: LineReader,
        opened: RunOpened,
        *,
        at: int,
        clock: Callable[[], float],
        documents: Iterable[DocumentRow] = (),
        line_limit: int = LINE_LIMIT,
    ) -> None:
        """Open the run.

        Args:
            store: the log to append to.
            dialect: what the run speaks.
            opened: entry 1.
            at: when it was opened, microseconds since the epoch, UTC; 0 where unknown.
            clock: seconds that never go back; only differences are used.
            documents: the manifest and the ruleset that ``opened`` names.
            line_limit: bytes of the longest line that is kept whole.

        Raises:
            SequenceConflict: there is a run of this id.
        """
        self._store = store
        self._dialect = dialect
        self._clock = clock
        self._line_limit = line_limit
        self._buffer: list[Entry] = []
        self._bytes = 0
        self._since = 0.0
        self._times = RisingTimes(at)
        entry = Entry(1, at, OBSERVER, "", observation_type(opened), "", encode_observation(opened))
        self.run = store.open_run(RunRow.of(opened, at, via=opened.via), [entry], documents)
        self._seq = 1

    def __enter__(self) -> "RunRecorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()

    @property
    def times_raised(self) -> int:
        """How many times went back and were raised to the last one known."""
        return self._times.raised

    @property
    def seq(self) -> int:
        """The seq of the entry given last, buffered or appended."""
        return self._seq

    def line(self, at: int, origin: Origin, session: str, raw: bytes) -> Entry:
        """Record a line of the wire; of one that is too long its head, and LINE_CUT behind it.

        Args:
            at: when it was read or sent, microseconds since the epoch, UTC; 0 where unknown.
            origin: ``program`` or ``runtime``.
            session: which session of the run, '' where a run has one.
            raw: the line, without its LF.

        Returns:
            The entry as it will be read again, save for its salt.

        Raises:
            ValueError: the line holds an LF, or is said to come from the observer.
        """
        if b"\n" in raw:
            raise ValueError("expected one line without its LF, found an LF in it")
        cut = cut_line(raw, self._line_limit, self._dialect.may_hold_secret)
        if cut is not None:
            return self.cut_line(at, origin, session, cut)
        if origin == OBSERVER:
            raise ValueError(_NO_OBSERVER)
        body = self._dialect.redact(origin, raw)
        label = self._dialect.label(origin, body)
        entry = self._buffered(at, origin, session, label.type, label.stream, body)
        self._flush_where_due()
        return entry

    def cut_line(self, at: int, origin: Origin, session: str, line: CutLine) -> Entry:
        """Record what is left of a line that was cut while it was read (see ``LineCutter``), and LINE_CUT.

        Returns:
            The entry of the line.

        Raises:
            ValueError: it is said to come from the observer.
        """
        if origin == OBSERVER:
            raise ValueError(_NO_OBSERVER)
        body, sha256 = redact_cut(self._dialect, origin, line)
        label = self._dialect.label(origin, body)
        entry = self._buffered(at, origin, session, label.type, label.stream, body)
        cut = LineCut(seq=entry.seq, length=line.length, sha256=sha256)
        self._observed(entry.at, cut, session)
        self._flush_where_due()  # after both: a head without its LINE_CUT could pass for a line
        return entry

    def observe(self, at: int, observation: Observation, *, session: str = "") -> Entry:
        """Record what the recorder itself saw; what has effects outside is flushed at once."""
        entry = self._observed(at, observation, session)
        if isinstance(observation, _FLUSHED_AT_ONCE):
            self.flush()
        else:
            self._flush_where_due()
        return entry

    def flush(self) -> None:
        """Append what is buffered; the caller does this before it acts on what it recorded."""
        if self._buffer:
            self._store.append(self.run.run_no, self._buffer)
            self._buffer = []
            self._bytes = 0

    def flush_if_due(self) -> None:
        """Append what is buffered where its time has come; for a caller that is waiting for lines."""
        if self.due_in() == 0.0:
            self.flush()

    def due_in(self) -> float | None:
        """Return how many seconds what is buffered may still wait; None where nothing is."""
        if not self._buffer:
            return None
        return max(0.0, self._since + BATCH_SECONDS - self._clock())

    def _observed(self, at: int, observation: Observation, session: str) -> Entry:
        body = self._dialect.redact(OBSERVER, encode_observation(observation))
        name, stream = observation_type(observation), observation_stream(observation)
        return self._buffered(at, OBSERVER, session, name, stream, body)

    def _buffered(self, at: int, origin: Origin, session: str, kind: str, stream: str, body: bytes) -> Entry:
        entry = Entry(self._seq + 1, self._times.next(at), origin, session, kind, stream, body)
        if not self._buffer:
            self._since = self._clock()
        self._buffer.append(entry)
        self._seq += 1
        self._bytes += len(body)
        return entry

    def _flush_where_due(self) -> None:
        if len(self._buffer) >= BATCH_LINES or self._bytes >= BATCH_BYTES:
            self.flush()
        else:
            self.flush_if_due()
