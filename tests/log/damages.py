"""A ledger to damage, and a client of somebody else's that damages it: no settings or guards of ours."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from ledger.core.digests import digest
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry
from ledger.core.merkle import leaf_hash
from ledger.core.observations import (
    EntriesErased,
    Observation,
    ProgramExited,
    RecordsRejected,
    RunClosed,
    RunOpened,
    Trigger,
    encode_observation,
    observation_stream,
    observation_type,
)
from ledger.log.sqlite_store import SqliteStore
from ledger.log.store import DocumentRow, RunRow

DIALECT = "collection-profile"
MANIFEST = DocumentRow(digest=digest(b'{"n":1}'), media_type="application/json", body=b'{"n":1}')
OTHER_MANIFEST = DocumentRow(digest=digest(b'{"n":2}'), media_type="application/json", body=b'{"n":2}')
ERASED = 6

KINDS = ("RECORD", "STATE", "PROGRESS")


def said(seq: int, *, session: str = "", pad: int = 0) -> Entry:
    """A line of the program, or of the runtime at entry 2."""
    kind = "START" if seq == 2 else KINDS[seq % 3]
    stream = "" if seq == 2 else f"stream_{seq % 2}"
    told = (
        {"type": kind, "n": seq}
        | ({"stream": stream} if stream else {})
        | ({"pad": "." * pad} if pad else {})
    )
    line = json.dumps(told).encode()
    return Entry(seq, 1_000 + seq, RUNTIME if seq == 2 else PROGRAM, session, kind, stream, line)


def seen(seq: int, observation: Observation) -> Entry:
    """An observation."""
    kind, stream = observation_type(observation), observation_stream(observation)
    return Entry(seq, 1_000 + seq, OBSERVER, "", kind, stream, encode_observation(observation))


def opened(run_id: str, manifest: DocumentRow | None, **others: Any) -> RunOpened:
    members: dict[str, Any] = {"dialect": DIALECT, "program": "mail", "namespace": "global"}
    members |= {"trigger": Trigger(kind="proactive"), "via": "recorded", "recorder": "test 1"}
    digest_ = None if manifest is None else manifest.digest
    return RunOpened(run_id=run_id, manifest=digest_, **(members | others))


def open_run(
    store: SqliteStore,
    run: RunOpened,
    *more: Entry,
    via: str = "recorded",
    documents: Iterable[DocumentRow] = (),
) -> int:
    row = RunRow.of(run, 1_001, via=via)
    return store.open_run(row, [seen(1, run), *more], documents).run_no


def make_ledger(path: Path) -> None:
    """Three runs: of three batches, with an erased entry; of one; of two, imported. Two documents."""
    with SqliteStore.open(path, create=True) as store:
        run = opened("run_1", MANIFEST)
        number = open_run(store, run, *map(said, (2, 3, 4)), documents=[MANIFEST])
        store.append(number, [said(5), said(ERASED), said(7), seen(8, RecordsRejected(stream="a", count=1))])
        store.append(
            number, [said(9, session="s2"), seen(10, EntriesErased(entries=(ERASED,), reason="asked"))]
        )
        store.append(number, [seen(11, ProgramExited(code=0)), seen(12, RunClosed())])
        open_run(store, opened("run_2", None), *map(said, (2, 3)))
        third = opened("run_3", OTHER_MANIFEST, namespace=None, trigger=Trigger(kind="single_use"))
        number = open_run(store, third, said(2), via="imported", documents=[OTHER_MANIFEST])
        store.append(number, list(map(said, (3, 4, 5))))
    erase(path, 1, ERASED, account=10)


def erase(path: Path, run_no: int, *seqs: int, account: object) -> None:
    """Erase entries as any client may, by the one INSERT that the log lets through."""
    with closing(outside(path)) as connection:
        for seq in seqs:
            entry_id = run_no << 32 | seq
            (row,) = connection.execute(
                "SELECT salt, origin, session, at, body FROM entries WHERE entry_id = ?", (entry_id,)
            )
            connection.execute(
                "INSERT INTO erasures VALUES (?, ?, ?)", (entry_id, leaf_hash(*row), str(account))
            )


def outside(path: Path) -> sqlite3.Connection:
    """A connection of somebody else's: autocommit, none of our settings, no checks."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def damage(path: Path, script: str) -> None:
    """Run SQL with every trigger dropped, and put the triggers back."""
    with closing(outside(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.executescript(script)
        for _, sql in triggers:
            connection.execute(sql)
