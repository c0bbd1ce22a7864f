"""Coverage arithmetic: what became of every key that a report requires, and what nearly accounts for one."""

from collections.abc import Iterable, Iterator

import msgspec

from ledger.core.decision import NearMiss
from ledger.core.json_reader import Json, printable
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
    it and a DETAIL_GAP of the same stream, under the same parent boundary, stands behind it.
    """

    required: int
    hydrated: int
    gapped: int
    unaccounted: tuple[Key, ...]


def account(state: State, report: Report) -> Account:
    """Account for a report (eligible/3)."""
    backed = state.gaps.keys(report.message.stream, report.message.state_stream)
    hydrated = gapped = 0
    unaccounted: list[Key] = []
    for key in report.message.required_keys:
        if key in report.hydrated:
            hydrated += 1
        elif key in report.listed_gaps and key in backed:
            gapped += 1
        else:
            unaccounted.append(key)
    return Account(len(report.message.required_keys), hydrated, gapped, tuple(unaccounted))


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
    shown, other = show_key(key), gap.message.stream
    if other != stream:
        detail = {"stream": printable(other)}
        return NearMiss(code="gap_of_other_stream", entry=gap.entry, key=shown, detail=detail)
    if gap.parent is None:
        return NearMiss(code="gap_names_no_parent", entry=gap.entry, key=shown)
    if gap.parent != parent:
        detail = {"parent": printable(gap.parent)}
        return NearMiss(code="gap_names_other_parent", entry=gap.entry, key=shown, detail=detail)
    if gap.message.record_key != key:
        return NearMiss(code="gap_key_of_other_type", entry=gap.entry, key=shown)
    return NearMiss(code="gap_not_listed", entry=gap.entry, key=shown)


def _optional_skips(report: Report) -> set[str]:
    """Return the keys of ``optional_skip_keys``, as far as they are any, as they are shown."""
    keys: Json = report.message.optional_skip_keys
    try:
        return {show_key(key) for key in read_keys(keys)}
    except Bad:
        return set()
