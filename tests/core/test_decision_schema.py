"""The published schema of a decision, held against decisions by a validator that knows no structs."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from ledger.core.decision import Decision, encode_decision
from ledger.replay.replay import replay_under_all
from tests.decision_docs import decision_page, decision_schema
from tests.dialects.collection_profile.runs import PROFILE, Run
from tests.properties.strategies import HUNT, whole_runs

ROOT = Path(__file__).parent.parent.parent
SCHEMA = json.loads((ROOT / "docs" / "decision.schema.json").read_text())
GOLDENS = sorted((ROOT / "sample_runs").glob("*/*/decision*.json"))
VALIDATOR = Draft202012Validator(SCHEMA)


def faults(decision: Any) -> list[str]:
    return [f"{list(error.absolute_path)}: {error.message}" for error in VALIDATOR.iter_errors(decision)]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert decision_schema() == SCHEMA


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_golden_decision_is_what_the_schema_says(golden: Path) -> None:
    assert faults(json.loads(golden.read_bytes())) == []


@settings(max_examples=HUNT or 100)
@given(whole_runs())
def test_the_decision_about_any_run_is_what_the_schema_says(run: Run) -> None:
    for decision in replay_under_all(PROFILE, run.entries, run.documents):
        assert faults(json.loads(encode_decision(decision))) == []


def places(value: Any, *path: Any) -> list[tuple[Any, ...]]:
    """Return the paths of all members of a document, wherever they stand."""
    if isinstance(value, dict):
        below = [place for name, one in value.items() for place in places(one, *path, name)]
        return [*([(*path, name) for name in value] if path[-1:] != ("detail",) else []), *below]
    if isinstance(value, list):
        return [place for index, one in enumerate(value) for place in places(one, *path, index)]
    return []


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with the member at a path set, or removed where the value is ``msgspec.UNSET``."""
    copy = json.loads(json.dumps(document))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    if value is msgspec.UNSET:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copy


MAY_BE_ABSENT = {
    "violations": {"entries", "detail"},
    "findings": {"detail"},
    "checkpoints": {"reasons_total"},
    "failure": {"failure"},
    "facts": {"facts"},
    "totals": {"facts"},
}


def test_a_decision_with_a_member_more_or_less_or_of_another_kind_is_none() -> None:
    seen: set[tuple[Any, ...]] = set()
    for golden in GOLDENS:
        document = json.loads(golden.read_bytes())
        for path in places(document):
            kind = tuple(step for step in path if not isinstance(step, int))
            if kind in seen:
                continue
            seen.add(kind)
            assert faults(changed(document, path, {"odd": None})), path
            assert faults(changed(document, (*path[:-1], "more"), 1)), path
            if path[-1] not in MAY_BE_ABSENT.get(kind[0], ()):
                assert faults(changed(document, path, msgspec.UNSET)), path
    assert len(seen) > 100


@pytest.mark.parametrize("member", ["status", "schema"])
def test_a_word_that_is_not_in_the_vocabulary_is_refused(member: str) -> None:
    assert faults({**json.loads(GOLDENS[0].read_bytes()), member: "other"})


def test_the_page_and_the_schema_name_every_member_of_a_decision() -> None:
    page = decision_page()
    for field in msgspec.structs.fields(Decision):
        assert f"| `{field.encode_name}` |" in page
    for part in SCHEMA["$defs"].values():
        assert f"## {part['title']}\n" in page
        assert part["description"].endswith(".")
        assert all(one["description"].endswith(".") for one in part["properties"].values())
