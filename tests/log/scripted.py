"""What the tests of the log have in common: entries, runs, a dialect that does as little as it may."""

from typing import Any

from ledger.core.dialect import Label
from ledger.core.entries import OBSERVER, PROGRAM, Entry, Origin
from ledger.log.store import RunRow


def line(seq: int, body: bytes | None = None, **others: Any) -> Entry:
    """A program's line; its body tells its seq."""
    members: dict[str, Any] = {"at": 1_000 + seq, "origin": PROGRAM, "session": "", "type": "RECORD"}
    members |= {"stream": "messages", "body": b'{"n":%d}' % seq if body is None else body}
    return Entry(seq=seq, **(members | others))


def lines(first: int, last: int) -> list[Entry]:
    return [line(seq) for seq in range(first, last + 1)]


def observed(seq: int, kind: str) -> Entry:
    return line(seq, origin=OBSERVER, type=kind, stream="")


def run_row(run_id: str = "run_1", **others: Any) -> RunRow:
    members: dict[str, Any] = {"dialect": "scripted", "program": "mail", "namespace": "global"}
    members |= {"trigger": "proactive", "via": "recorded", "opened_at": 1_000}
    return RunRow(run_id=run_id, **(members | others))


class ScriptedDialect:
    """Lines are ``TYPE stream rest``; the word SECRET is a secret."""

    def redact(self, origin: Origin, line: bytes) -> bytes:
        return line.replace(b"SECRET", b"[redacted]")

    def may_hold_secret(self, part: bytes) -> bool:
        return b"SECRET" in part

    def mark(self, length: int) -> bytes:
        return b"[%d bytes redacted]" % length

    def label(self, origin: Origin, line: bytes) -> Label:
        words = line.decode("ascii", "replace").split(" ")
        return Label(words[0], words[1]) if len(words) > 1 else Label("", "")
