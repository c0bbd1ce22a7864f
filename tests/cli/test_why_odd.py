"""``why`` on odd runs, on very much of something, and over a history of runs."""

from pathlib import Path
from typing import Any

import pytest

from cli.why_page import one_of_each_first
from ledger.core.findings import show_name
from ledger.replay.explain import Said
from tests.cli.running import at_terminal, bring, call, explained, page_of, why
from tests.cli.transcripts import (
    EXITED,
    STREAMS,
    coverage,
    gap,
    manifest,
    raw,
    record,
    said,
    seen,
    start,
    state,
    whole,
    write,
)


def test_a_run_that_went_well_says_that_nothing_is_withheld(samples: Path) -> None:
    page = why(samples, "run_ical-1").lower()
    assert "nothing is withheld" in page
    assert "withhold" not in page.replace("withheld", "")


def test_a_running_run_is_pending_and_promises_nothing(into: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", *start(), *said(state("contacts")), whole=False)
    bring(into, path)
    page = why(into, "run_odd")
    assert "RUNNING under" in page
    assert "contacts pending" in page
    assert "nothing is decided yet" in page
    assert "stays eligible" not in page


def test_a_refused_run_names_its_reason_and_that_nothing_was_staged(into: Path, tmp_path: Path) -> None:
    bring(into, write(tmp_path / "run.jsonl", *seen({"type": "RUN_REFUSED", "reason": "no\x1b[2J grant"})))
    page = why(into, "run_odd")
    assert "REFUSED under" in page
    assert "no\\x1b[2J grant" in page or "no\\u001b[2J grant" in page
    assert "No checkpoint was staged." in page


def test_a_single_use_run_keeps_no_state_and_says_so(into: Path, tmp_path: Path) -> None:
    bring(into, whole(tmp_path / "run.jsonl", state("contacts"), trigger={"kind": "single_use"}))
    page = why(into, "run_odd")
    assert "A single-use run keeps no state." in page


def test_a_run_without_a_manifest_says_that_it_is_unknown(into: Path, tmp_path: Path) -> None:
    bring(into, whole(tmp_path / "run.jsonl", state("contacts"), manifest=None))
    page = why(into, "run_odd")
    assert "INDETERMINATE under" in page
    assert "manifest" in page.lower()


def test_a_run_of_a_header_alone_is_explained(into: Path, tmp_path: Path) -> None:
    bring(into, write(tmp_path / "run.jsonl"))
    page = why(into, "run_odd")
    assert "FAILED under" in page
    assert "No START is in the log" in page


def test_lines_that_are_no_text_are_explained(into: Path, tmp_path: Path) -> None:
    bring(into, write(tmp_path / "run.jsonl", *start(), *raw(b"\xff\x1b[31m{"), EXITED))
    done = call("-l", into, "why", "run_odd")
    assert "unreadable line of the program" in page_of(done)
    assert "\x1b" not in done.out


def test_two_reasons_of_one_checkpoint_are_both_told(into: Path, tmp_path: Path) -> None:
    skip = {
        "type": "SKIP_RESULT",
        "stream": "reactions",
        "reason": "stream_collection_failed",
        "message": "x",
    }
    done = {
        "type": "DONE",
        "status": "failed",
        "records_emitted": 0,
        "error": {"code": "stream_collection_failed", "message": "one", "retryable": True},
    }
    path = write(
        tmp_path / "run.jsonl",
        *start(),
        *said(coverage("attachments", "messages", ["att_1"], []), state("messages"), skip, done),
        {**EXITED, "observed": {"type": "PROGRAM_EXITED", "code": 1}},
    )
    bring(into, path)
    page = why(into, "run_odd")
    assert "left 1 required key unaccounted for" in page
    assert "reported as failed" in page


# Much of it.


def test_many_keys_at_fault_are_counted_and_only_some_shown(into: Path, tmp_path: Path) -> None:
    keys = [f"att_{number:05}" for number in range(10_000)]
    bring(
        into, whole(tmp_path / "run.jsonl", coverage("attachments", "messages", keys, []), state("messages"))
    )
    done = call("-l", into, "why", "run_odd")
    assert len(done.lines) < 40
    page = page_of(done)
    assert "10000 required keys" in page.replace(",", "")
    assert "9990 more" in page.replace(",", "")
    facts = explained(into, "run_odd")["checkpoints"][0]["reasons"][0]
    assert (len(facts["keys"]), facts["keys_total"]) == (100, 10_000)


def test_ten_thousand_gaps_under_the_wrong_parent_stay_readable(into: Path, tmp_path: Path) -> None:
    keys = [f"att_{number:05}" for number in range(10_000)]
    messages = [gap(key, "direct_messages") for key in keys]
    report = coverage("attachments", "messages", keys, [], gap_keys=keys)
    bring(into, whole(tmp_path / "run.jsonl", *messages, report, state("messages")))
    done = call("-l", into, "why", "run_odd")
    assert len(done.lines) < 80
    assert "A DETAIL_GAP for att_00000 exists at entry 3 but names parent direct_messages." in page_of(done)


def test_two_hundred_checkpoints_withheld_alike_stay_readable(into: Path, tmp_path: Path) -> None:
    streams = [f"stream_{number}" for number in range(200)]
    path = write(
        tmp_path / "run.jsonl",
        *start(streams=streams),
        *said(*map(state, streams), {"type": "DONE", "status": "cancelled", "records_emitted": 0}),
        *seen({"type": "PROGRAM_EXITED", "code": 1}),
        manifest=manifest(*streams),
    )
    bring(into, path)
    done = call("-l", into, "why", "run_odd")
    assert len(done.lines) < 120
    assert "and 160 more" in done.out
    assert "and 180 more" in done.out
    assert done.out.count("The connector says that it was cancelled.") == 1
    assert "WITHHOLD stream_19, for the same reason" in done.out
    assert len(explained(into, "run_odd")["checkpoints"]) == 200


def test_one_of_two_hundred_streams_that_is_not_there_does_not_flood_the_error(
    into: Path, tmp_path: Path
) -> None:
    streams = [f"stream_{number}" for number in range(200)]
    bring(into, whole(tmp_path / "run.jsonl", *map(state, streams), manifest=manifest(*streams)))
    assert len(call("-l", into, "why", "run_odd", "nobody").err) < 500


def test_very_long_keys_do_not_flood_the_page(into: Path, tmp_path: Path) -> None:
    key = "k" * 20_000
    report = coverage("attachments", "messages", [key], [])
    bring(into, whole(tmp_path / "run.jsonl", record("attachments", key), report, state("messages")))
    for verb in ("why", "show", "log"):
        assert len(call("-l", into, verb, "run_odd").out) < 8000
    assert explained(into, "run_odd")["checkpoints"][0]["reasons"][0]["keys"] == [show_name(key)]


def test_keys_that_are_numbers_find_their_records(into: Path, tmp_path: Path) -> None:
    report = coverage("attachments", "messages", [101, "102"], [])
    records = [record("attachments", key, other="101") for key in ("101", "102", "103")]
    bring(into, whole(tmp_path / "run.jsonl", *records, report, state("messages")))
    reason = explained(into, "run_odd")["checkpoints"][0]["reasons"][0]
    assert [entry["seq"] for entry in reason["records"]] == [3, 4]


def test_a_key_that_other_records_only_mention_is_not_carried_by_them(into: Path, tmp_path: Path) -> None:
    report = coverage("attachments", "messages", ["att_1"], [])
    records = [record("attachments", "att_2", next="att_1"), record("attachments", "att_1")]
    bring(into, whole(tmp_path / "run.jsonl", *records, report, state("messages")))
    reason = explained(into, "run_odd")["checkpoints"][0]["reasons"][0]
    assert [entry["seq"] for entry in reason["records"]] == [4]


def test_findings_and_entries_beyond_the_first_are_counted(into: Path, tmp_path: Path) -> None:
    states = [state("attachments") for _ in range(500)]
    bring(into, whole(tmp_path / "run.jsonl", *states))
    for verb in ("why", "show"):
        page = page_of(call("-l", into, verb, "run_odd"))
        assert "(entries 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 490 more)" in page


def test_one_near_miss_of_each_kind_comes_first() -> None:
    misses = [Said(code=code, sentence=str(number)) for number, code in enumerate("aaabac")]
    assert [miss.sentence for miss in one_of_each_first(misses)] == ["0", "3", "5", "1", "2", "4"]


def test_a_checkpoint_that_was_staged_again_and_again_says_how_often(into: Path, tmp_path: Path) -> None:
    bring(into, whole(tmp_path / "run.jsonl", *(state("contacts", {"n": n}) for n in range(7))))
    assert "entry 9, newest of 7" in why(into, "run_odd")


def test_what_came_after_a_violation_is_said_to_change_nothing_and_only_where_something_came(
    into: Path, tmp_path: Path
) -> None:
    report = coverage("attachments", "messages", ["att_1"], ["att_1"])
    lines = [*start(), *said(report, report)]
    bring(into, write(tmp_path / "run.jsonl", *lines, whole=False))
    page = why(into, "@latest")
    assert "reported twice" in page
    assert "Lines after it" not in page
    bring(
        into, write(tmp_path / "more.jsonl", *lines, *said(state("messages")), run_id="run_more", whole=False)
    )
    assert "Lines after it" in why(into, "run_more")


# History.


def run_of_day(folder: Path, day: int, *, well: bool, **header: Any) -> Path:
    """A run that stages `messages`, and leaves a key unaccounted for unless it goes well."""
    report = coverage("attachments", "messages", ["att_1"], ["att_1"] if well else [])
    opened = {"at": f"2026-12-{day:02}T00:00:00Z"}
    messages = [report, state("messages", {"day": day})]
    run_id = f"run_{day:02}"
    return whole(folder / f"{run_id}.jsonl", *messages, run_id=run_id, opened=opened, **header)


def test_the_last_cursor_is_the_one_that_the_store_took(into: Path, tmp_path: Path) -> None:
    taken = {"type": "CHECKPOINT_COMMITTED", "stream": "messages", "namespace": "global", "cursor_seq": 3}
    lines = said(state("messages", {"page": 1}), state("messages", {"page": 2}))
    bring(into, write(tmp_path / "run.jsonl", *start(), *lines, *seen(taken)))
    page = why(into, "run_odd")
    assert 'cursor of entry 3: {"page":1}' in page
    assert '{"page":2}' not in page.partition("It last moved")[2]


def test_of_nine_runs_that_did_not_move_it_the_first_is_named_and_the_last_cursor(
    into: Path, tmp_path: Path
) -> None:
    for day in range(1, 12):
        bring(into, run_of_day(tmp_path, day, well=day <= 2))
    page = why(into, "@latest")
    assert "By the rules it does not move: 9 runs staged it in vain, run_03 the first." in page
    assert "It last moved in run_02 of 2026-12-02T00:00:00Z" in page
    assert 'cursor of entry 4: {"day":2}' in page


def test_the_history_ends_with_the_run_that_was_asked_about(into: Path, tmp_path: Path) -> None:
    for day, well in ((1, False), (2, False), (3, True)):
        bring(into, run_of_day(tmp_path, day, well=well))
    page = why(into, "run_02")
    assert "By the rules it has never moved up to this run; 2 runs staged it, run_01 the first." in page


def test_runs_of_other_namespaces_are_another_history(into: Path, tmp_path: Path) -> None:
    trigger = {"kind": "continuous", "grant_id": "grant_1", "streams": STREAMS}
    bring(into, run_of_day(tmp_path, 1, well=True, trigger=trigger))
    bring(into, run_of_day(tmp_path, 2, well=False))
    assert "never moved" in why(into, "run_02")


def test_how_far_back_was_looked_is_said_where_it_was_not_all(
    into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(1, 6):
        bring(into, run_of_day(tmp_path, day, well=day == 1))
    monkeypatch.setattr("cli.audit.EARLIER_RUNS", 3)
    assert "By the rules it has never moved in the 4 runs up to this one" in why(into, "@latest")
    monkeypatch.setattr("cli.audit.EARLIER_RUNS", 50)
    monkeypatch.setattr("cli.audit.EARLIER_ENTRIES", 1)
    assert "By the rules it has never moved in the 2 runs up to this one" in why(into, "@latest")


def test_a_program_that_is_not_known_has_no_history(into: Path, tmp_path: Path) -> None:
    for day in (1, 2):
        bring(into, run_of_day(tmp_path, day, well=True, manifest=None))
    page = why(into, "@latest")
    assert "(program not known)" in page
    assert "moved" not in page


def test_at_a_terminal_the_command_that_prints_an_entry_in_full_is_named(samples: Path) -> None:
    status, sent = at_terminal("-l", samples, "why", "run_chatter_0413")
    assert status == 0
    assert f"runledger -l {samples} log run_chatter_0413 --from 6 --to 6 --raw".encode() in sent
