"""What a program wrote is shown, never obeyed: no command lets a control character reach the terminal."""

import json
from pathlib import Path

import pytest

from tests.cli.running import bring, call
from tests.cli.transcripts import DONE, coverage, gap, manifest, record, said, seen, start, state, write

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
