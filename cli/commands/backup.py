"""``runledger backup``: a copy of the ledger, while others write to it."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from cli.options import Common
from cli.progress import progress_bar
from cli.render import print_rows
from ledger.core.json_reader import printable
from ledger.errors import UsageError

EXAMPLES = """Examples:

  runledger backup ledger-2026-11-05.db

  runledger -l audit.db backup /mnt/copies/audit.db --force"""

COLUMNS = ("path", "runs", "entries", "bytes")


def backup(
    common: Common,
    dest: Annotated[Path, typer.Argument(metavar="DEST", help="The file to make.", readable=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier copy, all at once.")] = False,
) -> None:
    """Copy the ledger as it stands to one file, also while others write to it."""
    from ledger.log.backup import back_up

    if str(dest) == "-":
        raise UsageError("expected a file for the copy, found -: a ledger cannot be written to stdout")

    size = common.ledger.stat().st_size if common.ledger.is_file() else 0
    with progress_bar(size, color=common.color) as advance:
        made = back_up(
            common.ledger, dest, force=force, progress=lambda done, total: advance(dest.name, done)
        )
    row = {**msgspec.structs.asdict(made), "path": printable(made.path)}
    print_rows([row], COLUMNS, common)
