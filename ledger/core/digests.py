"""Content addresses, and the one JSON encoding that they are taken over."""

import hashlib

import msgspec

_ENCODER = msgspec.json.Encoder(order="deterministic", decimal_format="string")


def digest(body: bytes) -> str:
    """Return ``sha256:`` and the hex digest of the bytes."""
    return "sha256:" + hashlib.sha256(body).hexdigest()


def canonical_json(value: object) -> bytes:
    """Encode to JSON whose bytes depend on the value alone: members sorted, no white space, UTF-8.

    Structs keep the order of their fields. Strings must be free of lone surrogates; see
    :func:`ledger.core.json_reader.printable`.
    """
    return _ENCODER.encode(value)
