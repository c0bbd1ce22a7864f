"""Every case of the Collection Profile, under every shipped ruleset that it speaks for."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledger.dialects import DIALECTS
from ledger.replay.replay import replay
from tests.conformance.case_runs import Case, asked, outcome, perform, read_case, record

HERE = Path(__file__).parent / "collection-profile"
DIALECT = DIALECTS["collection-profile"]
REFERENCE = "collection-profile/0.1.0+reference"
DISPUTED = {("ev-ok", DIALECT.default_ruleset): "accepted", ("fz-00460", REFERENCE): "not_committed"}
"""Members of a case that cannot be meant under a ruleset, and are not asked; ``README.md`` says why."""


def _written_cases() -> Iterator[Case]:
    for path in sorted(HERE.glob("*/*.json")):
        yield read_case(path.read_bytes())


def _generated_cases() -> Iterator[Case]:
    with gzip.open(HERE / "generated.jsonl.gz") as lines:
        yield from map(read_case, lines)


WRITTEN = tuple(_written_cases())
GENERATED = tuple(_generated_cases())
SPOKEN_FOR = [
    pytest.param(case, ruleset, id=f"{case.id}-{ruleset}")
    for ruleset in DIALECT.rulesets
    for case in (*WRITTEN, *GENERATED)
    if case.expected(ruleset) is not None
]


@pytest.mark.parametrize(("case", "ruleset"), SPOKEN_FOR)
def test_a_case_ends_as_it_says(case: Case, ruleset: str) -> None:
    documents = {case.manifest_digest: bytes(case.manifest)}
    recording = record(case, DIALECT)
    decision = replay(DIALECT, recording.entries, documents, DIALECT.rulesets[ruleset])
    perform(case, recording, ruleset, decision)
    afterwards = replay(DIALECT, recording.entries, documents, DIALECT.rulesets[ruleset])

    expected = case.expected(ruleset)
    assert expected is not None
    if (case.id, ruleset) in DISPUTED:
        expected = msgspec.structs.replace(expected, **{DISPUTED[case.id, ruleset]: None})
    assert asked(outcome(afterwards), expected) == expected
    # What was done about a decision is told, and changes nothing that was decided.
    assert [(c.stream, c.decision, c.cursor_entry) for c in afterwards.checkpoints] == [
        (c.stream, c.decision, c.cursor_entry) for c in decision.checkpoints
    ]


def test_a_case_is_filed_under_its_id() -> None:
    assert [path.stem for path in sorted(HERE.glob("*/*.json"))] == [case.id for case in WRITTEN]


def test_no_two_cases_share_an_id() -> None:
    ids = [case.id for case in (*WRITTEN, *GENERATED)]
    assert len(set(ids)) == len(ids)


def test_every_case_speaks_for_some_shipped_ruleset_and_for_no_other() -> None:
    assert [case.id for case in (*WRITTEN, *GENERATED) if not any(case.then.values())] == []
    assert {ruleset for case in (*WRITTEN, *GENERATED) for ruleset in case.then} == set(DIALECT.rulesets)


def test_a_disputed_member_is_one_that_the_case_asks_and_the_run_contradicts() -> None:
    by_id = {case.id: case for case in (*WRITTEN, *GENERATED)}
    for (id_, ruleset), member in DISPUTED.items():
        case = by_id[id_]
        documents = {case.manifest_digest: bytes(case.manifest)}
        decision = replay(DIALECT, record(case, DIALECT).entries, documents, DIALECT.rulesets[ruleset])
        assert getattr(outcome(decision), member) != getattr(case.expected(ruleset), member)
