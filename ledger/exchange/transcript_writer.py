"""A header and entries, as the lines of a transcript.

Pure; the other half of :mod:`ledger.exchange.transcript`. Members come in a fixed order, separators are
compact, text is UTF-8, each line ends in one LF. Invariant: what is written here is read back as it was. A
header and an observation are read back on the spot, since the log may hold forms that JSON on one line
cannot carry: then another form is taken, or the write fails; nothing is lost in silence. Wire lines need no
such check.
"""

import binascii

import msgspec

from ledger.core.entries import OBSERVER, Entry
from ledger.core.instants import write_micros
from ledger.core.observations import Offered, Trigger
from ledger.errors import IntegrityError, TranscriptError
from ledger.exchange.transcript import VERSION, Header, Opened, TranscriptLine, parse_header, parse_line
from ledger.log.store import Erasure

_ENCODER = msgspec.json.Encoder()


def write_header(header: Header) -> bytes:
    """Write the header, with its LF.

    The manifest is embedded as it is; where JSON on one line cannot hold its exact bytes (it holds a line
    feed, or is no JSON), ``manifest_b64`` carries them instead.

    Raises:
        IntegrityError: RUN_OPENED, as the log holds it, cannot be carried.
    """
    for embedded in (True, False):
        line = _ENCODER.encode(_header_line(header, embedded=embedded))
        if _header_reads_back(line, header):
            return line + b"\n"
    raise IntegrityError(
        f"run {header.run_id}: expected RUN_OPENED as JSON on one line that agrees with itself, found other "
        "bytes at entry 1; verify the ledger"
    )


def write_line(entry: Entry, erasure: Erasure | None = None) -> bytes:
    """Write one entry as a line, with its LF.

    Args:
        entry: any entry of a run but the first, with its salt.
        erasure: what is kept of it where it has no body.

    Raises:
        IntegrityError: it has neither body nor erasure; no line can carry it: it holds a line feed, or is a
            second RUN_OPENED.
    """
    if entry.body is None:
        return _erased_line(entry, erasure)
    if b"\n" in entry.body:
        raise IntegrityError(
            f"entry {entry.seq}: expected one line, found a line feed in it; verify the ledger"
        )
    if entry.origin == OBSERVER:
        return _observer_line(entry, entry.body)
    return _ENCODER.encode(_wire_line(entry, entry.body)) + b"\n"


class _OpenedMember(msgspec.Struct, omit_defaults=True):
    at: str | int | None = None
    salt: str | None = None
    recorder: str | None = None
    via: str | None = None
    body: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _HeaderLine(msgspec.Struct, omit_defaults=True, kw_only=True):
    transcript: int
    dialect: str
    run_id: str
    trigger: Trigger
    manifest: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    manifest_b64: str | None = None
    offered: Offered | None = None
    ruleset: str | None = None
    whole: bool = True
    opened: _OpenedMember | None = None


class _EntryLine(msgspec.Struct, omit_defaults=True, kw_only=True, gc=False):
    at: str | None = None
    origin: str
    session: str = ""
    line: str | None = None
    b64: str | None = None
    observed: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    salt: str | None = None
    type: str = ""
    stream: str = ""
    erased: "_ErasedMember | None" = None


class _ErasedMember(msgspec.Struct, omit_defaults=True):
    leaf: str
    by: str = ""


def _header_line(header: Header, *, embedded: bool) -> _HeaderLine:
    manifest = header.manifest
    return _HeaderLine(
        transcript=VERSION,
        dialect=header.dialect,
        run_id=header.run_id,
        trigger=header.trigger,
        manifest=msgspec.Raw(b"null" if manifest is None else manifest) if embedded else msgspec.UNSET,
        manifest_b64=None if embedded or manifest is None else _base64(manifest),
        offered=header.offered,
        ruleset=header.ruleset,
        whole=header.whole,
        opened=None if header.opened is None else _opened_member(header.opened),
    )


def _opened_member(opened: Opened) -> _OpenedMember:
    """Unlike on a line, a time that is known to be unknown is spelled out: absent, import would guess it."""
    return _OpenedMember(
        at=write_micros(opened.at) if opened.at else opened.at,
        salt=None if opened.salt is None else opened.salt.hex(),
        recorder=opened.recorder,
        via=opened.via,
        body=msgspec.UNSET if opened.body is None else msgspec.Raw(opened.body),
    )


def _header_reads_back(line: bytes, header: Header) -> bool:
    try:
        return b"\n" not in line and parse_header(line) == header
    except TranscriptError:
        return False


def _wire_line(entry: Entry, body: bytes) -> _EntryLine:
    try:
        text, b64 = body.decode("utf-8"), None
    except UnicodeDecodeError:
        text, b64 = None, _base64(body)
    line = _bare_line(entry)
    line.line, line.b64 = text, b64
    return line


def _bare_line(entry: Entry) -> _EntryLine:
    return _EntryLine(
        at=write_micros(entry.at) if entry.at else None,
        origin=entry.origin,
        session=entry.session,
        salt=None if entry.salt is None else entry.salt.hex(),
    )


def _erased_line(entry: Entry, erasure: Erasure | None) -> bytes:
    if erasure is None:
        raise IntegrityError(
            f"entry {entry.seq}: expected a body or an erasure, found neither; verify the ledger"
        )
    line = _bare_line(entry)
    line.type, line.stream = entry.type, entry.stream
    line.erased = _ErasedMember(erasure.leaf.hex(), erasure.erased_by)
    return _ENCODER.encode(line) + b"\n"


def _observer_line(entry: Entry, body: bytes) -> bytes:
    """Write an observation as JSON, and an observer's body that is none (a torn line's remains) as text."""
    observed = _bare_line(entry)
    observed.observed = msgspec.Raw(body)
    for shape in (observed, _wire_line(entry, body)):
        line = _ENCODER.encode(shape)
        try:
            found = parse_line(line, entry.seq)
        except TranscriptError:
            continue
        if _carries(found, entry):
            return line + b"\n"
    raise IntegrityError(
        f"entry {entry.seq}: expected an observation that can follow a run's opening, found {entry.type}; "
        "verify the ledger"
    )


def _carries(found: TranscriptLine, entry: Entry) -> bool:
    return (found.at, found.origin, found.session, found.body, found.salt) == (
        entry.at,
        entry.origin,
        entry.session,
        entry.body,
        entry.salt,
    )


def _base64(body: bytes) -> str:
    return binascii.b2a_base64(body, newline=False).decode("ascii")
