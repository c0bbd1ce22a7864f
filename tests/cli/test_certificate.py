"""``certificate``: what a decision follows from, and whether it still does."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.core.digests import digest
from ledger.log.sqlite_store import SqliteStore
from tests.cli.running import Done, call, run
from tests.cli.transcripts import TRANSCRIPTS, header_of
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE
from tests.log.damages import damage
from tests.recompute.histories import CREDITED, GOOD, REFERENCE, TEXT, append, erase, keep, made

MEMBERS = ["schema", "run_id", "dialect", "size", "root", "ruleset", "fold", "decision"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of one run."""
    (tmp_path / "ledger").mkdir()
    with made(tmp_path / "ledger" / "ledger.db", CREDITED):
        pass
    return tmp_path / "ledger" / "ledger.db"


def certify(path: Path, *words: str) -> Done:
    done = call("-l", path, "certificate", *words)
    assert (done.status, done.err) == (0, "")
    return done


@pytest.fixture
def kept(path: Path, tmp_path: Path) -> Path:
    """The certificate of that run."""
    file = tmp_path / "run_1.certificate.json"
    file.write_bytes(certify(path, "run_1").raw)
    return file


def check(path: Path, file: Path, *words: str) -> Done:
    return call("-l", path, "certificate", "--check", file, *words)


def changed(file: Path, **members: Any) -> Path:
    """Return a copy of a certificate with other members."""
    copy = file.with_name("changed.json")
    copy.write_text(json.dumps({**json.loads(file.read_bytes()), **members}))
    return copy


# ---- what it says -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", PROFILE.rulesets)
def test_it_holds_the_root_that_heads_prints_and_the_digest_of_what_show_prints(
    samples: Path, ruleset: str
) -> None:
    heads = [json.loads(line) for line in call("-l", samples, "heads").lines]
    assert len(heads) == len(TRANSCRIPTS)
    for head in heads:
        made = certify(samples, head["run_id"], "--ruleset", ruleset).json
        shown = call("-l", samples, "show", head["run_id"], "--ruleset", ruleset, "-o", "json").raw
        assert list(made) == MEMBERS
        assert (made["size"], made["root"]) == (head["size"], head["root"])
        assert made["decision"] == digest(shown.removesuffix(b"\n"))
        known = PROFILE.rulesets[ruleset]
        assert made["ruleset"] == {"id": known.id, "digest": known.digest}
        assert (made["dialect"], made["fold"]) == (PROFILE.name, PROFILE.fold_version)


def test_it_is_one_line_of_json_in_every_form_but_a_table(path: Path) -> None:
    forms = {certify(path, "run_1", "-o", form).raw for form in ("text", "json", "jsonl")}
    assert len(forms) == 1
    made = certify(path, "run_1").json
    table = certify(path, "run_1", "-o", "csv")
    assert table.lines[0] == "run_id,size,root,ruleset,fold,decision"
    assert table.lines[1].split(",") == [
        *("run_1", "7", made["root"], made["ruleset"]["digest"], "1", made["decision"])
    ]


def test_whoever_has_the_run_comes_to_the_same(samples: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    for transcript in TRANSCRIPTS[:3]:
        run_id = header_of(transcript)["run_id"]
        file = tmp_path / "exported.jsonl"
        assert call("-l", samples, "export", run_id, file).status == 0
        assert call("-l", other, "import", file).status == 0
        assert certify(other, run_id).raw == certify(samples, run_id).raw
        file.unlink()


def test_a_run_is_named_as_everywhere(path: Path) -> None:
    assert certify(path, "@latest").raw == certify(path, "run_1").raw == certify(path, "run").raw


# ---- whether it holds -------------------------------------------------------------------------------------


def test_a_certificate_that_holds_is_said_to_and_printed_as_it_is(path: Path, kept: Path) -> None:
    done = check(path, kept)
    assert (done.status, done.err) == (0, "runledger: the certificate of run_1 holds\n")
    assert done.raw == kept.read_bytes()
    piped = run("-l", path, "certificate", "--check", "-", stdin=kept.read_bytes())
    assert (piped.status, piped.raw) == (0, kept.read_bytes())


def test_it_is_checked_under_the_rules_that_it_names(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(certify(path, "run_1", "--ruleset", REFERENCE).raw)
    assert check(path, file).status == 0
    done = check(path, file, "--ruleset", TEXT)
    assert (done.status, done.json["ruleset"]["id"]) == (1, TEXT)
    assert done.err == "runledger: the certificate of run_1 differs in: ruleset, decision\n"


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"root": "00" * 32}, "root"),
        ({"decision": "sha256:" + "0" * 64}, "decision"),
        ({"fold": 2}, "fold"),
        ({"dialect": "other"}, "dialect"),
        ({"size": 6}, "root, decision"),
        ({"ruleset": {"id": "acme/1", "digest": PROFILE.rulesets[TEXT].digest}}, "ruleset"),
        ({"ruleset": {"id": TEXT, "digest": PROFILE.rulesets[REFERENCE].digest}}, "ruleset, decision"),
        ({"root": "", "decision": "", "fold": 0}, "root, fold, decision"),
    ],
)
def test_what_differs_is_named(path: Path, kept: Path, members: dict[str, Any], told: str) -> None:
    done = check(path, changed(kept, **members))
    assert (done.status, done.err) == (1, f"runledger: the certificate of run_1 differs in: {told}\n")
    assert list(done.json) == MEMBERS


