"""What an import asks of a dialect, at its smallest: lines are JSON, and the word SECRET is a secret."""

from collections.abc import Mapping

import msgspec

from ledger.core.dialect import Label, WireDialect
from ledger.core.entries import Origin
from ledger.core.observations import Trigger


class _Message(msgspec.Struct):
    type: str = ""
    stream: str = ""


class _Manifest(msgspec.Struct):
    connector_id: str = ""


class ScriptedDialect:
    program_types = frozenset({"RECORD", "DONE"})
    runtime_types = frozenset({"START", "ANSWER"})

    def redact(self, origin: Origin, line: bytes) -> bytes:
        return line.replace(b"SECRET", b"[redacted]")

    def may_hold_secret(self, part: bytes) -> bool:
        return b"SECRET" in part

    def mark(self, length: int) -> bytes:
        return b"[%d bytes redacted]" % length

    def label(self, origin: Origin, line: bytes) -> Label:
        try:
            message = msgspec.json.decode(line, type=_Message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return Label("", "")
        return Label(message.type, message.stream)

    def program(self, manifest: bytes) -> str:
        try:
            return msgspec.json.decode(manifest, type=_Manifest).connector_id
        except (msgspec.DecodeError, UnicodeDecodeError):
            return ""

    def namespace(self, trigger: Trigger) -> str | None:
        match trigger.kind:
            case "proactive":
                return "global"
            case "continuous":
                return trigger.grant_id
            case "single_use":
                return None


DIALECTS: Mapping[str, WireDialect] = {"scripted": ScriptedDialect()}
