"""What a failure is put down to, and whether a hint is acted on, in the words of ``why`` and ``show``."""

from pathlib import Path
from typing import Any

from tests.cli.running import bring, call, explained, page_of, why
from tests.cli.transcripts import manifest, said, seen, start, write
from tests.dialects.collection_profile.runs import fully_declared

LATER = ("--ruleset", "collection-profile/0.2.0")
MANIFEST = fully_declared(
    manifest("a"), connector_key="odd", runtime_requirements={}, protocol_capabilities=["OBSERVATION"]
)
ABSENT = {
    "type": "OBSERVATION",
    "id": "o1",
    "fact": "element_expectation",
    "step": "log_in",
    "attrs": {"state": "absent"},
}
REJECTED = {"type": "SUBMISSION_REJECTED", "request_id": "q1"}
EXITED = {"type": "PROGRAM_EXITED", "code": 1}


def failed(into: Path, path: Path, *before: dict[str, Any]) -> None:
    """Import a run that saw these things, and failed with a wish for new credentials."""
    error = {"message": "no", "retryable": False, "recovery_hint": "refresh_credentials"}
    end = {"type": "DONE", "status": "failed", "records_emitted": 0, "error": error}
    bring(
        into,
        write(
            path,
            *start(streams=["a"]),
            *said(ABSENT),
            *seen(*before),
            *said(end),
            *seen(EXITED),
            manifest=MANIFEST,
            offered={"bindings": ["network"], "protocol_capabilities": ["OBSERVATION"]},
        ),
    )


def test_the_word_of_the_connector_alone_is_told_as_that(into: Path, tmp_path: Path) -> None:
    failed(into, tmp_path / "run.jsonl")
    page = why(into, "run_odd", *LATER)
    assert "Put down to expectation_mismatch: By its own account" in page
    assert "unlocks nothing. [failure/cause] entry 3 OBSERVATION" in page
    assert "What the connector suggests: refresh_credentials, which is not acted on [hint/gate]" in page
    shown = page_of(call("-l", into, "show", "run_odd", *LATER))
    assert "put down expectation_mismatch: By its own account" in shown
    assert "recovery refresh_credentials (entry 4), is not acted on" in shown


def test_what_the_runtime_recorded_is_told_as_that(into: Path, tmp_path: Path) -> None:
    failed(into, tmp_path / "run.jsonl", REJECTED)
    page = why(into, "run_odd", *LATER)
    assert "Put down to auth_rejected: The provider rejected" in page
    assert "So the runtime recorded. [failure/cause] entry 4 SUBMISSION_REJECTED request_id q1" in page
    assert "refresh_credentials, which may be acted on [hint/gate]" in page
    told = explained(into, "run_odd", *LATER)
    assert (told["recovery"], told["recovery_gate"]) == ("refresh_credentials", "holds")
    assert (told["failure"]["code"], told["failure"]["by"]) == ("auth_rejected", "runtime")


def test_a_failure_that_is_put_down_to_nothing_known_is_on_nobodys_word(into: Path, tmp_path: Path) -> None:
    failed(into, tmp_path / "run.jsonl", {"type": "CANCEL_REQUESTED"})
    page = why(into, "run_odd", *LATER)
    assert (
        "Put down to unknown: Nothing that the connector met is known to be behind it. [failure/cause]"
        in page
    )


def test_a_ruleset_that_does_not_ask_for_it_tells_nothing_of_it(into: Path, tmp_path: Path) -> None:
    failed(into, tmp_path / "run.jsonl", REJECTED)
    told = explained(into, "run_odd")
    assert "failure" not in told
    assert "recovery_gate" not in told
    assert "Put down" not in why(into, "run_odd")
