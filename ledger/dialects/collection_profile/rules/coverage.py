"""DETAIL_COVERAGE: how completely a detail stream was fetched under one parent boundary."""

from collections.abc import Iterator

from ledger.core.decision import Status
from ledger.core.findings import Fault, Tally, rule, show_name
from ledger.dialects.collection_profile.accounting import gaps_span_boundaries
from ledger.dialects.collection_profile.manifest import ManifestStream
from ledger.dialects.collection_profile.messages import DetailCoverage, Key, show_key
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.rules.scope import is_in_scope
from ledger.dialects.collection_profile.state import State


@rule("precedence/1")
def child_reports_no_coverage(state: State, message: DetailCoverage) -> Fault | None:
    """A stream that rides its parent's checkpoint never reports coverage, whatever it names."""
    declared = state.plan.declared(message.stream) if state.plan else None
    if declared is None or declared.state_stream is None:
        return None
    return _fault("coverage_of_child", "precedence/1", message)


@rule("precedence/2")
def boundary_is_declared(state: State, message: DetailCoverage) -> Fault | None:
    """A detail stream reports only against a parent that its manifest declares."""
    plan = state.plan
    declared = plan.declared(message.stream) if plan is not None else None
    if plan is None or declared is None or not declared.parent_streams:
        return None
    if plan.declares(message.stream, message.state_stream):
        return None
    return _fault("coverage_of_undeclared_parent", "precedence/2", message)


@rule("precedence/3")
def self_mapped_stream_reports_on_itself(state: State, message: DetailCoverage) -> Fault | None:
    """A self-mapped stream introduces no parent: it may report on itself, and then gates itself.

    Reading: no reject rule of the text names this; a switch has it accepted, and gate what it names.
    """
    if state.ruleset.switches.undeclared_parent == "accept":
        return None
    declared = state.plan.declared(message.stream) if state.plan else None
    if declared is None or declared.parents != (message.stream,) or message.state_stream == message.stream:
        return None
    return _fault("coverage_of_undeclared_parent", "precedence/3", message)


@rule("coverage/state_stream")
def boundary_is_in_scope(state: State, message: DetailCoverage) -> Fault | None:
    """The parent that a report gates is in the run's scope."""
    if is_in_scope(state, message.state_stream):
        return None
    return Fault(
        code="stream_out_of_scope",
        clause="coverage/state_stream",
        detail={"stream": show_name(message.state_stream)},
    )


@rule("coverage/keys")
def keys_do_not_repeat(state: State, message: DetailCoverage) -> Fault | None:
    """No key set of a report holds a key twice.

    Reading: ``1`` and ``1.0`` are one key; ``1`` and ``"1"`` are two, unless a switch compares keys as text.
    A key may be in two outcome sets.
    """
    members = ("required_keys", "hydrated_keys", "gap_keys")
    return next((fault for member in members if (fault := _first_repeated(message, member))), None)


@rule("coverage/keys")
def outcomes_were_required(state: State, message: DetailCoverage) -> Fault | None:
    """Every hydrated or gapped key is also a required one."""
    return _first_not_required(message, ("hydrated_keys", "gap_keys"))


def has_optional_skips(state: State, message: DetailCoverage) -> bool:
    """Tell whether a report has optional skips that count."""
    return _skips_count(state) and bool(message.optional_skip_keys)


@rule("coverage/keys")
def outcomes_do_not_overlap(state: State, message: DetailCoverage) -> Fault | None:
    """No key is in two outcome sets, optional skips among them where they count."""
    outcome_of: dict[Key, str] = {}
    optional = ("optional_skip_keys",) if _skips_count(state) else ()
    for member in ("hydrated_keys", "gap_keys", *optional):
        for key in getattr(message, member) or ():
            if outcome_of.setdefault(key, member) != member:
                return _fault(
                    "coverage_key_in_two_sets", "coverage/keys", message, member=member, key=show_key(key)
                )
    return None


