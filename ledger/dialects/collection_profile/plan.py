"""The plan of a run: manifest and START, compiled once into what each message is held against.

A stream's plan carries the tuple of record rules that can fire there, so that a stream without constraints
pays for none. The plan also keeps what is counted per stream while the run is folded.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ledger.core.findings import Fault, rule_needs
from ledger.core.instants import Instant, read_instant
from ledger.core.json_reader import printable
from ledger.dialects.collection_profile.manifest import Manifest, ManifestStream
from ledger.dialects.collection_profile.messages import Key, Record, ScopeStream, TimeRange


class StreamPlan:
    """What one stream in scope is held against, and its counts so far.

    Attributes:
        rules: the record rules that can fire here, in the order of the clauses.
        resources: canonical keys that are asked for, None for all.
        fields: top-level names that a record may carry, None for all.
        since: first instant inside the range, None where unbounded.
        until: first instant past the range, None where unbounded.
        emitted: RECORDs seen, deletions too.
        discarded: those of them that were out of scope.
        rejected: those that the store refused for good.
        last_record: seq of the last RECORD.
        keys: distinct canonical keys, kept only where a rule needs them.
        owed: the keys of DETAIL_GAPs that no later RECORD carries, by the text of such a RECORD's key; kept
            where ``keys`` are.
        evidence: the entry of the STREAM_EVIDENCE that was accepted.
    """

    __slots__ = (
        "declared",
        "deletes",
        "discarded",
        "emitted",
        "evidence",
        "fields",
        "keys",
        "last_record",
        "owed",
        "rejected",
        "resources",
        "rules",
        "since",
        "until",
    )

    def __init__(self, declared: ManifestStream) -> None:
        self.declared = declared
        self.rules: tuple[RecordRule, ...] = ()
        self.resources: frozenset[str] | None = None
        self.fields: frozenset[str] | None = None
        self.since: Instant | None = None
        self.until: Instant | None = None
        self.emitted = 0
        self.deletes = 0
        self.discarded = 0
        self.rejected = 0
        self.last_record = 0
        self.keys: set[str] | None = None
        self.owed: dict[str, set[Key]] | None = None
        self.evidence: int | None = None

    @property
    def accepted(self) -> int:
        """RECORDs neither out of scope nor refused by the store (which may count more than there were)."""
        return max(0, self.emitted - self.discarded - self.rejected)


RecordRule: TypeAlias = Callable[[StreamPlan, Record], Fault | None]


class Plan:
    """A run's scope over its manifest.

    Attributes:
        streams: the streams in scope, in the order of the scope.
        covers: every checkpoint of the manifest, and the streams that it covers, in manifest order.
        detail_parents: the streams that some ``parent_streams`` names, in scope or not.
        labelled: streams that the log files under another text than their name, by that text, as the name
            holds a lone surrogate; and with them any stream that has that text for a name.
    """

    def __init__(self, manifest: Manifest, streams: Iterable[StreamPlan]) -> None:
        self.manifest = manifest
        self.streams = {stream.declared.name: stream for stream in streams}
        self.covers: dict[str, list[str]] = {}
        self.detail_parents: set[str] = set()
        self.labelled: dict[str, list[str]] = {}
        self._parents: dict[str, frozenset[str]] = {}
        self._parents_in_scope: dict[str, int] = {}
        for stream in manifest.streams.values():
            if (label := printable(stream.name)) != stream.name:
                self.labelled.setdefault(label, [label] if label in manifest.streams else []).append(
                    stream.name
                )
            self.detail_parents.update(stream.parent_streams)
            for parent in stream.parents:
                self.covers.setdefault(parent, []).append(stream.name)

    def covered_by(self, checkpoint: str) -> dict[str, None]:
        """Return the checkpoint's own stream and those that it covers, in order."""
        return dict.fromkeys((checkpoint, *self.covers.get(checkpoint, ())))

    def declares(self, stream: str, parent: str) -> bool:
        """Tell whether a stream is declared under a parent, of which it may have any number."""
        parents = self._parents.get(stream)
        if parents is None:
            declared = self.manifest.streams.get(stream)
            parents = self._parents[stream] = frozenset(declared.parents if declared is not None else ())
        return parent in parents

    def parents_in_scope(self, stream: str) -> int:
        """Return how many of a stream's declared parents are in scope."""
        if stream not in self._parents_in_scope:
            declared = self.declared(stream)
            parents = declared.parents if declared is not None else ()
            self._parents_in_scope[stream] = sum(parent in self.streams for parent in parents)
        return self._parents_in_scope[stream]

    def declared(self, name: str) -> ManifestStream | None:
        """Return the declaration of a stream, in scope or not."""
        return self.manifest.streams.get(name)


def plan_stream(
    declared: ManifestStream, scope: ScopeStream | None, record_rules: Iterable[RecordRule]
) -> StreamPlan:
    """Compile one stream of the scope.

    Args:
        declared: the manifest's declaration.
        scope: what narrows the stream, None where nothing does.
        record_rules: the ruleset's record rules; those that this stream and scope give nothing to check are
            left out.
    """
    plan = StreamPlan(declared)
    time_range = _narrow(plan, declared, scope) if scope is not None else None
    plan.rules = tuple(r for r in record_rules if _can_fire(r, plan, time_range))
    return plan


def _narrow(plan: StreamPlan, declared: ManifestStream, scope: ScopeStream) -> TimeRange | None:
    """Compile what a scope says of a stream, and return the time range that applies."""
    if scope.resources:
        plan.resources = frozenset(scope.resources)
    time_range = scope.time_range if declared.consent_time_field is not None else None
    if time_range is not None:
        plan.since, plan.until = _bound(time_range.since), _bound(time_range.until)
    if scope.fields is not None:
        consent = (declared.consent_time_field,) if time_range is not None else ()
        allowed = (*scope.fields, *declared.required_fields, *declared.primary_key, *consent)
        plan.fields = frozenset(name for name in allowed if name is not None)
    return time_range


def _can_fire(record_rule: RecordRule, plan: StreamPlan, time_range: TimeRange | None) -> bool:
    match rule_needs(record_rule):
        case "":
            return True
        case "time_range":
            return time_range is not None and (time_range.since is not None or time_range.until is not None)
        case "primary_key":
            return bool(plan.declared.primary_key)
        case "append_only":
            return bool(plan.declared.semantics == "append_only")
        case narrowed:
            return getattr(plan, narrowed) is not None


def _bound(text: str | None) -> Instant | None:
    return None if text is None else read_instant(text)
