"""What the columns of an entry say, held against its body: its leaf, its type and stream, RUN_OPENED.

Pure. The leaf commits to salt, origin, session, time and body; type and stream are only read from the body,
and are read again here. What an entry cannot hold at all is told exactly.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ledger.core.dialect import LineReader
from ledger.core.entries import OBSERVER, ORIGINS
from ledger.core.json_reader import Malformed, read_json
from ledger.core.merkle import HASH_SIZE, SALT_SIZE, leaf_hash, leaf_hashes
from ledger.core.observations import (
    RunOpened,
    decode_observation,
    observation_stream,
    observation_type,
)
from ledger.log.paging import BODY, ORIGIN, SALT, SEQ
from ledger.log.store import RunRow
from ledger.log.verifying.chain import Add

_TOLD_LIMIT = 100
_WRONG_CELL = (TypeError, AttributeError, ValueError, struct.error)


def leaves_of(rows: Sequence[Any], erasures: Mapping[int, tuple[Any, Any]], add: Add) -> list[bytes | None]:
    """Return the leaf of every row, None of one that has none, which is told."""
    try:
        if not erasures and all(len(row[SALT]) == SALT_SIZE for row in rows):
            return [*leaf_hashes(rows)]
    except _WRONG_CELL:
        pass
    return [_leaf(row, erasures.get(row[SEQ]), add) for row in rows]


def _leaf(row: Any, erasure: tuple[Any, Any] | None, add: Add) -> bytes | None:
    seq, at, origin, session, _, _, body, salt = row
    if body is None:
        return _kept_leaf(seq, salt, erasure, add)
    if erasure is not None:
        add("erasure_incomplete", "an erased entry to have no body", "its body", first=seq)
    if not isinstance(salt, bytes) or len(salt) != SALT_SIZE:
        add("entry_malformed", f"a salt of {SALT_SIZE} bytes", told(salt), first=seq)
        return None
    try:
        return leaf_hash(salt, origin, session, at, body)
    except _WRONG_CELL as error:
        add("entry_malformed", "cells that a leaf can be made of", f"others: {error}", first=seq)
        return None


def _kept_leaf(seq: int, salt: object, erasure: tuple[Any, Any] | None, add: Add) -> bytes | None:
    if erasure is None:
        add("erasure_missing", "a body, or an erasure that took it", "neither", first=seq)
        return None
    if salt is not None:
        add("erasure_incomplete", "an erased entry to have no salt", "its salt", first=seq)
    leaf = erasure[0]
    if not isinstance(leaf, bytes) or len(leaf) != HASH_SIZE:
        add("entry_malformed", f"an erasure's leaf of {HASH_SIZE} bytes", told(leaf), first=seq)
        return None
    return leaf


def check_labels(rows: Sequence[Any], dialect: LineReader | None, add: Add) -> None:
    """Hold type and stream against what is read from the bodies; those of lines only by a known dialect."""
    for seq, _, origin, _, kind, stream, body, _ in rows:
        if origin == OBSERVER:
            if isinstance(body, bytes):
                _check_observer(seq, kind, stream, body, add)
        elif dialect is not None and isinstance(body, bytes) and origin in ORIGINS:
            label = dialect.label(origin, body)
            if label != (kind, stream):
                _add_label(seq, kind, stream, label, add)
        elif origin not in ORIGINS:
            add("entry_malformed", f"an origin: {', '.join(ORIGINS)}", told(origin), first=seq)


def _check_observer(seq: int, kind: object, stream: object, body: bytes, add: Add) -> None:
    observation = decode_observation(body)
    if observation is not None:
        label = observation_type(observation), observation_stream(observation)
        if label != (kind, stream):
            _add_label(seq, kind, stream, label, add)
        return
    # One that this version does not know, or the torn end of a transcript, filed under ''.
    document = read_json(body)
    value = None if isinstance(document, Malformed) else document.value
    told_by_body = value if isinstance(value, dict) else {}
    if kind not in ("", told_by_body.get("type")) or stream not in ("", told_by_body.get("stream")):
        label = str(told_by_body.get("type", "")), str(told_by_body.get("stream", ""))
        _add_label(seq, kind, stream, label, add)


def _add_label(seq: int, kind: object, stream: object, label: tuple[str, str], add: Add) -> None:
    for name, found, read in (("type", kind, label[0]), ("stream", stream, label[1])):
        if found != read:
            add("label_changed", f"the {name} {told(read)}, which its body says", told(found), first=seq)


def opened_by(row: Any) -> RunOpened | None:
    """Return RUN_OPENED where a row holds it."""
    observation = decode_observation(row[BODY]) if isinstance(row[BODY], bytes) else None
    return observation if isinstance(observation, RunOpened) and row[ORIGIN] == OBSERVER else None


def disagreements(run: RunRow, opened: RunOpened, at: int) -> Iterator[tuple[str, object, object]]:
    """Yield (column, what RUN_OPENED says, what the run's row says) where the two are not one.

    ``via`` says how a run reached this ledger, and RUN_OPENED how it first reached one: an imported run may
    have been recorded elsewhere, and only an imported one.
    """
    said = RunRow.of(opened, at, via="imported" if run.via == "imported" else opened.via)
    for name in RunRow.__struct_fields__:
        if name != "run_no" and getattr(said, name) != getattr(run, name):
            yield name, getattr(said, name), getattr(run, name)


def told(value: object) -> str:
    """Return a cell for people: text and numbers as they are, short; bytes by their length."""
    match value:
        case None:
            return "nothing"
        case bytes():
            return f"{len(value)} bytes"
        case str():
            shown = msgspec.json.encode(value.encode("utf-8", "backslashreplace").decode()).decode()
            return shown if len(shown) <= _TOLD_LIMIT else shown[: _TOLD_LIMIT - 2] + '…"'
        case _:
            return str(value)
