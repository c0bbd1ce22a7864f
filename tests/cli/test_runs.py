"""``runs``: newest first, filtered, counted."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.times import read_time
from ledger.errors import UsageError
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import call
from tests.cli.transcripts import TRANSCRIPTS, state, whole, write


def ids(ledger: Path, *words: str) -> list[str]:
    done = call("-l", ledger, "runs", "-o", "json", *words)
    assert done.status == 0, done.err
    return [row["run_id"] for row in done.json]


def test_the_newest_comes_first(samples: Path) -> None:
    opened = [row["opened"] for row in call("-l", samples, "runs", "-o", "json").json]
    assert len(opened) == len(TRANSCRIPTS)
    assert opened == sorted(opened, reverse=True)


def test_a_row_says_what_the_rules_say(samples: Path) -> None:
    rows = {row["run_id"]: row for row in call("-l", samples, "runs", "-o", "json").json}
    row = rows["run_groupme-2-blobs-down"]
    assert (row["status"], row["staged"], row["eligible"], row["withheld"]) == ("succeeded", 4, 2, 2)
    assert (row["program"], row["accepted"], row["entries"]) == ("groupme", 10, 42)
    assert rows["run_chatter_0412"]["cause"] == "checkpoint_store_failed"
    assert rows["run_chatter_0412"]["committed"] == 1
    assert rows["run_chatter_0412"]["checkpoints"] == "1 committed, 1 failed, 1 not attempted"
    against = rows["run_noticeboard_0031"]
    assert (against["discrepancies"], against["withheld"], against["committed"]) == (1, 1, 2)
    assert against["checkpoints"] == "1 committed, 1 committed against the rules"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--program", "netflix-export"), ["run_netflix-3-since", "run_netflix-1"]),
        (
            ("--program", "https://registry.pdpp.dev/connectors/netflix-export"),
            ["run_netflix-3-since", "run_netflix-1"],
        ),
        (("--program", "google-maps"), ["run_google_maps-1"]),
        (("--program", "netflix"), []),
        (("--status", "abandoned"), ["run_chatter_0417"]),
        (("--status", "refused"), []),
        (
            ("--withheld", "--status", "succeeded", "--program", "chatter"),
            ["run_chatter_0414", "run_chatter_0413"],
        ),
        (("--differs",), ["run_noticeboard_0031"]),
        (("--differs", "--program", "chatter"), []),
        (("--since", "2026-11-18"), ["run_chatter_0418", "run_portal_0007"]),
        (("--since", "2026-11-18T21:30:00Z"), ["run_chatter_0418", "run_portal_0007"]),
        (("--since", "2026-11-18T21:30:00.000001Z"), ["run_chatter_0418"]),
        (("--since", "2026-11-19T07:00:00+01:00"), ["run_chatter_0418"]),
        (("--since", "2026-11-19T07:00:01+01:00"), []),
        (("--since", "9999w", "-n", "1"), ["run_chatter_0418"]),
        (("-n", "2"), ["run_chatter_0418", "run_portal_0007"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_filter_keeps_what_it_says(samples: Path, words: tuple[str, ...], found: list[str]) -> None:
    assert ids(samples, *words) == found


def test_withheld_are_the_runs_with_a_checkpoint_withheld(samples: Path) -> None:
    rows = call("-l", samples, "runs", "-o", "json").json
    assert ids(samples, "--withheld") == [row["run_id"] for row in rows if row["withheld"]]


def test_limit_0_is_all_and_the_limit_is_said_only_where_it_cuts(samples: Path) -> None:
    assert len(ids(samples, "--limit", "0")) == len(TRANSCRIPTS)
    assert "--limit" in call("-l", samples, "runs", "--limit", "16").err
    assert call("-l", samples, "runs", "--limit", str(len(TRANSCRIPTS))).err == ""


@pytest.mark.parametrize(
    ("text", "ago"),
    [("0s", 0), ("90s", 90), ("5m", 300), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600)],
)
def test_how_long_ago_is_counted_from_now(text: str, ago: int) -> None:
    assert read_time(text, 2_000_000.5) == int((2_000_000.5 - ago) * 1_000_000)


@pytest.mark.parametrize(
    "text", ["", "7", "d", "7 d", "-7d", "7D", "2026-13-01", "2026-11-05T00:00:00", "1e3d"]
)
def test_what_is_no_time_is_refused_with_what_would_be_one(text: str) -> None:
    with pytest.raises(UsageError, match="7d or 12h"):
        read_time(text, 0)


def test_a_run_of_yesterday_is_found_by_how_long_ago_it_was(tmp_path: Path) -> None:
    yesterday = (datetime.now(UTC) - timedelta(hours=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = whole(tmp_path / "run.jsonl", opened={"at": yesterday})
    call("-l", tmp_path / "l.db", "import", path)
    assert ids(tmp_path / "l.db", "--since", "1d") == []
    assert ids(tmp_path / "l.db", "--since", "2d") == ["run_odd"]


def test_no_run_is_said_and_is_no_failure(samples: Path, tmp_path: Path) -> None:
    done = call("-l", samples, "runs", "--program", "nobody")
    assert (done.status, done.out) == (0, "")
    assert "no run is like that" in done.err
    assert "apple_contacts, chatter, google-maps" in done.err
    SqliteStore.open(tmp_path / "l.db", create=True).close()
    assert "holds no run" in call("-l", tmp_path / "l.db", "runs").err
    assert call("-l", tmp_path / "l.db", "runs", "-o", "json").json == []


def test_columns_stand_under_each_other(samples: Path) -> None:
    head, *rows = call("-l", samples, "runs").lines
    at = head.index("STATUS")
    assert {row[at - 2 : at] for row in rows} == {"  "}
    assert {row[at:].split()[0] for row in rows} == {"succeeded", "failed", "abandoned", "cancelled"}


def test_a_run_without_manifest_or_time_has_its_row(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", manifest=None)
    call("-l", tmp_path / "l.db", "import", path, whole(tmp_path / "b.jsonl", state("contacts"), run_id="b"))
    rows = call("-l", tmp_path / "l.db", "runs", "-o", "json").json
    assert [row["run_id"] for row in rows] == ["b", "run_odd"]
    assert (rows[1]["opened"], rows[1]["program"]) == (None, "")
    assert call("-l", tmp_path / "l.db", "runs").status == 0