def test_of_a_run_that_went_on_it_holds_at_its_size(path: Path, kept: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        row = store.run("run_1")
        assert row is not None
        append(store, row, r.progress(), r.progress())
        append(store, row, r.progress())
    assert check(path, kept).status == 0
    assert certify(path, "run_1").json["size"] == 10
    assert check(path, changed(kept, size=8)).status == 1


def test_a_certificate_of_more_than_there_is_is_not_found(path: Path, kept: Path) -> None:
    for size in (8, 0, -1, 10**18):
        done = check(path, changed(kept, size=size))
        assert (done.status, done.out) == (4, "")
        assert done.err == f"runledger: expected a size of 1 to 7 entries of run run_1, found {size}\n"


def test_of_what_was_erased_the_root_holds_and_the_decision_may_not(path: Path, kept: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        row = store.run("run_1")
        assert row is not None
        erase(store, row, 3, 4)
    done = check(path, kept)
    assert (done.status, done.err) == (1, "runledger: the certificate of run_1 differs in: decision\n")
    again = kept.with_name("again.json")
    again.write_bytes(certify(path, "run_1").raw)
    assert check(path, again).status == 0


def test_an_erasure_that_turns_nothing_leaves_the_certificate_of_what_was_before_it(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        row = store.run("run_1")
        assert row is not None
        append(store, row, r.progress())
        erase(store, row, 8)
    made = certify(path, "run_1").json
    assert made["size"] == 9
    assert check(path, changed_to(path, made)).status == 0


def changed_to(path: Path, members: dict[str, Any]) -> Path:
    file = path.parent.parent / "made.json"
    file.write_text(json.dumps(members))
    return file


# ---- what is broken ---------------------------------------------------------------------------------------

LINE = "x'7b7d'"


@pytest.mark.parametrize("size", [7, 5, 1])
def test_an_entry_that_was_changed_breaks_it_at_any_size(path: Path, kept: Path, size: int) -> None:
    """At a size that is no head of this ledger too: the next head proves what lies before it."""
    damage(path, f"UPDATE entries SET body = {LINE} WHERE entry_id = {1 << 32 | 7}")
    done = check(path, changed(kept, size=size))
    assert (done.status, done.out) == (6, "")
    assert done.err.startswith(
        "runledger: run run_1: expected the root that is kept of 7 entries, found another"
    )


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (f"DELETE FROM entries WHERE entry_id = {1 << 32 | 4}", "expected entry 4, found none"),
        ("UPDATE tree_heads SET peaks = zeroblob(32)", "peaks of 32 bytes for 7 leaves"),
        ("DELETE FROM tree_heads", "run run_1: expected a tree head, found none"),
        ("UPDATE documents SET body = x'7b7d'", "run run_1: expected the manifest sha256:"),
        (f"UPDATE entries SET salt = NULL WHERE entry_id = {1 << 32 | 4}", "of the erased entry 4"),
        (f"UPDATE entries SET at = 1 WHERE entry_id = {1 << 32 | 4}", "of 7 entries, found another"),
    ],
)
def test_whatever_is_broken_is_said_and_never_certified(path: Path, script: str, told: str) -> None:
    damage(path, script)
    done = call("-l", path, "certificate", "run_1")
    assert (done.status, done.out) == (6, "")
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_an_erasure_without_what_it_kept_is_said(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        row = store.run("run_1")
        assert row is not None
        erase(store, row, 3)
    damage(path, "DELETE FROM erasures")
    done = call("-l", path, "certificate", "run_1")
    assert (done.status, done.out) == (6, "")
    assert "expected what is kept of the erased entry 3, found nothing; `runledger verify`" in done.err


# ---- what cannot be checked -------------------------------------------------------------------------------

GIVEN = {
    "schema": "run-certificate/1",
    "run_id": "run_1",
    "dialect": "collection-profile",
    "size": 7,
    "root": "",
    "ruleset": {"id": "", "digest": ""},
    "fold": 1,
    "decision": "",
}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no JSON",
        b"[]",
        b"{}",
        b"\xff",
        json.dumps({**GIVEN, "schema": "run-certificate/2"}).encode(),
        json.dumps({**GIVEN, "size": "7"}).encode(),
        json.dumps({**GIVEN, "ruleset": TEXT}).encode(),
        json.dumps({**GIVEN, "run_id": "\ud800"}).encode(),
        json.dumps({name: value for name, value in GIVEN.items() if name != "root"}).encode(),
        b'{"a":' * 100_000,
    ],
    ids=range(11),
)
def test_what_is_no_certificate_is_refused(path: Path, tmp_path: Path, body: bytes) -> None:
    file = tmp_path / "none.json"
    file.write_bytes(body)
    done = check(path, file)
    assert (done.status, done.out) == (3, "")
    (line,) = done.err.splitlines()
    assert line.startswith(f"runledger: {file}:")
    assert "expected" in line


