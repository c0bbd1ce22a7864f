"""The telling fields of an entry: what a person wants to see of it, and nothing else of its body.

A table by type of dotted paths into the body; of a path marked ``#``, which leads to an array, it tells how
many there are. Of a record's data only members whose name ends in ``status`` or ``error`` are told.
"""

from collections.abc import Iterator, Mapping

from ledger.core.entries import OBSERVER, PROGRAM, Entry
from ledger.core.json_reader import Json, Malformed, minified, printable, read_json

WIDTH = 200
"""Longest value told, and longest name, in characters."""

MEMBERS = 20
"""Members that are told of what may have any number of them."""

_TELLING: Mapping[str, tuple[str, ...]] = {
    "RECORD": ("stream", "key", "op"),
    "STATE": ("stream", "cursor"),
    "INTERACTION": ("request_id", "kind", "message", "timeout_seconds"),
    "INTERACTION_RESPONSE": ("request_id", "status"),
    "SKIP_RESULT": ("stream", "reason", "message", "recovery_hint", "continuation"),
    "DETAIL_COVERAGE": (
        "stream",
        "state_stream",
        "#required_keys",
        "#hydrated_keys",
        "#gap_keys",
        "considered",
        "covered",
    ),
    "DETAIL_GAP": ("stream", "parent_stream", "record_key", "reason", "retryable", "last_error"),
    "STREAM_EVIDENCE": ("stream", "considered", "outcomes"),
    "OBSERVATION": ("id", "fact", "step", "attrs", "evidence_ref", "resolves"),
    "PROGRESS": ("stream", "message", "count", "total"),
    "DONE": ("status", "records_emitted", "error.code", "error.message", "error.retryable", "error.basis"),
    "START": ("run_id", "collection_mode", "state", "scope.streams", "now"),
}


_OBSERVED: Mapping[str, tuple[str, ...]] = {"RUN_OPENED": ("program", "trigger", "via", "recorder")}


def tell(entry: Entry) -> Mapping[str, str]:
    """Return the telling fields of an entry by name; total, bounded, printable."""
    if entry.body is None:
        return {"body": "erased"}
    document = read_json(entry.body)
    if isinstance(document, Malformed) or not isinstance(document.value, dict):
        return {"line": _shorten(entry.body[: 4 * WIDTH].decode("utf-8", "backslashreplace"))}
    return dict(_fields(entry, document.value))


def record_key(entry: Entry) -> str | None:
    """Return the canonical key of the record that an entry carries, None where it carries none; total.

    A key that breaks the rules is told too: a number, or an array that is not only of strings, as JSON.
    """
    if entry.origin != PROGRAM or entry.type != "RECORD" or entry.body is None:
        return None
    document = read_json(entry.body)
    if isinstance(document, Malformed) or not isinstance(document.value, dict):
        return None
    key = document.value.get("key")
    if key is None or isinstance(key, str):
        return key
    return minified(key)


def _fields(entry: Entry, value: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if entry.origin == OBSERVER:
        names = _OBSERVED.get(entry.type) or [name for name in value if name != "type"]
        told = [name for name in names if name in value]
        yield from ((_shorten(name), _show(value[name])) for name in told[:MEMBERS])
        return
    for path in _TELLING.get(str(value.get("type")), ()):
        member = _follow(value, path.lstrip("#"))
        if member is not None:
            yield path.lstrip("#"), str(len(member)) if _counts(path, member) else _show(member)
    data = value.get("data")
    if value.get("type") == "RECORD" and isinstance(data, dict):
        told = [name for name in data if name.endswith(("status", "error")) and data[name] is not None]
        yield from ((f"data.{_shorten(name)}", _show(data[name])) for name in told[:MEMBERS])


def _follow(value: Json, path: str) -> Json:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _counts(path: str, member: Json) -> bool:
    return path.startswith("#") and isinstance(member, list)


def _show(value: Json) -> str:
    if isinstance(value, str):
        return _shorten(value)
    return _shorten(minified(value))


def _shorten(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"