@rule("coverage/keys", when=has_optional_skips)
def optional_skips_do_not_repeat(state: State, message: DetailCoverage) -> Fault | None:
    """``optional_skip_keys``, where they count, hold no key twice."""
    return _first_repeated(message, "optional_skip_keys") if _skips_count(state) else None


@rule("coverage/keys", when=has_optional_skips)
def optional_skips_were_required(state: State, message: DetailCoverage) -> Fault | None:
    """Every optional skip, where they count, is of a required key."""
    return _first_not_required(message, ("optional_skip_keys",)) if _skips_count(state) else None


@rule("coverage/once")
def boundary_reports_once(state: State, message: DetailCoverage) -> Fault | None:
    """A detail stream reports once for each parent boundary.

    Reading: the text asks for one report a boundary; a second one is a violation, not an update.
    """
    earlier = state.reports.get((message.stream, message.state_stream))
    if earlier is None:
        return None
    return _fault("coverage_reported_twice", "coverage/once", message, entries=(earlier.entry,))


def boundaries_in_scope(state: State, plan: Plan, stream: str) -> int:
    """Return on how many checkpoints in scope a stream may report."""
    is_free = names_any_parent(state, plan.declared(stream))
    return len(plan.streams) if is_free else plan.parents_in_scope(stream)


def names_any_parent(state: State, declared: ManifestStream | None) -> bool:
    """Tell whether a stream may report on checkpoints that it does not declare (precedence/3)."""
    is_free = declared is not None and declared.parents == (declared.name,)
    return is_free and state.ruleset.switches.undeclared_parent == "accept"


def _skips_count(state: State) -> bool:
    """Tell whether optional skips are credited; where they are not, nothing is asked of what they hold."""
    return state.ruleset.switches.optional_skip_keys == "credit"


def _first_repeated(message: DetailCoverage, member: str) -> Fault | None:
    seen: set[Key] = set()
    for key in getattr(message, member) or ():
        if key in seen:
            return _fault("coverage_key_repeated", "coverage/keys", message, member=member, key=show_key(key))
        seen.add(key)
    return None


def _first_not_required(message: DetailCoverage, members: tuple[str, ...]) -> Fault | None:
    required = frozenset(message.required_keys)
    for member in members:
        for key in getattr(message, member) or ():
            if key not in required:
                return _fault(
                    "coverage_key_not_required", "coverage/keys", message, member=member, key=show_key(key)
                )
    return None


def _fault(
    code: str, clause: str, message: DetailCoverage, *, entries: tuple[int, ...] = (), **more: str
) -> Fault:
    detail = {"stream": show_name(message.stream), "parent": show_name(message.state_stream), **more}
    return Fault(code=code, clause=clause, detail=detail, entries=entries)


def any_is_reported(state: State, status: Status) -> bool:
    """Tell whether there is any report."""
    return bool(state.reports)


@rule("coverage/order", when=any_is_reported)
def reports_come_last(state: State, status: Status) -> Iterator[Tally]:
    """A report comes after the last RECORD or DETAIL_GAP of its boundary.

    Reading: an obligation that decides nothing. A RECORD does not say which boundary it belongs to; with
    several parents it is late for certain only when every declared parent had been reported on.
    """
    late_records: dict[str, int] = {}
    for (stream, parent), report in state.reports.items():
        if stream not in late_records:
            late_records[stream] = _record_after_all_reports(state, stream)
        late = max(late_records[stream], state.gaps.latest(stream, parent))
        if gaps_span_boundaries(state, stream):
            late = max(late, state.gaps.latest(stream, None))
        if late > report.entry:
            fault = _fault("report_before_last_record", "coverage/order", report.message)
            yield Tally(fault, report.entry, late)


def _record_after_all_reports(state: State, stream: str) -> int:
    """Return the last RECORD of a stream where it came after a report on every parent, else 0."""
    plan = state.plan.streams.get(stream) if state.plan is not None else None
    if plan is not None and all(
        (one := state.reports.get((stream, declared))) is not None and one.entry < plan.last_record
        for declared in plan.declared.parents
    ):
        return plan.last_record
    return 0
