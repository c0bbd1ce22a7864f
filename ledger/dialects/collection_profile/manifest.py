"""The manifest: what a connector declares about itself, and the rules that it must pass before a run.

:func:`read_manifest` reads a manifest document and asks every rule of it; what it returns is either a
manifest that the fold can compile, or the faults for which the run must be refused.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from ledger.core.findings import LIST_LIMIT, Detail, Fault, show_name
from ledger.core.json_reader import Json, Malformed, json_type, msgspec_may_read, printable, read_json

CHILD_STRATEGY = "checkpoint_window"
DETAIL_STRATEGY = "parent_detail_accounting"


class ManifestStream(msgspec.Struct, frozen=True, kw_only=True):
    """One declared stream.

    Attributes:
        state_stream: the one checkpoint that a child stream rides.
        parent_streams: the checkpoints that a detail stream accounts to.
        consent_time_field: the record field that ``time_range`` is tested on.
        primary_key: ordered field names.
        required_fields: top-level names that the stream's schema requires.
        coverage_strategy: as declared, None where it is absent or null.
        resource_field: the record field that ``resources`` may also name.
        freshness_strategy: as declared, None where it is absent or null.
        semantics: as declared, None where it is absent or null.
        declared_key: ``primary_key`` as declared, None where it is absent or null.
        schema_type: the JSON type of the declared schema, None where it is absent or null.
    """

    name: str
    state_stream: str | None = None
    parent_streams: tuple[str, ...] = ()
    consent_time_field: str | None = None
    primary_key: tuple[str, ...] = ()
    required_fields: tuple[str, ...] = ()
    coverage_strategy: Any = None
    resource_field: str | None = None
    freshness_strategy: Any = None
    semantics: Any = None
    declared_key: Any = None
    schema_type: str | None = None

    @property
    def parents(self) -> tuple[str, ...]:
        """The checkpoints that cover this stream: as declared, or itself (precedence/1..3)."""
        if self.state_stream is not None:
            return (self.state_stream,)
        return self.parent_streams or (self.name,)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest that passed its rules.

    Attributes:
        bindings: every binding that it names.
        required_bindings: bindings that the runtime must offer and describe.
        protocol_capabilities: what the connector needs of the runtime's protocol; None where the
            declaration is malformed.
        declared_capabilities: the same as declared, empty where it is absent.
        connector_key: as declared, None where it is absent or null.
        human_interaction: the kinds of question that the connector may ask.
        repeated_members: the member names that occur more than once in one object, sorted.
    """

    connector_id: str
    version: str
    streams: dict[str, ManifestStream]
    bindings: tuple[str, ...] = ()
    required_bindings: tuple[str, ...] = ()
    protocol_capabilities: tuple[str, ...] | None = ()
    declared_capabilities: Any = ()
    connector_key: Any = None
    human_interaction: tuple[str, ...] = ()
    repeated_members: tuple[str, ...] = ()


class ManifestReading(msgspec.Struct, frozen=True, kw_only=True):
    """What a manifest document says: its identity always, and the manifest where no rule is broken."""

    connector_id: str = ""
    version: str = ""
    manifest: Manifest | None = None
    faults: tuple[Fault, ...] = ()


def read_manifest(body: bytes) -> ManifestReading:
    """Read a manifest document and ask every manifest rule of it; total.

    Runs of one program share a manifest, and so do the rulesets that one run is folded under: the last few
    readings are kept, of large documents one.
    """
    return (_read_and_keep_some if len(body) < _LARGE else _read_and_keep_one)(body)


