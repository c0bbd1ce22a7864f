"""The manifest: what a ruleset asks of one besides the rules that every manifest must pass.

A rule tagged as needing ``declarations`` demands that something is declared at all; the switch
``manifest_declarations`` says whether it is asked. The others judge what is declared.
"""

import re
from collections.abc import Iterator
from typing import Any

from ledger.core.findings import Fault, rule, show_name
from ledger.dialects.collection_profile.manifest import (
    CHILD_STRATEGY,
    DETAIL_STRATEGY,
    Manifest,
    ManifestStream,
)

STRATEGIES = (
    CHILD_STRATEGY,
    DETAIL_STRATEGY,
    "full_inventory",
    "singleton_presence",
    "snapshot_import_receipt",
)
"""The closed list of the reference implementation, and of the later profile."""

FRESHNESS_STRATEGIES = (
    "device_heartbeat",
    "manual_as_of",
    "not_trackable",
    "scheduled_window",
    "source_reported_as_of",
)
SEMANTICS = ("append_only", "mutable_state")

_CONNECTOR_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*", re.ASCII)


def declares_strategy(manifest: Manifest) -> bool:
    """Tell whether any stream declares a strategy."""
    return any(stream.coverage_strategy is not None for stream in manifest.streams.values())


@rule("manifest/7", when=declares_strategy)
def strategies_are_known(manifest: Manifest) -> Iterator[Fault]:
    """A ``coverage_strategy``, where one is declared, is one of a closed list.

    Reading: the text constrains two values and leaves the others open.
    """
    for stream in manifest.streams.values():
        strategy = stream.coverage_strategy
        if strategy is not None and strategy not in STRATEGIES:
            yield Fault(
                code="strategy_unknown", clause="manifest/7", detail={"stream": show_name(stream.name)}
            )


@rule("manifest/coverage_strategy", needs="declarations")
def coverage_strategy_is_declared(manifest: Manifest) -> Iterator[Fault]:
    """Every stream declares a ``coverage_strategy``.

    Reading: null declares nothing, here and in the other members.
    """
    for stream in manifest.streams.values():
        if stream.coverage_strategy is None:
            yield _of_stream("declaration_missing", "manifest/coverage_strategy", stream)


@rule("manifest/freshness_strategy", needs="declarations")
def freshness_strategy_is_declared(manifest: Manifest) -> Iterator[Fault]:
    """Every stream declares a ``freshness_strategy``."""
    for stream in manifest.streams.values():
        if stream.freshness_strategy is None:
            yield _of_stream("declaration_missing", "manifest/freshness_strategy", stream)


def _declare_freshness(manifest: Manifest) -> bool:
    return any(stream.freshness_strategy is not None for stream in manifest.streams.values())


@rule("manifest/freshness_strategy", when=_declare_freshness)
def freshness_strategy_is_known(manifest: Manifest) -> Iterator[Fault]:
    """A ``freshness_strategy``, where one is declared, is one of a closed list."""
    for stream in manifest.streams.values():
        if stream.freshness_strategy not in (None, *FRESHNESS_STRATEGIES):
            yield _of_stream("declaration_unknown", "manifest/freshness_strategy", stream)


@rule("manifest/semantics", needs="declarations")
def semantics_are_declared(manifest: Manifest) -> Iterator[Fault]:
    """Every stream declares its ``semantics``."""
    for stream in manifest.streams.values():
        if stream.semantics is None:
            yield _of_stream("declaration_missing", "manifest/semantics", stream)


def _declare_semantics(manifest: Manifest) -> bool:
    return any(stream.semantics is not None for stream in manifest.streams.values())


@rule("manifest/semantics", when=_declare_semantics)
def semantics_are_known(manifest: Manifest) -> Iterator[Fault]:
    """``semantics``, where they are declared, are append_only or mutable_state."""
    for stream in manifest.streams.values():
        if stream.semantics not in (None, *SEMANTICS):
            yield _of_stream("declaration_unknown", "manifest/semantics", stream)


@rule("manifest/primary_key", needs="declarations")
def primary_key_is_declared(manifest: Manifest) -> Iterator[Fault]:
    """Every stream declares a ``primary_key``."""
    for stream in manifest.streams.values():
        if stream.declared_key is None:
            yield _of_stream("declaration_missing", "manifest/primary_key", stream)


def _declare_key(manifest: Manifest) -> bool:
    return any(stream.declared_key is not None for stream in manifest.streams.values())


@rule("manifest/primary_key", when=_declare_key)
def primary_key_names_fields(manifest: Manifest) -> Iterator[Fault]:
    """A ``primary_key``, where one is declared, names fields, at least one and each once.

    Reading: one name alone may stand without its array. That the schema has the fields is not asked.
    """
    for stream in manifest.streams.values():
        if stream.declared_key is not None and not _names_fields(stream.declared_key):
            yield _of_stream("primary_key_malformed", "manifest/primary_key", stream)


def _names_fields(key: Any) -> bool:
    names = [key] if isinstance(key, str) else key
    if not isinstance(names, list) or not names:
        return False
    return all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names)


@rule("manifest/schema", needs="declarations")
def schema_is_declared(manifest: Manifest) -> Iterator[Fault]:
    """Every stream declares a ``schema``."""
    for stream in manifest.streams.values():
        if stream.schema_type is None:
            yield _of_stream("declaration_missing", "manifest/schema", stream)


def _declare_schema(manifest: Manifest) -> bool:
    return any(stream.schema_type is not None for stream in manifest.streams.values())


@rule("manifest/schema", when=_declare_schema)
def schema_is_an_object(manifest: Manifest) -> Iterator[Fault]:
    """A ``schema``, where one is declared, is an object.

    Reading: that it is a schema of JSON Schema, and which version of it, is not asked.
    """
    for stream in manifest.streams.values():
        if stream.schema_type not in (None, "object"):
            yield _of_stream("schema_malformed", "manifest/schema", stream)


def _has_connector_key(manifest: Manifest) -> bool:
    return manifest.connector_key is not None


@rule("manifest/connector_key", when=_has_connector_key)
def connector_key_is_a_plain_word(manifest: Manifest) -> Iterator[Fault]:
    """A ``connector_key`` is of a-z, 0-9, and behind the first of these also dot, underscore and hyphen.

    Reading: only how it is spelled is demanded. A manifest that names its connector by the older
    ``connector_id`` alone is good, since nothing says that it must not.
    """
    key = manifest.connector_key
    if _has_connector_key(manifest) and not (isinstance(key, str) and _CONNECTOR_KEY.fullmatch(key)):
        yield Fault(code="connector_key_malformed", clause="manifest/connector_key")


@rule("manifest/members")
def member_names_occur_once(manifest: Manifest) -> Iterator[Fault]:
    """No object of the manifest, however deep, holds two members of one name."""
    for name in manifest.repeated_members[:1]:
        yield Fault(
            code="manifest_member_repeated", clause="manifest/members", detail={"member": show_name(name)}
        )


def declares_all(manifest: Manifest) -> bool:
    """Tell whether a manifest declares everything that a rule which needs ``declarations`` demands."""
    demands = (
        coverage_strategy_is_declared,
        freshness_strategy_is_declared,
        semantics_are_declared,
        primary_key_is_declared,
        schema_is_declared,
    )
    return not any(fault for demand in demands for fault in demand(manifest))


def _of_stream(code: str, clause: str, stream: ManifestStream) -> Fault:
    member = clause.partition("/")[2]
    return Fault(code=code, clause=clause, detail={"stream": show_name(stream.name), "member": member})