def test_a_file_that_is_not_there_is_said(path: Path, tmp_path: Path) -> None:
    done = check(path, tmp_path / "nowhere.json")
    assert (done.status, done.out) == (3, "")
    assert "nowhere.json: cannot be read: " in done.err


@pytest.mark.parametrize("run_id", ["run_2", "run", "@latest", "@1", ""])
def test_it_is_of_the_run_of_its_very_id(path: Path, kept: Path, run_id: str) -> None:
    done = check(path, changed(kept, run_id=run_id))
    assert (done.status, done.out) == (4, "")
    told = f"expected the run {run_id!r} of the certificate, found none of this id"
    assert done.err == f"runledger: {told}\n"


@pytest.mark.parametrize("named", ["sha256:" + "0" * 64, "", "acme/1"])
def test_rules_that_are_not_here_are_said(path: Path, kept: Path, named: str) -> None:
    done = check(path, changed(kept, ruleset={"id": "acme/1", "digest": named}))
    assert (done.status, done.out) == (4, "")
    assert done.err.startswith(f"runledger: there is no ruleset {named!r}")


@pytest.mark.parametrize("named", ["{}/acme.toml", TEXT, PROFILE.rulesets[TEXT].digest[:30]])
def test_rules_are_certified_by_their_whole_digest_and_no_file_is_read_for_them(
    path: Path, kept: Path, tmp_path: Path, named: str
) -> None:
    (tmp_path / "acme.toml").write_text(OWN)
    before = path.read_bytes()
    digest = named.format(tmp_path)
    done = check(path, changed(kept, ruleset={"id": "acme/1", "digest": digest}))
    assert (done.status, done.out) == (4, "")
    assert done.err.startswith(f"runledger: there is no ruleset {digest!r}: expected a certificate to name ")
    assert path.read_bytes() == before


def test_a_run_of_a_dialect_that_is_not_known_cannot_be_certified(path: Path) -> None:
    with SqliteStore.open(path, create=False) as store:
        keep(store, GOOD, "odd", dialect="carrier-pigeon")
    done = call("-l", path, "certificate", "odd")
    assert (done.status, done.out) == (4, "")
    assert "'carrier-pigeon' is not known to this version" in done.err


@pytest.mark.parametrize(
    ("words", "found"),
    [((), "neither"), (("run_1", "--check", "x.json"), "both; a certificate names its run")],
)
def test_a_run_or_a_file_is_asked_for(path: Path, words: tuple[str, ...], found: str) -> None:
    done = call("-l", path, "certificate", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"runledger: expected a run, or --check and the file of a certificate; found {found}\n"
    )


# ---- rules of one's own -----------------------------------------------------------------------------------

OWN = f'id = "acme/1"\nextends = "{TEXT}"\n[switches]\noptional_skip_keys = "credit"\n'


def test_rules_of_ones_own_are_kept_with_the_ledger_and_named_by_their_digest(
    path: Path, tmp_path: Path
) -> None:
    rules, file = tmp_path / "acme.toml", tmp_path / "acme.json"
    rules.write_text(OWN)
    file.write_bytes(certify(path, "run_1", "--ruleset", str(rules)).raw)
    assert json.loads(file.read_bytes())["ruleset"]["id"] == "acme/1"
    rules.unlink()
    assert check(path, file).status == 0, "the ledger keeps them"
    other = tmp_path / "other.db"
    with made(other, CREDITED):
        pass
    assert check(other, file).status == 4
    rules.write_text(OWN)
    done = check(other, file, "--ruleset", str(rules))
    assert (done.status, done.err) == (1, "runledger: the certificate of run_1 differs in: root\n")
    rules.write_text(OWN.replace("credit", "ignore"))
    assert "differs in: root, ruleset, decision" in check(other, file, "--ruleset", str(rules)).err
