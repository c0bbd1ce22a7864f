"""How a run is named: id, unique prefix, @latest, @latest:PROGRAM, @2."""

from pathlib import Path

import pytest

from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import call, run
from tests.cli.transcripts import TRANSCRIPTS, write


def named(ledger: Path, name: str) -> str:
    done = call("-l", ledger, "show", name, "-o", "json")
    assert done.status == 0, done.err
    run_id: str = done.json["run_id"]
    return run_id


@pytest.mark.parametrize(
    ("name", "run_id"),
    [
        ("run_chatter_0413", "run_chatter_0413"),
        ("run_port", "run_portal_0007"),
        ("run_netflix-3", "run_netflix-3-since"),
        ("@latest", "run_chatter_0418"),
        ("@1", "run_chatter_0418"),
        ("@2", "run_portal_0007"),
        ("@16", "run_apple_contacts-1-no-credentials"),
        ("@latest:netflix-export", "run_netflix-3-since"),
        ("@latest:https://registry.pdpp.dev/connectors/netflix-export", "run_netflix-3-since"),
        ("@latest:google-maps", "run_google_maps-1"),
    ],
)
def test_a_run_is_named(samples: Path, name: str, run_id: str) -> None:
    assert named(samples, name) == run_id


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("run_chatter_041", "run_chatter_0412, run_chatter_0413"),
        ("run_chatter_0421", "did you mean run_chatter_041"),
        ("quite different", "runledger runs"),
        (f"@{len(TRANSCRIPTS) + 1}", f"{len(TRANSCRIPTS)}"),
        ("@latest:nobody", "chatter"),
        ("@latest:chater", "chatter"),
        ("@oldest", "@oldest"),
    ],
)
def test_a_name_that_means_no_run_or_several_says_which_there_are(
    samples: Path, name: str, told: str
) -> None:
    done = call("-l", samples, "show", name)
    assert (done.status, done.out) == (4, "")
    assert told in done.err


@pytest.mark.parametrize("name", ["", "@0"])
def test_a_name_that_can_mean_no_run_is_wrong_usage(samples: Path, name: str) -> None:
    assert call("-l", samples, "show", name).status == 2


def test_a_name_that_is_no_text_is_no_bug(samples: Path) -> None:
    done = run("-l", samples, "show", "\udcff")
    assert done.status in (2, 4)
    assert "bug" not in done.err


def test_an_empty_ledger_says_that_it_holds_no_run(tmp_path: Path) -> None:
    SqliteStore.open(tmp_path / "ledger.db", create=True).close()
    done = call("-l", tmp_path / "ledger.db", "show", "@latest")
    assert done.status == 4
    assert "no run" in done.err


def test_an_id_that_is_the_prefix_of_another_means_itself(tmp_path: Path) -> None:
    for run_id in ("run_1", "run_10", "run_100%"):
        call(
            "-l",
            tmp_path / "l.db",
            "import",
            write(tmp_path / f"{run_id}.jsonl", run_id=run_id),
        )
    assert named(tmp_path / "l.db", "run_1") == "run_1"
    assert named(tmp_path / "l.db", "run_100") == "run_100%"


def test_prefixes_hold_no_wildcards(samples: Path) -> None:
    for name in ("run%", "run_ch_tter_0413", "*"):
        assert call("-l", samples, "show", name).status == 4
