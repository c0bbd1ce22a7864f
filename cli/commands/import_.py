"""``runledger import``: transcripts into the ledger."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.decisions import open_ledger
from cli.exits import YES, say
from cli.options import Common, Output
from cli.render import print_rows
from ledger.errors import LedgerError, TranscriptError

EXAMPLES = """Examples:

  runledger import run.jsonl

  runledger -l audit.db import sample_runs other/run.jsonl"""

COLUMNS = ("run_id", "outcome", "entries", "file")


def import_(
    common: Common,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Transcripts, or folders of them.")],
    keep_partial: Annotated[
        bool, typer.Option("--keep-partial", help="Keep the lines before the first that cannot be read.")
    ] = False,
) -> None:
    """Bring transcripts into the ledger; the same one again changes nothing."""
    found = [transcript for file in files for transcript in transcripts(file)]
    status = YES
    rows: list[dict[str, Any]] = []
    with open_ledger(common, write=True) as store:
        for file in found:
            try:
                rows.append(import_one(store, file, keep_partial=keep_partial))
            except LedgerError as error:
                say(str(error))
                status = status or error.exit_status
    print_rows(rows, COLUMNS, common)
    if rows and common.output is Output.TEXT and sys.stderr.isatty():
        say(f"next: runledger why {rows[-1]['run_id']}")
    if status:
        raise typer.Exit(status)


def transcripts(path: Path) -> Iterator[Path]:
    """Yield a file as it is, and of a folder every ``*.jsonl`` below it, sorted.

    Raises:
        TranscriptError: a folder holds none.
    """
    if not path.is_dir():
        yield path
        return
    found = sorted(path.rglob("*.jsonl"))
    if not found:
        raise TranscriptError(f"{path}: expected transcripts (*.jsonl) in this folder, found none")
    yield from found


def import_one(store: Any, file: Path, *, keep_partial: bool) -> dict[str, Any]:
    """Import one file and return the row to print; what was odd goes to stderr."""
    from ledger.dialects import DIALECTS
    from ledger.exchange.importing import import_transcript

    with _progress(file) as progress:
        done = import_transcript(store, file, DIALECTS, keep_partial=keep_partial, progress=progress)
    if done.times_raised:
        say(f"{file}: {done.times_raised} times went back, and were raised to the last one known")
    if done.torn is not None:
        say(f"{file}:{done.torn}: the last line is torn; it was kept, and the run left open")
    if done.stopped is not None:
        say(f"{done.stopped}; the lines before it were kept, and the run left open")
    return {
        "run_id": done.run.run_id,
        "outcome": done.outcome,
        "entries": done.entries,
        "appended": done.appended,
        "times_raised": done.times_raised,
        "torn": done.torn,
        "stopped": done.stopped,
        "file": str(file),
    }


@contextmanager
def _progress(file: Path) -> Iterator[Callable[[int], None] | None]:
    """Draw a bar on a terminal while a large file is read, which happens twice."""
    if not sys.stderr.isatty() or not file.is_file() or file.stat().st_size < 1_000_000:
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(file.name, total=2 * file.stat().st_size)
        yield lambda done: bar.update(task, completed=done)
