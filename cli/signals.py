"""What a signal does to a command: nothing is left half-done, and no traceback is shown.

Before a command begins its work, and once it has ended it, Ctrl-C leaves at once. While it works, Ctrl-C
and the signals that ask it to end unwind it, so that transactions are rolled back and what was half-written
is removed; a second one leaves at once. What is ignored from the outset (``nohup``) stays ignored.

Imports next to nothing, as it has to be there before anything else is.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130

_ENDING = ("SIGTERM", "SIGHUP")

_received: list[int] = []
"""The signal that is unwinding the command; what it raised may come out as KeyboardInterrupt."""

_heeded: list[int] = []
"""The signals that are ours to handle; none where this is not a process of its own."""


class Ended(BaseException):
    """A signal asked the command to end.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def heed_signals() -> None:
    """Take over the signals of this process; called once, before anything else is imported."""
    _heeded.clear()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _heeded.append(signal.SIGINT)
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            _heeded.append(number)
    _leave_on_interrupt()


@contextmanager
def unwinding() -> Iterator[None]:
    """Let signals unwind what is done inside, as KeyboardInterrupt or as :class:`Ended`."""
    for number in _heeded:
        signal.signal(number, _unwind)
    try:
        yield
    finally:
        _leave_on_interrupt()


def ended_by() -> int:
    """Return the signal that unwound the command, SIGINT where there was none of ours."""
    return _received[-1] if _received else signal.SIGINT


def end_by(number: int) -> NoReturn:
    """End this process by a signal, so that whoever started it sees that."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise SystemExit(128 + number)


def _leave_on_interrupt() -> None:
    for number in _heeded:
        signal.signal(number, _leave if number == signal.SIGINT else signal.SIG_DFL)


def _unwind(number: int, frame: FrameType | None) -> NoReturn:
    _leave_on_interrupt()
    _received.append(number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Ended(number)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    with suppress(OSError):
        os.write(2, b"runledger: interrupted\n")
    os._exit(INTERRUPTED)
