"""What was measured, as rows: rates, their ratios, and whether the targets are met."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

import msgspec

from tests.bench.history import LINES, RUNS, History
from tests.bench.large import LARGE_LINES, Large
from tests.bench.rounds import HAS_EVENTSOURCING, Timing

JUDGED_LINES = 10_000
"""Fewer lines say nothing: what is done once a run weighs too much."""

VERIFY_RATE = 150_000
PEAK_BYTES = 120_000_000
WHY_SECONDS = 4.0
RECOMPUTE_OF_LIMIT = 0.4
RECOMPUTE_VERSUS = 8.0
TWO_PROCESSES = 1.7
KEPT_SECONDS = 1.0
FLAT = 1.3
"""How much more memory ten times as many runs may take: what a longer list of pages costs, and noise."""


class Ratio(msgspec.Struct, frozen=True):
    """A rate as a multiple of another: the best rounds of both, and the median of the rounds' own ratios."""

    best: float
    median: float


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row.

    Attributes:
        what: what was measured.
        value: its best round, lines a second of CPU time, or what the row says instead.
        wall: the same by the clock, of the round in which that was best.
        limit: the limit that it is held against, '' for none.
        ratio: the part of that limit which it reaches.
        versus: how many times the rate of the package ``eventsourcing``.
        target: what is to be reached, '' for nothing.
        met: whether it is; None where there is no target, or the run was too short to say.
    """

    what: str
    value: str
    wall: str = ""
    limit: str = ""
    ratio: Ratio | None = None
    versus: Ratio | None = None
    target: str = ""
    met: bool | None = None


class _Spec(msgspec.Struct, frozen=True):
    what: str
    of: str = ""
    limit: str = ""
    rival: str = ""
    least_ratio: float = 0.0
    least_versus: float = 0.0
    least_rate: int = 0


_SPECS = (
    _Spec("typed decode", "decode"),
    _Spec("one SHA-256 a line", "sha256"),
    _Spec("append limit", "append limit"),
    _Spec("append", "append", "append limit", "eventsourcing append", 0.30, 2.3),
    _Spec("import", "import", "append limit", "eventsourcing append"),
    _Spec("eventsourcing append", "eventsourcing append", "append limit"),
    _Spec("fold limit", "fold limit"),
    _Spec("fold", "fold", "fold limit", "eventsourcing replay", 0.50, 7.0),
    _Spec("fold, narrowed", "fold narrowed", "fold limit", "eventsourcing replay"),
    _Spec("verify", "verify", "fold limit", least_rate=VERIFY_RATE),
    _Spec("export", "export", "fold limit"),
    _Spec("eventsourcing replay", "eventsourcing replay", "fold limit"),
)

_HEADINGS: tuple[str, ...] = (
    *("", "lines/s, CPU", "lines/s, wall", "of its limit", "× eventsourcing"),
    *("target", ""),
)


def make_rows(
    timings: dict[str, list[Timing]], n: int, large: Large | None, histories: Sequence[History] = ()
) -> list[Row]:
    """Return the rows of the table."""
    rows = [_row(spec, timings, n) for spec in _SPECS]
    if large is not None:
        rows += _large_rows(large)
    replays = timings.get("eventsourcing replay")
    replay_rate = n / min(timing.cpu for timing in replays) if replays else None
    return [*rows, *_history_rows(histories, replay_rate)]


def write_table(rows: list[Row]) -> str:
    """Return the table as text."""
    cells: list[tuple[str, ...]] = [
        ("", "lines/s CPU", "lines/s wall", "of its limit", "× eventsourcing", "target", "")
    ]
    cells += [_cells(row) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    aligned: tuple[Callable[[str, int], str], ...] = (str.ljust, *[str.rjust] * 4, str.ljust, str.ljust)
    lines = ["  ".join(a(c, w) for a, c, w in zip(aligned, row, widths, strict=True)) for row in cells]
    return "\n".join(line.rstrip() for line in lines)


def _row(spec: _Spec, timings: dict[str, list[Timing]], n: int) -> Row:
    measured = timings.get(spec.of)
    if measured is None:
        missing = "not installed" if spec.of.startswith("eventsourcing") and not HAS_EVENTSOURCING else "–"
        return Row(what=spec.what, value=missing)
    best = min(measured, key=lambda timing: timing.cpu)
    ratio, versus = _ratio(measured, timings.get(spec.limit)), _ratio(measured, timings.get(spec.rival))
    rate = n / best.cpu
    targets = [
        (f"≥ {spec.least_ratio:.2f} of its limit", spec.least_ratio, None if ratio is None else ratio.best),
        (
            f"≥ {spec.least_versus:g} × eventsourcing",
            spec.least_versus,
            None if versus is None else versus.best,
        ),
        (f"≥ {spec.least_rate:,} lines/s", spec.least_rate, rate),
    ]
    asked = [(said, found is None or found >= least) for said, least, found in targets if least]
    return Row(
        what=spec.what,
        value=f"{rate:,.0f}",
        wall=f"{n / best.wall:,.0f}",
        limit=spec.limit,
        ratio=ratio,
        versus=versus,
        target=", ".join(said for said, _ in asked),
        met=all(reached for _, reached in asked) if asked and n >= JUDGED_LINES else None,
    )


def _ratio(measured: list[Timing], against: list[Timing] | None) -> Ratio | None:
    if against is None:
        return None
    best = min(timing.cpu for timing in against) / min(timing.cpu for timing in measured)
    return Ratio(best, median(b.cpu / a.cpu for a, b in zip(measured, against, strict=True)))


def _large_rows(large: Large) -> list[Row]:
    is_asked = large.lines >= LARGE_LINES
    lines = f"{large.lines:,} lines"
    return [
        Row(
            what=f"peak memory, folding {lines}",
            value=f"{large.fold_peak / 1e6:.0f} MB",
            target=f"< {PEAK_BYTES / 1e6:.0f} MB",
            met=large.fold_peak < PEAK_BYTES if is_asked else None,
        ),
        Row(
            what=f"why, on {lines}",
            value=f"{large.why.cpu:.2f} s",
            wall=f"{large.why.wall:.2f} s",
            target=f"< {WHY_SECONDS:g} s",
            met=large.why.wall < WHY_SECONDS if is_asked else None,
        ),
        Row(what="--help", value=f"{large.help.cpu:.2f} s", wall=f"{large.help.wall:.2f} s"),
    ]


def _history_rows(histories: Sequence[History], replay_rate: float | None) -> Iterator[Row]:
    """Yield the rows of recomputing: of many runs what is to be reached, of the others how they compare."""
    if not histories:
        return
    many, fewer, one = histories
    for history in (many, one):
        is_asked = history is many and history.runs >= RUNS and history.lines >= LINES
        yield from _recompute_rows(history, replay_rate, is_asked=is_asked)
    growth = many.cold.peak / fewer.cold.peak
    yield Row(
        what=f"peak memory, recomputing {many.runs:,} runs",
        value=f"{many.cold.peak / 1e6:.0f} MB",
        target=f"< {FLAT:g} × that of {fewer.runs:,} runs",
        met=growth < FLAT if many.runs >= RUNS else None,
    )


def _recompute_rows(history: History, replay_rate: float | None, *, is_asked: bool) -> Iterator[Row]:
    shape = f"recompute {history.runs:,} × {history.lines:,}"
    entries = history.runs * history.lines
    ratio, rate = history.scan / history.cold.cpu, entries / history.cold.cpu
    versus = rate / replay_rate if replay_rate is not None else None
    speedup = history.cold.wall / history.two.wall
    yield Row(
        what=f"{shape}, one process",
        value=f"{rate:,.0f}",
        wall=f"{entries / history.cold.wall:,.0f}",
        ratio=Ratio(ratio, ratio),
        versus=None if versus is None else Ratio(versus, versus),
        target=f"≥ {RECOMPUTE_OF_LIMIT:g} of scan + decode, ≥ {RECOMPUTE_VERSUS:g} × eventsourcing"
        if is_asked
        else "",
        met=ratio >= RECOMPUTE_OF_LIMIT and (versus is None or versus >= RECOMPUTE_VERSUS)
        if is_asked
        else None,
    )
    yield Row(
        what=f"{shape}, two processes: × {speedup:.2f}",
        value=f"{entries / history.two.cpu:,.0f}",
        wall=f"{entries / history.two.wall:,.0f}",
        target=f"≥ {TWO_PROCESSES:g} × one by the clock ({speedup:.2f})"
        if is_asked
        else f"({speedup:.2f} ×)",
        met=speedup >= TWO_PROCESSES if is_asked else None,
    )
    yield Row(
        what=f"{shape}, kept",
        value=f"{history.kept.cpu:.2f} s",
        wall=f"{history.kept.wall:.2f} s",
        target=f"< {KEPT_SECONDS:g} s" if is_asked else "",
        met=history.kept.wall < KEPT_SECONDS if is_asked else None,
    )


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        row.value,
        row.wall,
        "" if row.ratio is None else f"{row.ratio.best:.2f} ({row.ratio.median:.2f})",
        "" if row.versus is None else f"{row.versus.best:.1f} ({row.versus.median:.1f})",
        row.target,
        "" if row.met is None else "met" if row.met else "MISSED",
    )
