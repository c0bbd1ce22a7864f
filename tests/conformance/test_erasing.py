"""Every case with each of its entries erased: nothing is turned round, and nobody is accused by it.

Exempt is the line that broke the run. What was erased is taken to have kept to the rules, so erasing that
line hides that it broke them, and ``erase`` says so before it erases; see ``docs/limits.md``.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from ledger.core.decision import Decision
from ledger.core.entries import Entry
from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.dialects.collection_profile.rulesets import LATER, RULESETS
from ledger.replay.replay import replay
from tests.conformance.case_runs import perform, record
from tests.conformance.test_collection_profile import DIALECT, GENERATED, WRITTEN
from tests.dialects.collection_profile.runs import discrepancies, verdicts

ALL_IN_THEIR_COLUMNS = ("DECIDED", "RUN_CLOSED")
OF_ANY_MANIFEST = replace(LATER, id="collection-profile/0.2.0 of any manifest", manifest_rules=())
"""The later profile without what it asks of manifests, for which it would refuse nearly every older case."""


def worth_erasing(entries: list[Entry], decision: Decision) -> Iterator[int]:
    """Yield the places of entries, without the opening and what broke the run; of like RECORDs the first."""
    broke_it = {seq for v in decision.violations for seq in (v.entry, *v.entries)}
    for at, entry in enumerate(entries[1:], start=1):
        before = entries[at - 1]
        is_like = entry.type == "RECORD" and (before.type, before.stream) == (entry.type, entry.stream)
        if entry.seq not in broke_it and not is_like and entry.type not in ALL_IN_THEIR_COLUMNS:
            yield at


def turned(before: Decision, after: Decision) -> list[object]:
    """Return what an erasure turned into something else than left open."""
    found: list[object] = []
    if after.status not in (before.status, "indeterminate"):
        found.append((before.status, after.status))
    # Where START is erased, what broke the run may come later, behind more that was staged.
    unstaged = "withhold" if after.violations else None
    was, now = verdicts(before), verdicts(after)
    found += [s for s, verdict in now.items() if verdict not in (was.get(s, unstaged), "indeterminate")]
    found += [s for s in was if s not in now and after.status != "indeterminate"]
    found += Counter(discrepancies(after)) - Counter(discrepancies(before))
    return found


@pytest.mark.parametrize("under", [*RULESETS.values(), OF_ANY_MANIFEST], ids=lambda ruleset: ruleset.id)
def test_erasing_one_entry_of_a_case_turns_nothing_round(under: Ruleset) -> None:
    found, failed_writes = [], 0
    for case in (*WRITTEN, *GENERATED):
        documents = {case.manifest_digest: bytes(case.manifest)}
        recording = record(case, DIALECT)
        perform(case, recording, under.id, replay(DIALECT, recording.entries, documents, under))
        entries = list(recording.entries)
        before = replay(DIALECT, entries, documents, under)
        failed_writes += before.commit.failed_stream is not None
        for at in worth_erasing(entries, before):
            erased = msgspec.structs.replace(entries[at], body=None, salt=None)
            after = replay(DIALECT, [*entries[:at], erased, *entries[at + 1 :]], documents, under)
            found += [(case.id, erased.seq, what) for what in turned(before, after)]
    assert found == []
    assert failed_writes > 0
