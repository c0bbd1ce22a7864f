"""``runledger import``: transcripts into the ledger."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.decisions import open_ledger
from cli.exits import YES, say
from cli.options import Common, Output
from cli.progress import Advance, progress_bar
from cli.render import print_rows
from ledger.core.json_reader import printable
from ledger.errors import LedgerError, TranscriptError
from ledger.log.store import Store

EXAMPLES = """Examples:

  runledger import run.jsonl

  runledger -l audit.db import sample_runs other/run.jsonl"""

COLUMNS = ("run_id", "outcome", "entries", "appended", "times_raised", "torn", "stopped", "file")
_OPTIONAL = ("appended", "times_raised", "torn", "stopped")


def import_(
    common: Common,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Transcripts, or folders of them.")],
    keep_partial: Annotated[
        bool, typer.Option("--keep-partial", help="Keep the lines before the first that cannot be read.")
    ] = False,
) -> None:
    """Bring transcripts into the ledger; the same one again changes nothing."""
    work = _Import(keep_partial=keep_partial)
    found = [path for given in files for path in work.look_up(given)]
    try:
        with ExitStack() as stack:
            opened = cache(lambda: stack.enter_context(open_ledger(common, write=True)))
            if found and (common.ledger.exists() or not common.ledger.absolute().parent.is_dir()):
                opened()  # what cannot be opened or made is said once, and not of every file
            work.bring_in(opened, found, color=common.color)
    finally:
        print_rows(work.rows, COLUMNS, common, optional=_OPTIONAL)
    if work.rows and common.output is Output.TEXT and sys.stderr.isatty():
        say(f"next: {common.next_command('why', work.rows[-1]['run_id'])}")
    if work.status:
        raise typer.Exit(work.status)


def transcripts(path: Path) -> list[Path]:
    """Return a file as it is, and of a folder every ``*.jsonl`` below it, sorted.

    Raises:
        TranscriptError: there is nothing at the path, or no transcript in the folder.
    """
    if path.is_dir():
        found = sorted(below for below in path.rglob("*.jsonl") if not below.is_dir())
        if not found:
            raise TranscriptError(f"{path}: expected transcripts (*.jsonl) in this folder, found none")
        return found
    if not os.path.lexists(path) and str(path) == "-":
        raise TranscriptError("standard input cannot be imported, as each file is read twice; name a file")
    if not os.path.lexists(path):
        raise TranscriptError(f"{path}: expected a transcript or a folder of them, found no such file")
    return [path]


class _Import:
    """One call of the command: what came in, and the exit status of the first failure."""

    def __init__(self, *, keep_partial: bool) -> None:
        self.rows: list[dict[str, Any]] = []
        self.status = YES
        self._keep_partial = keep_partial

    def look_up(self, given: Path) -> list[Path]:
        try:
            return transcripts(given)
        except LedgerError as error:
            self._fail(error)
            return []

    def bring_in(self, opened: Callable[[], Store], files: Sequence[Path], *, color: bool) -> None:
        """Import the files; one that fails keeps no other out."""
        sizes = [2 * _size(file) for file in files]  # each file is read twice
        begun = 0
        with progress_bar(sum(sizes), color=color) as advance:
            for file, size in zip(files, sizes, strict=True):
                try:
                    self._bring_in_one(opened, file, advance, begun)
                except LedgerError as error:
                    self._fail(error)
                begun += size

    def _bring_in_one(self, opened: Callable[[], Store], file: Path, advance: Advance, begun: int) -> None:
        from ledger.dialects import DIALECTS
        from ledger.exchange.importing import read_transcript

        def tell(read: int) -> None:
            advance(file.name, begun + read)

        with read_transcript(file, DIALECTS, keep_partial=self._keep_partial, progress=tell) as bring_into:
            done = bring_into(opened())  # only a transcript makes a ledger
        if done.times_raised:
            times = "1 time" if done.times_raised == 1 else f"{done.times_raised} times"
            say(f"{file}: {times} went back, raised to the last one known")
        if done.torn is not None:
            say(
                f"{file}:{done.torn}: the last line is torn; it was kept, and the run left open; "
                "the whole file is then another run: import it into another ledger"
            )
        if done.stopped is not None:
            say(f"{done.stopped}; the lines before it were kept, and the run left open")
        self.rows.append(
            {
                "run_id": done.run.run_id,
                "outcome": done.outcome,
                "entries": done.entries,
                "appended": done.appended,
                "times_raised": done.times_raised,
                "torn": done.torn,
                "stopped": done.stopped,
                "file": printable(str(file)),
            }
        )

    def _fail(self, error: LedgerError) -> None:
        say(str(error))
        self.status = self.status or error.exit_status


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
