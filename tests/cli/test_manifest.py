"""``manifest check``: good, bad, and no manifest at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import call, run
from tests.cli.transcripts import MANIFEST, TRANSCRIPTS, header_of
from tests.dialects.collection_profile.runs import fully_declared


def check(tmp_path: Path, manifest: Any, *words: str) -> Any:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest))
    return call("manifest", "check", path, *words)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_the_manifests_of_the_sample_runs_are_good(tmp_path: Path, transcript: Path) -> None:
    done = check(tmp_path, header_of(transcript)["manifest"], "-o", "json")
    assert done.status == 0
    assert (done.json["good"], done.json["faults"]) == (True, [])


def test_a_good_manifest_shows_which_checkpoints_gate_what(tmp_path: Path) -> None:
    done = check(tmp_path, MANIFEST)
    assert done.status == 0
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in done.lines[1:]}
    assert rows["attachments"] == "detail messages, direct_messages"
    assert rows["reactions"] == "child messages"
    assert rows["messages"].startswith("self-mapped")
    assert "good" in done.err


def broken(**changes: Any) -> dict[str, Any]:
    streams = [{**stream, **changes.get(stream["name"], {})} for stream in MANIFEST["streams"]]
    return {**MANIFEST, "streams": streams}


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        ({**MANIFEST, "streams": []}, "manifest_without_streams"),
        (broken(contacts={"state_stream": "contacts"}), "parent_is_itself"),
        (broken(contacts={"state_stream": "nobody"}), "parent_undeclared"),
        (
            broken(messages={"state_stream": "contacts"}, contacts={"state_stream": "messages"}),
            "dependency_cycle",
        ),
        ({**MANIFEST, "streams": MANIFEST["streams"] + MANIFEST["streams"][:1]}, "stream_name_repeated"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_manifest_is_a_no_that_names_the_clause(
    tmp_path: Path, manifest: dict[str, Any], code: str
) -> None:
    done = check(tmp_path, manifest, "-o", "json")
    assert done.status == 1
    assert not done.json["good"]
    assert code in {fault["code"] for fault in done.json["faults"]}
    assert all(fault["clause"] and fault["sentence"] and fault["demand"] for fault in done.json["faults"])
    page = check(tmp_path, manifest)
    assert page.status == 1
    assert all(fault["clause"] in page.out for fault in done.json["faults"])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "manifest.json:1:1:"),
        (b'{\n  "streams": [,]\n}', "manifest.json:2:15:"),
        (b'{"a": "\xff"}', "manifest.json:1:8:"),
        (b"[1]", "manifest.json: expected a JSON object"),
        (b"null", "manifest.json: expected a JSON object"),
        (b'{"a": NaN}', "manifest.json:1:7:"),
        (b"{" * 3, "manifest.json:1:2:"),
        (b"[" * 100_000, "manifest.json:1:513:"),
    ],
    ids=["empty", "comma", "bytes", "array", "null", "nan", "cut", "deep"],
)
def test_what_is_no_json_object_is_named_by_line_and_column(tmp_path: Path, body: bytes, told: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(body)
    done = call("manifest", "check", path)
    assert (done.status, done.out) == (3, "")
    assert told in done.err


def test_stdin_is_a_dash() -> None:
    done = run("manifest", "check", "-", "-o", "json", stdin=json.dumps(MANIFEST).encode())
    assert done.status == 0
    assert done.json["connector_id"] == MANIFEST["connector_id"]
    bad = run("manifest", "check", "-", stdin=b"{")
    assert bad.status == 3
    assert "1:2" in bad.err


def test_control_characters_of_a_manifest_reach_nobody(tmp_path: Path) -> None:
    odd = {**MANIFEST, "connector_id": "a\x1b[31m", "streams": [{"name": "s\x1b[2J\u202e"}]}
    done = check(tmp_path, odd)
    assert "\x1b" not in done.out + done.err
    assert "\u202e" not in done.out + done.err


def test_lone_surrogates_in_names_are_no_bug(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text('{"connector_id": "\\ud800", "streams": [{"name": "\\udfff"}]}')
    for form in ("text", "json", "csv"):
        assert call("manifest", "check", path, "-o", form).status in (0, 1)


def test_a_ruleset_may_ask_more_of_a_manifest(tmp_path: Path) -> None:
    manifest = broken(contacts={"coverage_strategy": "by_moonlight"})
    assert check(tmp_path, manifest).status == 0
    done = check(tmp_path, manifest, "--ruleset", "collection-profile/0.1.0+reference", "-o", "json")
    assert (done.status, [fault["code"] for fault in done.json["faults"]]) == (1, ["strategy_unknown"])
    assert check(tmp_path, manifest, "--ruleset", "nothing").status == 4
    done = check(tmp_path, fully_declared(manifest), "--ruleset", "collection-profile/0.2.0", "-o", "json")
    assert (done.status, [fault["code"] for fault in done.json["faults"]]) == (
        1,
        ["strategy_unknown", "binding_unknown"],
    )
