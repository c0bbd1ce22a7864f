"""How a process that folds comes by its rulesets."""

import pytest

from ledger.dialects.collection_profile.rulesets import TEXT
from ledger.errors import NotFoundError
from ledger.recompute.rulesets_by_digest import RulesetsByDigest
from tests.dialects.collection_profile.runs import PROFILE

OWN = PROFILE.derive(TEXT, id="acme/1", summary="", switches={"unknown_message": "ignore"})


def test_every_process_knows_what_is_shipped() -> None:
    known = RulesetsByDigest()
    assert {one.digest for one in PROFILE.rulesets.values()} <= set(known)
    assert known[TEXT.digest] is TEXT


def test_a_process_comes_by_another_ruleset_by_its_document() -> None:
    known = RulesetsByDigest()
    assert OWN.digest not in known
    known.add(OWN.document)
    rebuilt = known[OWN.digest]
    assert (rebuilt.document, list(rebuilt.tell_switches())) == (OWN.document, list(OWN.tell_switches()))
    with pytest.raises(NotFoundError):
        known.add(OWN.document.replace(b"stream_in_scope", b"stream_is_ours"))
