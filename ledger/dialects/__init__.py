"""The wire protocols that the ledger understands, one package each; siblings never import each other."""

from collections.abc import Mapping

from ledger.core.dialect import Dialect
from ledger.dialects import collection_profile

DIALECTS: Mapping[str, Dialect] = {
    collection_profile.DIALECT.name: collection_profile.DIALECT,
}
"""Every dialect by the name that a transcript gives it."""
