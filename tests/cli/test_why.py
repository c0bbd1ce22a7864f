"""``why``: the page at three in the morning, and the same facts as JSON."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import bring, call, explained, why
from tests.cli.transcripts import (
    DONE,
    EXITED,
    TRANSCRIPTS,
    coverage,
    header_of,
    said,
    seen,
    start,
    state,
    write,
)

IDS = [header_of(path)["run_id"] for path in TRANSCRIPTS]
every_sample = pytest.mark.parametrize("run_id", IDS)


# The sample runs.


@every_sample
def test_a_page_says_how_the_run_ended_and_its_one_cause(samples: Path, run_id: str) -> None:
    page, facts = why(samples, run_id), explained(samples, run_id)
    assert page.startswith(run_id)
    assert f"{facts['status'].upper()} under collection-profile/0.1.0" in page
    cause = facts["cause"]
    if cause is not None:
        assert f"{cause['sentence']} [{cause['clause']}]" in page
        assert (
            page.index(cause["sentence"]) < page.index("checkpoint was staged")
            if not facts["checkpoints"]
            else page.index(cause["sentence"]) < page.index("RULES SAY")
        )


@every_sample
def test_a_page_says_of_every_checkpoint_what_the_rules_say_and_what_happened(
    samples: Path, run_id: str
) -> None:
    page = why(samples, run_id)
    for one in explained(samples, run_id)["checkpoints"]:
        happened = (one["outcome"] or "not recorded").replace("_", " ")
        assert f"{one['stream']} {one['decision']} {happened} entry {one['cursor_entry']}" in page


@every_sample
def test_a_page_gives_every_reason_with_clause_keys_entries_records_and_near_misses(
    samples: Path, run_id: str
) -> None:
    page = why(samples, run_id)
    for one in explained(samples, run_id)["checkpoints"]:
        for reason in one["reasons"]:
            assert f"WITHHOLD {one['stream']}" in page
            assert f"{reason['sentence']} [{reason['clause']}]" in page
            assert reason["demand"] in page
            assert all(key in page for key in reason["keys"])
            for entry in [*reason["entries"], *reason["records"]]:
                assert f"entry {entry['seq']} {entry['type']}".strip() in page
            assert all(miss["sentence"] in page for miss in reason["near_misses"])


@every_sample
def test_a_page_says_what_is_unknown_and_what_else_was_found(samples: Path, run_id: str) -> None:
    page, facts = why(samples, run_id), explained(samples, run_id)
    assert all(one["sentence"] in page for one in [*facts["unknowns"], *facts["findings"]])


@every_sample
def test_a_page_says_where_a_withheld_checkpoint_stands(samples: Path, run_id: str) -> None:
    page = why(samples, run_id)
    for one in explained(samples, run_id)["checkpoints"]:
        if one["decision"] != "withhold":
            continue
        assert ("stays eligible" in page) == (one["outcome"] != "committed")
        last = one["standing"]["last_commit"]
        if last is None:
            assert "never moved" in page
        else:
            assert last["run_id"] in page
            assert f"entry {last['cursor_entry']}" in page
            assert one["last_cursor"] in page


@every_sample
def test_json_is_one_document_and_the_decision_agrees(samples: Path, run_id: str) -> None:
    facts = explained(samples, run_id)
    decision = call("-l", samples, "show", run_id, "-o", "json").json
    assert facts["schema"] == "run-explanation/1"
    assert (facts["status"], facts["through"]) == (decision["status"], decision["through"])
    assert [one["stream"] for one in facts["checkpoints"]] == [
        one["stream"] for one in decision["checkpoints"]
    ]
    assert [[r["code"] for r in one["reasons"]] for one in facts["checkpoints"]] == [
        [r["code"] for r in one["reasons"]] for one in decision["checkpoints"]
    ]


def test_the_near_miss_is_the_gap_under_the_wrong_parent(samples: Path) -> None:
    page = why(samples, "run_chatter_0413")
    assert "keys at fault: att_3" in page or "key at fault: att_3" in page
    assert "A DETAIL_GAP for att_3 exists at entry 5 but names parent direct_messages." in page
    assert "entry 6 DETAIL_COVERAGE stream attachments" in page


def test_the_record_that_carries_the_key_is_shown_with_what_it_says_of_itself(samples: Path) -> None:
    page = why(samples, "run_groupme-4-one-blob-down")
    assert "entry 15 RECORD stream attachments · key 101:attachment:0:8050df6cf608a352" in page
    assert "data.hydration_error attachment_http_503" in page


def test_a_partial_commit_shows_who_was_written_who_failed_and_who_was_never_tried(samples: Path) -> None:
    page = why(samples, "run_chatter_0412")
    assert "messages commit committed" in page
    assert "direct_messages commit failed" in page
    assert "contacts commit not attempted" in page
    assert "HTTP 503 from the state store" in page


def test_a_history_says_since_when_nothing_moved_and_the_last_cursor(samples: Path) -> None:
    page = why(samples, "run_chatter_0417", "messages")
    assert "run_chatter_0415" in page
    assert "2 runs" in page
    assert "run_chatter_0414" in page
    assert '{"since":"2026-11-13T16:00:00Z"}' in page


def test_a_commit_that_was_recorded_is_told_from_one_that_only_the_rules_say(samples: Path) -> None:
    recorded = explained(samples, "run_chatter_0413", "messages")["checkpoints"][0]["standing"]
    inferred = explained(samples, "run_chatter_0414", "direct_messages")["checkpoints"][0]["standing"]
    assert recorded["last_commit"]["basis"] == "recorded"
    assert inferred["last_commit"]["basis"] == "rules"
    first, second = why(samples, "run_chatter_0413"), why(samples, "run_chatter_0414")
    assert "run_chatter_0412" in first
    assert "run_chatter_0413" in second
    assert ("rules" in second[second.index("run_chatter_0413") - 60 :]) or ("no commit" in second)


def test_csv_has_a_row_a_reason(samples: Path) -> None:
    lines = call("-l", samples, "why", "run_chatter_0413", "-o", "csv").lines
    assert lines[0].startswith("stream,decision,outcome,reason,clause")
    assert lines[1].startswith("messages,withhold,,coverage_unaccounted,eligible/3,")
    assert lines[2].startswith("direct_messages,commit")


# One stream.


def test_a_stream_is_asked_about_alone(samples: Path) -> None:
    page = why(samples, "run_groupme-2-blobs-down", "group_messages")
    assert "WITHHOLD group_messages" in page
    assert "WITHHOLD direct_chat_messages" not in page


@pytest.mark.parametrize("stream", ["reactions", "attachments"])
def test_a_stream_without_a_checkpoint_of_its_own_is_explained_by_what_covers_it(
    samples: Path, stream: str
) -> None:
    page = why(samples, "run_chatter_0413", stream)
    assert f"{stream} has no checkpoint of its own" in page
    assert "WITHHOLD messages" in page
    facts = explained(samples, "run_chatter_0413", stream)["checkpoints"]
    assert all(stream in one["covers"] for one in facts)


def test_a_stream_that_is_well_is_explained_where_it_is_asked_about(samples: Path) -> None:
    assert "COMMIT direct_messages" in why(samples, "run_chatter_0413", "direct_messages")


@pytest.mark.parametrize("stream", ["nobody", "contacts", "message"])
def test_a_stream_that_staged_nothing_is_not_found_and_the_others_are_named(
    samples: Path, stream: str
) -> None:
    done = call("-l", samples, "why", "run_chatter_0413", stream)
    assert (done.status, done.out) == (4, "")
    assert "messages" in done.err


# Where what happened is not what the rules say.


def withheld_and_committed(folder: Path, *messages: dict[str, Any]) -> Path:
    return write(
        folder / "run.jsonl",
        *start(),
        *said(coverage("attachments", "messages", ["att_1"], []), state("messages"), DONE),
        EXITED,
        *seen({"type": "RECORDS_DURABLE", "through_seq": 4}),
        *seen({"type": "CHECKPOINT_COMMITTED", "stream": "messages", "namespace": "global", "cursor_seq": 4}),
        *seen(*messages),
    )


def test_a_withheld_checkpoint_that_was_committed_is_a_loud_line(into: Path, tmp_path: Path) -> None:
    bring(into, withheld_and_committed(tmp_path))
    page = why(into, "run_odd")
    sentence = "messages was committed, though the rules withhold it."
    assert page.index(sentence) < page.index("RULES SAY"), "it comes first"
    assert "entry 8 CHECKPOINT_COMMITTED" in page
    (one,) = explained(into, "run_odd")["checkpoints"]
    assert [said["code"] for said in one["differs"]] == ["committed_though_withheld"]
    loud = [
        line for line in call("-l", into, "why", "run_odd", "--color", "always").lines if sentence in line
    ]
    assert loud
    assert "\x1b[1;97;41m" in loud[0]


def test_a_committed_checkpoint_is_not_said_to_stay_eligible(into: Path, tmp_path: Path) -> None:
    bring(into, withheld_and_committed(tmp_path))
    assert "stays eligible" not in why(into, "run_odd")


def test_a_commit_of_what_was_never_staged_is_loud_though_no_checkpoint_has_it(
    into: Path, tmp_path: Path
) -> None:
    observation = {
        "type": "CHECKPOINT_COMMITTED",
        "stream": "contacts",
        "namespace": "global",
        "cursor_seq": 4,
    }
    bring(into, withheld_and_committed(tmp_path, observation))
    assert "contacts was committed, though the run never staged it." in why(into, "run_odd")
