"""One row of the log, as a value.

An entry is a wire line (of the program, or of the runtime at the other end of its pipe) or an observation
(what the recorder itself saw). It is what the fold reads and all that the fold reads.
"""

from typing import Literal, TypeAlias

import msgspec

Origin: TypeAlias = Literal["program", "runtime", "observer"]

PROGRAM: Origin = "program"
RUNTIME: Origin = "runtime"
OBSERVER: Origin = "observer"
ORIGINS: tuple[Origin, ...] = (PROGRAM, RUNTIME, OBSERVER)

MOST_ENTRIES = (1 << 32) - 1
"""Entries that a run may have, and so the largest seq."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One entry of one run.

    Attributes:
        seq: position in the run, from 1, without holes.
        at: microseconds since the epoch, UTC; 0 where the time is unknown.
        origin: who spoke.
        session: which session of the run, '' where a run has one.
        type: the message or observation type as it was read at append, '' where it could not be read.
        stream: the stream it names, '' where it names none.
        body: the line as received, without its LF, after redaction; None once erased.
        salt: 16 random bytes that the leaf commits to; None once erased, before append (the log draws
            one), and where a reader did not ask for it.
    """

    seq: int
    at: int
    origin: Origin
    session: str
    type: str
    stream: str
    body: bytes | None
    salt: bytes | None = None
