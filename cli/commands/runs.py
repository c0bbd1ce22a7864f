"""``runledger runs``: the runs of a ledger."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated

import typer

from cli.decisions import decide_run, open_ledger
from cli.exits import say
from cli.options import Common
from cli.page import some_of
from cli.progress import counter
from cli.render import Row, print_rows
from cli.rulesets import RulesetFinder, keep_rulesets
from cli.run_names import is_called, short_program
from cli.times import read_time
from ledger.core.decision import Checkpoint, Decision
from ledger.core.dialect import Ruleset
from ledger.core.instants import write_micros
from ledger.dialects import DIALECTS
from ledger.log.store import RunRow, Store

EXAMPLES = """Examples:

  runledger runs --withheld

  runledger runs --differs --program groupme --since 90d --depth 0 -o json"""

COLUMNS = ("run_id", "program", "opened", "status", "cause", "checkpoints", "accepted", "via")

PROGRAMS_NAMED = 10

DEPTH = 300
"""Runs that are decided in search of those asked for: what can be waited for without thinking about it."""

_AGAINST = "committed against the rules"
_FATES = ("committed", "commit", "failed", "not attempted", _AGAINST, "withhold", "pending", "indeterminate")


class Status(StrEnum):
    """How a run stands; the statuses of a decision."""

    RUNNING = "running"
    REFUSED = "refused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"
    INDETERMINATE = "indeterminate"


def runs(
    common: Common,
    program: Annotated[
        str | None,
        typer.Option(
            "--program", metavar="PROGRAM", help="Only of this program: its id, or the id's last part."
        ),
    ] = None,
    status: Annotated[Status | None, typer.Option("--status", help="Only with this status.")] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Only opened since: 2026-11-05, an instant, or 7d, 12h."
        ),
    ] = None,
    withheld: Annotated[
        bool, typer.Option("--withheld", help="Only with a checkpoint that is withheld.")
    ] = False,
    differs: Annotated[
        bool, typer.Option("--differs", help="Only where what was done is against the rules.")
    ] = False,
    limit: Annotated[
        int, typer.Option("-n", "--limit", metavar="NUMBER", min=0, help="How many, at most; 0 for all.")
    ] = 20,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="NUMBER",
            min=0,
            help=f"How many runs to look at, at most; 0 for all. [default: {DEPTH}; with -n 0 all]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the runs, newest first, with what the rules say of each."""
    after = None if since is None else read_time(since, time.time())
    with open_ledger(common) as store:
        asked = (run for run in store.runs(since=after) if program is None or is_called(run, program))

        def is_asked(row: Row) -> bool:
            return (
                (status is None or row["status"] == status)
                and (not withheld or row["withheld"] > 0)
                and (not differs or row["discrepancies"] > 0)
            )

        if depth is None:
            depth = max(limit, DEPTH) if limit else 0
        ruleset = RulesetFinder(store, common.ruleset)
        print_rows(_newest(store, asked, limit, depth, ruleset, is_asked), COLUMNS, common)
    keep_rulesets(common, ruleset.used.values())


def _newest(
    store: Store,
    runs: Iterator[RunRow],
    limit: int,
    depth: int,
    ruleset: Callable[[RunRow], Ruleset],
    is_asked: Callable[[Row], bool],
) -> Iterator[Row]:
    """Yield the rows that are asked for, newest first, and say where that is not all there may be.

    Each run is decided, so the search ends with the last row that is wanted, or at a depth (0 for none).
    """
    shown = 0
    with counter() as count:
        for looked_at, run in enumerate(runs):
            if limit and shown == limit:
                count.clear()
                say(f"there may be more: these are the newest {limit}; --limit 0 shows all")
                return
            if depth and looked_at == depth:
                count.clear()
                say(f"looked at the newest {depth} runs, and not at older ones; --depth 0 looks at all")
                return
            count.show(f"looked at {looked_at} runs")
            is_read = run.dialect in DIALECTS
            row = _row(run, decide_run(store, run, ruleset(run))) if is_read else _unread_row(run)
            if is_asked(row):
                shown += 1
                count.clear()
                yield row
    if not shown:
        say(_nothing_like_that(store))


def _nothing_like_that(store: Store) -> str:
    programs = sorted({short_program(run.program) for run in store.runs()})
    if not programs:
        return "the ledger holds no run"
    named = some_of(programs[:PROGRAMS_NAMED], len(programs))
    return f"no run is like that; the ledger holds runs of {named}"


def _unread_row(run: RunRow) -> Row:
    """Return what was fixed at its opening of a run whose dialect this version does not know."""
    nothing = dict.fromkeys(
        ("cause", "checkpoints", "staged", "eligible", "committed", "accepted", "entries")
    )
    counts = {"withheld": 0, "discrepancies": 0}
    return {**_fixed(run), "status": f"unread ({run.dialect})", **nothing, **counts, "via": run.via}


def _fixed(run: RunRow) -> Row:
    return {
        "run_id": run.run_id,
        "program": short_program(run.program),
        "program_id": run.program,
        "namespace": run.namespace or None,
        "opened": write_micros(run.opened_at)[:19] + "Z" if run.opened_at else None,
    }


def _row(run: RunRow, decision: Decision) -> Row:
    fates = Counter(_fate(checkpoint) for checkpoint in decision.checkpoints)
    return {
        **_fixed(run),
        "status": decision.status,
        "cause": decision.cause.code if decision.cause else None,
        "checkpoints": ", ".join(f"{fates[one]} {one}" for one in _FATES if fates[one]) or "none",
        "staged": decision.commit.staged,
        "eligible": decision.commit.eligible,
        "committed": decision.commit.committed,
        "withheld": sum(checkpoint.decision == "withhold" for checkpoint in decision.checkpoints),
        "discrepancies": len(decision.discrepancies),
        "accepted": sum(records.accepted for records in decision.records),
        "entries": decision.through,
        "via": run.via,
    }


def _fate(checkpoint: Checkpoint) -> str:
    """Return what became of a checkpoint that the rules commit, where it is recorded; else what they say."""
    if checkpoint.decision == "commit" and checkpoint.outcome is not None:
        return checkpoint.outcome.replace("_", " ")
    return _AGAINST if checkpoint.outcome == "committed" else checkpoint.decision
