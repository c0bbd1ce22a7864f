"""The same lines through the Python package ``eventsourcing`` on SQLite, in the fastest of its ordinary ways.

What is tuned, each by a way that the package documents: the events are classes of their own and not methods
with a decorator; the transcoder is msgspec's and not the json module's; 1,000 events are saved at once; no
snapshots, no cache. Its SQLite module uses WAL, and SQLite's default of synchronous=FULL, as the ledger
does. On replay an event is applied by reading its line and counting the records of each stream, which is the
least that anybody wants of it; nothing is hashed, redacted, checked or decided.

The package is no dependency of the project; where it is not installed its rows are left empty.
"""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate
from eventsourcing.persistence import Transcoder

from tests.bench.limits import DECODE
from tests.bench.lines import BATCH


class _MsgspecTranscoder(Transcoder):
    def __init__(self) -> None:
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder()

    def encode(self, obj: Any) -> bytes:
        return self._encoder.encode(obj)

    def decode(self, data: bytes) -> Any:
        members = self._decoder.decode(data)
        members["timestamp"] = datetime.fromisoformat(members["timestamp"])
        return members


class _Run(Aggregate):
    def __init__(self) -> None:
        self.counted: dict[str, int] = {}

    class LineRecorded(Aggregate.Event):
        at: int
        origin: str
        line: str

        def apply(self, aggregate: "_Run") -> None:
            stream = DECODE(self.line).stream
            aggregate.counted[stream] = aggregate.counted.get(stream, 0) + 1

    def record(self, at: int, origin: str, line: str) -> None:
        self.trigger_event(self.LineRecorded, at=at, origin=origin, line=line)


class _Runs(Application):
    def construct_transcoder(self) -> Transcoder:
        return _MsgspecTranscoder()


def open_application(path: Path) -> Application:
    """Open an application on a SQLite file."""
    return _Runs(env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path)})


def append_all(application: Application, lines: list[str]) -> UUID:
    """Record every line as an event, 1,000 a transaction; return the aggregate's id."""
    run = _Run()
    for first in range(0, len(lines), BATCH):
        for at, line in enumerate(lines[first : first + BATCH], start=first):
            run.record(at, "program", line)
        application.save(run)
    made: UUID = run.id
    return made


def replay_all(application: Application, run: UUID) -> int:
    """Rebuild the aggregate from its events; return how many records it counted."""
    return sum(application.repository.get(run).counted.values())
