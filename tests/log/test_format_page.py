"""The page about the log's format: its example and its verifier hold, and it names all of the schema."""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry
from ledger.core.merkle import root
from ledger.log.schema import APPLICATION_ID, FORMAT, SCHEMA, TABLES
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import call
from tests.cli.transcripts import SAMPLES
from tests.log.damages import damage, make_ledger
from tests.log.scripted import run_row

PAGE = (Path(__file__).parents[2] / "docs" / "log-format.md").read_text()
(VERIFIER,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(LEAF_2,) = re.findall(r"```\n([0-9a-f\n]+)```", PAGE)
HASHES = dict(re.findall(r"^\| ([\w ]+) \| [^|]* \| `([0-9a-f]+)` \|$", PAGE, re.MULTILINE))
SALT = r"`([0-9a-f]{32})`"
ROW = rf"^\| (\d) \| {SALT} \| `(\w+)` \| (?:`(\w+)`)? ?\| (-?\d+) \| (?:`(.*?)`)? ?\|$"
ROWS = re.findall(ROW, PAGE, re.MULTILINE)


def verify_as_the_page_does(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", VERIFIER, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


# ---- the example ------------------------------------------------------------------------------------------


def length(count: int) -> str:
    return f"{count:016x}"


def test_the_leaf_of_the_example_is_spelled_out_byte_by_byte() -> None:
    _, salt, origin, session, at, body = ROWS[1]
    spelled = "00" + length(16) + salt
    for text in (origin, session):
        spelled += length(len(text)) + text.encode().hex()
    spelled += length(8) + f"{int(at):016x}" + length(len(body)) + body.encode().hex()
    assert LEAF_2.replace("\n", "") == spelled
    assert f"these {len(spelled) // 2} bytes" in PAGE
    assert sha256(bytes.fromhex(spelled)).hexdigest() == HASHES["leaf 2"]


def test_nodes_peaks_and_root_of_the_example_follow_from_its_leaves() -> None:
    leaves = [bytes.fromhex(HASHES[f"leaf {number}"]) for number in (1, 2, 3)]
    node = sha256(b"\x01" + leaves[0] + leaves[1]).hexdigest()
    assert HASHES["node"] == node
    assert HASHES["peaks at size 3"] == node + leaves[2].hex()
    assert HASHES["root at size 3"] == sha256(b"\x01" + bytes.fromhex(node) + leaves[2]).hexdigest()


def test_a_ledger_of_the_example_has_its_root(tmp_path: Path) -> None:
    origins = {origin: origin for origin in (OBSERVER, PROGRAM, RUNTIME)}
    entries = [
        Entry(int(seq), int(at), origins[origin], session, "", "", body.encode(), bytes.fromhex(salt))
        for seq, salt, origin, session, at, body in ROWS
    ]
    with SqliteStore.open(tmp_path / "ledger.db", create=True) as store:
        run = store.open_run(run_row(), entries)
        (head,) = store.heads(run.run_no)
    assert len(entries) == 3
    assert head.peaks.hex() == HASHES["peaks at size 3"]
    assert root(head.peaks, head.size).hex() == HASHES["root at size 3"]


# ---- the verifier -----------------------------------------------------------------------------------------


def test_the_verifier_of_the_page_prints_what_heads_prints(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    make_ledger(path)
    assert call("-l", path, "import", SAMPLES).status == 0
    done = verify_as_the_page_does(path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == call("-l", path, "heads").lines
    assert len(done.stdout.splitlines()) > 10


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("UPDATE entries SET at = at + 1 WHERE entry_id = (1 << 32 | 7)", "head 8 does not hold"),
        ("DELETE FROM entries WHERE entry_id = (1 << 32 | 7)", "entry 7 is missing"),
        ("DELETE FROM entries WHERE entry_id = (1 << 32 | 12)", "the tail is missing"),
        ("UPDATE erasures SET leaf = zeroblob(32)", "head 8 does not hold"),
    ],
)
def test_the_verifier_of_the_page_finds_what_was_changed(tmp_path: Path, script: str, what: str) -> None:
    path = tmp_path / "ledger.db"
    make_ledger(path)
    damage(path, script)
    done = verify_as_the_page_does(path)
    assert done.returncode != 0
    assert what in done.stderr


# ---- nothing left out -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMA)
def test_every_object_of_the_schema_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_on_the_page(table: str, tmp_path: Path) -> None:
    described = PAGE.split(f"\n`{table}`: ")[1].split("|---|---|\n")[1].split("\n\n")[0]
    cells = re.findall(r"^\| (.*?) \|", described, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    with SqliteStore.open(tmp_path / "ledger.db", create=True) as store:
        columns = [row[1] for row in store._all(f"PRAGMA table_info({table})", ())]
    assert names == columns


def test_the_header_is_on_the_page() -> None:
    assert f"| `PRAGMA application_id` | {APPLICATION_ID}, which is `RLG1` in ASCII |" in PAGE
    assert APPLICATION_ID.to_bytes(4, "big") == b"RLG1"
    assert f"| `PRAGMA user_version` | {FORMAT}, " in PAGE
