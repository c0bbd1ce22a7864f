"""``make bench``: measure everything in one run on the same lines, and print one table.

``python -m tests.bench --help`` tells the options; ``docs/benchmarks.md`` says what each row means.
"""

import argparse
import sys
from pathlib import Path
from tempfile import gettempdir

import msgspec

from tests.bench.history import LINES, RUNS, measure_histories
from tests.bench.large import LARGE_LINES, measure_large
from tests.bench.lines import LINE_BYTES, build_workload
from tests.bench.machine import Machine, describe_machine
from tests.bench.rounds import Rounds, run_round
from tests.bench.table import make_rows, write_table


def main() -> None:
    asked = _asked()
    machine = describe_machine(asked.dir)
    large = None if asked.no_large else measure_large(asked.large, asked.dir, times=min(3, asked.rounds))
    histories = (
        () if asked.no_large else measure_histories(asked.runs, LINES, asked.dir, times=min(3, asked.rounds))
    )
    workload = build_workload(asked.n)
    run_round(Rounds(), build_workload(100), asked.dir)  # imports what is imported late
    rounds = Rounds()
    for number in range(1, asked.rounds + 1):
        if sys.stderr.isatty():
            print(f"\rround {number} of {asked.rounds} ", end="", file=sys.stderr, flush=True)
        run_round(rounds, workload, asked.dir)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    rows = make_rows(rounds.timings, asked.n, large, histories)
    if asked.json:
        found = {"machine": machine, "lines": asked.n, "rounds": asked.rounds, "rows": rows}
        found |= {"timings": rounds.timings, "large": large, "histories": histories}
        print(msgspec.json.encode(found).decode())
    else:
        print(_heading(machine, asked.n, asked.rounds), write_table(rows), sep="\n\n")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the ledger's speed.")
    parser.add_argument("-n", type=int, default=100_000, help="RECORD lines (default: 100000)")
    parser.add_argument("--rounds", type=int, default=7, help="how often all is measured (default: 7)")
    parser.add_argument("--large", type=int, default=LARGE_LINES, help="of the large run (default: 1000000)")
    parser.add_argument("--runs", type=int, default=RUNS, help="of the large history (default: 1000)")
    parser.add_argument("--no-large", action="store_true", help="leave the large run and history out")
    parser.add_argument("--quick", action="store_true", help="20000 lines, 3 rounds, a tenth of the rest")
    parser.add_argument("--dir", type=Path, default=Path(gettempdir()), help="where to make the ledgers")
    parser.add_argument("--json", action="store_true", help="print JSON, every round's timings included")
    asked = parser.parse_args()
    if asked.quick:
        asked.n, asked.rounds, asked.large, asked.runs = 20_000, 3, 100_000, 100
    if asked.n < 1 or asked.rounds < 1 or asked.large < 1 or asked.runs < 1:
        parser.error("expected at least one line and one round")
    return asked


def _heading(machine: Machine, n: int, rounds: int) -> str:
    return (
        f"{n:,} RECORD lines of {LINE_BYTES} bytes, best of {rounds} rounds (ratios: median of the rounds)\n"
        f"{machine.cores} cores ({machine.cpu}), {machine.python}, SQLite {machine.sqlite}, "
        f"msgspec {machine.msgspec}, {machine.file_system}, load {machine.load:.1f}"
    )


if __name__ == "__main__":
    main()
