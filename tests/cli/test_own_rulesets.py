"""Rulesets that are not shipped: named by a file, an id or a digest, and kept by the ledger they decide."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ledger.core.digests import digest
from ledger.dialects.collection_profile.ruleset import derive
from ledger.dialects.collection_profile.rulesets import TEXT
from ledger.log.store import RULESET_MEDIA_TYPE
from tests.cli.running import call, run

DOWN = "run_groupme-4-one-blob-down"
OWN = 'id = "acme/2026-12"\nsummary = "ours"\nextends = "collection-profile/0.1.0"\n[switches]\n'
STAGED = OWN + 'state_of_no_checkpoint = "stage"\n'
DIGEST = derive(TEXT, id="acme/2026-12", summary="", switches={"state_of_no_checkpoint": "stage"}).digest
DECIDING = [
    ("show", DOWN),
    ("why", DOWN),
    ("runs",),
    ("certificate", DOWN),
    ("recompute", "--ruleset", "collection-profile/0.1.0", "--against"),
]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A ruleset of somebody's own."""
    path = tmp_path / "acme.toml"
    path.write_text(STAGED)
    return path


def kept(ledger: Path) -> list[str]:
    """The digests of the rulesets that a ledger keeps."""
    with closing(sqlite3.connect(ledger)) as connection:
        rows = connection.execute("SELECT digest FROM documents WHERE media_type = ?", (RULESET_MEDIA_TYPE,))
        return [digest for (digest,) in rows]


@pytest.mark.parametrize("words", DECIDING, ids=lambda words: words[0])
def test_a_ruleset_in_a_file_decides_and_is_kept_once(
    ledger: Path, own: Path, words: tuple[str, ...]
) -> None:
    named = words if words[0] == "recompute" else (*words, "--ruleset")
    assert kept(ledger) == []
    for name in (own, "acme/2026-12", DIGEST, DIGEST[:15]):
        done = call("-l", ledger, *named, name)
        assert (done.status, done.err) == (0, "")
        assert kept(ledger) == [DIGEST]


def test_it_decides_as_its_switches_say(ledger: Path, own: Path) -> None:
    told = {
        name: call("-l", ledger, "show", DOWN, "--ruleset", name, "-o", "json").json
        for name in (own, TEXT.id)
    }
    staged = {name: [one["stream"] for one in decision["checkpoints"]] for name, decision in told.items()}
    assert set(staged[own]) - set(staged[TEXT.id]) == {"attachments"}
    assert told[own]["ruleset"] == {"id": "acme/2026-12", "digest": DIGEST}
    page = call("-l", ledger, "why", DOWN, "--ruleset", own).out
    assert "SUCCEEDED under acme/2026-12" in page
    assert "Under collection-profile/0.1.0: attachments would not be staged; status the same." in page


def test_a_file_is_named_by_its_ending_or_its_folder(ledger: Path, own: Path) -> None:
    other = own.rename(own.with_name("rules.txt"))
    assert call("-l", ledger, "show", DOWN, "--ruleset", other).status == 0
    done = call("-l", ledger, "show", DOWN, "--ruleset", own)
    assert (done.status, done.out) == (3, "")
    assert f"{own}: cannot be read: No such file or directory; check the file" in done.err
    assert call("-l", ledger, "show", DOWN, "--ruleset", "acme/2026").status == 4


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"id = ", ":1:6: expected TOML, found none: Invalid value; mend it there"),
        (b"id = '\xff'", ": expected TOML, which is UTF-8, found that byte 7 is not; write it anew"),
        (
            OWN.encode() + b"unlisted_gap = 1",
            "expected the switch unlisted_gap to be accounted or unaccounted, fo",
        ),
        (b"#" * 5_000_000, "expected a ruleset of at most 20,000 characters, found more"),
    ],
)
def test_a_file_that_is_no_ruleset_ends_in_3(ledger: Path, own: Path, body: bytes, expected: str) -> None:
    own.write_bytes(body)
    done = call("-l", ledger, "show", DOWN, "--ruleset", own)
    assert (done.status, done.out) == (3, "")
    assert expected in done.err
    assert done.err.count("\n") == 1
    assert kept(ledger) == []


def test_what_is_no_file_is_not_waited_for(ledger: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "own.toml")
    done = run("-l", ledger, "rules", "show", tmp_path / "own.toml")
    assert (done.status, done.out) == (3, "")
    assert done.err == f"runledger: {tmp_path}/own.toml: expected a file, found something else; name a file\n"


def test_a_name_that_is_nearly_a_kept_ones_is_told(ledger: Path, own: Path) -> None:
    call("-l", ledger, "show", DOWN, "--ruleset", own)
    done = call("-l", ledger, "show", DOWN, "--ruleset", "acme/2026-11")
    assert (done.status, done.out) == (4, "")
    assert "there is no ruleset 'acme/2026-11'; did you mean acme/2026-12?" in done.err


