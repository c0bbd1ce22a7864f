"""``runledger recompute``: the whole history decided again, and what would have been decided otherwise."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cli.decisions import open_ledger
from cli.exits import NO, say
from cli.options import Common, Output
from cli.progress import progress_bar
from cli.rulesets import any_ruleset, keep_rulesets, known_rulesets
from cli.run_filter import FILTER_HELP, filtered_runs
from cli.signals import Ended
from ledger.errors import BusyError, DiskError, IntegrityError, UnavailableError
from ledger.replay.rulesets import RECORDED

if TYPE_CHECKING:
    from cli.recomputing import Recomputed
    from ledger.log.decision_cache import DecisionCache
    from ledger.recompute.workers import Folding

EXAMPLES = """Examples:

  runledger recompute --ruleset collection-profile/0.2.0

  runledger recompute --against collection-profile/0.1.0+reference --runs program=groupme,since=90d"""

ALL = sys.maxsize
WORTH_PROCESSES = 200_000
"""Entries below which starting processes takes longer than folding."""


def recompute(
    common: Common,
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="RULESET",
            help="The old rules; recorded: those that each run was decided under.",
        ),
    ] = RECORDED,
    runs: Annotated[list[str] | None, typer.Option("--runs", metavar="FILTER", help=FILTER_HELP)] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="NUMBER",
            min=1,
            help="Processes that fold. [default: one a core; one for little work]",
            show_default=False,
        ),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Fold everything, and hold it against the decisions that are kept."),
    ] = False,
    twice: Annotated[
        bool, typer.Option("--twice", help="Fold twice, with different hash seeds, and compare the bytes.")
    ] = False,
    limit: Annotated[
        int,
        typer.Option(
            "-n", "--limit", metavar="NUMBER", min=0, help="How many of a group to print; 0 for all."
        ),
    ] = 5,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 when anything is decided otherwise.")
    ] = False,
) -> None:
    """Decide every run again, and print what would have been decided otherwise: which, why and how far."""
    recomputed = _decide_again(
        common,
        _Asked(
            against=against, runs=runs or (), jobs=jobs, is_proof=no_cache, twice=twice, shown=limit or ALL
        ),
    )
    for line in recomputed.warnings(has_page=common.output is Output.TEXT):
        say(line)
    if recomputed.is_broken:
        raise typer.Exit(IntegrityError.exit_status)
    if recomputed.twice_differing.total or (exit_code and recomputed.flips):
        raise typer.Exit(NO)


class _Asked(NamedTuple):
    """What the options say; ``shown`` is how many of a group are printed."""

    against: str
    runs: Sequence[str]
    jobs: int | None
    is_proof: bool
    twice: bool
    shown: int


def _decide_again(common: Common, asked: _Asked) -> "Recomputed":
    """Decide again what is asked for, and print what comes of it."""
    from cli.recompute_page import print_recomputed
    from cli.recomputing import Recomputed
    from ledger.recompute.choosing import Choice
    from ledger.recompute.recomputation import Recomputation
    from ledger.recompute.twice import Twice

    with ExitStack() as kept, ExitStack() as held:  # who writes closes last, and takes the WAL away
        store = held.enter_context(open_ledger(common))
        after = any_ruleset(store, common.ruleset).ruleset if common.ruleset is not None else None
        before = any_ruleset(store, asked.against).ruleset if asked.against != RECORDED else None
        total = sum(store.size(run.run_no) for run in filtered_runs(store, asked.runs))
        folding = held.enter_context(closing(_folding(common, asked, total)))
        cache, unkept = _cache(common, asked, kept)
        recomputation = Recomputation(
            store,
            Choice(after, before, lambda: known_rulesets(store)[0]),
            folding,
            cache=cache,
            unkept=unkept,
            is_proof=asked.is_proof,
        )
        folded_twice = folding if isinstance(folding, Twice) else None
        recomputed = Recomputed(recomputation, shown=asked.shown, twice=folded_twice)
        try:
            with progress_bar(total, color=common.color, counts_entries=True) as advance:
                rows = recomputed.rows(filtered_runs(store, asked.runs), advance)
                print_recomputed(common, recomputed, rows)
            keep_rulesets(common, (after, before))
        except (KeyboardInterrupt, Ended, UnavailableError):
            say(recomputed.stopped(is_kept=cache is not None and not asked.is_proof))
            raise
    return recomputed


def _folding(common: Common, asked: _Asked, total: int) -> "Folding":
    """Return where to fold so many entries."""
    from ledger.recompute.twice import Twice
    from ledger.recompute.workers import Workers, usable_cores

    jobs = asked.jobs or (usable_cores() if total >= WORTH_PROCESSES else 1)
    return Twice(common.ledger, jobs) if asked.twice else Workers(common.ledger, jobs)


def _cache(common: Common, asked: _Asked, kept: ExitStack) -> "tuple[DecisionCache | None, str]":
    """Open what the ledger keeps, and say why nothing more can be kept; what is there is taken all the same.

    Who folds twice wants to see everything folded: nothing is taken, and nothing kept.
    """
    from ledger.log.decision_cache import DecisionCache

    if asked.twice and not asked.is_proof:
        return None, ""
    unkept = ""
    if not asked.is_proof:
        try:
            return kept.enter_context(DecisionCache.open(common.ledger, read_only=False)), ""
        except (DiskError, BusyError) as error:
            unkept = str(error)
    return kept.enter_context(DecisionCache.open(common.ledger, read_only=True)), unkept
