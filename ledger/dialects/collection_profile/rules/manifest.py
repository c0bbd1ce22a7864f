"""The manifest: what a ruleset asks of one besides the rules that every manifest must pass."""

from collections.abc import Iterator

from ledger.core.findings import Fault, rule, show_name
from ledger.dialects.collection_profile.manifest import CHILD_STRATEGY, DETAIL_STRATEGY, Manifest

STRATEGIES = (
    CHILD_STRATEGY,
    DETAIL_STRATEGY,
    "full_inventory",
    "singleton_presence",
    "snapshot_import_receipt",
)
"""The closed list of the reference implementation."""


@rule("manifest/7")
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
