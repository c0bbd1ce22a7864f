"""The page of limits says what the code has."""

from pathlib import Path

import pytest

from cli import erase_page, erasing, page, why_page
from cli.commands import erase, import_, log, note
from ledger.core import findings, json_reader, line_cutting
from ledger.core.entries import Entry
from ledger.exchange import files
from ledger.log import connecting, paging, transactions
from ledger.log.sqlite_store import SqliteStore
from tests.log.scripted import run_row

PAGE = " ".join((Path(__file__).parent.parent / "docs" / "limits.md").read_text().split())
MIB = 1024 * 1024


@pytest.mark.parametrize(
    "said",
    [
        f"{line_cutting.LINE_LIMIT // MIB} MiB, or what `--max-line` says, "
        f"up to {import_._LONGEST_LIMIT // MIB}",
        f"six times that, and {files.MEMBERS_LIMIT // 1024} KiB",
        f"the header may have {files.HEADER_LIMIT // MIB} MiB",
        f"nesting of JSON in a line | {json_reader.MAX_NESTING} |",
        f"a reason for an erasure | {erase.REASON_LIMIT:,} characters",
        f"a note | {note.TEXT_LIMIT // 1024} KiB",
        f"at most {paging.PAGE_BYTES // MIB} MiB of lines",
        f"a page of {connecting._PAGE_BYTES // 1024} KiB",
        f"it is {transactions.WAL_BYTES // MIB} MiB long",
        f"for {transactions.BUSY_SECONDS:.0f} seconds at most",
        f"the first {findings.LIST_LIMIT}, and their total",
        f"{findings.TEXT_LIMIT:,} characters. Names and keys over {findings.NAME_LIMIT:,} characters",
        f"{why_page.KEYS_SHOWN} keys of a reason, {why_page.NEAR_MISSES_SHOWN} near misses, "
        f"{why_page.FINDINGS_SHOWN} findings",
        f"words over {page.WORD_LIMIT} characters, table cells over {page.CELL_LIMIT}",
        f"`log` | {log.TOLD_WIDTH} characters",
        f"`erase` | {erase_page.SHOWN} entries that name a key; `-o json` lists {erasing.MENTIONS_TOLD}",
    ],
)
def test_a_limit_is_what_the_page_says(said: str) -> None:
    assert said in PAGE


def test_six_is_what_one_byte_may_need() -> None:
    assert files.ESCAPED == 6


@pytest.mark.parametrize(("line", "said"), [(100, 170), (250, 320), (1_000, 1_180), (4_000, 4_110)])
def test_an_entry_takes_what_the_page_says(tmp_path: Path, line: int, said: int) -> None:
    assert f"| {line:,} | {said:,} |" in PAGE
    path = tmp_path / "ledger.db"
    count = 5_000
    with SqliteStore.open(path, create=True) as store:
        body = b"x" * line
        numbers = range(1, count + 1)
        lines = [Entry(n, 10**15 + n, "program", "", "RECORD", "messages", body) for n in numbers]
        run = store.open_run(run_row(), lines[:1_000])
        for first in range(1_000, count, 1_000):
            store.append(run.run_no, lines[first : first + 1_000])
    assert path.stat().st_size / count == pytest.approx(said, rel=0.1)
