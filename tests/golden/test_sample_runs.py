"""The decision of every sample run under every ruleset, byte for byte: a difference rewrites history."""

from pathlib import Path

import pytest

from ledger.core.decision import decode_decision, encode_decision
from ledger.dialects import DIALECTS
from ledger.exchange.importing import import_transcript
from ledger.log.sqlite_store import SqliteStore
from ledger.replay.replay import opening, replay
from tests.generate import SAMPLES, generated, golden_name, sample_decision

TRANSCRIPTS = sorted(SAMPLES.glob("*/*/run.jsonl"))
DECIDED = [
    (transcript, ruleset)
    for transcript in TRANSCRIPTS
    for ruleset in DIALECTS[transcript.parent.parent.name].rulesets
]
every_golden = pytest.mark.parametrize(
    ("transcript", "ruleset"), DECIDED, ids=lambda one: one.parent.name if isinstance(one, Path) else one
)


def golden(transcript: Path, ruleset: str) -> Path:
    return transcript.with_name(golden_name(DIALECTS[transcript.parent.parent.name], ruleset))


def test_there_are_sample_runs() -> None:
    assert len(TRANSCRIPTS) >= 16


def test_every_golden_is_of_a_sample_run_and_a_shipped_ruleset() -> None:
    expected = {golden(transcript, ruleset) for transcript, ruleset in DECIDED}
    assert set(SAMPLES.glob("*/*/decision*.json")) == expected
    decided_under = {decode_decision(path.read_bytes()).ruleset.id for path in expected}
    assert decided_under == {ruleset for _, ruleset in DECIDED}


@every_golden
def test_a_sample_run_is_decided_as_it_always_was(transcript: Path, ruleset: str) -> None:
    assert sample_decision(transcript, ruleset) + b"\n" == golden(transcript, ruleset).read_bytes()


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_the_plain_golden_is_that_of_the_default_ruleset(transcript: Path) -> None:
    assert sample_decision(transcript) + b"\n" == transcript.with_name("decision.json").read_bytes()


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_the_store_in_a_file_gives_the_same_decision(transcript: Path, tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "ledger.db", create=True) as store:
        run = import_transcript(store, transcript, DIALECTS).run
        opened = opening(next(store.entries(run.run_no, through=1)))
        assert opened is not None
        documents = store.documents([opened.manifest or ""])
        decision = replay(DIALECTS[run.dialect], store.entries(run.run_no), documents)
    assert encode_decision(decision) == sample_decision(transcript)


@every_golden
def test_a_decision_reads_back_as_it_was(transcript: Path, ruleset: str) -> None:
    body = sample_decision(transcript, ruleset)
    assert encode_decision(decode_decision(body)) == body


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_a_sample_run_says_what_it_shows(transcript: Path) -> None:
    text = transcript.with_name("README.md").read_text()
    assert text.startswith("# ")
    assert f"runledger import {transcript.relative_to(SAMPLES.parent)}" in text


def test_what_is_generated_is_current() -> None:
    stale = [str(path) for path, body in generated() if not path.exists() or path.read_bytes() != body]
    assert not stale, f"run `python -m tests.generate`: {stale}"
