"""Exit statuses, and how whatever goes wrong becomes one of them.

====  ========================================================================
0     yes, done
1     the answer is no, or it differs
2     wrong usage
3     the input is not there or could not be read, or the file system refused
4     not found: no such ledger, run, stream or ruleset
5     the ledger is busy, locked, of a newer format, or another program's
6     integrity broken
70    a bug in Run Ledger
130   interrupted
====  ========================================================================

Invariant: an error that nobody foresaw ends in 70, never in 1, and shows a traceback only to who asks.
"""

import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import typer

from cli.page import visible
from cli.signals import INTERRUPTED, Ended, end_by, ended_by
from ledger.errors import InputError, LedgerError

YES = 0
NO = 1
BUG = 70


def say(text: str) -> None:
    """Talk to the person: one line on stderr."""
    with suppress(OSError):  # a stderr that nobody reads any more must not change how the command ends
        sys.stderr.write(f"runledger: {visible(text)}\n")


@contextmanager
def exits() -> Iterator[None]:
    """Turn whatever is raised inside into one line on stderr and an exit status."""
    try:
        yield
        sys.stdout.flush()
    except typer.Abort as stop:
        if isinstance(stop.__context__, KeyboardInterrupt):  # at a question; an end of input is a no
            _stop(INTERRUPTED, "interrupted")
        raise
    except typer.Exit as stop:
        _stop(stop.exit_code)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # typer has already made an exit status of it
            let_go_of_stdout()
            _stop(YES)
        raise
    except LedgerError as error:
        _stop(error.exit_status, str(error))
    except (KeyboardInterrupt, Ended):
        if ended_by() != signal.SIGINT:
            end_by(ended_by())
        _stop(INTERRUPTED, "interrupted")
    except BrokenPipeError:  # whoever read our output has seen enough
        let_go_of_stdout()
        _stop(YES)
    except OSError as error:
        let_go_of_stdout()
        told = getattr(error.__context__, "exit_code", None)  # typer was saying what is wrong, and could not
        _stop(InputError.exit_status if told is None else told, _refused(error))
    except Exception as error:
        if os.environ.get("RUNLEDGER_TRACEBACK"):
            traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        how = "run it again with RUNLEDGER_TRACEBACK=1 to see where"
        _stop(BUG, f"this is a bug in runledger: {what}; {how}")


def ready_streams() -> None:
    """Let stdout and stderr take any text, what they cannot encode spelled out; what is closed is empty."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - lives on
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives on
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop(status: int, text: str = "") -> NoReturn:
    """Exit once what was printed is out; a reader who has left does not change the status."""
    if text:
        say(text)
    try:
        sys.stdout.flush()
    except OSError as error:
        let_go_of_stdout()
        if not isinstance(error, BrokenPipeError):
            say(_refused(error))
            status = InputError.exit_status
    raise SystemExit(status) from None


def let_go_of_stdout() -> None:
    """Send what is still buffered nowhere, also when the interpreter ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused(error: OSError) -> str:
    named = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return f"{named}the system refused: {error.strerror or error}"
