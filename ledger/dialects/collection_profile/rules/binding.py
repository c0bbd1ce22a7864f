"""Matching a run before its program is spawned: bindings and protocol capabilities.

What needs no knowledge of the runtime, such as whether a name is one at all, is asked of the manifest alone.
"""

import re
from collections.abc import Iterator

from ledger.core.findings import Fault, rule, show_name
from ledger.core.observations import Offered
from ledger.dialects.collection_profile.manifest import Manifest

PROTOCOL_CAPABILITIES = frozenset(("STREAM_EVIDENCE", "BLOB"))
"""The closed vocabulary of wire version 0.0.3."""

LATER_CAPABILITIES = ("STREAM_EVIDENCE", "OBSERVATION")
"""That of the later profile, which drops ``BLOB`` as not portable."""

LATER_BINDINGS = ("browser", "desktop_session", "filesystem", "network")
"""The registry of the later profile: the names that need no domain before them."""

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_WORD = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_EXTENSION = re.compile(rf"{_LABEL}(?:\.{_LABEL})*/{_WORD}", re.ASCII)


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


def _names_bindings(manifest: Manifest) -> bool:
    return bool(manifest.bindings)


@rule("binding/registry", when=_names_bindings)
def bindings_are_in_the_registry(manifest: Manifest) -> Iterator[Fault]:
    """A binding has a name of the registry, or stands under a DNS name: ``example.test/scanner``.

    Reading: that holds of bindings which are not required, too. A DNS name of one label is one, in letters of
    either case; behind its only slash stand letters and digits, and dots, underscores and hyphens between.
    """
    for name in manifest.bindings:
        if name not in LATER_BINDINGS and not _EXTENSION.fullmatch(name):
            yield Fault(
                code="binding_unknown", clause="binding/registry", detail={"binding": show_name(name)}
            )


def _declares_capabilities(manifest: Manifest) -> bool:
    return bool(manifest.declared_capabilities != ())


@rule("binding/2", when=_declares_capabilities)
def capabilities_are_known(manifest: Manifest) -> Iterator[Fault]:
    """``protocol_capabilities``, where they are declared, are an array of names of a closed vocabulary.

    Reading: null is no array. One member outside the vocabulary makes the whole malformed, and ``BLOB`` is
    outside it. That needs no knowledge of the runtime, so it is asked where it is not known what that offers.
    """
    declared = manifest.declared_capabilities
    if not isinstance(declared, list | tuple) or any(name not in LATER_CAPABILITIES for name in declared):
        yield Fault(code="capabilities_malformed", clause="binding/2")


@rule("binding/2", when=lambda manifest, offered: bool(manifest.protocol_capabilities))
def known_capabilities_are_offered(manifest: Manifest, offered: Offered) -> Iterator[Fault]:
    """The runtime speaks every protocol capability that the manifest declares.

    Reading: what no runtime could speak is malformed, which is not told as missing besides.
    """
    for name in dict.fromkeys(manifest.protocol_capabilities or ()):
        if name in LATER_CAPABILITIES and name not in offered.protocol_capabilities:
            yield Fault(
                code="capability_missing", clause="binding/2", by="runtime", detail={"capability": name}
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
