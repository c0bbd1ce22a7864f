"""A ruleset: one reading of the Collection Profile, as data.

An id, a few named switches for choices that the text leaves open, and the rules by the message that they
are asked of. A released ruleset is frozen: another reading is another function beside the older one, in
another ruleset. The digest covers the id, the switches and the names of the rules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec

from ledger.core.digests import canonical_json, digest
from ledger.core.findings import Fault
from ledger.dialects.collection_profile.plan import RecordRule

FOLD_VERSION = 1
"""Raised whenever a mended fold would decide an old run otherwise under an unchanged ruleset."""

MessageRule: TypeAlias = Callable[[Any, Any], Fault | None]
"""A rule over the state and one message."""


class Switches(msgspec.Struct, frozen=True, kw_only=True):
    """The choices that the text leaves open; each names the clause that leaves it so.

    Attributes:
        out_of_scope_record: what a RECORD outside the scope does to the run (runtime/12).
        state_of_no_checkpoint: what a STATE of a stream that is no checkpoint does (state/stream).
        unknown_message: what a message of an unknown type does (session/unknown).
        evidence_closure: whether STREAM_EVIDENCE must agree with what was counted (evidence/closure).
    """

    out_of_scope_record: Literal["violate", "discard"] = "violate"
    state_of_no_checkpoint: Literal["ignore", "violate"] = "ignore"
    unknown_message: Literal["violate", "ignore"] = "violate"
    evidence_closure: Literal["off", "on"] = "off"


@dataclass(frozen=True, kw_only=True)
class Ruleset:
    """One reading of the profile.

    Attributes:
        id: its public name, such as ``collection-profile/0.1.0``.
        summary: one line for people.
        record_rules: asked of RECORDs, where the scope gives them something to check.
        message_rules: asked of the other messages, by wire type, in order; the first fault counts.
    """

    id: str
    summary: str
    switches: Switches
    record_rules: tuple[RecordRule, ...]
    message_rules: Mapping[str, tuple[MessageRule, ...]]
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "id": self.id,
            "switches": msgspec.to_builtins(self.switches),
            "rules": {
                "RECORD": [rule.__name__ for rule in self.record_rules],
                **{type_: [r.__name__ for r in rules] for type_, rules in self.message_rules.items()},
            },
        }
        object.__setattr__(self, "digest", digest(canonical_json(content)))
