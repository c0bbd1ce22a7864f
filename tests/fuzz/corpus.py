"""What the fuzz begins with: the lines, transcripts and manifests of the sample runs, and a small ledger."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ledger.core.entries import OBSERVER, ORIGINS, PROGRAM, Origin
from ledger.dialects import DIALECTS
from ledger.exchange.importing import import_transcript
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import call
from tests.cli.transcripts import TRANSCRIPTS

SECRET = "hunter2-correct-horse"
"""Planted where no secret may survive; see ``claims.secret_survives``."""

_IN_LEDGER = ("one-attachment-down", "secret-redacted", "partial-commit-failure", "torn-last-line")


class Line(NamedTuple):
    """A line as the recorder meets it."""

    origin: Origin
    body: bytes


def _answer(**members: Any) -> Line:
    return Line("runtime", json.dumps({"type": "INTERACTION_RESPONSE", **members}).encode())


START = (
    b'{"type":"START","run_id":"run_1","collection_mode":"full_refresh",'
    b'"scope":{"streams":[{"name":"messages"},{"name":"attachments"}]}}'
)
"""What may have been sent to a connector whose output alone was kept."""

SECRETS = (
    _answer(request_id="req_1", status="success", data={"password": SECRET}),
    _answer(request_id="req_1", status="success", data=SECRET),
    _answer(data={"deep": [{"er": SECRET}]}, status="success", request_id="req_1"),
    Line(
        "runtime",
        json.dumps(
            {
                "type": "START",
                "run_id": "run_1",
                "collection_mode": "full_refresh",
                "scope": {"streams": [{"name": "messages"}]},
                "bindings": {"network": {"token": SECRET}, "browser_profile": {"profile_path": SECRET}},
            }
        ).encode(),
    ),
    Line("program", json.dumps({"type": "INTERACTION_RESPONSE", "data": {"otp": SECRET}}).encode()),
)
"""Lines of which something must be taken away."""


@cache
def transcripts() -> tuple[bytes, ...]:
    """Return the sample runs' files."""
    return tuple(path.read_bytes() for path in TRANSCRIPTS)


@cache
def lines() -> tuple[Line, ...]:
    """Return every line of the sample runs, observations too, and the lines with secrets."""
    found = list(SECRETS)
    for transcript in transcripts():
        for raw in transcript.split(b"\n")[1:]:
            try:
                told = json.loads(raw)
            except ValueError:
                continue
            if told["origin"] == OBSERVER:
                found.append(Line(OBSERVER, json.dumps(told["observed"], separators=(",", ":")).encode()))
            elif "line" in told:
                found.append(Line(ORIGINS[ORIGINS.index(told["origin"])], told["line"].encode()))
    return tuple(found)


@cache
def manifests() -> tuple[bytes, ...]:
    """Return the sample runs' manifests."""
    headers = [json.loads(transcript.partition(b"\n")[0]) for transcript in transcripts()]
    return tuple({json.dumps(header["manifest"]).encode(): None for header in headers})


@cache
def captures() -> tuple[tuple[bytes, ...], ...]:
    """Return what the connectors of the sample runs wrote, each as its lines."""
    found: list[tuple[bytes, ...]] = []
    for transcript in transcripts():
        rows = [json.loads(row) for row in transcript.split(b"\n")[1:] if row.endswith(b"}")]
        found.append(
            tuple(row["line"].encode() for row in rows if row["origin"] == PROGRAM and "line" in row)
        )
    return tuple(found)


@cache
def ledger() -> bytes:
    """Return the bytes of a ledger that holds some of the sample runs."""
    return _ledger_and_heads()[0]


@cache
def heads() -> bytes:
    """Return the heads of that ledger, as ``heads`` prints them."""
    return _ledger_and_heads()[1]


@cache
def _ledger_and_heads() -> tuple[bytes, bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        with SqliteStore.open(path, create=True) as store:
            for transcript in TRANSCRIPTS:
                if transcript.parent.name in _IN_LEDGER:
                    import_transcript(store, transcript, DIALECTS)
        return path.read_bytes(), call("-l", path, "heads").raw