def _read(body: bytes) -> ManifestReading:
    document = read_json(body)
    if isinstance(document, Malformed):
        detail: Detail = {"reason": document.reason, "offset": document.offset}
        return ManifestReading(faults=(_fault("manifest_malformed", "manifest/shape", detail),))
    value = document.value
    if not isinstance(value, dict):
        return ManifestReading(
            faults=(_fault("manifest_malformed", "manifest/shape", {"reason": "no_object"}),)
        )
    connector_id, version = _text(value.get("connector_id")), _text(value.get("version"))
    faults = tuple(_faults(value))
    if faults:
        return ManifestReading(connector_id=connector_id, version=version, faults=faults)
    manifest = Manifest(
        connector_id=connector_id,
        version=version,
        streams={entry["name"]: _stream(entry) for entry in value["streams"]},
        bindings=tuple(_bindings(value)),
        required_bindings=tuple(name for name, is_required in _bindings(value).items() if is_required),
        protocol_capabilities=_capabilities(value.get("protocol_capabilities")),
        declared_capabilities=value.get("protocol_capabilities", ()),
        connector_key=value.get("connector_key"),
        human_interaction=_human_interaction(value.get("capabilities")),
        repeated_members=document.repeated,
    )
    return ManifestReading(connector_id=connector_id, version=version, manifest=manifest)


_LARGE = 256 * 1024
_read_and_keep_some = lru_cache(maxsize=32)(_read)
_read_and_keep_one = lru_cache(maxsize=1)(_read)


class _Identity(msgspec.Struct):
    connector_id: str = ""


_IDENTITY = msgspec.json.Decoder(_Identity)


def read_connector_id(body: bytes) -> str:
    """Read who a manifest is of, '' where it does not say; asks no rule, so that a long one costs little."""
    if msgspec_may_read(body):
        try:
            return _IDENTITY.decode(body).connector_id
        except (msgspec.DecodeError, RecursionError):
            pass
    document = read_json(body)
    if isinstance(document, Malformed) or not isinstance(document.value, dict):
        return ""
    return _text(document.value.get("connector_id"))


def _faults(value: dict[str, Json]) -> Iterator[Fault]:
    yield from binding_faults(value)
    streams = value.get("streams")
    if not isinstance(streams, list) or not streams:
        yield _fault("manifest_without_streams", "manifest/shape")
        return
    seen: set[str] = set()
    for position, stream in enumerate(streams):
        name = stream.get("name") if isinstance(stream, dict) else None
        if not isinstance(name, str) or not name:
            yield _fault("stream_without_name", "manifest/shape", {"position": position})
        elif name in seen:
            yield _fault("stream_name_repeated", "manifest/shape", {"stream": show_name(name)})
        else:
            seen.add(name)
    declared = [s for s in streams if isinstance(s, dict) and isinstance(s.get("name"), str) and s["name"]]
    for stream in declared:
        yield from dependency_faults(stream, seen)
    cycle = dependency_cycle(declared)
    if cycle:
        yield _fault("dependency_cycle", "manifest/6", {"cycle": tuple(map(show_name, cycle[:LIST_LIMIT]))})


def binding_faults(value: dict[str, Json]) -> Iterator[Fault]:
    """``runtime_requirements.bindings`` maps names to objects whose ``required`` is a boolean or absent."""
    requirements = value.get("runtime_requirements")
    bindings = requirements.get("bindings") if isinstance(requirements, dict) else requirements
    if bindings is None:
        return
    if not isinstance(bindings, dict):
        yield _fault("bindings_malformed", "binding/1")
        return
    for name, binding in bindings.items():
        required = binding.get("required") if isinstance(binding, dict) else "?"
        if required is not None and not isinstance(required, bool):
            yield _fault("bindings_malformed", "binding/1", {"binding": show_name(name)})


