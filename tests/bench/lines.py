"""The lines that everything is measured on: one run of a connector, as long as is asked for.

Every RECORD is exactly 250 bytes; one in eight holds text beyond ASCII. Its three streams repeat 1,000 keys,
as a connector's do that collects the same things again. One attachment is unaccounted for, so that one
checkpoint is withheld. Nothing here is random: two runs of the benchmark measure the same bytes.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from ledger.core.digests import digest
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry, Origin
from ledger.core.instants import write_micros
from ledger.core.observations import (
    Observation,
    ProgramExited,
    RunClosed,
    RunOpened,
    Trigger,
    encode_observation,
)
from ledger.dialects.collection_profile import DIALECT
from ledger.log.store import DocumentRow, RunRow

LINE_BYTES = 250
KEYS = 1000
RUN_ID = "run_bench"
FIRST_AT = 1_774_828_800_000_000
BATCH = 1000

_SENT_AT = 1_767_225_600_000_000  # 2026 begins; a message every 37 seconds
_PARENT, _DETAIL = "messages", "attachments"
_STREAMS = (_PARENT, _DETAIL, "contacts")
_PROACTIVE = Trigger(kind="proactive")


class Line(NamedTuple):
    """One entry to be, before it is redacted and labelled."""

    at: int
    origin: Origin
    body: bytes


class Workload(NamedTuple):
    """A run in all the forms in which something measured wants it.

    Attributes:
        records: the RECORD lines alone.
        entries: the whole run, ready to append.
        narrowed: the same run, its START narrowing every stream by resources, fields and a time range.
        transcript: the whole run as a file that somebody else's runtime would write, without salts.
    """

    records: list[bytes]
    entries: list[Entry]
    narrowed: list[Entry]
    transcript: bytes


def build_workload(n: int) -> Workload:
    """Build a run with ``n`` RECORD lines."""
    records = list(record_lines(n))
    entries = list(run_entries(records, n, narrowed=False))
    start = next(run_entries([], 0, narrowed=True, first=2))
    return Workload(records, entries, [entries[0], start, *entries[2:]], _transcript(records))


def record_lines(n: int) -> Iterator[bytes]:
    """Yield ``n`` RECORD lines."""
    for index in range(n):
        key = f"item-{index // len(_STREAMS) % KEYS:04}"
        text = "Grüße aus Zürich, " if index % 8 == 0 else "Greetings from Bath, "
        line = _record(index, key, text)
        yield _record(index, key, text + "and so on " * 20, cut=LINE_BYTES - len(line))


def run_entries(records: Iterable[bytes], n: int, *, narrowed: bool, first: int = 1) -> Iterator[Entry]:
    """Yield the entries of the run, from entry ``first`` on, as import would append them."""
    for seq, (at, origin, body) in enumerate(_lines(records, n, narrowed=narrowed), start=1):
        if seq < first:
            continue
        if origin == OBSERVER:
            kind = msgspec.json.decode(body)["type"]
            yield Entry(seq, at, origin, "", kind, "", body)
        else:
            label = DIALECT.label(origin, body)
            yield Entry(seq, at, origin, "", label.type, label.stream, body)


def run_row() -> RunRow:
    """Return the row of the run."""
    return RunRow.of(_opened(), FIRST_AT, via="imported")


def documents() -> list[DocumentRow]:
    """Return the manifest, as the log keeps it."""
    return [DocumentRow(digest=digest(MANIFEST), media_type="application/json", body=MANIFEST)]


def _record(index: int, key: str, text: str, cut: int | None = None) -> bytes:
    if cut is not None:
        text = text[: text.index(",") + 2] + text[text.index(",") + 2 :][:cut]
    return msgspec.json.encode(
        {
            "type": "RECORD",
            "stream": _STREAMS[index % len(_STREAMS)],
            "key": key,
            "data": {
                "id": key,
                "sent_at": write_micros(_SENT_AT + index * 37_000_000).replace(".000000", ""),
                "author": "alex@example.test",
                "text": text,
            },
            "emitted_at": "2026-03-30T00:00:00.000Z",
        }
    )


_ACCOUNTED = {"parent_streams": [_PARENT], "coverage_strategy": "parent_detail_accounting"}

MANIFEST = msgspec.json.encode(
    {
        "connector_id": "https://example.test/bench",
        "version": "1.0.0",
        "runtime_requirements": {"bindings": {}},
        "streams": [
            {
                "name": name,
                "primary_key": ["id"],
                "consent_time_field": "sent_at",
                **(_ACCOUNTED if name == _DETAIL else {}),
            }
            for name in _STREAMS
        ],
    }
)


def _opened() -> RunOpened:
    return RunOpened(
        run_id=RUN_ID,
        dialect=DIALECT.name,
        program=DIALECT.program(MANIFEST),
        manifest=digest(MANIFEST),
        trigger=_PROACTIVE,
        namespace=DIALECT.namespace(_PROACTIVE),
        via="imported",
        recorder="bench",
    )


def _start(*, narrowed: bool) -> bytes:
    narrow = {
        "resources": [f"item-{key:04}" for key in range(KEYS)],
        "fields": ["author", "text"],
        "time_range": {"since": "2026-01-01T00:00:00Z", "until": "2028-01-01T00:00:00Z"},
    }
    scope = [{"name": name, **(narrow if narrowed else {})} for name in _STREAMS]
    return msgspec.json.encode(
        {
            "type": "START",
            "run_id": RUN_ID,
            "collection_mode": "incremental",
            "scope": {"streams": scope},
            "state": None,
            "bindings": {},
        }
    )


def _lines(records: Iterable[bytes], n: int, *, narrowed: bool) -> Iterator[Line]:
    yield _observed(FIRST_AT, _opened())
    yield Line(FIRST_AT, RUNTIME, _start(narrowed=narrowed))
    at = FIRST_AT
    for at, body in enumerate(records, start=FIRST_AT):
        yield Line(at, PROGRAM, body)
    for message in _last_messages(n):
        yield Line(at, PROGRAM, msgspec.json.encode(message))
    yield _observed(at, ProgramExited(code=0))
    yield _observed(at, RunClosed())


def _last_messages(n: int) -> Iterator[dict[str, Any]]:
    for name in _STREAMS:
        if name != _DETAIL:
            yield {"type": "STATE", "stream": name, "cursor": {"page": n}}
    keys = {"required_keys": ["item-0000", "item-lost"], "hydrated_keys": ["item-0000"]}
    told = {"reference_only": True, "stream": _DETAIL, "state_stream": _PARENT}
    yield {"type": "DETAIL_COVERAGE", **told, **keys}
    yield {"type": "DONE", "status": "succeeded", "records_emitted": n}


def _observed(at: int, observation: Observation) -> Line:
    return Line(at, OBSERVER, encode_observation(observation))


def _transcript(records: list[bytes]) -> bytes:
    header = {"transcript": 1, "dialect": DIALECT.name, "run_id": RUN_ID, "trigger": _PROACTIVE}
    written = [msgspec.json.encode({**header, "manifest": msgspec.Raw(MANIFEST)})]
    lines = _lines(records, len(records), narrowed=False)
    next(lines)
    for at, origin, body in lines:
        carried = {"observed": msgspec.Raw(body)} if origin == OBSERVER else {"line": body.decode()}
        written.append(msgspec.json.encode({"at": write_micros(at), "origin": origin, **carried}))
    return b"\n".join([*written, b""])
