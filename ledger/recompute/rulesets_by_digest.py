"""The rulesets that a process folds under, by digest: shipped ones, and others rebuilt from documents."""

from collections.abc import Iterator, Mapping

from ledger.core.dialect import Ruleset
from ledger.core.digests import digest
from ledger.dialects import DIALECTS
from ledger.installed_rulesets import load_installed
from ledger.replay.own_rulesets import from_document
from ledger.replay.rulesets import Known, shipped


class RulesetsByDigest(Mapping[str, Ruleset]):
    """Rulesets by digest: those that are shipped, and those of which a document was added."""

    def __init__(self) -> None:
        self._known = {one.digest: one for dialect in DIALECTS.values() for one in dialect.rulesets.values()}
        self._bases: list[Known] = []

    def add(self, document: bytes) -> None:
        """Add the ruleset that a document describes.

        Raises:
            NotFoundError: it was made of rules that are not here.
        """
        if digest(document) not in self._known:
            self._bases = self._bases or [*shipped(DIALECTS.values()), *load_installed().known]
            ruleset = from_document(document, self._bases)
            self._known[ruleset.digest] = ruleset

    def __getitem__(self, name: str) -> Ruleset:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
