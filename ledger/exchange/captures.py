"""Bare captures: what a program wrote to its stdout, byte for byte, and nothing beside it.

Pure. A capture has no header, so whoever imports it says what is known besides (:class:`Known`). Every line
of it, blank ones too, is a line of the wire, as a recorder would have taken it. Invariant: the same bytes
give the same run id, ``capture-`` and the first 16 hex digits of the SHA-256 of the whole capture, unpacked,
line feeds and all; the times are unknown.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from ledger.core.dialect import WireDialect
from ledger.core.entries import PROGRAM, RUNTIME
from ledger.core.json_reader import Malformed, read_json
from ledger.core.line_cutting import CutLine
from ledger.core.observations import Trigger
from ledger.errors import InputError, TranscriptError
from ledger.exchange.json_members import excerpt, member_tokens
from ledger.exchange.transcript import EXPECTED_HEADER, Header, TranscriptLine

LOOKED_AT = 64 * 1024
"""Bytes of a file's first line that tell what it is."""

_START = "START"
_WRAPPER = {b"stream", b"dir", b"adapter", b"msg"}


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a run of which only a capture is left.

    Attributes:
        manifest: the exact JSON of the manifest; None where it is not known.
        start: the START that the program was sent, on one line; None where it is not known.
        trigger: why the run was started.
        run_id: None for the one that the bytes give.
    """

    manifest: bytes | None = None
    start: bytes | None = None
    trigger: Trigger = Trigger(kind="proactive")
    run_id: str | None = None


class Digest:
    """The digest of a capture, taken as it is read; ``size`` is how many bytes it is of."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.size = 0

    def __call__(self, data: bytes) -> None:
        """Take the next bytes."""
        self._hash.update(data)
        self.size += len(data)

    def hex(self) -> str:
        """Return the digest of what was taken."""
        return self._hash.hexdigest()


def is_transcript(first: bytes, *, is_whole: bool) -> bool:
    """Tell a transcript's header by the beginning of a file's first line.

    A line that says nothing of what it is within that beginning is taken for a header.
    """
    names = member_tokens(first).keys()
    is_open = first.startswith(b"{") and not is_whole and not names & {b"type", b"msg"}
    return b"transcript" in names or is_open


def spoken_dialect(first: bytes, dialects: Mapping[str, WireDialect], *, is_sure: bool) -> str | None:
    """Return the dialect of a capture by the beginning of its first line; None where it is no capture.

    Args:
        first: the beginning of the first line that is not blank.
        dialects: the dialects that are known, by name.
        is_sure: whether the user says that it is a capture, whatever it looks like.

    Raises:
        TranscriptError: it begins with a line that no program sends.
    """
    members = member_tokens(first)
    if members.keys() >= _WRAPPER:
        raise _fault("lines of a process adapter, wrapped; this version does not read that dialect yet")
    said = _text(members.get(b"type", b""))
    for name, dialect in dialects.items():
        if said in dialect.runtime_types and not is_sure:
            hint = "; what the runtime sent goes into --start" if said == _START else ""
            raise _fault(
                f"{excerpt(said)}, which a runtime sends: a capture holds what the program wrote and no more"
                f"{hint}"
            )
        if said in dialect.program_types:
            return name
    if said and not is_sure:
        raise _fault(
            f"a message of a type that no program sends, {excerpt(said)}; --manifest imports it anyway"
        )
    return next(iter(dialects)) if is_sure else None


def read_start(text: bytes, name: str) -> bytes:
    """Return a START as one line: white space around it goes, line feeds within it become spaces.

    Args:
        text: a JSON object; a line feed in it can only be white space.
        name: what errors call the file.

    Raises:
        InputError: it is no START.
    """
    line = text.strip().replace(b"\n", b" ")
    if _text(member_tokens(line).get(b"type", b"")) != _START:
        raise InputError(f'{name}: expected the START that was sent, found an object of another "type"')
    return line


def header_of(known: Known, dialect: str, digest: str) -> Header:
    """Return the header that a transcript of this run would have."""
    return Header(
        dialect=dialect,
        run_id=known.run_id or f"capture-{digest[:16]}",
        trigger=known.trigger,
        manifest=known.manifest,
    )


def capture_line(raw: bytes | CutLine, *, is_terminated: bool) -> TranscriptLine:
    """Return what a line of a capture gives to an entry."""
    cut = raw if isinstance(raw, CutLine) else None
    body = raw.head if isinstance(raw, CutLine) else raw
    return TranscriptLine(0, PROGRAM, "", body, cut=cut, is_unterminated=not is_terminated)


def start_line(start: bytes) -> TranscriptLine:
    """Return what the START gives to an entry."""
    return TranscriptLine(0, RUNTIME, "", start)


def _text(token: bytes) -> str:
    document = read_json(token)
    return "" if isinstance(document, Malformed) or not isinstance(document.value, str) else document.value


def _fault(found: str) -> TranscriptError:
    return TranscriptError(
        f"line 1: expected {EXPECTED_HEADER}, or a capture of a program's stdout, found {found}",
        line_number=1,
    )
