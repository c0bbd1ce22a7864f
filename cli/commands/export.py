"""``runledger export``: runs out of the ledger, as transcripts."""

import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.decisions import open_ledger
from cli.exits import say
from cli.options import Common
from cli.run_names import find_run
from ledger.errors import DiskError, UsageError
from ledger.log.store import RunRow, Store

EXAMPLES = """Examples:

  runledger export @latest -

  runledger export run_1 run_2 transcripts/"""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def export(
    common: Common,
    runs_and_dest: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [DEST]",
            help="Runs, then a folder, a name that ends in .jsonl, or - for stdout. [default: this folder]",
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write runs as transcripts; importing one again gives the same log, byte for byte."""
    names, dest = split_dest(runs_and_dest)
    with open_ledger(common) as store:
        runs = [find_run(store, name) for name in names]
        if dest == "-":
            for run in runs:
                _export(store, run, sys.stdout.buffer)
            return
        if len(runs) > 1 and dest.endswith(".jsonl"):
            raise UsageError(f"expected a folder for {len(runs)} runs, found the file {dest}")
        for run in runs:
            path = (
                Path(dest)
                if dest.endswith(".jsonl")
                else Path(dest) / f"{_UNSAFE.sub('_', run.run_id)}.jsonl"
            )
            write_transcript(store, run, path, force=force)
            say(f"wrote {path}")


def split_dest(words: list[str]) -> tuple[list[str], str]:
    """Tell the runs from the destination: the last word is one if it is ``-``, a folder or a ``.jsonl``."""
    last = words[-1]
    is_dest = last == "-" or last.endswith((".jsonl", "/")) or Path(last).is_dir()
    if len(words) > 1 and is_dest:
        return words[:-1], last
    return words, "."


def write_transcript(store: Store, run: RunRow, path: Path, *, force: bool) -> None:
    """Write a run to a file: all of it under a temporary name, then in place at once."""
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; use --force to write over it")
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as out:
            _export(store, run, out)
        partial.replace(path)
    except OSError as error:
        raise DiskError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def _export(store: Store, run: RunRow, out: Any) -> None:
    from ledger.exchange.exporting import export_run

    export_run(store, run, out)
