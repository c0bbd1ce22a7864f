"""The benchmark runs and prints every row. How fast anything is, no test asks."""

import subprocess
import sys
from pathlib import Path

import msgspec

from tests.bench.lines import LINE_BYTES, build_workload
from tests.bench.table import make_rows, write_table

ROOT = Path(__file__).parent.parent.parent


def test_the_benchmark_prints_every_row_of_one_run(tmp_path: Path) -> None:
    words = ["-n", "200", "--rounds", "1", "--large", "200", "--runs", "2", "--json", "--dir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", *words], cwd=ROOT, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    rows = {row["what"]: row for row in msgspec.json.decode(done.stdout)["rows"]}
    assert set(rows) > {row.what for row in make_rows({}, 200, None)}
    unmeasured = {what for what, row in rows.items() if row["value"] == "not installed"}
    assert unmeasured <= {"eventsourcing append", "eventsourcing replay"}
    assert [what for what, row in rows.items() if row["value"] == "–"] == []
    assert list(tmp_path.iterdir()) == []


def test_the_table_says_of_every_target_what_it_is() -> None:
    table = write_table(make_rows({}, 200, None))
    assert "typed decode" in table
    assert len(table.splitlines()) == 1 + len(make_rows({}, 200, None))


def test_every_record_is_as_long_as_it_is_said_to_be() -> None:
    workload = build_workload(3000)
    assert {len(line) for line in workload.records} == {LINE_BYTES}
    assert any(not line.isascii() for line in workload.records)
