"""Coverage arithmetic: what became of every key that a report requires, and what nearly accounts for one."""

from collections.abc import Iterable, Iterator, Set

import msgspec

from ledger.core.decision import NearMiss
from ledger.core.findings import show_name
from ledger.core.json_reader import Json
from ledger.dialects.collection_profile.gaps import Gap
from ledger.dialects.collection_profile.messages import Key, show_key
from ledger.dialects.collection_profile.state import Report, State
from ledger.dialects.collection_profile.values import Bad, read_keys

NEAR_MISS_LIMIT = 20
"""Near misses that a decision holds for one report, at most."""

KEYS_EXPLAINED = 20
"""Near misses are looked for on behalf of at most this many keys of a report."""


class Account(msgspec.Struct, frozen=True):
    """The required keys of one report, split by what became of them.

    A key that is hydrated counts as hydrated, whatever else it is. A key is gapped where the report lists
    it and a DETAIL_GAP of the same stream, under the same parent boundary, stands behind it; where a switch
    says so, also one that the report does not list. An optional skip that is credited counts as hydrated:
    nothing is owed for it.
    """

    required: int
    hydrated: int
    gapped: int
    unaccounted: tuple[Key, ...]


def account(state: State, report: Report) -> Account:
    """Account for a report (eligible/3)."""
    switches = state.ruleset.switches
    backed = _backed(state, report.message.stream, report.message.state_stream)
    settled = report.hydrated
    if switches.optional_skip_keys == "credit":
        settled = settled.union(report.message.optional_skip_keys or ())
    owed = backed if switches.unlisted_gap == "accounted" else backed & report.listed_gaps
    hydrated = gapped = 0
    unaccounted: list[Key] = []
    for key in report.message.required_keys:
        if key in settled:
            hydrated += 1
        elif key in owed:
            gapped += 1
        else:
            unaccounted.append(key)
    return Account(len(report.message.required_keys), hydrated, gapped, tuple(unaccounted))


def lists_other_gaps(state: State, report: Report) -> bool:
    """Tell whether a gap names a key that a report lists and does not owe, or owes and does not list.

    What it owes is what it requires and did not hydrate; what it lists stands in its ``gap_keys``.
    """
    backed = _backed(state, report.message.stream, report.message.state_stream)
    owes = frozenset(report.message.required_keys) - report.hydrated
    return not backed.isdisjoint(owes ^ report.listed_gaps)


def gaps_span_boundaries(state: State, stream: str) -> bool:
    """Tell whether a gap of a stream that names no parent is of every boundary it reports on."""
    if state.ruleset.switches.unscoped_gap == "own_boundary" or state.plan is None:
        return False
    declared = state.plan.declared(stream)
    return declared is not None and declared.parents == (stream,)


def _backed(state: State, stream: str, parent: str) -> Set[Key]:
    """Return the keys of a boundary that some DETAIL_GAP names."""
    backed = state.gaps.keys(stream, parent)
    return backed | state.gaps.keys(stream, None) if gaps_span_boundaries(state, stream) else backed


class Answers:
    """Which report each gap accounts a key for; what is looked up for one gap is kept for the next."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._accounts_unlisted = state.ruleset.switches.unlisted_gap == "accounted"
        self._accountable: dict[tuple[str, str], Set[Key]] = {}

    def report_for(self, gap: Gap) -> int | None:
        """Return the entry of the first report that a gap accounts a key for, None where there is none."""
        key = gap.key
        if key is None:
            return None
        for report in self._reports(gap):
            if key in self._keys(report):
                return report.entry
        return None

    def _reports(self, gap: Gap) -> Iterator[Report]:
        state, stream = self._state, gap.stream
        if gap.parent is not None:
            if (stream, gap.parent) in state.reports:
                yield state.reports[stream, gap.parent]
        elif gaps_span_boundaries(state, stream):
            yield from (report for (name, _), report in state.reports.items() if name == stream)

    def _keys(self, report: Report) -> Set[Key]:
        if not self._accounts_unlisted:
            return report.listed_gaps
        boundary = (report.message.stream, report.message.state_stream)
        if boundary not in self._accountable:
            self._accountable[boundary] = frozenset(report.message.required_keys) - report.hydrated
        return self._accountable[boundary]


def near_misses(state: State, report: Report, keys: Iterable[Key]) -> Iterator[NearMiss]:
    """Yield what in the log almost accounts for keys that nothing accounts for."""
    stream, parent = report.message.stream, report.message.state_stream
    wanted = {show_key(key): key for key in list(keys)[:KEYS_EXPLAINED]}
    skipped = _optional_skips(report)
    for shown, key in wanted.items():
        if shown in skipped:
            yield NearMiss(code="key_is_optional_skip", entry=report.entry, key=shown)
        elif key in report.listed_gaps and not state.gaps.of_key(shown):
            yield NearMiss(code="key_listed_without_gap", entry=report.entry, key=shown)
        for gap in state.gaps.of_key(shown):
            yield _near_gap(gap, stream, parent, key)
    keyless = state.gaps.keyless(stream, parent)
    if keyless is not None:
        yield NearMiss(code="gap_names_no_key", entry=keyless.entry)


def _near_gap(gap: Gap, stream: str, parent: str, key: Key) -> NearMiss:
    shown, other = show_key(key), gap.stream
    if other != stream:
        detail = {"stream": show_name(other)}
        return NearMiss(code="gap_of_other_stream", entry=gap.entry, key=shown, detail=detail)
    if gap.parent is None:
        return NearMiss(code="gap_names_no_parent", entry=gap.entry, key=shown)
    if gap.parent != parent:
        detail = {"parent": show_name(gap.parent)}
        return NearMiss(code="gap_names_other_parent", entry=gap.entry, key=shown, detail=detail)
    if gap.key != key:
        return NearMiss(code="gap_key_of_other_type", entry=gap.entry, key=shown)
    return NearMiss(code="gap_not_listed", entry=gap.entry, key=shown)


def _optional_skips(report: Report) -> set[str]:
    """Return the keys of ``optional_skip_keys``, as far as they are any, as they are shown."""
    keys: Json = report.message.optional_skip_keys
    try:
        return {show_key(key) for key in read_keys(keys)}
    except Bad:
        return set()
