"""What the connector says it saw, on the pages of ``show`` and ``log``."""

from pathlib import Path
from typing import Any

from tests.cli.running import bring, call, page_of
from tests.cli.transcripts import manifest, said, seen, start, write
from tests.dialects.collection_profile.runs import fact, fully_declared

LATER = ("--ruleset", "collection-profile/0.2.0")
MANIFEST = fully_declared(
    manifest("a"), connector_key="odd", runtime_requirements={}, protocol_capabilities=["OBSERVATION"]
)
ABSENT = fact("o1", "element_expectation", step="log_in", attrs={"state": "absent"})
TOLD = fact("o2", resolves=["o1"], evidence_ref="shot-2")


def failed(into: Path, path: Path, *lines: dict[str, Any], basis: list[str]) -> None:
    """Import a run that told these facts, and failed on some of them."""
    error = {"message": "no", "retryable": False, "basis": basis}
    end = {"type": "DONE", "status": "failed", "records_emitted": 0, "error": error}
    exited = {"type": "PROGRAM_EXITED", "code": 1}
    steps = [*start(streams=["a"]), *said(*lines, end), *seen(exited)]
    bring(into, write(path, *steps, manifest=MANIFEST, offered=None))


def test_a_page_names_each_fact_and_what_an_error_rests_on(into: Path, tmp_path: Path) -> None:
    failed(into, tmp_path / "run.jsonl", ABSENT, TOLD, fact(None), basis=["o2", "o1"])
    page = page_of(call("-l", into, "show", "run_odd", *LATER))
    assert "fact o1: element_expectation, absent (entry 3)" in page
    assert "fact o2: provider_message, resolves o1 (entry 4)" in page
    assert "error without code: no (rests on o2, o1)" in page
    assert "finding An OBSERVATION was discarded: it has no id in the form of one. (entry 5)" in page
    assert "o1" not in page_of(call("-l", into, "show", "run_odd"))


def test_facts_beyond_the_first_are_counted(into: Path, tmp_path: Path) -> None:
    facts = [fact(f"o{number}") for number in range(64)]
    failed(into, tmp_path / "run.jsonl", *facts, basis=[one["id"] for one in facts])
    page = page_of(call("-l", into, "show", "run_odd", *LATER))
    assert "o15 and 48 more)" in page
    assert "and 44 more facts" in page


def test_a_fact_is_told_in_the_log(into: Path, tmp_path: Path) -> None:
    failed(into, tmp_path / "run.jsonl", ABSENT, TOLD, basis=[])
    page = page_of(call("-l", into, "log", "run_odd"))
    assert "id o1" in page
    assert 'attrs {"state":"absent"}' in page
    assert "evidence_ref shot-2" in page
