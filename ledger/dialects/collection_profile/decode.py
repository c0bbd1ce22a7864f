"""From the bytes of a line to a message. Total: every line becomes something.

Well-formed RECORDs, nearly all of a run, are read by msgspec in one step; every other line goes through the
complete JSON reader and the shape tables, which alone decide what is malformed or misshapen. The shortcut
takes only what they would take, and gives the same message: ``tests`` hold the two together.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ledger.core.dialect import Label
from ledger.core.json_reader import SHORT, Json, Malformed, msgspec_may_read, printable, read_json
from ledger.dialects.collection_profile.messages import (
    Blank,
    ProgramMessage,
    Record,
    Repeated,
    RuntimeMessage,
)
from ledger.dialects.collection_profile.shapes import PROGRAM_SHAPES, RUNTIME_SHAPES, Shape, shape_message

_BLANK = Blank()


class _NoSuchMessage(msgspec.Struct, tag_field="type", tag="\0"):
    """Never on the wire: msgspec demands the type of a message only where there are two to choose from."""


class _LabelledLine(msgspec.Struct):
    type: str = ""
    stream: str = ""


_FAST = msgspec.json.Decoder(Record | _NoSuchMessage)
_LABELLED = msgspec.json.Decoder(_LabelledLine)
_ONE_VALUE = msgspec.json.Decoder()


def program_reader(shapes: Mapping[str, Shape]) -> Callable[[bytes], ProgramMessage]:
    """Make the reader of a connector's lines by a table of shapes.

    The shortcut takes RECORDs as the usual table shapes them; see :func:`refusing_upsert` for another.
    """
    decode = _FAST.decode

    def read(line: bytes) -> ProgramMessage:
        try:
            record = decode(line)
            if (
                isinstance(record, Record)
                and (record.data is not None or record.op == "delete")
                and "!" <= record.emitted_at < "\x7f"  # its first character is visible: it is not blank
                and ((len(line) <= SHORT and line.isascii()) or msgspec_may_read(line))  # mostly no call
            ):
                return record
        except (msgspec.DecodeError, RecursionError):
            pass
        message: ProgramMessage = _read_slowly(shapes, line)
        return message

    return read


def refusing_upsert(shapes: Mapping[str, Shape]) -> Callable[[bytes], ProgramMessage]:
    """Make the same by a table in which ``upsert`` is no ``op``: the table judges what spells it out."""
    usual = program_reader(shapes)

    def read(line: bytes) -> ProgramMessage:
        message = usual(line)
        if isinstance(message, Record) and message.op == "upsert":
            message = _read_slowly(shapes, line)
        return message

    return read


read_program_line = program_reader(PROGRAM_SHAPES)
"""Read a line of the connector as the usual table shapes it."""


def read_runtime_line(line: bytes) -> RuntimeMessage:
    """Read a line of the runtime."""
    message: RuntimeMessage = _read_slowly(RUNTIME_SHAPES, line)
    return message


def record_value(value: object) -> Json:
    """Return a value of a record's ``data`` decoded, however the record was read."""
    if not isinstance(value, msgspec.Raw):
        return value
    try:
        return _ONE_VALUE.decode(value)
    except (msgspec.DecodeError, RecursionError):
        document = read_json(bytes(value))
        return None if isinstance(document, Malformed) else document.value


def label_line(line: bytes) -> Label:
    """Read the type and the stream that a line names, '' where it cannot be read or names none."""
    if msgspec_may_read(line):
        try:
            labelled = _LABELLED.decode(line)
        except (msgspec.DecodeError, RecursionError):
            pass
        else:
            return Label(labelled.type, labelled.stream)
    document = read_json(line)
    if isinstance(document, Malformed) or not isinstance(document.value, dict):
        return Label("", "")
    type_, stream = document.value.get("type"), document.value.get("stream")
    return Label(
        printable(type_) if isinstance(type_, str) else "",
        printable(stream) if isinstance(stream, str) else "",
    )


def _read_slowly(shapes: Mapping[str, Shape], line: bytes) -> Any:
    document = read_json(line)
    if isinstance(document, Malformed):
        return _BLANK if not line.strip() else document
    message = shape_message(shapes, document.value)
    if document.repeated and not _is_record(document.value):
        return Repeated(message=message, names=tuple(map(printable, document.repeated)))
    return message


def _is_record(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") == "RECORD"
