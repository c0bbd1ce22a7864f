"""The shipped rulesets, each frozen once released, one a module."""

from collections.abc import Mapping

from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.dialects.collection_profile.rulesets.later import LATER
from ledger.dialects.collection_profile.rulesets.reference import REFERENCE
from ledger.dialects.collection_profile.rulesets.text import TEXT

__all__ = ["LATER", "REFERENCE", "RULESETS", "TEXT"]

RULESETS: Mapping[str, Ruleset] = {one.id: one for one in (TEXT, REFERENCE, LATER)}
"""Every shipped ruleset by id, the default first."""