def test_two_of_one_id_are_named_by_their_digests(ledger: Path, own: Path) -> None:
    call("-l", ledger, "show", DOWN, "--ruleset", own)
    own.write_text(OWN + 'unlisted_gap = "accounted"\n')
    call("-l", ledger, "show", DOWN, "--ruleset", own)
    done = call("-l", ledger, "show", DOWN, "--ruleset", "acme/2026-12")
    assert done.status == 4
    assert all(digest in done.err for digest in kept(ledger))
    assert len(kept(ledger)) == 2
    assert call("-l", ledger, "show", DOWN, "--ruleset", DIGEST).status == 0


def test_what_extends_a_kept_one_extends_what_that_says(ledger: Path, own: Path) -> None:
    call("-l", ledger, "show", DOWN, "--ruleset", own)
    own.write_text('id = "acme/2027"\nextends = "acme/2026-12"\n[switches]\nunlisted_gap = "accounted"\n')
    told = call("-l", ledger, "rules", "diff", "acme/2026-12", own, "-o", "json").json
    assert [(one["switch"], one["a"], one["b"]) for one in told["switches"]] == [
        ("unlisted_gap", "unaccounted", "accounted")
    ]


def test_a_ledger_that_keeps_one_is_in_order_and_so_is_its_copy(ledger: Path, own: Path) -> None:
    call("-l", ledger, "show", DOWN, "--ruleset", own)
    copy = own.with_name("copy.db")
    assert call("-l", ledger, "backup", copy).status == 0
    for path in (ledger, copy):
        assert kept(path) == [DIGEST]
        assert call("-l", path, "verify").status == 0
        assert call("-l", path, "doctor").status == 0
    exported, again = own.with_name("run.jsonl"), own.with_name("again.db")
    assert call("-l", ledger, "export", DOWN, exported).status == 0
    assert call("-l", again, "import", exported).status == 0
    assert kept(again) == []


def test_nothing_is_kept_of_what_decided_nothing(ledger: Path, own: Path) -> None:
    assert call("-l", ledger, "rules", "show", own).status == 0
    assert call("-l", ledger, "rules", "diff", own, TEXT.id).status == 0
    erase = ("erase", DOWN, "--stream", "groups", "--ruleset", own, "--reason", "x", "--force")
    assert call("-l", ledger, *erase, "--dry-run").status == 0
    assert kept(ledger) == []
    assert call("-l", ledger, *erase, "--yes").status == 0
    assert kept(ledger) == [DIGEST]


def test_a_ruleset_needs_no_ledger_to_be_looked_at(into: Path, own: Path) -> None:
    assert call("-l", into, "rules", "show", own).lines[:2] == [
        f"acme/2026-12  {DIGEST}",
        f"ours (file: {own})",
    ]
    assert not into.exists()
    into.write_bytes(b"no ledger" * 1000)
    done = call("-l", into, "rules", "list")
    assert (done.status, len(done.lines)) == (0, 4)
    assert "passing over the rulesets that the ledger keeps: " in done.err


def test_the_list_says_where_each_comes_from_and_which_nobody_can_decide_under(
    ledger: Path, own: Path
) -> None:
    call("-l", ledger, "show", DOWN, "--ruleset", own)
    body = TEXT.document.replace(b'"count_is_right"', b'"count_is_wrong"')
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("INSERT INTO documents VALUES (?, ?, ?)", (digest(body), RULESET_MEDIA_TYPE, body))
    rows = {row["digest"]: row for row in call("-l", ledger, "rules", "list", "-o", "json").json}
    assert (rows[TEXT.digest]["origin"], rows[TEXT.digest]["default"]) == ("shipped", True)
    assert (rows[DIGEST]["id"], rows[DIGEST]["origin"], rows[DIGEST]["default"]) == (
        "acme/2026-12",
        "stored",
        False,
    )
    assert rows[DIGEST]["summary"] == f"kept in the ledger: {TEXT.id}, with state_of_no_checkpoint stage"
    lost = rows[digest(body)]
    assert (lost["id"], lost["origin"], lost["default"]) == (TEXT.id, "stored", False)
    assert lost["summary"].startswith(
        "nothing can be decided under it: expected to know all rules and switches"
    )
    done = call("-l", ledger, "show", DOWN, "--ruleset", digest(body)[:15])
    assert (done.status, "was made by another version, or with a package" in done.err) == (4, True)


def test_a_manifest_is_checked_under_any_ruleset(ledger: Path, own: Path, tmp_path: Path) -> None:
    head = 'id = "acme/2027"\nextends = "collection-profile/0.2.0"\n'
    own.write_text(head + '[switches]\nmanifest_declarations = "optional"')
    manifest = tmp_path / "manifest.json"
    manifest.write_text(
        '{"connector_id":"https://example.test/c","version":"1.0.0","streams":[{"name":"a"}]}'
    )
    assert (
        call("-l", ledger, "manifest", "check", manifest, "--ruleset", "collection-profile/0.2.0").status == 1
    )
    assert call("-l", ledger, "manifest", "check", manifest, "--ruleset", own).status == 0
    assert kept(ledger) == []


def test_workers_decide_under_it_too(ledger: Path, own: Path) -> None:
    words = ("-l", ledger, "recompute", "--ruleset", own, "--against", TEXT.id, "--no-cache", "-o", "json")
    alone, together = (run(*words, "--jobs", jobs).json["summary"] for jobs in ("1", "2"))
    assert alone == together
    assert alone["blast_radius"]["runs"] > 0
