"""START: what the runtime asks for, and what it must not ask for."""

from collections.abc import Iterator

from ledger.core.decision import Reason
from ledger.core.findings import Detail, Fault, rule, show_name
from ledger.core.instants import is_date_time, read_instant
from ledger.dialects.collection_profile.messages import ScopeStream
from ledger.dialects.collection_profile.ruleset import Asked
from ledger.dialects.collection_profile.state import State

_DESCRIPTOR_MEMBERS = {"browser_automation": ("interface", "ws_url"), "browser_profile": ("profile_path",)}


@rule("start/scope")
def scope_is_explicit(asked: Asked) -> Iterator[Fault]:
    """A scope names at least one stream, each by its declared name: no wildcard."""
    if not asked.start.scope:
        yield _fault("scope_empty", "start/scope")
    for stream in asked.start.scope:
        if stream.name == "*":
            yield _fault("scope_with_wildcard", "start/scope")
        elif stream.name not in asked.manifest.streams:
            yield _fault("scope_of_undeclared_stream", "start/scope", stream)


@rule("start/view")
def scope_has_no_view(asked: Asked) -> Iterator[Fault]:
    """A scope carries no ``view`` that is still to be resolved."""
    for stream in asked.start.scope:
        if stream.view is not None:
            yield _fault("scope_with_view", "start/view", stream)


@rule("start/necessity")
def scope_has_no_necessity(asked: Asked) -> Iterator[Fault]:
    """A scope carries no ``necessity``, which belongs to how consent was asked for."""
    for stream in asked.start.scope:
        if stream.necessity is not None:
            yield _fault("scope_with_necessity", "start/necessity", stream)


@rule("start/time_range")
def bounds_are_instants(asked: Asked) -> Iterator[Fault]:
    """The bounds of a time range can be compared.

    Reading: a bound is an instant with its offset, or a date alone (midnight UTC); any other text would
    shut out every record, so the run is refused before it collects. Of a range that does not apply, for
    want of a time field, nothing is asked.
    """
    for stream in asked.start.scope:
        declared = asked.manifest.streams.get(stream.name)
        applies = stream.time_range is not None and (declared is None or declared.consent_time_field)
        bounds = (stream.time_range.since, stream.time_range.until) if stream.time_range and applies else ()
        if any(bound is not None and read_instant(bound) is None for bound in bounds):
            yield _fault("time_range_unreadable", "start/time_range", stream)


@rule("start/bindings")
def required_bindings_are_described(asked: Asked) -> Iterator[Fault]:
    """START describes every required binding, with the members that its registry entry names.

    Reading: the values are secrets and are not in the log, so only the members are asked for. Bindings are
    not checked where it is not known what the runtime offered.
    """
    for name in asked.manifest.required_bindings if asked.offered is not None else ():
        descriptor = asked.start.bindings.get(name)
        wanted = _DESCRIPTOR_MEMBERS.get(name, ())
        if descriptor is None or any(descriptor.get(member) is None for member in wanted):
            detail: Detail = {"binding": show_name(name)}
            yield Fault(code="binding_not_described", clause="start/bindings", by="runtime", detail=detail)


@rule("start/now", when=lambda asked: asked.start.now is not None)
def now_is_a_time(asked: Asked) -> Iterator[Fault]:
    """``now``, where START carries it, is an RFC 3339 date-time with its offset.

    Reading: a date alone is none. A leap second is a time, as it is in ``emitted_at``. That a replay sends
    the time of the run which it replays cannot be seen in one run.
    """
    now = asked.start.now
    if now is not None and not (isinstance(now, str) and is_date_time(now)):
        yield _fault("now_unreadable", "start/now")


def grant_is_known(asked: Asked) -> bool:
    """Tell whether it is known which streams the run's grant permits."""
    return asked.trigger.streams is not None


@rule("runtime/11", when=grant_is_known)
def scope_is_within_grant(asked: Asked) -> Iterator[Fault]:
    """The scope of a run under a grant asks for no stream that the grant does not permit."""
    permitted = asked.trigger.streams
    for stream in asked.start.scope if permitted is not None else ():
        if permitted is not None and stream.name not in permitted:
            yield _fault("scope_beyond_grant", "runtime/11", stream)


def permission_is_known(state: State, checkpoint: str) -> bool:
    """Tell whether it is known which streams the run's grant permits."""
    return state.opened is not None and state.opened.trigger.streams is not None


@rule("runtime/11", when=permission_is_known)
def checkpoint_is_within_grant(state: State, checkpoint: str) -> Reason | None:
    """The store takes no checkpoint of a stream that the run's grant does not permit.

    Reading: a scope beyond the grant is not refused; what it collects is, when its checkpoint is written.
    """
    permitted = state.opened.trigger.streams if state.opened is not None else None
    if permitted is None or checkpoint in permitted:
        return None
    return Reason(
        code="checkpoint_beyond_grant",
        clause="runtime/11",
        stream=show_name(checkpoint),
        entries=(state.staged[checkpoint].cursor_entry,),
        entries_total=1,
    )


def start_findings(asked: Asked, run_id: str) -> Iterator[Fault]:
    """Yield what is odd about a START without refusing the run."""
    manifest, trigger, start = asked.manifest, asked.trigger, asked.start
    if start.run_id != run_id:
        detail: Detail = {"run_id": show_name(start.run_id)}
        yield Fault(code="run_id_differs", clause="start/run_id", by="runtime", detail=detail)
    if trigger.kind == "single_use" and start.state is not None:
        yield _fault("state_for_single_use", "runtime/7")
    seen: set[str] = set()
    for stream in start.scope:
        if stream.name in seen:
            yield _fault("scope_stream_repeated", "start/scope", stream)
        seen.add(stream.name)
        declared = manifest.streams.get(stream.name)
        if stream.time_range is not None and declared is not None and declared.consent_time_field is None:
            yield _fault("time_range_not_applicable", "start/time_range", stream)


def _fault(code: str, clause: str, stream: ScopeStream | None = None) -> Fault:
    detail: Detail = {"stream": show_name(stream.name)} if stream else {}
    return Fault(code=code, clause=clause, by="runtime", detail=detail)
