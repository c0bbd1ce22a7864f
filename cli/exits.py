"""Exit statuses, and how whatever goes wrong becomes one of them.

====  ==========================================================
0     yes, done
1     the answer is no, or it differs
2     wrong usage
3     the input could not be read
4     not found
5     the ledger is busy, locked, of a newer format or not ours
6     integrity broken
70    a bug in Run Ledger
130   interrupted
====  ==========================================================
"""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ledger.errors import LedgerError

YES = 0
NO = 1
BUG = 70
INTERRUPTED = 130


def say(text: str) -> None:
    """Talk to the person: one line on stderr."""
    from cli.page import visible

    sys.stderr.write(f"runledger: {visible(text)}\n")


@contextmanager
def exits() -> Iterator[None]:
    """Turn whatever a command raises into one line on stderr and an exit status."""
    try:
        yield
        sys.stdout.flush()
    except LedgerError as error:
        say(str(error))
        raise typer.Exit(error.exit_status) from None
    except BrokenPipeError:
        # Whoever read our output has seen enough; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(YES) from None
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if os.environ.get("RUNLEDGER_TRACEBACK"):
            traceback.print_exc()
        say(
            f"this is a bug in runledger: {type(error).__name__}: {error}; "
            "run it again with RUNLEDGER_TRACEBACK=1 to see where"
        )
        raise typer.Exit(BUG) from None
