"""The entries that a transcript itself gives to a run, and how they are held against those of a ledger.

Pure. Invariant: nothing leaves here before the dialect has redacted it, and the same lines always give the
same entries, so that *the same transcript again* can be judged.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ledger.core.dialect import Label, WireDialect
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry
from ledger.core.instants import RisingTimes
from ledger.core.line_cutting import CutLine, redact_cut
from ledger.core.merkle import leaf_hash
from ledger.core.observations import (
    LineCut,
    LineUnterminated,
    Observation,
    RunClosed,
    RunOpened,
    decode_observation,
    encode_observation,
    observation_stream,
    observation_type,
)
from ledger.errors import DiffersError
from ledger.exchange.transcript import ErasedLine, TranscriptLine
from ledger.log.store import Erasure, account_of

_LINE_MEMBER = b'"line":'

CLOSED = observation_type(RunClosed)


class OwnEntries(Iterator[Entry]):
    """Entry 1 and then one entry a line, made as they are asked for.

    Times that go back are raised to the last time that was known; unknown times stay unknown. What was too
    long is told by a LINE_CUT: in a capture behind its line, in a transcript at the end (before a RUN_CLOSED
    that ends it), since observations there name entries by number, and an entry in between would shift them.

    Attributes:
        seq: of the entry given last.
        times: of the entries given so far.
        cuts: how many lines were too long; ``cut_seq`` is the entry of the last of them.
        runtime_line: the first entry of the program that says what only a runtime does, None where none does.
        erased: by seq, of the entries given that have no body, as far as nobody has taken it out.
        still_held: the entries given that have no body, while the ledger has it; see :func:`compare`.
    """

    def __init__(
        self, opening: Entry, lines: Iterable[TranscriptLine], dialect: WireDialect, *, cuts_last: bool = True
    ) -> None:
        self._lines = lines
        self._dialect = dialect
        self._cuts_last = cuts_last
        self._entries = self._all(opening)
        self.seq = 0
        self.times = RisingTimes(opening.at)
        self.cuts = 0
        self.cut_seq = 0
        self.runtime_line: int | None = None
        self.erased: dict[int, Erasure] = {}
        self.still_held = array("I")
        self._told_through = 0
        self._is_closed = False

    def __next__(self) -> Entry:
        return next(self._entries)

    @property
    def may_break_off(self) -> bool:
        """Whether a batch may end here: not behind RUN_CLOSED before all that tells of its erasures."""
        return not self._is_closed or self.seq >= self._told_through

    def closing(self, seq: int) -> Entry:
        """Return RUN_CLOSED as the entry of this number, at the last time known."""
        return Entry(seq, self.times.last, OBSERVER, "", CLOSED, "", encode_observation(RunClosed()))

    def _all(self, opening: Entry) -> Iterator[Entry]:
        self.seq = 1
        yield opening
        late: list[LineCut] = []
        closing: TranscriptLine | None = None
        for line in self._lines:
            if closing is not None:  # it was not the end after all
                yield self._entry(closing)
                closing = None
            if late and is_closing(line):
                closing = line
            elif line.cut is None:
                yield self._entry(line)
            else:
                entry, cut = self._cut_entry(line, line.cut)
                yield entry
                del entry
                if self._cuts_last:
                    late.append(cut)
                else:
                    yield self._observed(cut)
            if line.is_unterminated:
                yield self._observed(LineUnterminated(seq=self.seq if line.cut is None else self.cut_seq))
            del line  # it may be long, and the next is read before it is replaced
        yield from map(self._observed, late)
        if closing is not None:
            yield self._entry(closing)

    def _entry(self, line: TranscriptLine) -> Entry:
        self.seq += 1
        self._is_closed = self._is_closed or is_closing(line)
        if line.erased is not None:
            return self._erased_entry(line, line.erased)
        body, label = redact_and_label(line, self._dialect)
        if label.type in self._dialect.runtime_types and line.origin == PROGRAM and self.runtime_line is None:
            self.runtime_line = self.seq
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

    def _erased_entry(self, line: TranscriptLine, gone: ErasedLine) -> Entry:
        self.erased[self.seq] = Erasure(seq=self.seq, leaf=gone.leaf, erased_by=gone.by)
        self._told_through = max(self._told_through, account_of(gone.by))
        at = self.times.next(line.at)
        return Entry(self.seq, at, line.origin, line.session, gone.type, gone.stream, None)

    def _cut_entry(self, line: TranscriptLine, cut: CutLine) -> tuple[Entry, LineCut]:
        body, sha256 = redact_cut(self._dialect, line.origin, cut)
        entry = self._entry(msgspec.structs.replace(line, body=body))
        self.cuts += 1
        self.cut_seq = entry.seq
        return entry, LineCut(seq=entry.seq, length=cut.length, sha256=sha256)

    def _observed(self, observation: Observation) -> Entry:
        self.seq += 1
        body, kind = encode_observation(observation), observation_type(observation)
        return Entry(self.seq, self.times.last, OBSERVER, "", kind, "", body)


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


def is_closing(line: TranscriptLine) -> bool:
    """Tell RUN_CLOSED, erased or not."""
    if line.erased is not None:
        return line.origin == OBSERVER and line.erased.type == CLOSED
    return isinstance(line.observation, RunClosed)


def compare(
    held: Iterable[Entry], own: OwnEntries, run_id: str, erasure_of: Callable[[int], Erasure | None]
) -> Iterator[Entry]:
    """Hold a ledger's entries against a transcript's own, from entry 1 on.

    Takes from ``own`` as many entries as the ledger holds; what is left there is what the ledger lacks. An
    entry that is erased in the ledger is compared in what is left of it, and stays erased. What is left is
    its leaf too where the transcript has its salt, unless entries before it have other salts: then they were
    drawn elsewhere. One that is erased in the transcript has the leaf of the ledger's, or differs; it is not
    erased in the ledger for that, but noted in ``own.still_held``.

    Args:
        held: the ledger's entries, with their salts.
        own: the transcript's.
        run_id: the run, for errors.
        erasure_of: gives what the ledger keeps of an erased entry, by its seq.

    Yields:
        The entries that the ledger holds beyond the transcript's end: the observer's later remarks.

    Raises:
        DiffersError: names the first entry that differs, and in what.
    """
    are_our_salts = True
    for entry in held:
        mine = next(own, None)
        if mine is None:
            if entry.origin != OBSERVER:
                raise _differs(run_id, entry.seq, "nothing more")
            yield entry
            continue
        if mine.body is None and entry.body is not None:
            own.still_held.append(mine.seq)
        what = _first_difference(entry, mine, own.erased.pop(mine.seq, None), erasure_of)
        if mine.salt is not None and entry.body is not None:
            are_our_salts = are_our_salts and mine.salt == entry.salt
        elif mine.salt is not None and are_our_salts:
            what = what or _leaf_difference(mine, erasure_of)
        if what:
            if own.cut_seq == mine.seq or _is_head(entry.body, mine.body):
                what += ", cut at another length (import it with the --max-line that it came in with)"
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


def _first_difference(
    held: Entry, own: Entry, gone: Erasure | None, erasure_of: Callable[[int], Erasure | None]
) -> str | None:
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
    if gone is not None:
        return _erased_difference(held, own, gone, erasure_of)
    return None if held.body is None or held.body == own.body else "another body"


def _erased_difference(
    held: Entry, own: Entry, gone: Erasure, erasure_of: Callable[[int], Erasure | None]
) -> str | None:
    if (held.type, held.stream) != (own.type, own.stream):
        return "another type or stream"
    if held.body is None:
        kept = erasure_of(held.seq)
        leaf = kept.leaf if kept is not None else b""
    else:
        leaf = leaf_hash(held.salt or b"", held.origin, held.session, held.at, held.body)
    return None if leaf == gone.leaf else "an erased entry with another leaf"


def _leaf_difference(own: Entry, erasure_of: Callable[[int], Erasure | None]) -> str | None:
    kept = erasure_of(own.seq)
    leaf = leaf_hash(own.salt or b"", own.origin, own.session, own.at, own.body or b"")
    return None if kept is not None and leaf == kept.leaf else "another body than was erased"


def _is_head(held: bytes | None, own: bytes | None) -> bool:
    return bool(held) and held != own and (own or b"").startswith(held or b"")


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
