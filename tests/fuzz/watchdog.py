"""Bounds on one input: how long it may take and how much memory, in this process."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SECONDS = 20.0
"""Processor time that one input may take; a hundred times what the slowest does."""

BYTES = 1 << 30
"""Address space that the process may take beyond what it has."""

_STATM = Path("/proc/self/statm")


class TookTooLong(BaseException):
    """An input took more processor time than it may; no ``except Exception`` gets in its way."""


@contextmanager
def bounded(seconds: float = SECONDS) -> Iterator[None]:
    """Raise :class:`TookTooLong` where the work inside takes too long, and MemoryError where it grows."""

    def bark(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGPROF, bark)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if _STATM.exists():
        taken = int(_STATM.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
