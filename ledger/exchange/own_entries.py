"""The entries that a transcript itself gives to a run, and how they are held against those of a ledger.

Pure. Invariant: nothing leaves here before the dialect has redacted it, and the same lines always give the
same entries, so that *the same transcript again* can be judged.
"""

from collections.abc import Iterable, Iterator

from ledger.core.dialect import Label, WireDialect
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry
from ledger.core.instants import RisingTimes
from ledger.core.observations import (
    Observation,
    RunClosed,
    RunOpened,
    decode_observation,
    encode_observation,
    observation_stream,
    observation_type,
)
from ledger.errors import DiffersError
from ledger.exchange.transcript import TranscriptLine

_LINE_MEMBER = b'"line":'

CLOSED = observation_type(RunClosed())


class OwnEntries(Iterator[Entry]):
    """Entry 1 and then one entry a line, made as they are asked for.

    Times that go back are raised to the last time that was known; unknown times stay unknown.

    Attributes:
        seq: of the entry given last.
        times: of the entries given so far.
    """

    def __init__(self, opening: Entry, lines: Iterator[TranscriptLine], dialect: WireDialect) -> None:
        self._opening = opening
        self._lines = lines
        self._dialect = dialect
        self.seq = 0
        self.times = RisingTimes(opening.at)

    def __next__(self) -> Entry:
        if self.seq == 0:
            self.seq = 1
            return self._opening
        line = next(self._lines)
        self.seq += 1
        body, label = redact_and_label(line, self._dialect)
        return Entry(
            self.seq,
            self.times.next(line.at),
            line.origin,
            line.session,
            label.type,
            label.stream,
            body,
            line.salt,
        )

    def closing(self, seq: int) -> Entry:
        """Return RUN_CLOSED as the entry of this number, at the last time known."""
        return Entry(seq, self.times.last, OBSERVER, "", CLOSED, "", encode_observation(RunClosed()))


def redact_and_label(line: TranscriptLine, dialect: WireDialect) -> tuple[bytes, Label]:
    """Return the body that may be stored, and what it is filed under."""
    if line.origin != OBSERVER:
        body = dialect.redact(line.origin, line.body)
        return body, dialect.label(line.origin, body)
    if line.observation is None:
        body = _redact_remains(line.body, dialect)
    else:
        body = dialect.redact(OBSERVER, line.body)
    observation = line.observation if body == line.body else decode_observation(body)
    return body, _observer_label(observation)


def compare(held: Iterable[Entry], own: OwnEntries, run_id: str) -> Iterator[Entry]:
    """Hold a ledger's entries against a transcript's own, from entry 1 on.

    Takes from ``own`` as many entries as the ledger holds; what is left there is what the ledger lacks. An
    erased entry is compared in what is left of it.

    Yields:
        The entries that the ledger holds beyond the transcript's end: the observer's later remarks.

    Raises:
        DiffersError: names the first entry that differs, and in what.
    """
    for entry in held:
        mine = next(own, None)
        if mine is None:
            if entry.origin != OBSERVER:
                raise _differs(run_id, entry.seq, "nothing more")
            yield entry
        elif what := _first_difference(entry, mine):
            raise _differs(run_id, entry.seq, what)


def _redact_remains(body: bytes, dialect: WireDialect) -> bytes:
    r"""Redact what is left of a torn line, which may be of either direction.

    Its wire line may stand in it as JSON text (``\"type\":\"…\"``), where no dialect would know it. So the
    dialect is also asked about that text on its own; where it sees a secret there, its mark is all we keep.
    """
    text = body.partition(_LINE_MEMBER)[2].lstrip(b' "').replace(b'\\"', b'"').replace(b"\\\\", b"\\")
    for spelling in (body, text) if text else (body,):
        for origin in (RUNTIME, PROGRAM):
            redacted = dialect.redact(origin, spelling)
            if redacted != spelling:
                return redacted
    return body


def _observer_label(observation: Observation | None) -> Label:
    if observation is None:
        return Label("", "")
    return Label(observation_type(observation), observation_stream(observation))


def _first_difference(held: Entry, own: Entry) -> str | None:
    if own.seq == 1:
        return _opening_difference(held, own)
    if _is_torn(held) and not _is_torn(own):
        return "a whole line where the ledger holds a torn one"
    if held.type == CLOSED and own.type != CLOSED:
        return "more, where the ledger holds the end of the run"
    if held.origin != own.origin:
        return "another origin"
    if held.session != own.session:
        return "another session"
    if held.at != own.at:
        return "another time"
    return None if held.body is None or held.body == own.body else "another body"


def _is_torn(entry: Entry) -> bool:
    return entry.origin == OBSERVER and not entry.type


def _opening_difference(held: Entry, own: Entry) -> str | None:
    """Compare what the file says of the opening; when, by whom and how it was recorded is not the run's."""
    if held.body is None:
        return None
    theirs, ours = decode_observation(held.body), decode_observation(own.body or b"")
    if not isinstance(theirs, RunOpened) or not isinstance(ours, RunOpened):
        return "another RUN_OPENED"
    for name in ("dialect", "manifest", "trigger"):
        if getattr(theirs, name) != getattr(ours, name):
            return f"another {name}"
    return None


def _differs(run_id: str, seq: int, what: str) -> DiffersError:
    return DiffersError(
        f"run {run_id}: the ledger holds another run of this id: at entry {seq} the file has {what}; "
        "nothing was imported; import it into another ledger, or give the run another id"
    )
