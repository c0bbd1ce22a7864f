"""``runledger doctor``: what is wrong with the ledger or the machine, and what to do."""

import time

import msgspec
import typer

from cli.exits import say
from cli.options import Common, Output
from cli.render import print_rows
from ledger.core.json_reader import printable

EXAMPLES = """Examples:

  runledger doctor

  runledger -l audit.db doctor -o json"""

COLUMNS = ("check", "state", "found", "advice")


def doctor(common: Common) -> None:
    """Look for what is wrong with the ledger or with this machine, and say what to do about it."""
    from ledger.log.diagnosing import diagnose

    checks = list(diagnose(common.ledger, time.time_ns() // 1000))
    rows = [
        {name: printable(value) if isinstance(value, str) else value for name, value in members.items()}
        for members in map(msgspec.structs.asdict, checks)
    ]
    print_rows(rows, COLUMNS, common, optional=("advice",))
    status = max(check.status for check in checks)
    if common.output is Output.TEXT and not status:
        say(f"nothing is wrong; `{common.next_command('verify')}` recomputes every hash")
    if status:
        raise typer.Exit(status)
