r"""The transcript format: what a header and a line say, as values, and how one line of a file is read.

JSON lines, UTF-8. The first line is the header, every other line one entry of the run::

    {"transcript":1,"dialect":"…","run_id":"…","trigger":{"kind":"proactive"},"manifest":{…}}
    {"at":"2026-11-30T00:00:00.000000Z","origin":"program","line":"{\"type\":\"RECORD\",…}"}
    {"at":"…","origin":"observer","observed":{"type":"PROGRAM_EXITED","code":0}}
    {"at":"…","origin":"program","type":"RECORD","stream":"…","erased":{"leaf":"…","by":"13"}}

Pure functions over single lines; no files, no ledger, no dialect. Invariant: what is carried as bytes (a
wire line, an observation, a manifest) leaves here exactly as it stood in the file and is never re-encoded.
msgspec reads nearly every line; what it refuses goes to the complete reader, which alone says *malformed*.
Unknown members are ignored. Members that are null read as absent, but for ``manifest``.

A header may also carry ``offered`` (what the runtime could provide), ``ruleset``, ``opened`` (when, with
which salt and by whom the run was recorded), ``"manifest":null`` (no manifest was known),
``"manifest_b64"`` (a manifest that JSON on one line cannot hold exactly), ``"whole":false`` (the run was not
closed: do not close it) and ``"opened":{"body":{…}}`` (RUN_OPENED as it was written).
"""

import binascii
import re
from typing import Literal

import msgspec

from ledger.core.entries import OBSERVER, ORIGINS, Origin
from ledger.core.instants import read_micros, write_micros
from ledger.core.json_reader import Malformed, msgspec_may_read, read_json, whole_number
from ledger.core.line_cutting import CutLine
from ledger.core.merkle import HASH_SIZE, SALT_SIZE
from ledger.core.observations import (
    Observation,
    Offered,
    RunOpened,
    Trigger,
    decode_observation,
    observation_type,
)
from ledger.exchange.json_members import Place, decode_members, excerpt

VERSION = 1

