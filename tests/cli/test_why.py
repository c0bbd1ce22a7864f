"""``why``: the page at three in the morning, and the same facts as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.why_page import one_of_each
from ledger.replay.explain import Said
from tests.cli.running import Done, at_terminal, call
from tests.cli.transcripts import (
    DONE,
    EXITED,
    STREAMS,
    TRANSCRIPTS,
    coverage,
    gap,
    header_of,
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

IDS = [header_of(path)["run_id"] for path in TRANSCRIPTS]
every_sample = pytest.mark.parametrize("run_id", IDS)


def page_of(done: Done) -> str:
    """The page on one line, so that where it wraps does not matter."""
    assert done.status == 0, done.err
    return " ".join(done.out.split())


def why(ledger: Path, *words: str) -> str:
    return page_of(call("-l", ledger, "why", *words))


def explained(ledger: Path, *words: str) -> Any:
    return call("-l", ledger, "why", *words, "-o", "json").json


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def bring(ledger: Path, path: Path) -> None:
    done = call("-l", ledger, "import", path)
    assert done.status == 0, done.err


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
        assert "stays eligible" in page
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
    assert "direct_chat_messages" not in page


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


# Odd runs.


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
    assert explained(into, "run_odd")["checkpoints"][0]["reasons"][0]["keys"] == [key]


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
    assert [miss.sentence for miss in one_of_each(misses)] == ["0", "3", "5", "1", "2", "4"]


def test_a_checkpoint_that_was_staged_again_and_again_says_how_often(into: Path, tmp_path: Path) -> None:
    bring(into, whole(tmp_path / "run.jsonl", *(state("contacts", {"n": n}) for n in range(7))))
    assert "entry 9, newest of 7" in why(into, "run_odd")


# History.


def run_of_day(folder: Path, day: int, *, well: bool, **header: Any) -> Path:
    """A run that stages `messages`, and leaves a key unaccounted for unless it goes well."""
    report = coverage("attachments", "messages", ["att_1"], ["att_1"] if well else [])
    opened = {"at": f"2026-12-{day:02}T00:00:00Z"}
    messages = [report, state("messages", {"day": day})]
    run_id = f"run_{day:02}"
    return whole(folder / f"{run_id}.jsonl", *messages, run_id=run_id, opened=opened, **header)


def test_of_nine_runs_that_did_not_move_it_the_first_is_named_and_the_last_cursor(
    into: Path, tmp_path: Path
) -> None:
    for day in range(1, 12):
        bring(into, run_of_day(tmp_path, day, well=day <= 2))
    page = why(into, "@latest")
    assert "It has not moved since run_03: 9 runs staged it." in page
    assert "It last moved in run_02 of 2026-12-02T00:00:00Z" in page
    assert 'cursor of entry 4: {"day":2}' in page


def test_the_history_ends_with_the_run_that_was_asked_about(into: Path, tmp_path: Path) -> None:
    for day, well in ((1, False), (2, False), (3, True)):
        bring(into, run_of_day(tmp_path, day, well=well))
    assert "It has never moved in this ledger; 2 runs staged it, run_01 the first." in why(into, "run_02")


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
    monkeypatch.setattr("cli.commands.why.EARLIER_RUNS", 3)
    assert "It has never moved in the last 4 runs" in why(into, "@latest")
    monkeypatch.setattr("cli.commands.why.EARLIER_RUNS", 50)
    monkeypatch.setattr("cli.commands.why.EARLIER_ENTRIES", 1)
    assert "It has never moved in the last 2 runs" in why(into, "@latest")


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


# What a program wrote is shown, never obeyed.

RISKY = "x\x1b[31m\x9b2J\u202e\u2066\r\n\u2028\x00"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger whose every name, key, reason and message tries to reach the terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    stream = f"stream{RISKY}"
    odd = manifest(stream)
    odd["connector_id"] = f"https://example.test/{RISKY}"
    odd["version"] = RISKY
    messages = [
        record(stream, RISKY, hydration_error=RISKY),
        gap(RISKY, RISKY, stream),
        {"type": "SKIP_RESULT", "stream": stream, "reason": RISKY, "message": RISKY},
        coverage(stream, stream, [RISKY], []),
        state(stream, {RISKY: RISKY}),
        {"type": "PROGRESS", "stream": stream, "message": RISKY},
        {"type": "INTERACTION", "request_id": RISKY, "kind": RISKY, "message": RISKY},
        {
            "type": "DONE",
            "status": "failed",
            "records_emitted": 1,
            "error": {"code": RISKY, "message": RISKY, "retryable": True},
        },
    ]
    for number, program in enumerate((messages, [*messages[:5], {**DONE, "records_emitted": 1}])):
        run_id = f"run_{number}{RISKY}"
        path = write(
            folder / f"{number}.jsonl",
            *start(run_id, [stream]),
            *said(*program),
            *seen({"type": "PROGRAM_STDERR", "text": RISKY}, {"type": "NOTE", "by": RISKY, "text": RISKY}),
            *seen({"type": "CHECKPOINT_COMMITTED", "stream": RISKY, "namespace": RISKY, "cursor_seq": 7}),
            *seen({"type": "CHECKPOINT_COMMIT_FAILED", "stream": stream, "namespace": RISKY, "error": RISKY}),
            run_id=run_id,
            manifest=odd,
        )
        bring(folder / "ledger.db", path)
    return folder / "ledger.db"


@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("why", "@1"),
        ("why", "@2"),
        ("why", "@1", f"stream{RISKY}"),
        ("why", "@1", f"nobody{RISKY}"),
        ("show", "@1"),
        ("show", "@2"),
        ("log", "@1"),
        ("log", "@2"),
        ("show", "run_"),
        ("show", f"nobody{RISKY}"),
        ("show", "@latest:nobody"),
        ("runs", "--since", RISKY),
        ("export", "@1", "/dev/null/"),
        ("import", f"missing{RISKY}".replace("\x00", "")),
        ("rules", "show", RISKY),
        ("--ruleset", RISKY, "show", "@1"),
    ],
    ids=lambda words: ascii(" ".join(words))[:30],
)
def test_no_control_character_reaches_the_terminal(hostile: Path, words: tuple[str, ...]) -> None:
    done = call("-l", hostile, *words)
    assert "bug" not in done.err
    for text in (done.out, done.err):
        assert all(line.isprintable() for line in text.split("\n")), ascii(text)


@pytest.mark.parametrize("words", [("runs",), ("why", "@1"), ("show", "@1"), ("log", "@1")], ids=" ".join)
def test_json_keeps_what_was_written(hostile: Path, words: tuple[str, ...]) -> None:
    text = call("-l", hostile, *words, "-o", "json").out
    json.loads(text)
    assert "\x1b" not in text
