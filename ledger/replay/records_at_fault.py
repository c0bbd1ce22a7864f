"""The records that carry keys at fault: what the program said of them after all."""

from collections.abc import Iterable

import msgspec

from ledger.core.decision import Checkpoint
from ledger.core.entries import PROGRAM, Entry
from ledger.core.json_reader import Malformed, printable, read_json

KEYS_LOOKED_FOR = 20
"""Keys at fault, of one reason, for which records are looked up."""

RECORDS_SHOWN = 3
"""Records shown for one key at fault."""


def keys_at_fault(checkpoints: Iterable[Checkpoint]) -> dict[str, set[str]]:
    """Return the keys for which records are looked up, by stream."""
    wanted: dict[str, set[str]] = {}
    for checkpoint in checkpoints:
        for reason in checkpoint.reasons:
            if reason.keys and reason.stream is not None:
                wanted.setdefault(reason.stream, set()).update(reason.keys[:KEYS_LOOKED_FOR])
    return wanted


def records_naming(
    entries: Iterable[Entry], checkpoints: Iterable[Checkpoint]
) -> dict[tuple[str, str], list[Entry]]:
    """Find the records that carry keys at fault, by stream and key: what the program said of them after all.

    Args:
        entries: the run's entries in order; at least the RECORDs of the streams of :func:`keys_at_fault`.
        checkpoints: the checkpoints whose reasons name the keys.
    """
    wanted = keys_at_fault(checkpoints)
    found: dict[tuple[str, str], list[Entry]] = {}
    if not wanted:
        return found
    for entry in entries:
        keys = wanted.get(entry.stream)
        if keys is None or entry.type != "RECORD" or entry.body is None or entry.origin != PROGRAM:
            continue
        key = _record_key(entry.body)
        if key in keys and len(found.setdefault((entry.stream, key), [])) < RECORDS_SHOWN:
            found[entry.stream, key].append(entry)
    return found


class _Keyed(msgspec.Struct):
    key: str | list[str] | None = None


_KEYED = msgspec.json.Decoder(_Keyed)


def _record_key(body: bytes) -> str:
    """Return a record's key as decisions print keys: a compound one as a minified array; '' for none."""
    try:
        key = _KEYED.decode(body).key
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document = read_json(body)
        value = None if isinstance(document, Malformed) else document.value
        key = value.get("key") if isinstance(value, dict) else None
    if isinstance(key, list):
        return msgspec.json.encode([printable(str(part)) for part in key]).decode()
    return printable(key) if isinstance(key, str) else ""
