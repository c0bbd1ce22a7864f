"""The smallest dialect that keeps the contract: lines are JSON objects, and the word SECRET is a secret."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ledger.core.dialect import Dialect, Label, Ruleset
from ledger.core.entries import Entry, Origin
from ledger.core.observations import Trigger


class _Message(msgspec.Struct):
    type: str = ""
    stream: str = ""


class _Manifest(msgspec.Struct):
    connector_id: str = ""


class ScriptedDialect:
    name = "scripted"
    fold_version = 1
    default_ruleset = "scripted/1"

    @property
    def rulesets(self) -> Mapping[str, Ruleset]:
        return {}

    def redact(self, origin: Origin, line: bytes) -> bytes:
        return line.replace(b"SECRET", b"[redacted]")

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

    def fold(self, entries: Iterable[Entry], documents: Mapping[str, bytes], ruleset: str) -> Any:
        raise NotImplementedError

    def decide(self, state: Any) -> Any:
        raise NotImplementedError


DIALECTS: Mapping[str, Dialect] = {"scripted": ScriptedDialect()}
