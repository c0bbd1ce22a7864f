"""Strategies for JSON values, and for lines that are damaged, of whatever they are lines."""

import json
from typing import Any

from hypothesis import strategies as st

from tests.dialects.collection_profile.runs import Message

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.sampled_from(["\ud800", "*", " ", "", "INTERACTION_RESPONSE", "START", "2026-01-01"]),
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
ODD_NUMBERS = ["1e400", "1e9999999", "-1E9999999", "1e99999999999999999999", "2.0", "1e3", "-0.0", "9" * 700]
DAMAGE = [
    b"",
    b'"',
    b"{",
    b"}",
    b",",
    b"\xff",
    b"\\ud800",
    b"\x00",
    b"NaN",
    b"1e9999999",
    b"null",
    b"\r",
    b"[" * 40,
]


@st.composite
def damaged(draw: st.DrawFn, line: bytes) -> bytes:
    """Cut a piece out of a line and put something else there."""
    begin = draw(st.integers(0, len(line)))
    end = draw(st.integers(begin, min(len(line), begin + 8)))
    return line[:begin] + draw(st.sampled_from(DAMAGE)) + line[end:]


@st.composite
def respelled(draw: st.DrawFn, message: Message) -> bytes:
    """Encode a message with one member changed, dropped, doubled or made an odd number."""
    name = draw(st.sampled_from([*message, "type"]))
    how = draw(st.sampled_from(["value", "drop", "double", "number"]))
    if how == "value":
        return to_bytes({**message, name: draw(json_values)})
    rest = to_bytes({n: value for n, value in message.items() if n != name})
    if how == "drop":
        return rest
    value = draw(st.sampled_from(ODD_NUMBERS)).encode() if how == "number" else to_bytes(draw(json_values))
    if how == "double":
        rest = to_bytes(message)
    return rest[:-1] + (b"," if len(rest) > 2 else b"") + to_bytes(name) + b":" + value + b"}"


def to_bytes(value: Any) -> bytes:
    """Encode a value; lone surrogates become escapes."""
    return json.dumps(value, separators=(",", ":")).encode()
