"""``runledger heads``: what to keep elsewhere, so that nobody can rewrite a history unseen."""

from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
import typer

from cli.decisions import open_ledger
from cli.options import Common, Output
from cli.render import Row, print_rows
from cli.run_names import find_run
from ledger.core.json_reader import printable
from ledger.log.store import RunRow, Store, root_of

EXAMPLES = """Examples:

  runledger heads > heads.jsonl

  runledger heads run_1 --all"""

COLUMNS = ("run_id", "size", "root")


def heads(
    common: Common,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Of these runs; left out: of all.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every head of a run, not only the newest.")] = False,
) -> None:
    """Print the tree heads, one JSON line each: keep them out of reach of who can change the ledger."""
    lines = msgspec.structs.replace(common, output=Output.JSONL) if common.output is Output.TEXT else common
    with open_ledger(common) as store:
        found = [find_run(store, name) for name in runs] if runs else store.runs_as_appended()
        print_rows(_heads(store, found, newest_only=not every), COLUMNS, lines)


def _heads(store: Store, runs: Iterable[RunRow], *, newest_only: bool) -> Iterator[Row]:
    for run in runs:
        newest = store.head(run.run_no)
        for head in filter(None, [newest]) if newest_only else store.heads(run.run_no):
            yield {"run_id": printable(run.run_id), "size": head.size, "root": root_of(run, head).hex()}
