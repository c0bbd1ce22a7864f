"""``runledger note``: a remark on a run, kept in the log."""

import sys
import time
from getpass import getuser
from typing import Annotated

import typer

from cli.decisions import open_ledger
from cli.exits import say
from cli.options import Common, Output, RunArgument
from cli.render import print_rows
from cli.run_names import find_run
from ledger.core.json_reader import printable
from ledger.errors import InputError, UnavailableError, UsageError
from ledger.replay.replay import dialect_named

EXAMPLES = """Examples:

  runledger note run_1 "the provider confirmed the outage" --by ana

  cat remark.txt | runledger note @latest -"""

COLUMNS = ("run_id", "seq", "by", "text")

TEXT_LIMIT = 16 * 1024
NAME_LIMIT = 200


def note(
    common: Common,
    run: RunArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The remark; - for stdin.")],
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Whose remark it is. [default: your user name]")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also on a run that is not closed; this cuts its recorder off.")
    ] = False,
) -> None:
    """Add a remark to a run; it changes no decision, and stays like any other entry."""
    from ledger.core.observations import Note
    from ledger.log.remarks import append_remark, is_closed

    remark = Note(by=_name(by), text=_text(text))
    with open_ledger(common, write=True, create=False) as store:
        found = find_run(store, run)
        if not force and not is_closed(store, found.run_no):
            raise UnavailableError(
                f"run {found.run_id}: expected a run that is closed, found one that may still be "
                "recorded, and a note would cut its recorder off; wait, or use --force if it has none"
            )
        now = time.time_ns() // 1000
        entry = append_remark(store, found.run_no, dialect_named(found.dialect), remark, at=now)
    row = {"run_id": found.run_id, "seq": entry.seq, "by": remark.by, "text": remark.text}
    if common.output is Output.TEXT:
        say(f"noted as entry {entry.seq} of {found.run_id}")
    else:
        print_rows([row], COLUMNS, common)


def _text(given: str) -> str:
    text = printable(given) if given != "-" else _from_stdin()
    if not text.strip():
        raise (InputError if given == "-" else UsageError)("expected a remark, found none")
    if len(text.encode("utf-8")) > TEXT_LIMIT:
        raise UsageError(f"expected a remark of at most {TEXT_LIMIT} bytes, found a longer one")
    return text


def _from_stdin() -> str:
    body = sys.stdin.buffer.read(TEXT_LIMIT + 2)  # one more than may be, and a line feed
    try:
        return body.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        if error.end == len(body) > TEXT_LIMIT:
            return "x" * (TEXT_LIMIT + 1)
        raise InputError(
            f"standard input: expected text in UTF-8, found something else at byte {error.start}"
        ) from None


def _name(given: str | None) -> str:
    if given is None:
        try:
            given = getuser()
        except (KeyError, OSError):
            raise UsageError("expected --by, since the system does not say who you are") from None
    name = printable(given)
    if not 0 < len(name.strip()) <= NAME_LIMIT:
        raise UsageError(
            f"expected --by to be a name of at most {NAME_LIMIT} characters, found {name[:20]!a}"
        )
    return name
