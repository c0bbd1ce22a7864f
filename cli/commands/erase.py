"""``runledger erase``: take what entries say out of the ledger, for good."""

import sys
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated, Any

import msgspec
import typer

from cli.decisions import open_ledger
from cli.erase_page import write_plan
from cli.erasing import (
    ENTRIES_AT_ONCE,
    MENTIONS_TOLD,
    Erasing,
    MentionTold,
    Wanted,
    choose,
    foresee,
    mentions,
    read_ranges,
)
from cli.exits import NO, say
from cli.options import RUN_NAMES, Common, Output
from cli.page import count_of, some_of
from cli.progress import progress_bar
from cli.render import print_json, print_rows, print_text
from cli.rulesets import RulesetFinder, keep_rulesets
from cli.run_names import find_run
from ledger.core.json_reader import printable
from ledger.core.mentions import KeyNamed, canonical_key
from ledger.errors import DiffersError, NotFoundError, UnavailableError, UsageError
from ledger.log.store import RunRow, Store
from ledger.replay.replay import dialect_named

EXAMPLES = """Examples:

  runledger erase run_1 --stream messages --key msg_3 --reason "asked to by the owner" --dry-run

  runledger erase --everywhere --stream contacts --key c_81 --reason "right to erasure, case 12" --yes"""

COLUMNS = ("run_id", "erased", "account", "status_before", "status_after")
REASON_LIMIT = 1000
SHOWN = 10


def erase(
    common: Common,
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help=RUN_NAMES)] = None,
    entries: Annotated[
        str | None, typer.Option("--entries", metavar="LIST", help="These entries: 5,7-9.")
    ] = None,
    stream: Annotated[
        str | None, typer.Option("--stream", metavar="STREAM", help="The records of this stream.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", metavar="KEY", help='Only those with this key; a compound one as JSON: ["a","b"].'
        ),
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="In every run of the ledger; needs --stream and --key.")
    ] = False,
    reason: Annotated[
        str | None,
        typer.Option("--reason", metavar="TEXT", help="Why; it is kept, so it must not say what is erased."),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also in a run that is not closed, or where it hides why a run was not a success."
        ),
    ] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="Only leave no bytes of what was erased before in the files.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be erased and what it changes; do nothing.")
    ] = False,
) -> None:
    """Erase what lines of a run say, all or some: their bytes leave the ledger's files, their hashes stay."""
    if finish:
        _finish(common, is_alone=not (run or entries or stream or key or everywhere or dry_run))
        return
    wanted = _wanted(run, entries, stream, key, everywhere=everywhere)
    why = _reason(reason, wanted, needed=not dry_run)
    with open_ledger(common, write=not dry_run, create=False) as store:
        asked = list(store.runs()) if everywhere else [find_run(store, run or "")]
        ruleset = RulesetFinder(store, common.ruleset)
        plan, named, total, erased_before = _plan(store, asked, wanted, common, ruleset)
        if not plan and not erased_before:
            raise NotFoundError(_nothing_there(wanted, run))
        if common.output is Output.TEXT:
            write_plan(page := common.page(), plan, named, total, wanted)
            print_text(page.text())
        if not dry_run:
            _check_may(store, plan, force=force, yes=yes)
        accounts = {one.run.run_no: _erase(store, one, why) for one in plan if not dry_run}
        if common.output is not Output.TEXT:
            rows = [_row(one, accounts.get(one.run.run_no, []), is_done=not dry_run) for one in plan]
            _print_rows(rows, named, total, common)
        if not dry_run:
            _scrub(store, plan, total)
            keep_rulesets(common, ruleset.used.values())


def _finish(common: Common, *, is_alone: bool) -> None:
    """Leave nothing of what was erased before in the files.

    Raises:
        UsageError: something is to be erased beside it.
    """
    if not is_alone:
        raise UsageError("expected --finish alone, as it erases nothing more")
    with open_ledger(common, write=True, create=False) as store:
        store.scrub()
    say("nothing of what was erased is left in the ledger's files")


def _wanted(
    run: str | None, entries: str | None, stream: str | None, key: str | None, *, everywhere: bool
) -> Wanted:
    """Read what is to be erased.

    Raises:
        UsageError: it is said twice, or not enough.
    """
    if everywhere == (run is not None):
        raise UsageError("expected a RUN, or --everywhere and no RUN; `runledger runs` lists the runs")
    if everywhere and (stream is None or key is None):
        raise UsageError("expected --stream and --key beside --everywhere, so that not all is erased")
    if entries is not None and stream is not None:
        raise UsageError("expected --entries or --stream, found both; run it twice")
    if key is not None and stream is None:
        raise UsageError("expected --stream beside --key; a key is one of a stream's")
    ranges = read_ranges(entries) if entries is not None else ()
    return Wanted(ranges, stream, canonical_key(key) if key is not None else None)


def _reason(reason: str | None, wanted: Wanted, *, needed: bool) -> str:
    """Read the reason, which stays in the log.

    Raises:
        UsageError: there is none, it is too long, or it names the key that is to be erased.
    """
    text = printable(reason or "").strip()
    if needed and not text:
        raise UsageError("expected --reason TEXT: why it is erased stays in the log")
    if len(text) > REASON_LIMIT:
        raise UsageError(f"expected a reason of at most {REASON_LIMIT} characters, found {len(text)}")
    if wanted.key is not None and KeyNamed(wanted.key).names(text):
        raise UsageError("expected a reason that does not name the key, as the reason stays in the log")
    return text


