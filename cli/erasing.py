"""What an erasure takes and what it leaves: chosen and told before anything is done, and then done."""

import re
from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from cli.decisions import decide_run
from ledger.core.dialect import Ruleset
from ledger.core.entries import OBSERVER, PROGRAM, Entry
from ledger.core.json_reader import printable
from ledger.core.mentions import KeyNamed
from ledger.core.observations import EntriesErased, LineCut, decode_observation, observation_type
from ledger.errors import NotFoundError, UsageError
from ledger.log.store import RunRow, Store
from ledger.recompute.openings import documents_of
from ledger.replay.erasing import Change, change_between, without_bodies
from ledger.replay.replay import dialect_named, replay

How: TypeAlias = Literal["value", "text", "unread", "digest"]

MENTIONS_TOLD = 100
ENTRIES_AT_ONCE = 10_000
"""Entries that one transaction erases; more of one run are several, each with its own account."""

_ACCOUNT = observation_type(EntriesErased)
_RANGE = re.compile(r"(\d{1,10})(?:-(\d{1,10}))?", re.ASCII)


class Wanted(NamedTuple):
    """What is to be erased of each run that is asked about.

    Attributes:
        ranges: first and last entries, () where they are not how it is said.
        stream: whose records; None where they are not how it is said.
        key: the one canonical key of those records, None for all of them.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    stream: str | None = None
    key: str | None = None


class MentionTold(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that is not erased, and names what is, or may.

    Attributes:
        run_id: the run.
        entry: its seq.
        type: as it was read at append.
        where: the path to it in the entry, '' where that is the whole of it.
        how: as a value, or as a word in a text; ``unread`` is a line that could not be read, and so may hold
            a record of the stream; ``digest`` is the unsalted digest of an over-long line that is erased.
    """

    run_id: str
    entry: int
    type: str
    where: str
    how: How


class Chosen(NamedTuple):
    """What of a run is asked for: the entries that have a body, and how many others were erased before."""

    entries: list[int]
    erased_before: int


class Erasing(msgspec.Struct, frozen=True, kw_only=True):
    """What erasing does to one run.

    Attributes:
        run: the run.
        entries: those that lose their bodies, in order.
        change: what it does to the decision.
    """

    run: RunRow
    entries: list[int]
    change: Change


def read_ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Read ``5,7-9``.

    Raises:
        UsageError: it is no list of entries and ranges of them.
    """
    ranges: list[tuple[int, int]] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match is not None else (1, 0)
        if first > last:
            raise UsageError(f"expected --entries as 5,7-9, found {text!r}")
        ranges.append((first, last))
    return tuple(ranges)


def choose(store: Store, run: RunRow, wanted: Wanted) -> Chosen:
    """Return the entries of a run that are to be erased, in order.

    Raises:
        NotFoundError: the run has no such entry.
        UsageError: entry 1 or an ENTRIES_ERASED is asked for by its number.
    """
    entries: list[int] = []
    erased = 0
    for entry in _asked(store, run, wanted):
        if entry.body is None:
            erased += 1
        elif entry.origin == OBSERVER and entry.type == _ACCOUNT:
            raise UsageError(f"entry {entry.seq} cannot be erased, as it tells of an erasure; name others")
        else:
            entries.append(entry.seq)
    return Chosen(entries, erased)


def _asked(store: Store, run: RunRow, wanted: Wanted) -> Iterator[Entry]:
    if wanted.ranges:
        size = store.size(run.run_no)
        for first, last in _joined(wanted.ranges):
            if first == 1:
                raise UsageError("entry 1 cannot be erased, as it says what the run is; name others")
            if first < 1 or last > size:
                raise NotFoundError(f"run {run.run_id}: expected entries 2 to {size}, found {last} asked for")
            yield from store.entries(run.run_no, after=first - 1, through=last)
    elif wanted.stream is not None:
        records = store.labelled(run.run_no, "RECORD", [printable(wanted.stream)])
        key_of = dialect_named(run.dialect).record_key
        yield from (one for one in records if wanted.key is None or key_of(one) == wanted.key)
    else:
        spoken = store.entries(run.run_no, after=1)
        yield from (one for one in spoken if one.origin != OBSERVER or one.type == "PROGRAM_STDERR")


def _joined(ranges: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return ranges in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def foresee(store: Store, run: RunRow, entries: list[int], ruleset: Ruleset | None) -> Erasing:
    """Tell what erasing entries of a run does to its decision."""
    dialect = dialect_named(run.dialect)
    gone = frozenset(entries)
    after = replay(
        dialect,
        without_bodies(store.entries(run.run_no), gone),
        documents_of(store, run),
        ruleset,
    )
    change = change_between(decide_run(store, run, ruleset), after)
    return Erasing(run=run, entries=entries, change=change)


def mentions(store: Store, run: RunRow, entries: list[int], wanted: Wanted) -> Iterator[MentionTold]:
    """Yield the entries of a run that stay and name what is erased, or may: its key, else its stream."""
    named = KeyNamed(wanted.key) if wanted.key is not None else None
    gone = frozenset(entries)
    if named is None and wanted.stream is None:
        yield from _digests(store, run, gone)
        return
    stream = printable(wanted.stream or "")
    for entry in store.entries(run.run_no, after=1):
        if entry.seq in gone or entry.body is None or entry.type == _ACCOUNT:
            continue
        if named is not None:
            if (mention := named.found_in(entry.body)) is not None:
                yield _told(run, entry, mention.where, mention.how)
        elif entry.stream == stream:
            yield _told(run, entry, "stream", "value")
        elif not entry.type and entry.origin == PROGRAM:
            yield _told(run, entry, "", "unread")
    yield from _digests(store, run, gone)


def _digests(store: Store, run: RunRow, gone: Collection[int]) -> Iterator[MentionTold]:
    """Yield the LINE_CUTs that hold a digest of what is erased, by which a guess of it could be proved."""
    for _, entry in store.observations(observation_type(LineCut), run_no=run.run_no):
        cut = decode_observation(entry.body) if entry.body is not None else None
        if isinstance(cut, LineCut) and cut.seq in gone and entry.seq not in gone and cut.sha256:
            yield _told(run, entry, "sha256", "digest")


def _told(run: RunRow, entry: Entry, where: str, how: How) -> MentionTold:
    return MentionTold(run_id=run.run_id, entry=entry.seq, type=entry.type, where=where, how=how)
