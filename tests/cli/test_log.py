"""``log``: the entries as they are, or as people read them."""

import base64
import json
from pathlib import Path

import pytest

from tests.cli.running import at_terminal, call, run
from tests.cli.transcripts import header_of, raw, sample, start, write

RUN = "run_chatter_0413"


def seqs(ledger: Path, *words: str) -> list[int]:
    done = call("-l", ledger, "log", RUN, "-o", "json", *words)
    assert done.status == 0, done.err
    return [row["seq"] for row in done.json]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), list(range(1, 13))),
        (("--from", "5", "--to", "7"), [5, 6, 7]),
        (("--from", "12"), [12]),
        (("--to", "2"), [1, 2]),
        (("--from", "99999999999999"), []),
        (("--type", "STATE"), [8, 9]),
        (("--type", "STATE", "--type", "DETAIL_GAP"), [5, 8, 9]),
        (("--stream", "messages"), [3, 8]),
        (("--stream", "messages", "--type", "STATE"), [8]),
        (("--origin", "runtime"), [2]),
        (("--origin", "observer"), [1, 11, 12]),
        (("--origin", "runtime", "--origin", "observer", "--to", "2"), [1, 2]),
        (("--type", "NOTHING"), []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_filter_keeps_what_it_says(samples: Path, words: tuple[str, ...], found: list[int]) -> None:
    assert seqs(samples, *words) == found


def test_no_entry_is_said_and_is_no_failure(samples: Path) -> None:
    done = call("-l", samples, "log", RUN, "--type", "NOTHING")
    assert (done.status, done.out) == (0, "")
    assert "no entry" in done.err
    assert "DETAIL_COVERAGE, DETAIL_GAP, DONE" in done.err


def test_a_range_that_ends_before_it_begins_is_wrong_usage(samples: Path) -> None:
    done = call("-l", samples, "log", RUN, "--from", "9", "--to", "3")
    assert (done.status, done.out) == (2, "")
    assert "--to at or after --from" in done.err


def test_raw_is_the_line_byte_for_byte(samples: Path) -> None:
    _, transcript = sample("gap-under-wrong-parent")
    lines = [json.loads(line) for line in transcript.read_text().splitlines()[1:]]
    said = [line["line"].encode() for line in lines if line["origin"] == "program"]
    done = run("-l", samples, "log", RUN, "--raw", "--origin", "program")
    assert done.raw == b"".join(line + b"\n" for line in said)


def test_raw_is_exact_for_what_is_no_text(tmp_path: Path) -> None:
    bodies = [
        b"\xff\xfe\x00",
        b"\x1b[31mred",
        b"a\rb",
        b"",
        '{"\u2028": "\u202e"}'.encode(),
        b'{"a": "\\ud800"}',
    ]
    lines = [line for body in bodies for line in raw(body)]
    call("-l", tmp_path / "l.db", "import", write(tmp_path / "run.jsonl", *start(), *lines))
    words = ("-l", tmp_path / "l.db", "log", "run_odd", "--origin", "program")
    assert run(*words, "--raw").raw == b"".join(body + b"\n" for body in bodies)
    rows = [json.loads(line) for line in call(*words, "-o", "jsonl").lines]
    told = [base64.b64decode(row["b64"]) if row["body"] is None else row["body"].encode() for row in rows]
    assert told == bodies
    assert [row["b64"] is not None for row in rows] == [True, False, False, False, False, False]


def test_at_a_terminal_raw_lines_are_made_visible(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", *raw(b"\xff\x1b[31mred\xc2\x9b2J"))
    call("-l", tmp_path / "l.db", "import", path)
    for words in (("--raw",), ("-o", "json"), ("-o", "csv"), ()):
        status, sent = at_terminal("-l", tmp_path / "l.db", "log", "run_odd", *words, NO_COLOR="1")
        assert status == 0
        assert b"\x1b" not in sent
        assert b"\xc2\x9b" not in sent


def test_a_secret_never_was_in_the_log(samples: Path) -> None:
    run_id, transcript = sample("secret-redacted")
    secrets = [word for word in ("hunter2", "correct horse") if word in transcript.read_text()]
    body = run("-l", samples, "log", run_id, "--raw").raw
    assert not [secret for secret in secrets if secret.encode() in body]
    assert b"redacted" in body.lower()


def test_a_row_tells_the_telling_fields(samples: Path) -> None:
    line = call("-l", samples, "log", RUN, "--type", "DETAIL_GAP").lines[1]
    assert line.split()[:6] == ["5", "06:00:00.212", "program", "DETAIL_GAP", "attachments", "parent_stream"]
    assert "record_key att_3" in line


def test_a_line_that_could_not_be_read_is_shown_as_it_is(samples: Path) -> None:
    run_id = header_of(sample("torn-last-line")[1])["run_id"]
    assert '{"type":"RECORD"' in call("-l", samples, "log", run_id, "--from", "5", "--to", "5").out
