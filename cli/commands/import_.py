"""``runledger import``: transcripts and captures into the ledger."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.decisions import open_ledger
from cli.documents import STDIN, read_document
from cli.exits import YES, say
from cli.options import Common, Output
from cli.page import count_of, entries_of
from cli.progress import Advance, progress_bar
from cli.render import print_rows
from cli.sizes import read_size
from ledger.core.json_reader import Malformed, printable, read_json
from ledger.errors import (
    BusyError,
    DiskError,
    InputError,
    LedgerError,
    ManifestError,
    TranscriptError,
    UsageError,
)
from ledger.log.store import Store

if TYPE_CHECKING:
    from ledger.exchange.captures import Known
    from ledger.exchange.importing import Imported

EXAMPLES = """Examples:

  runledger import run.jsonl

  runledger -l audit.db import sample_runs other/run.jsonl.zst

  connector | runledger import - --manifest manifest.json --start start.json"""

COLUMNS = ("run_id", "outcome", "entries", "appended", "times_raised", "cut", "torn", "stopped", "file")
_OPTIONAL = ("appended", "times_raised", "cut", "torn", "stopped")

FOUND_IN_FOLDERS = ("*.jsonl", "*.jsonl.gz", "*.jsonl.zst")

_SHORTEST_LIMIT = 4096
_LONGEST_LIMIT = 512 * 1024 * 1024


class Why(StrEnum):
    """Why a run was started."""

    PROACTIVE = "proactive"
    CONTINUOUS = "continuous"
    SINGLE_USE = "single_use"


def import_(
    common: Common,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Transcripts or captures, plain, gzip or zstd; folders of them; - for stdin.",
            readable=False,
        ),
    ],
    keep_partial: Annotated[
        bool, typer.Option("--keep-partial", help="Keep the lines before the first that cannot be read.")
    ] = False,
    max_line: Annotated[
        str,
        typer.Option("--max-line", metavar="BYTES", help="Of a longer wire line only the beginning is kept."),
    ] = "16MiB",
    manifest: Annotated[
        Path | None,
        typer.Option("--manifest", metavar="FILE", help="Of a capture: the manifest.", readable=False),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--start", metavar="FILE", help="Of a capture: the START that was sent.", readable=False
        ),
    ] = None,
    trigger: Annotated[
        Why | None, typer.Option("--trigger", help="Of a capture: why it ran. [default: proactive]")
    ] = None,
    grant_id: Annotated[
        str | None,
        typer.Option("--grant-id", metavar="ID", help="Of a capture: the grant that it ran under."),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option("--run-id", metavar="ID", help="Of one capture: its run id. [default: from its bytes]"),
    ] = None,
) -> None:
    """Bring transcripts and captures into the ledger; the same one again changes nothing."""
    if [*files, manifest, start].count(STDIN) > 1:
        raise UsageError("expected - once at most, found it twice: standard input can be read once")
    limit = read_size(max_line, option="--max-line", least=_SHORTEST_LIMIT, most=_LONGEST_LIMIT)
    if run_id is not None and (len(files) > 1 or files[0].is_dir()):
        raise UsageError("expected one capture with --run-id, found more; import them one by one")
    known = _known(manifest, start, trigger, grant_id, run_id)
    work = _Import(keep_partial=keep_partial, max_line=limit, known=known)
    found = [path for given in files for path in work.look_up(given)]
    try:
        with ExitStack() as stack:
            opened = cache(lambda: stack.enter_context(open_ledger(common, write=True)))
            if found and os.path.exists(common.ledger):  # it raises nothing
                opened()  # what cannot be opened is said before anything is read
            work.bring_in(opened, found, color=common.color)
    finally:
        print_rows(work.rows, COLUMNS, common, optional=_OPTIONAL)
    if work.rows and common.output is Output.TEXT and sys.stderr.isatty():
        say(f"next: {common.next_command('why', work.rows[-1]['run_id'])}")
    if work.status:
        raise typer.Exit(work.status)


def transcripts(path: Path) -> list[Path]:
    """Return a file as it is, and of a folder all transcripts below it by name, sorted.

    Raises:
        TranscriptError: there is nothing at the path, or no transcript in the folder.
    """
    if path == STDIN:
        return [path]
    if path.is_dir():
        found = sorted(
            {
                below
                for name in FOUND_IN_FOLDERS
                for below in path.rglob(name)
                if not (below.is_dir() or below.is_fifo())  # a pipe is read where it is named
            }
        )
        if not found:
            names = ", ".join(FOUND_IN_FOLDERS)
            raise TranscriptError(f"{path}: expected transcripts ({names}) in this folder, found none")
        return found
    if not os.path.lexists(path):
        raise TranscriptError(f"{path}: expected a transcript or a folder of them, found no such file")
    return [path]


def _known(
    manifest: Path | None, start: Path | None, trigger: Why | None, grant_id: str | None, run_id: str | None
) -> "Known | None":
    """Return what was said of a capture; None where nothing was."""
    from ledger.core.observations import Trigger
    from ledger.exchange.captures import Known, read_start

    if (manifest, start, trigger, grant_id, run_id) == (None,) * 5:
        return None
    kind = trigger or Why.PROACTIVE
    if kind is Why.CONTINUOUS and not grant_id:
        raise UsageError("expected --grant-id with --trigger continuous, found none")
    if kind is Why.PROACTIVE and grant_id is not None:
        raise UsageError("expected --trigger continuous or single_use with --grant-id, found a proactive one")
    if run_id is not None and (not run_id or printable(run_id) != run_id):
        raise UsageError(f"expected --run-id to be some text, found {run_id!a}")
    return Known(
        manifest=None if manifest is None else _manifest(manifest),
        start=None if start is None else read_start(read_document(start, InputError), str(start)),
        trigger=Trigger(kind=kind.value, grant_id=grant_id),
        run_id=run_id,
    )


def _manifest(file: Path) -> bytes:
    """Read a manifest; one that is wrong is kept, as the run was refused for it, but a wire line is none.

    Raises:
        ManifestError: it is no JSON object, or a wire line, such as the START.
    """
    body = read_document(file).strip()
    if _is_message(body):
        raise ManifestError(f"{file}: expected a manifest, found a wire line; --start takes the START")
    return body


def _is_message(body: bytes) -> bool:
    document = read_json(body)
    value = None if isinstance(document, Malformed) else document.value
    return isinstance(value, dict) and "type" in value and "streams" not in value


class _Unusable(Exception):
    """The ledger cannot be opened or made."""

    def __init__(self, error: LedgerError) -> None:
        super().__init__(error)
        self.error = error


class _Import:
    """One call of the command: what came in, and the exit status of the first failure."""

    def __init__(self, *, keep_partial: bool, max_line: int, known: "Known | None") -> None:
        self.rows: list[dict[str, Any]] = []
        self.status = YES
        self._keep_partial = keep_partial
        self._max_line = max_line
        self._known = known

    def look_up(self, given: Path) -> list[Path]:
        try:
            return transcripts(given)
        except LedgerError as error:
            self._fail(error)
            return []

    def bring_in(self, opened: Callable[[], Store], files: Sequence[Path], *, color: bool) -> None:
        """Import the files; one that fails keeps no other out, but a ledger that cannot be used does."""
        sizes = [2 * _size(file) for file in files]  # each file is read twice
        begun = 0
        with progress_bar(sum(sizes), color=color) as advance:
            for file, size in zip(files, sizes, strict=True):
                try:
                    self._bring_in_one(opened, file, advance, begun)
                except _Unusable as stop:
                    self._fail(stop.error)
                    return
                except LedgerError as error:
                    self._fail(error)
                    if isinstance(error, BusyError) or (isinstance(error, DiskError) and error.of_ledger):
                        return
                begun += size

    def _bring_in_one(self, opened: Callable[[], Store], file: Path, advance: Advance, begun: int) -> None:
        from ledger.dialects import DIALECTS
        from ledger.exchange.importing import read_transcript

        def tell(read: int) -> None:
            advance(file.name, begun + read)

        with read_transcript(
            file,
            DIALECTS,
            keep_partial=self._keep_partial,
            max_line=self._max_line,
            known=self._known,
            progress=tell,
        ) as bring_into:
            try:
                store = opened()  # only what can be read makes a ledger
            except LedgerError as error:
                raise _Unusable(error) from error
            done = bring_into(store)
        _say_what_is_odd(file, done, max_line=self._max_line)
        self.rows.append(
            {
                "run_id": done.run.run_id,
                "outcome": done.outcome,
                "entries": done.entries,
                "appended": done.appended,
                "times_raised": done.times_raised,
                "cut": done.cuts,
                "torn": done.torn,
                "stopped": done.stopped,
                "file": printable(str(file)),
            }
        )

    def _fail(self, error: LedgerError) -> None:
        say(str(error))
        self.status = self.status or error.exit_status


def _say_what_is_odd(file: Path, done: "Imported", *, max_line: int) -> None:
    if done.times_raised:
        say(f"{file}: {count_of(done.times_raised, 'time')} went back, raised to the last one known")
    if done.cuts:
        lines = count_of(done.cuts, "line")
        kept = "their beginnings were kept (--max-line allows more)"
        say(f"{file}: {lines} longer than {max_line} bytes; {kept}")
    if done.still_held:
        say(
            f"{file}: {entries_of(done.still_held)} of run {done.run.run_id}: erased in the file, and held "
            "by this ledger, where nothing was erased or added; an erasure must be asked for here too"
        )
    if done.runtime_line is not None:
        say(
            f"{file}: entry {done.runtime_line} is what a runtime sends; a capture holds one direction, so "
            "it was taken for the program's"
        )
    if done.torn is not None:
        say(
            f"{file}:{done.torn}: the last line is torn; it was kept, and the run left open; "
            "the whole file is then another run: import it into another ledger"
        )
    if done.stopped is not None:
        say(f"{done.stopped}; the lines before it were kept, and the run left open")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
