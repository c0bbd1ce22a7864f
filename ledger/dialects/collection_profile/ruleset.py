"""A ruleset: one reading of the Collection Profile, as data.

An id, a few named switches for choices that the text leaves open, and the rules, by what they are asked of. A
released ruleset is frozen: another reading is another function beside the older one, in another ruleset. The
digest covers the id, the switches and the names of all rules.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import msgspec

from ledger.core.dialect import RuleTold, SwitchTold
from ledger.core.digests import canonical_json, digest
from ledger.core.findings import Fault, Tally, rule_clause, rule_needs, rule_occasion
from ledger.core.observations import Offered, ProgramExited, Trigger
from ledger.core.wording import Catalogue, suggest
from ledger.dialects.collection_profile.catalogue import CATALOGUE
from ledger.dialects.collection_profile.manifest import Manifest
from ledger.dialects.collection_profile.messages import Done, Start
from ledger.dialects.collection_profile.plan import Plan, RecordRule
from ledger.dialects.collection_profile.switches import SWITCHES, Switches, switches_in_digest
from ledger.dialects.collection_profile.wire import Wire, wire_under
from ledger.errors import UsageError

if TYPE_CHECKING:
    from ledger.core.decision import Reason, Status
    from ledger.dialects.collection_profile.state import State

FOLD_VERSION = 1
"""Raised whenever a mended fold would decide an old run otherwise under an unchanged ruleset."""


class Asked(NamedTuple):
    """What a START is held against; ``offered`` is None where it is not known."""

    manifest: Manifest
    trigger: Trigger
    offered: Offered | None
    start: Start


ManifestRule: TypeAlias = Callable[[Manifest], Iterator[Fault]]
"""Asked of a manifest that holds by itself; a fault refuses the run."""

MatchRule: TypeAlias = Callable[[Manifest, Offered], Iterator[Fault]]
"""Asked before START, where it is known what the runtime offers."""

StartRule: TypeAlias = Callable[[Asked], Iterator[Fault]]
"""Asked of START; a fault refuses the run."""

MessageRule: TypeAlias = "Callable[[State, Any], Fault | None]"
"""Asked of one message; a fault ends the run."""

ExitRule: TypeAlias = Callable[[Done, ProgramExited], Fault | None]
"""Asked of a DONE that was taken, and of how the program ended."""

CheckpointRule: TypeAlias = "Callable[[State, Plan, str], Iterator[Reason]]"
"""Asked of one staged checkpoint; a reason withholds it."""

EndRule: TypeAlias = "Callable[[State, Status], Iterator[Tally]]"
"""Asked at the decision; what it finds is shown and decides nothing."""

StoreRule: TypeAlias = "Callable[[State, str], Reason | None]"
"""Asked of a checkpoint that nothing withholds; for a reason the store is known to refuse it."""

Weighing: TypeAlias = Literal["coverage", "certified", "restart"]
"""How checkpoints are weighed: of a success, of a certified failure, after the loss of the controller."""


@dataclass(frozen=True, kw_only=True)
class Ruleset:
    """One reading of the profile; see :class:`ledger.core.dialect.Ruleset`.

    Attributes:
        id: its public name, such as ``collection-profile/0.1.0``.
        summary: one line for people.
        manifest_rules: asked of the manifest, besides those that every manifest must pass.
        match_rules: asked of the manifest and what the runtime offers.
        start_rules: asked of START.
        record_rules: asked of RECORDs, where the scope gives them something to check.
        message_rules: asked of the other messages, by wire type, in order; the first fault counts.
        staging_rules: asked of a STATE that broke no message rule; what breaks one is not staged.
        exit_rules: asked of how the program ended.
        checkpoint_rules: asked of staged checkpoints, by how they are weighed.
        store_rules: asked of those that nothing withholds, in the order of committing.
        end_rules: asked at the decision.
        catalogue: the words of what its rules say; no part of its digest.
        wire: how the connector's lines are read, as the switches say.
        occasional: the rules about messages and staging that only some of what they are asked of gives
            anything to judge, by what they are asked of.
    """

    id: str
    summary: str
    switches: Switches
    match_rules: tuple[MatchRule, ...]
    start_rules: tuple[StartRule, ...]
    record_rules: tuple[RecordRule, ...]
    message_rules: Mapping[str, tuple[MessageRule, ...]]
    staging_rules: tuple[MessageRule, ...]
    exit_rules: tuple[ExitRule, ...]
    checkpoint_rules: Mapping[Weighing, tuple[CheckpointRule, ...]]
    end_rules: tuple[EndRule, ...]
    manifest_rules: tuple[ManifestRule, ...] = ()
    store_rules: tuple[StoreRule, ...] = ()
    catalogue: Catalogue = CATALOGUE
    dialect: str = field(default="collection-profile", init=False)
    document: bytes = field(init=False)
    digest: str = field(init=False)
    wire: Wire = field(init=False)
    occasional: Mapping[str, tuple[MessageRule, ...]] = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "id": self.id,
            "switches": switches_in_digest(self.switches),
            "rules": [[asked_of, rule.__name__] for asked_of, rule in self.rules()],
        }
        object.__setattr__(self, "document", canonical_json(content))
        object.__setattr__(self, "digest", digest(self.document))
        object.__setattr__(self, "wire", wire_under(self.switches))
        object.__setattr__(self, "occasional", dict(self._occasional()))

    def manifest_rules_asked(self) -> Iterator[ManifestRule]:
        """Yield the manifest rules; those that demand a declaration only where the switch does."""
        optional = self.switches.manifest_declarations == "optional"
        for rule in self.manifest_rules:
            if not (optional and rule_needs(rule) == "declarations"):
                yield rule

    def faults_of(self, manifest: Manifest) -> Iterator[Fault]:
        """Ask the manifest rules of a manifest."""
        for rule in self.manifest_rules_asked():
            yield from rule(manifest)

    def tell_rules(self) -> Iterator[RuleTold]:
        """Yield every rule, by what it is asked of."""
        for asked_of, rule in self.rules():
            says = (rule.__doc__ or "").strip().partition("\n")[0].replace("``", "`")
            yield RuleTold(asked_of, rule.__name__, rule_clause(rule), says)

    def tell_switches(self) -> Iterator[SwitchTold]:
        """Yield every switch with its value."""
        for name, one in SWITCHES.items():
            value = str(getattr(self.switches, name))
            yield SwitchTold(name, value, one.clause, one.says, one.values, one.default)

    def rules(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield every rule itself, beside what it is asked of."""
        yield from (("manifest", rule) for rule in self.manifest_rules)
        yield from (("binding", rule) for rule in self.match_rules)
        yield from (("START", rule) for rule in self.start_rules)
        yield from (("RECORD", rule) for rule in self.record_rules)
        for type_, rules in self.message_rules.items():
            yield from ((type_, rule) for rule in rules)
        yield from (("staging", rule) for rule in self.staging_rules)
        yield from (("exit", rule) for rule in self.exit_rules)
        for weighing, weighed in self.checkpoint_rules.items():
            yield from ((f"checkpoint, {weighing}", rule) for rule in weighed)
        yield from (("store", rule) for rule in self.store_rules)
        yield from (("end", rule) for rule in self.end_rules)

    def _occasional(self) -> Iterator[tuple[str, tuple[MessageRule, ...]]]:
        for asked_of, rules in (*self.message_rules.items(), ("staging", self.staging_rules)):
            occasional = tuple(rule for rule in rules if rule_occasion(rule) is not None)
            if occasional:
                yield asked_of, occasional


def derive(base: Ruleset, *, id: str, summary: str, switches: Mapping[str, str]) -> Ruleset:
    """Return a ruleset with the rules of another, and some of its switches turned.

    Raises:
        UsageError: there is no such switch or value, or a value that does nothing without a rule that
            ``base`` does not ask.
    """
    asked = {told.name for told in base.tell_rules()}
    for name, value in switches.items():
        switch = SWITCHES.get(name)
        if switch is None:
            raise UsageError(f"expected a switch of {base.id}, found {name!r}; {suggest(name, SWITCHES)}")
        if value not in switch.values:
            values = " or ".join(switch.values)
            raise UsageError(f"expected the switch {name} to be {values}, found {value!r}")
        needed = switch.needs.get(value)
        if needed is not None and needed not in asked and value != getattr(base.switches, name):
            raise UsageError(
                f"expected a ruleset that asks {needed}, without which {name} cannot be {value}, "
                f"found {base.id}, which does not; extend another, or leave the switch as it is"
            )
    turned = msgspec.convert({**msgspec.to_builtins(base.switches), **switches}, Switches)
    return replace(base, id=id, summary=summary, switches=turned)
