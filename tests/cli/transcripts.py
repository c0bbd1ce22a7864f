"""Transcripts for the tests of the command line: line by line, over a manifest of the sample runs."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
SAMPLES = ROOT / "sample_runs"
PROFILE = SAMPLES / "collection-profile"

TRANSCRIPTS = sorted(SAMPLES.glob("*/*/run.jsonl"))

Line = dict[str, Any]

AT = "2026-11-20T06:00:00.000000Z"
EXITED = {"origin": "observer", "at": AT, "observed": {"type": "PROGRAM_EXITED", "code": 0}}
DONE = {"type": "DONE", "status": "succeeded", "records_emitted": 0}


def header_of(transcript: Path) -> dict[str, Any]:
    with transcript.open("rb") as file:
        header: dict[str, Any] = json.loads(file.readline())
    return header


def sample(name: str) -> tuple[str, Path]:
    """Return the run id and the transcript of a sample run."""
    path = PROFILE / name / "run.jsonl"
    return header_of(path)["run_id"], path


MANIFEST: dict[str, Any] = header_of(PROFILE / "gap-under-wrong-parent" / "run.jsonl")["manifest"]
"""Of `chatter`: messages, direct_messages, contacts; attachments under both, reactions riding messages."""

STREAMS = tuple(stream["name"] for stream in MANIFEST["streams"])


def manifest(*streams: str) -> dict[str, Any]:
    """A manifest of self-mapped streams."""
    return {
        **MANIFEST,
        "connector_id": "https://registry.example.test/connectors/odd",
        "streams": [
            {"name": name, "primary_key": ["id"], "schema": {"type": "object", "properties": {}}}
            for name in streams
        ],
    }


def said(*messages: dict[str, Any]) -> list[Line]:
    """What the program said."""
    return [{"at": AT, "origin": "program", "line": json.dumps(message)} for message in messages]


def raw(body: bytes, origin: str = "program") -> list[Line]:
    """A line as bytes."""
    return [{"at": AT, "origin": origin, "b64": base64.b64encode(body).decode()}]


def seen(*observations: dict[str, Any]) -> list[Line]:
    """What the recorder saw."""
    return [{"at": AT, "origin": "observer", "observed": observation} for observation in observations]


def start(run_id: str = "run_odd", streams: Iterable[str] = STREAMS) -> list[Line]:
    body = {
        "type": "START",
        "run_id": run_id,
        "collection_mode": "incremental",
        "scope": {"streams": [{"name": name} for name in streams]},
        "bindings": {"network": {}},
    }
    return [{"at": AT, "origin": "runtime", "line": json.dumps(body)}]


def record(stream: str, key: Any, **data: Any) -> dict[str, Any]:
    return {"type": "RECORD", "stream": stream, "key": key, "data": {"id": key, **data}, "emitted_at": AT}


def state(stream: str, cursor: Any = None) -> dict[str, Any]:
    return {"type": "STATE", "stream": stream, "cursor": {"at": 1} if cursor is None else cursor}


def coverage(
    stream: str, parent: str, required: list[Any], hydrated: list[Any], **more: Any
) -> dict[str, Any]:
    return {
        "type": "DETAIL_COVERAGE",
        "reference_only": True,
        "stream": stream,
        "state_stream": parent,
        "required_keys": required,
        "hydrated_keys": hydrated,
        **more,
    }


def gap(key: Any, parent: str | None = "messages", stream: str = "attachments") -> dict[str, Any]:
    body = {
        "type": "DETAIL_GAP",
        "stream": stream,
        "record_key": key,
        "reason": "temporary_unavailable",
        "retryable": True,
        "detail_locator": {"kind": "attachment"},
    }
    return body if parent is None else {**body, "parent_stream": parent}


def write(path: Path, *lines: Line, run_id: str = "run_odd", **header: Any) -> Path:
    """Write a transcript; ``header`` replaces members of its first line."""
    first = {
        "transcript": 1,
        "dialect": "collection-profile",
        "run_id": run_id,
        "trigger": {"kind": "proactive"},
        "manifest": MANIFEST,
        "offered": {"bindings": ["network", "interactive"]},
        **header,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        for line in ({name: value for name, value in first.items() if value != ...}, *lines):
            file.write(json.dumps(line) + "\n")
    return path


def whole(path: Path, *messages: dict[str, Any], run_id: str = "run_odd", **header: Any) -> Path:
    """Write a run that goes from START through the messages to a DONE that counts right, and exit 0."""
    records = sum(message["type"] == "RECORD" for message in messages)
    done = {"type": "DONE", "status": "succeeded", "records_emitted": records}
    declared = header.get("manifest", MANIFEST)
    streams = [stream["name"] for stream in (declared or MANIFEST)["streams"]]
    return write(path, *start(run_id, streams), *said(*messages, done), EXITED, run_id=run_id, **header)
