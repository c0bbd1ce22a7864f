"""How the lines of a connector are read under a ruleset, compiled once from its switches.

The usual shapes stand in ``shapes``; here a switch that is turned replaces what it is about. What comes out
is a table of shapes and a reader, so that no handler asks which ruleset it works under.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ledger.dialects.collection_profile import values as v
from ledger.dialects.collection_profile.decode import program_reader, refusing_upsert
from ledger.dialects.collection_profile.messages import ProgramMessage
from ledger.dialects.collection_profile.shapes import (
    BASIS,
    CONNECTOR_FACT,
    DONE_ERROR,
    PROGRAM_SHAPES,
    Shape,
    done_builder,
)
from ledger.dialects.collection_profile.switches import Switches


@dataclass(frozen=True)
class Wire:
    """How a connector's lines are read.

    Attributes:
        shapes: what each message must be, by type.
        read: reads one line.
    """

    shapes: Mapping[str, Shape]
    read: Callable[[bytes], ProgramMessage]


def wire_under(switches: Switches) -> Wire:
    """Compile what a ruleset's switches say of the wire."""
    shapes = dict(PROGRAM_SHAPES)
    if switches.spelled_out_upsert == "violate":
        shapes["RECORD"] = _reading(shapes["RECORD"], op=v.reader_of("delete"))
    if switches.stream_evidence == "unknown":
        del shapes["STREAM_EVIDENCE"]
    if switches.key_equality == "text":
        shapes["DETAIL_GAP"] = _reading(shapes["DETAIL_GAP"], record_key=v.read_key_as_text)
    shapes["DETAIL_COVERAGE"] = _coverage(shapes["DETAIL_COVERAGE"], switches)
    error = DONE_ERROR
    if switches.unknown_hint_member == "violate":
        shapes["SKIP_RESULT"] = _reading(shapes["SKIP_RESULT"], recovery_hint=v.read_closed_recovery_hint)
        error = _reading(error, recovery_hint=v.read_closed_recovery_hint)
    if switches.connector_facts == "known":
        shapes["OBSERVATION"] = CONNECTOR_FACT
        error = error._replace(members=(*error.members, BASIS))
    build_done = done_builder(error, closed=switches.unknown_error_member == "violate")
    shapes["DONE"] = shapes["DONE"]._replace(build=build_done)
    reader = refusing_upsert if switches.spelled_out_upsert == "violate" else program_reader
    return Wire(shapes, reader(shapes))


def _coverage(shape: Shape, switches: Switches) -> Shape:
    keys = v.read_keys_as_text if switches.key_equality == "text" else v.read_keys
    shape = _reading(shape, required_keys=keys, hydrated_keys=keys, gap_keys=keys)
    return _reading(shape, optional_skip_keys=keys) if switches.optional_skip_keys == "credit" else shape


def _reading(shape: Shape, **readers: v.Reader) -> Shape:
    """Return a shape some of whose members are read by other readers."""
    members = (member._replace(read=readers.get(member.name, member.read)) for member in shape.members)
    return shape._replace(members=tuple(members))
