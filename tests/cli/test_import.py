"""``import``: files and folders, again and again, good and bad ones together."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Done, at_terminal, call, run
from tests.cli.transcripts import (
    AT,
    EXITED,
    PROFILE,
    SAMPLES,
    TRANSCRIPTS,
    header_of,
    raw,
    record,
    said,
    sample,
    start,
    state,
    whole,
    write,
)


def bring_in(ledger: Path, *words: str | Path) -> Done:
    return call("-l", ledger, "import", "-o", "json", *words)


def outcomes(done: Done) -> list[tuple[str, str]]:
    return [(row["run_id"], row["outcome"]) for row in done.json]


def test_a_file_comes_in_and_coming_again_changes_nothing(into: Path) -> None:
    run_id, transcript = sample("calendar-snapshot")
    first, second = bring_in(into, transcript), bring_in(into, transcript)
    assert (first.status, second.status) == (0, 0)
    assert outcomes(first) == [(run_id, "imported")]
    assert outcomes(second) == [(run_id, "unchanged")]
    assert [row["appended"] for row in first.json + second.json] == [9, 0]


def test_of_a_folder_every_transcript_below_it_comes_in_in_order(into: Path) -> None:
    done = bring_in(into, SAMPLES)
    assert done.status == 0
    assert done.err == ""
    assert [row["run_id"] for row in done.json] == [header_of(path)["run_id"] for path in TRANSCRIPTS]
    assert {outcome for _, outcome in outcomes(bring_in(into, SAMPLES))} == {"unchanged"}


def test_the_page_says_what_came_in(into: Path) -> None:
    done = call("-l", into, "import", PROFILE / "torn-last-line" / "run.jsonl")
    assert done.status == 0
    assert done.lines[0].split()[:4] == ["RUN", "ID", "OUTCOME", "ENTRIES"]
    assert done.lines[1].split()[:3] == ["run_chatter_0418", "imported", "8"]


def test_files_and_folders_may_be_given_together(into: Path) -> None:
    done = bring_in(into, PROFILE / "calendar-snapshot", sample("location-history")[1])
    assert [name for name, _ in outcomes(done)] == ["run_ical-1", "run_google_maps-1"]


def test_the_same_run_with_other_content_is_refused_and_names_the_entry(ledger: Path, tmp_path: Path) -> None:
    run_id, transcript = sample("calendar-snapshot")
    lines = transcript.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b"VEVENT", b"VOTHER").replace(b'"key', b'"yek').replace(b"key", b"yek")
    assert lines[4] != transcript.read_bytes().splitlines(keepends=True)[4]
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"".join(lines))
    before = call("-l", ledger, "show", run_id, "-o", "json").raw
    done = call("-l", ledger, "import", other)
    assert (done.status, done.out) == (1, "")
    assert run_id in done.err
    assert "entry 5" in done.err
    assert call("-l", ledger, "show", run_id, "-o", "json").raw == before


def test_a_bad_file_keeps_no_other_out_and_its_status_is_the_first_failures(
    into: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("this is no transcript\n")
    good, other = sample("calendar-snapshot")[1], sample("location-history")[1]
    done = bring_in(into, good, bad, tmp_path / "missing.jsonl", other)
    assert done.status == 3
    assert [name for name, _ in outcomes(done)] == ["run_ical-1", "run_google_maps-1"]
    assert "bad.jsonl, line 1" in done.err
    assert "missing.jsonl" in done.err


def test_the_status_is_that_of_the_first_failure(ledger: Path, tmp_path: Path) -> None:
    differs = whole(tmp_path / "differs.jsonl", state("contacts"), run_id="run_ical-1")
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"\x00")
    assert bring_in(ledger, differs, bad).status == 1
    assert bring_in(ledger, bad, differs).status == 3


def test_a_folder_with_a_bad_file_brings_in_the_good_ones(into: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    whole(folder / "a.jsonl", run_id="run_a")
    (folder / "b.jsonl").write_text("{}\n")
    whole(folder / "deep" / "c.jsonl", run_id="run_c")
    (folder / "notes.txt").write_text("not looked at")
    done = bring_in(into, folder)
    assert done.status == 3
    assert [name for name, _ in outcomes(done)] == ["run_a", "run_c"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "empty file"),
        (b"\n \n\n", "empty file"),
        (b"\x00\x01\x02\xff" * 64, "line 1"),
        (b"\x1f\x8b\x08\x00rest", "expected whole gzip data"),
        (b"\x28\xb5\x2f\xfdrest", "expected whole zstd data"),
        (b'{"transcript":1}\n', "line 1"),
        (b'{"transcript":2}\n', "newer format"),
        (b"{}\n", '"transcript"'),
        (b"[" * 5000, "line 1"),
        (b'{"type":"Feature"}\n', "--manifest"),
        (b'{"type":"START"}\n', "--start"),
    ],
    ids=[
        *("empty", "blank", "binary", "gzip", "zstd", "no members", "newer", "object", "deep"),
        *("other messages", "runtime"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_and_leaves_nothing(
    into: Path, tmp_path: Path, body: bytes, told: str
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(body)
    done = call("-l", into, "import", path)
    assert (done.status, done.out) == (3, "")
    assert "odd.jsonl" in done.err
    assert told in done.err
    assert len(done.err.splitlines()) == 1
    assert not into.exists(), "only a transcript makes a ledger"


def test_a_bad_line_in_the_middle_is_named_and_nothing_stays(into: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", *start(), {"origin": "nobody", "line": "{}"}, EXITED)
    done = call("-l", into, "import", path)
    assert done.status == 3
    assert "run.jsonl, line 3" in done.err
    assert not into.exists(), "only a transcript makes a ledger"


def test_keep_partial_keeps_what_came_before_and_says_where_it_stopped(into: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", *start(), {"origin": "nobody", "line": "{}"}, EXITED)
    done = bring_in(into, path, "--keep-partial")
    assert done.status == 0
    assert done.json[0]["entries"] == 2
    assert "line 3" in done.json[0]["stopped"]
    assert "line 3" in done.err
    assert call("-l", into, "show", "run_odd", "-o", "json").json["status"] == "running"


def test_a_torn_last_line_is_kept_and_said(into: Path, tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    whole_body = sample("calendar-snapshot")[1].read_bytes()
    path.write_bytes(whole_body[: whole_body.rindex(b'"origin"')])
    done = bring_in(into, path)
    assert done.status == 0
    assert done.json[0]["torn"] == whole_body.count(b"\n")
    assert "torn" in done.err


def test_times_that_go_back_are_said(into: Path, tmp_path: Path) -> None:
    late = {**said(state("contacts"))[0], "at": "2020-01-01T00:00:00Z"}
    done = bring_in(into, write(tmp_path / "run.jsonl", *start(), late))
    assert done.json[0]["times_raised"] == 1
    assert "1 time went back" in done.err


def test_a_folder_without_transcripts_is_refused(into: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "notes.txt").write_text("x")
    done = call("-l", into, "import", tmp_path / "runs")
    assert (done.status, done.out) == (3, "")
    assert "*.jsonl" in done.err


@pytest.mark.parametrize("missing", ["missing.jsonl", "folder"])
def test_where_there_is_nothing_to_import_no_ledger_is_made(into: Path, tmp_path: Path, missing: str) -> None:
    (tmp_path / "folder").mkdir()
    assert call("-l", into, "import", tmp_path / missing).status == 3
    assert not into.exists()


def test_a_ledger_that_cannot_be_opened_is_said_once(tmp_path: Path) -> None:
    files = [whole(tmp_path / f"{name}.jsonl", run_id=f"run_{name}") for name in ("a", "b")]
    foreign = tmp_path / "foreign.db"
    foreign.write_text("no ledger at all, but rather long text" * 9)
    for ledger in (foreign, tmp_path / "nowhere" / "ledger.db"):
        done = call("-l", ledger, "import", *files)
        assert (done.status != 0, done.out) == (True, "")
        assert len(done.err.splitlines()) == 1


def test_a_folder_that_ends_in_jsonl_is_a_folder(into: Path, tmp_path: Path) -> None:
    whole(tmp_path / "odd.jsonl" / "run.jsonl")
    assert outcomes(bring_in(into, tmp_path / "odd.jsonl")) == [("run_odd", "imported")]


def test_the_file_name_says_nothing_about_the_content(into: Path, tmp_path: Path) -> None:
    path = tmp_path / "run [red].txt"
    shutil.copyfile(sample("calendar-snapshot")[1], path)
    assert outcomes(bring_in(into, path)) == [("run_ical-1", "imported")]


def test_a_file_name_that_is_no_text_is_no_bug(into: Path, tmp_path: Path) -> None:
    path = tmp_path / "run\udcff.jsonl"
    try:
        shutil.copyfile(sample("calendar-snapshot")[1], path)
    except OSError:
        pytest.skip("this file system takes only names that are text")
    for form in ("text", "json", "csv"):
        done = run("-l", into, "import", "-o", form, path)
        assert (done.status, done.err) == (0, "")


def test_lines_that_are_no_messages_come_in_as_they_are(into: Path, tmp_path: Path) -> None:
    lines = [b"\xff\xfe", b"NaN", b"{" * 600, b'{"type":1e999}', b'{"type":"RECORD","type":"STATE"}', b""]
    path = write(tmp_path / "run.jsonl", *start(), *(line for body in lines for line in raw(body)))
    done = bring_in(into, path)
    assert (done.status, done.err) == (0, "")
    decision = call("-l", into, "show", "run_odd", "-o", "json").json
    assert decision["cause"]["code"] == "line_malformed"
    for verb in ("show", "why", "log"):
        assert call("-l", into, verb, "run_odd").status == 0


# At a terminal.


def test_a_bar_is_drawn_at_a_terminal_and_for_a_large_file_only(tmp_path: Path) -> None:
    small = whole(tmp_path / "small.jsonl", run_id="run_small")
    lines = said(*(record("messages", f"msg_{number}", text="x" * 500) for number in range(4000)))
    large = write(tmp_path / "large.jsonl", *start(), *lines, run_id="run_large")
    ledger = tmp_path / "ledger.db"

    status, drawn = at_terminal("-l", ledger, "import", large)
    assert status == 0
    assert "large.jsonl" in drawn.decode().split("RUN ID")[0]
    assert b"MB" in drawn

    status, drawn = at_terminal("-l", ledger, "import", small)
    assert status == 0
    assert b"kB" not in drawn
    assert b"MB" not in drawn

    quiet = run("-l", tmp_path / "other.db", "import", large)
    assert (quiet.status, quiet.err) == (0, "")


def test_at_a_terminal_the_next_step_is_named(tmp_path: Path) -> None:
    path = whole(tmp_path / "run.jsonl", run_id="run 1; rm -rf")
    status, told = at_terminal("-l", tmp_path / "ledger.db", "import", path)
    assert status == 0
    assert b"runledger" in told
    assert b"why 'run 1; rm -rf'" in told


def test_a_header_that_says_when_the_run_was_opened_is_heard(into: Path, tmp_path: Path) -> None:
    path = whole(tmp_path / "run.jsonl", opened={"at": "2020-02-02T00:00:00Z"})
    bring_in(into, path)
    assert call("-l", into, "runs", "-o", "json").json[0]["opened"] == "2020-02-02T00:00:00Z"
    assert json.loads(path.read_text().splitlines()[1])["at"] == AT
