"""``runledger export``: runs out of the ledger, as transcripts."""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from cli.decisions import open_ledger
from cli.exits import say
from cli.options import Common, Output
from cli.render import Row, print_rows
from cli.run_names import find_run
from ledger.core.json_reader import printable
from ledger.errors import DiskError, UsageError
from ledger.log.store import RunRow, Store

EXAMPLES = """Examples:

  runledger export run_1 run_1.jsonl.zst

  runledger export run_1 run_2 transcripts/"""

COLUMNS = ("run_id", "entries", "file")
FILE_ENDINGS = (".jsonl", ".gz", ".zst")

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_STEM = 200


def export(
    common: Common,
    runs_and_dest: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [DEST]",
            help="Runs, then a folder, a name that ends in .jsonl, .gz or .zst, or - for stdout. "
            "[default: this folder]",
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write runs as transcripts; importing one again gives the same log, byte for byte."""
    names, dest = split_dest(runs_and_dest)
    is_one_file = dest == "-" or dest.endswith(FILE_ENDINGS)
    with open_ledger(common) as store:
        runs = list({run.run_no: run for run in (find_run(store, name) for name in names)}.values())
        if is_one_file and len(runs) > 1:
            raise UsageError(f"expected a folder for {len(runs)} runs, found {dest}, which holds one")
        if dest == "-":
            _export(store, runs[0], sys.stdout.buffer)
            return
        paths = [Path(dest)] if is_one_file else [Path(dest) / file_name(run.run_id) for run in runs]
        for path in paths:
            _check_free(path, paths, force=force)
        rows: list[Row] = []
        for run, path in zip(runs, paths, strict=True):
            entries = write_transcript(store, run, path, force=force)
            say(f"wrote {path}")
            rows.append({"run_id": run.run_id, "entries": entries, "file": printable(str(path))})
    if common.output is not Output.TEXT:
        print_rows(rows, COLUMNS, common)


def split_dest(words: list[str]) -> tuple[list[str], str]:
    """Tell the runs from the destination: the last word is one if it is ``-``, a folder or a file's name."""
    last = words[-1]
    is_dest = last == "-" or last.endswith((*FILE_ENDINGS, "/")) or Path(last).is_dir()
    if len(words) > 1 and is_dest:
        return words[:-1], last
    return words, "."


def file_name(run_id: str) -> str:
    """Return the name of a run's transcript: no path, no dot file, nothing that a shell reads."""
    safe = _UNSAFE.sub("_", run_id)[:_LONGEST_STEM]
    return f"{'_' if safe.startswith(('.', '-')) else ''}{safe}.jsonl"


def write_transcript(store: Store, run: RunRow, path: Path, *, force: bool) -> int:
    """Write a run to a file: all of it under a temporary name, then in place at once.

    A name that ends in ``.gz`` or ``.zst`` is packed; the same run is packed into the same bytes.

    Returns:
        How many entries it has.

    Raises:
        UsageError: the file is there already, and it was not to be written over.
        DiskError: the file system refused.
    """
    from ledger.exchange.packing import Packing, packed

    packing = next((one for one in Packing if one and path.name.endswith(one)), Packing.PLAIN)
    partial = path.with_name(f".runledger-{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as out, packed(out, packing) as packer:
            entries = _export(store, run, packer)
        _check_free(path, [path], force=force)  # again: somebody may have made it meanwhile
        partial.replace(path)
    except OSError as error:
        raise DiskError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            partial.unlink()
    return entries


def _check_free(path: Path, paths: list[Path], *, force: bool) -> None:
    if paths.count(path) > 1:
        raise UsageError(f"two of these runs would be written to {path}; export them one by one")
    if not force and os.path.lexists(path):
        raise UsageError(f"{path} is there already; use --force to write over it")


def _export(store: Store, run: RunRow, out: BinaryIO) -> int:
    from ledger.exchange.exporting import export_run

    return export_run(store, run, out)
