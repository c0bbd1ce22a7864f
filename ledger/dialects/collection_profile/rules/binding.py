"""Matching a run before its program is spawned: bindings and protocol capabilities."""

from collections.abc import Iterator

from ledger.core.findings import Fault, rule, show_name
from ledger.core.observations import Offered
from ledger.dialects.collection_profile.manifest import Manifest

PROTOCOL_CAPABILITIES = frozenset(("STREAM_EVIDENCE", "BLOB"))
"""The closed vocabulary of wire version 0.0.3."""


@rule("binding/1")
def bindings_are_offered(manifest: Manifest, offered: Offered) -> Iterator[Fault]:
    """The runtime offers every binding that the manifest requires.

    Reading: a binding that is not required never refuses a run.
    """
    for name in manifest.required_bindings:
        if name not in offered.bindings:
            yield Fault(
                code="binding_missing", clause="binding/1", by="runtime", detail={"binding": show_name(name)}
            )


@rule("binding/1")
def every_binding_is_offered(manifest: Manifest, offered: Offered) -> Iterator[Fault]:
    """The runtime offers every binding that the manifest names.

    Reading: required or not; what a connector may use has to be there.
    """
    for name in manifest.bindings:
        if name not in offered.bindings:
            yield Fault(
                code="binding_missing", clause="binding/1", by="runtime", detail={"binding": show_name(name)}
            )


@rule("binding/2")
def capabilities_are_offered(manifest: Manifest, offered: Offered) -> Iterator[Fault]:
    """The runtime speaks every protocol capability that the manifest declares.

    Reading: an absent declaration is an empty one; one with a member outside the vocabulary is malformed as
    a whole, which is found before anything is found missing.
    """
    declared = manifest.protocol_capabilities
    if declared is None or not PROTOCOL_CAPABILITIES.issuperset(declared):
        yield Fault(code="capabilities_malformed", clause="binding/2")
        return
    for name in declared:
        if name not in offered.protocol_capabilities:
            yield Fault(
                code="capability_missing", clause="binding/2", by="runtime", detail={"capability": name}
            )
