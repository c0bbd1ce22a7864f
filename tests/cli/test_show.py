"""``show``: the decision, byte for byte or as a page."""

from pathlib import Path

import pytest

from tests.cli.running import call, run
from tests.cli.transcripts import (
    EXITED,
    TRANSCRIPTS,
    coverage,
    gap,
    header_of,
    manifest,
    said,
    seen,
    start,
    state,
    whole,
    write,
)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_json_is_the_decision_byte_for_byte(samples: Path, transcript: Path) -> None:
    done = call("-l", samples, "show", header_of(transcript)["run_id"], "-o", "json")
    assert done.raw == transcript.with_name("decision.json").read_bytes()


def test_the_bytes_are_the_same_out_of_a_process(samples: Path) -> None:
    done = run("-l", samples, "show", "run_chatter_0413", "-o", "jsonl", PYTHONHASHSEED="7", LC_ALL="C")
    assert done.raw == call("-l", samples, "show", "run_chatter_0413", "-o", "json").raw


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_the_page_tells_what_the_decision_holds(samples: Path, transcript: Path) -> None:
    run_id = header_of(transcript)["run_id"]
    decision = call("-l", samples, "show", run_id, "-o", "json").json
    page = " ".join(call("-l", samples, "show", run_id).out.split())
    assert decision["status"].upper() in page
    assert decision["ruleset"]["id"] in page
    if decision["cause"]:
        assert f"[{decision['cause']['clause']}]" in page
    for one in decision["checkpoints"]:
        assert f"{one['stream']} {one['decision']}" in page
        assert all(reason["code"] in page for reason in one["reasons"])
    for one in decision["coverage"]:
        assert f"{one['stream']} {one['parent']} {one['required']}" in page
    for one in [*decision["violations"], *decision["findings"]]:
        assert f"[{one['clause']}]" in page
    assert page.count(" not known ") == len(decision["unknowns"])


def test_csv_has_a_row_a_checkpoint(samples: Path) -> None:
    lines = call("-l", samples, "show", "run_chatter_0413", "-o", "csv").lines
    assert lines[0].startswith("stream,decision,outcome")
    assert lines[1].startswith("messages,withhold")
    assert lines[1].endswith("coverage_unaccounted")
    assert len(lines) == 3


def test_a_decision_under_way_is_no_success(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", *start(), *said(state("contacts")), whole=False)
    call("-l", tmp_path / "l.db", "import", path)
    done = call("-l", tmp_path / "l.db", "show", "run_odd", "--exit-code")
    assert done.status == 1
    assert "RUNNING" in done.out
    assert "pending" in done.out


def test_what_really_happened_is_loud_where_the_rules_say_otherwise(tmp_path: Path) -> None:
    path = write(
        tmp_path / "run.jsonl",
        *start(),
        *said(coverage("attachments", "messages", ["a"], []), state("messages")),
        *said({"type": "DONE", "status": "succeeded", "records_emitted": 0}),
        EXITED,
        *seen({"type": "CHECKPOINT_COMMITTED", "stream": "messages", "namespace": "global", "cursor_seq": 4}),
    )
    call("-l", tmp_path / "l.db", "import", path)
    done = call("-l", tmp_path / "l.db", "show", "run_odd", "--color", "always", "--exit-code")
    assert done.status == 1
    assert "\x1b[1;97;41mdiffers    messages was committed, though the rules withhold it." in done.out


def test_ten_thousand_gaps_do_not_flood_the_page(tmp_path: Path) -> None:
    keys = [f"att_{number}" for number in range(10_000)]
    gaps = [gap(key) for key in keys]
    path = whole(
        tmp_path / "run.jsonl",
        *gaps,
        coverage("attachments", "messages", keys, [], gap_keys=keys),
        state("messages"),
    )
    call("-l", tmp_path / "l.db", "import", path)
    page = call("-l", tmp_path / "l.db", "show", "run_odd")
    assert len(page.lines) < 80
    assert "10000" in page.out.replace(",", "")


def test_two_hundred_checkpoints_each_have_their_row(tmp_path: Path) -> None:
    streams = [f"stream_{number}" for number in range(200)]
    path = whole(tmp_path / "run.jsonl", *map(state, streams), manifest=manifest(*streams))
    call("-l", tmp_path / "l.db", "import", path)
    page = call("-l", tmp_path / "l.db", "show", "run_odd").out
    assert all(f"{stream} " in page for stream in streams)