def dependency_faults(stream: dict[str, Json], declared: set[str]) -> Iterator[Fault]:
    """Ask rules 1 to 5 and 7 of one stream's declaration.

    ``state_stream`` and ``parent_streams`` are present when their member is there, even as ``null``.
    """
    name = stream["name"]
    detail: Detail = {"stream": show_name(name)}
    has_child, has_detail = "state_stream" in stream, "parent_streams" in stream
    parents = _declared_parents(stream)
    if parents is None:
        field = "state_stream" if has_child and not _is_name(stream["state_stream"]) else "parent_streams"
        yield _fault("dependency_malformed", "manifest/shape", {**detail, "field": field})
        return
    if name in parents:
        yield _fault("parent_is_itself", "manifest/1", detail)
    for parent in dict.fromkeys(parents):
        if parent not in declared:
            yield _fault("parent_undeclared", "manifest/2", {**detail, "parent": show_name(parent)})
    if has_detail and len(set(stream["parent_streams"])) != len(stream["parent_streams"]):
        yield _fault("parent_repeated", "manifest/3", detail)
    if has_child and has_detail:
        yield _fault("two_dependency_shapes", "manifest/4", detail)
    if has_detail and not stream["parent_streams"]:
        yield _fault("parents_empty", "manifest/5", detail)
    strategy = stream.get("coverage_strategy")
    for present, wanted in ((has_child, CHILD_STRATEGY), (has_detail, DETAIL_STRATEGY)):
        if present and strategy != wanted:
            yield _fault("strategy_mismatch", "manifest/7", {**detail, "wanted": wanted})


def dependency_cycle(streams: list[dict[str, Json]]) -> list[str]:
    """Return a cycle over the whole declared graph, first name repeated at its end; empty where none is.

    Depth-first with three colours, without recursion. A stream that names itself is rule 1's concern.
    """
    edges = {
        stream["name"]: [parent for parent in _declared_parents(stream) or () if parent != stream["name"]]
        for stream in streams
    }
    done: set[str] = set()
    for root, parents in edges.items():
        path = [(root, iter(parents))] if root not in done else []
        on_path = {root}
        while path:
            here, rest = path[-1]
            ahead = next(rest, None)
            if ahead is None:
                done.add(here)
                on_path.remove(here)
                path.pop()
            elif ahead in on_path:
                names = [name for name, _ in path]
                return [*names[names.index(ahead) :], ahead]
            elif ahead in edges and ahead not in done:
                path.append((ahead, iter(edges[ahead])))
                on_path.add(ahead)
    return []


def _declared_parents(stream: dict[str, Json]) -> tuple[str, ...] | None:
    """Return every parent that a stream names; None where a parent field holds what is no name."""
    parents: list[Any] = []
    if "state_stream" in stream:
        parents.append(stream["state_stream"])
    if "parent_streams" in stream:
        if not isinstance(stream["parent_streams"], list):
            return None
        parents.extend(stream["parent_streams"])
    return tuple(parents) if all(map(_is_name, parents)) else None


def _stream(value: dict[str, Json]) -> ManifestStream:
    schema = value.get("schema")
    time_field = value.get("consent_time_field")
    selection = value.get("selection")
    resource_field = selection.get("resource_field") if isinstance(selection, dict) else None
    return ManifestStream(
        name=value["name"],
        state_stream=value.get("state_stream"),
        parent_streams=tuple(value.get("parent_streams", ())),
        consent_time_field=time_field if _is_name(time_field) else None,
        primary_key=_strings(value.get("primary_key")),
        required_fields=_strings(schema.get("required") if isinstance(schema, dict) else None),
        coverage_strategy=value.get("coverage_strategy"),
        resource_field=resource_field if _is_name(resource_field) else None,
        freshness_strategy=value.get("freshness_strategy"),
        semantics=value.get("semantics"),
        declared_key=value.get("primary_key"),
        schema_type=json_type(schema) if schema is not None else None,
    )


def _bindings(value: dict[str, Json]) -> dict[str, bool]:
    """Return the bindings by name, and whether each is required."""
    requirements = value.get("runtime_requirements") or {}
    bindings = requirements.get("bindings") or {}
    return {name: bool(binding.get("required")) for name, binding in bindings.items()}


def _capabilities(value: Json) -> tuple[str, ...] | None:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(map(_is_name, value)):
        return None
    return tuple(value)


def _human_interaction(capabilities: Json) -> tuple[str, ...]:
    kinds = capabilities.get("human_interaction") if isinstance(capabilities, dict) else None
    return _strings(kinds) if isinstance(kinds, list) else ()


def _strings(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def _text(value: Json) -> str:
    return printable(value) if isinstance(value, str) else ""


def _fault(code: str, clause: str, detail: Detail | None = None) -> Fault:
    return Fault(code=code, clause=clause, by="program", detail=detail or {})