def _plan(
    store: Store, asked: Sequence[RunRow], wanted: Wanted, common: Common, ruleset: RulesetFinder
) -> tuple[list[Erasing], list[MentionTold], int, int]:
    """Return what is to be erased run by run, the first mentions and how many, and what was erased before."""
    plan: list[Erasing] = []
    named: list[MentionTold] = []
    total = done = erased_before = 0
    sizes = [store.size(run.run_no) for run in asked]
    with progress_bar(sum(sizes), color=common.color, counts_entries=True) as advance:
        for run, size in zip(asked, sizes, strict=True):
            advance(run.run_id, done)
            entries, erased = choose(store, run, wanted)
            erased_before += erased
            if entries:
                plan.append(foresee(store, run, entries, ruleset(run)))
            for mention in mentions(store, run, entries, wanted):
                total += 1
                if len(named) < MENTIONS_TOLD:
                    named.append(mention)
            done += size
    return plan, named, total, erased_before


def _nothing_there(wanted: Wanted, run: str | None) -> str:
    what = "an entry with a body"
    if wanted.stream is not None:
        what = f"a record of the stream {wanted.stream!r}"
        what += f" with the key {wanted.key!r}" if wanted.key is not None else ""
    where = "in any run" if run is None else f"in the run {run!r}"
    if wanted.key is None:
        return f"expected {what} {where}, found none; `runledger log RUN` lists the entries"
    return (
        f"expected {what} {where}, found none; one that was erased before has no key any more, and "
        "`runledger erase --finish` makes sure of its bytes"
    )


def _check_may(store: Store, plan: Sequence[Erasing], *, force: bool, yes: bool) -> None:
    """Refuse what only force does, and ask."""
    if not force:
        _check_closed(store, plan)
        _check_hides_nothing(plan)
    _ask(plan, yes=yes)


def _check_closed(store: Store, plan: Sequence[Erasing]) -> None:
    """Refuse to write behind the last entry of a run that somebody may be recording.

    Raises:
        UnavailableError: a run is not closed.
    """
    from ledger.log.remarks import is_closed

    still = [one.run.run_id for one in plan if not is_closed(store, one.run.run_no)]
    if still:
        raise UnavailableError(
            f"expected runs that are closed, found {some_of(still[:SHOWN], len(still))} open: erasing would "
            "cut a recorder off; wait, or use --force if there is none"
        )


def _check_hides_nothing(plan: Sequence[Erasing]) -> None:
    """Refuse to turn a decision round: what an erased line broke cannot be seen once it is erased.

    Raises:
        DiffersError: a run or a checkpoint would be decided otherwise, and not only left open.
    """
    turned = [one.run.run_id for one in plan if one.change.hides]
    if turned:
        raise DiffersError(
            f"expected decisions that stay or are left open, found {some_of(turned[:SHOWN], len(turned))} "
            "decided otherwise without these entries, which hides why; note it first with `runledger note`, "
            "and use --force if they must go"
        )


def _ask(plan: Sequence[Erasing], *, yes: bool) -> None:
    """Ask before the first entry is erased.

    Raises:
        UsageError: nobody is there to be asked.
        typer.Exit: the answer is no.
    """
    if yes or not plan:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "expected --yes, as nobody is there to be asked; --dry-run only says what it would do"
        )
    entries = count_of(sum(len(one.entries) for one in plan), "entry", "entries")
    if not typer.confirm(f"Erase {entries} for good?", default=False, err=True):
        say("nothing was erased")
        raise typer.Exit(NO)


def _erase(store: Store, erasing: Erasing, reason: str) -> list[int]:
    """Erase what is to be erased of one run; return the entries that give account of it."""
    from ledger.log.remarks import erase_entries

    accounts: list[int] = []
    run, waiting = erasing.run, iter(erasing.entries)
    while some := list(islice(waiting, ENTRIES_AT_ONCE)):
        now = time.time_ns() // 1000
        account = erase_entries(store, run.run_no, dialect_named(run.dialect), some, reason, at=now)
        accounts += [account.seq] if account is not None else []
    return accounts


def _row(erasing: Erasing, accounts: list[int], *, is_done: bool) -> dict[str, Any]:
    change = erasing.change
    return {
        "run_id": erasing.run.run_id,
        "done": is_done,
        "erased": len(erasing.entries),
        "entries": erasing.entries,
        "account": accounts,
        "status_before": change.status_before,
        "status_after": change.status_after,
        "checkpoints": [msgspec.structs.asdict(one) for one in change.checkpoints],
    }


def _print_rows(
    rows: Iterable[dict[str, Any]], named: Sequence[MentionTold], total: int, common: Common
) -> None:
    if common.output is Output.JSON:
        print_json({"runs": list(rows), "named_by": named, "named_by_total": total})
        return
    print_rows(rows, COLUMNS, common)
    if total:
        entries = count_of(total, "other entry names", "other entries name")
        say(f"{entries} what is erased, and stays; -o json lists the first {MENTIONS_TOLD}")


def _scrub(store: Store, plan: Sequence[Erasing], total: int) -> None:
    """Leave nothing in the files, and say so; what was erased is told before, as this may fail."""
    sys.stdout.flush()
    store.scrub()
    count = sum(len(one.entries) for one in plan)
    done = f"erased {count_of(count, 'entry', 'entries')}" if count else "nothing more to erase"
    still = f"; {count_of(total, 'entry that names it stays', 'entries that name it stay')}" if total else ""
    say(f"{done}; nothing of the erased entries is left in the ledger's files{still}")