EXPECTED_HEADER = (
    'the first line of a transcript, a JSON object with "transcript": 1, "dialect", "run_id", "trigger" and '
    '"manifest"'
)
EXPECTED_LINE = 'a JSON object with "origin" and one of "line", "b64", "observed" and "erased"'

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_SALT = re.compile(rf"[0-9A-Fa-f]{{{2 * SALT_SIZE}}}")
_LEAF = re.compile(rf"[0-9A-Fa-f]{{{2 * HASH_SIZE}}}")
_OPENED = observation_type(RunOpened)
_BARE_MICROS = re.compile(r"-?[0-9]{1,19}", re.ASCII)


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """How a run was opened where it was first written; None where the header does not say.

    Attributes:
        at: microseconds since the epoch, UTC; 0 where that time is known to be unknown.
        salt: the 16 bytes that the leaf of entry 1 commits to.
        recorder: the program that wrote the entries, with its version.
        via: how the run first reached a ledger.
        body: the exact JSON of RUN_OPENED.
    """

    at: int | None = None
    salt: bytes | None = None
    recorder: str | None = None
    via: Literal["recorded", "tapped", "imported"] | None = None
    body: bytes | None = None


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a transcript.

    Attributes:
        manifest: the exact bytes of the manifest, None where none was known.
        ruleset: the ruleset that the recorder decided under.
        whole: whether the file tells the run to its end, so that an import may close it.
        opened: written by export, so that entry 1 is rebuilt byte for byte.
    """

    dialect: str
    run_id: str
    trigger: Trigger
    manifest: bytes | None
    offered: Offered | None = None
    ruleset: str | None = None
    whole: bool = True
    opened: Opened | None = None


class ErasedLine(msgspec.Struct, frozen=True, kw_only=True):
    """What a line says of an entry whose body was erased.

    Attributes:
        type: the message or observation type, '' where it could not be read.
        stream: the stream it named, '' where it named none.
        leaf: the 32 bytes that the run's tree has for the entry.
        by: the number of the ENTRIES_ERASED that tells of it, as text.
    """

    type: str
    stream: str
    leaf: bytes
    by: str


class TranscriptLine(msgspec.Struct, frozen=True, gc=False):
    """What one line gives to an entry.

    Attributes:
        at: microseconds since the epoch, UTC, as the file has it; 0 where unknown.
        session: '' where the run has one session.
        body: the wire line without its LF, or the exact JSON of the observation; not yet redacted.
        salt: 16 bytes, None where the log is to draw one.
        observation: what an observer's body says, None for a wire line and for an observer's body that is
            no observation (the remains of a torn line).
        erased: where the body was erased; ``body`` is empty then.
        cut: of a wire line that was too long, what is left of it; the body is its head.
        is_unterminated: whether the wire line ended without an LF.
    """

    at: int
    origin: Origin
    session: str
    body: bytes
    salt: bytes | None = None
    observation: Observation | None = None
    cut: CutLine | None = None
    is_unterminated: bool = False
    erased: ErasedLine | None = None


def parse_header(raw: bytes, number: int = 1) -> Header:
    """Read the header.

    Args:
        raw: the line, without its LF.
        number: its 1-based number in the file, for errors.

    Raises:
        TranscriptError: it is no header, or one of a newer format.
    """
    place = Place(number, EXPECTED_HEADER)
    if raw.startswith(_BYTE_ORDER_MARKS):
        raise place.fault("a byte order mark; save the file as UTF-8 without one")
    _check_version(decode_members(raw, _WireVersion, place), place)
    wire = decode_members(raw, _WireHeader, place)
    if not wire.run_id:
        raise place.fault('an empty "run_id"')
    return Header(
        dialect=wire.dialect,
        run_id=wire.run_id,
        trigger=wire.trigger,
        manifest=_manifest(wire, place),
        offered=wire.offered,
        ruleset=wire.ruleset,
        whole=wire.whole is not False,
        opened=_opened(bytes(wire.opened), place),
    )


def parse_line(raw: bytes, number: int) -> TranscriptLine:
    """Read any line but the first.

    Args:
        raw: the line, without its LF.
        number: its 1-based number in the file, for errors.

    Raises:
        TranscriptError: it is no line of a transcript.
    """
    plain = _plain_line(raw)
    if plain is not None:
        return plain
    place = Place(number, EXPECTED_LINE)
    wire = decode_members(raw, _WireLine, place)
    if wire.transcript is not msgspec.UNSET:
        raise place.fault("a second header; a file holds one run")
    origin = _origin(wire.origin, place)
    if wire.erased is not None:
        erased = _erased(wire, origin, place)
        return TranscriptLine(_at(wire.at, place), origin, wire.session or "", b"", erased=erased)
    body = _body(wire, origin, place)
    return TranscriptLine(
        _at(wire.at, place),
        origin,
        wire.session or "",
        body,
        _salt(wire.salt, place),
        _observation(body, wire, place) if origin == OBSERVER else None,
    )


# ---- the shapes on the wire -------------------------------------------------------------------------------

_NULL = msgspec.Raw(b"null")


class _WireVersion(msgspec.Struct):
    transcript: msgspec.Raw = _NULL


class _WireHeader(msgspec.Struct):
    dialect: str
    run_id: str
    trigger: Trigger
    manifest: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    manifest_b64: str | None = None
    offered: Offered | None = None
    ruleset: str | None = None
    whole: bool | None = None
    opened: msgspec.Raw = _NULL


class _WireOpened(msgspec.Struct):
    at: str | int | None = None
    salt: str | None = None
    recorder: str | None = None
    via: Literal["recorded", "tapped", "imported"] | None = None
    body: msgspec.Raw = _NULL


class _WireErased(msgspec.Struct):
    leaf: str
    by: str | int = ""


class _WireLabel(msgspec.Struct):
    """Of an erased line; of any other, members of these names say nothing, and may be anything."""

    type: str | None = None
    stream: str | None = None


class _WireLine(msgspec.Struct, gc=False):
    origin: str
    at: str | int | None = None
    session: str | None = None
    line: str | None = None
    b64: str | None = None
    observed: msgspec.Raw = _NULL
    salt: str | None = None
    erased: _WireErased | None = None
    type: msgspec.Raw = _NULL
    stream: msgspec.Raw = _NULL
    transcript: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _PlainLine(msgspec.Struct, gc=False):
    """A line of the wire as text; whatever else a line may carry must be absent."""

    at: str
    origin: Literal["program", "runtime"]
    line: str
    session: str = ""
    salt: str | None = None
    b64: msgspec.UnsetType = msgspec.UNSET
    observed: msgspec.UnsetType = msgspec.UNSET
    erased: msgspec.UnsetType = msgspec.UNSET
    transcript: msgspec.UnsetType = msgspec.UNSET


_PLAIN = msgspec.json.Decoder(_PlainLine)


def _plain_line(raw: bytes) -> TranscriptLine | None:
    """Read a line as nearly all are; None where it is another, or wrong. Only for speed."""
    if not msgspec_may_read(raw):
        return None
    try:
        wire = _PLAIN.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    at = read_micros(wire.at)
    if at is None or "\n" in wire.line or not (wire.salt is None or _SALT.fullmatch(wire.salt)):
        return None
    salt = None if wire.salt is None else bytes.fromhex(wire.salt)
    return TranscriptLine(at, wire.origin, wire.session, wire.line.encode(), salt)


# ---- the members ------------------------------------------------------------------------------------------


def _check_version(wire: _WireVersion, place: Place) -> None:
    document = read_json(bytes(wire.transcript))
    found = None if isinstance(document, Malformed) else whole_number(document.value)
    shown = bytes(wire.transcript)[:20].decode("utf-8", "replace")
    if found is not None and found > VERSION:
        raise place.fault(f'"transcript": {shown}, a newer format than this version reads')
    if found != VERSION:
        raise place.fault('no "transcript"' if wire.transcript == _NULL else f'"transcript": {shown}')


def _manifest(wire: _WireHeader, place: Place) -> bytes | None:
    if wire.manifest_b64 is not None:
        if wire.manifest is not msgspec.UNSET:
            raise place.fault('both "manifest" and "manifest_b64"')
        return _base64("manifest_b64", wire.manifest_b64, place)
    if isinstance(wire.manifest, msgspec.UnsetType):
        raise place.fault('no "manifest"; add it, or "manifest": null where none is known')
    manifest = bytes(wire.manifest)
    return None if manifest == b"null" else manifest


def _opened(raw: bytes, place: Place) -> Opened | None:
    if raw == b"null":
        return None
    wire = decode_members(raw, _WireOpened, place._replace(expected='"opened" to be a JSON object'))
    body = bytes(wire.body)
    return Opened(
        at=None if wire.at is None else _at(wire.at, place),
        salt=_salt(wire.salt, place),
        recorder=wire.recorder,
        via=wire.via,
        body=None if body == b"null" else body,
    )


def _origin(found: str, place: Place) -> Origin:
    for origin in ORIGINS:
        if found == origin:
            return origin
    raise place.fault(excerpt(found), f'"origin" to be one of {", ".join(ORIGINS)}')


def _at(found: str | int | None, place: Place) -> int:
    """Read a time: RFC 3339, or the bare microseconds that are written for a year that RFC 3339 lacks."""
    if not found:
        if found == "":
            raise place.fault("''", '"at" to be a date-time (RFC 3339)')
        return 0
    micros = read_micros(found) if isinstance(found, str) else None
    if micros is None and isinstance(found, str) and _BARE_MICROS.fullmatch(found):
        bare = int(found)
        micros = bare if -(2**63) <= bare < 2**63 and write_micros(bare) == found else None
    if micros is None:
        raise place.fault(
            excerpt(str(found)), '"at" to be a date-time (RFC 3339), or absent where the time is unknown'
        )
    return micros


def _salt(found: str | None, place: Place) -> bytes | None:
    if found is None:
        return None
    if _SALT.fullmatch(found) is None:
        raise place.fault(excerpt(found), f'"salt" to be {2 * SALT_SIZE} hex digits')
    return bytes.fromhex(found)


def _base64(name: str, found: str, place: Place) -> bytes:
    try:
        return binascii.a2b_base64(found, strict_mode=True)
    except ValueError:  # binascii.Error, and text beyond ASCII
        raise place.fault("text that is none", f'"{name}" to be base64 with its padding') from None


def _body(wire: _WireLine, origin: Origin, place: Place) -> bytes:
    observed = bytes(wire.observed)
    carried = (wire.line is not None) + (wire.b64 is not None) + (observed != b"null")
    if carried != 1:
        raise place.fault("more than one of them" if carried else "none of them")
    if observed != b"null":
        if origin != OBSERVER:
            raise place.fault(f"it on a line of origin {origin}", '"observed" on lines of origin observer')
        return observed
    body = wire.line.encode("utf-8") if wire.line is not None else _base64("b64", wire.b64 or "", place)
    if b"\n" in body:
        raise place.fault(f"one at byte {body.index(10)} of it", "a wire line without line feeds")
    return body


def _erased(wire: _WireLine, origin: Origin, place: Place) -> ErasedLine:
    assert wire.erased is not None
    if wire.line is not None or wire.b64 is not None or bytes(wire.observed) != b"null":
        raise place.fault("more than one of them")
    if wire.salt is not None:
        raise place.fault("a salt", "no salt of an erased entry")
    if _LEAF.fullmatch(wire.erased.leaf) is None:
        raise place.fault(excerpt(wire.erased.leaf), f'"leaf" to be {2 * HASH_SIZE} hex digits')
    labels = decode_members(
        b'{"type":%b,"stream":%b}' % (bytes(wire.type), bytes(wire.stream)), _WireLabel, place
    )
    if origin == OBSERVER and labels.type == _OPENED:
        raise place.fault("RUN_OPENED", "lines after the opening, which the header itself stands for")
    leaf = bytes.fromhex(wire.erased.leaf)
    return ErasedLine(type=labels.type or "", stream=labels.stream or "", leaf=leaf, by=str(wire.erased.by))


def _observation(body: bytes, wire: _WireLine, place: Place) -> Observation | None:
    observation = decode_observation(body)
    if observation is None and wire.line is None and wire.b64 is None:
        raise place.fault("none", "an observation that this version knows")
    if isinstance(observation, RunOpened):
        raise place.fault("RUN_OPENED", "lines after the opening, which the header itself stands for")
    return observation
