"""``--ruleset``: any command decides under any shipped ruleset, and ``why`` says where the others differ."""

from pathlib import Path

import pytest

from ledger.dialects import DIALECTS
from tests.cli.running import call
from tests.cli.transcripts import TRANSCRIPTS, header_of
from tests.generate import golden_name

DIALECT = DIALECTS["collection-profile"]
TEXT, REFERENCE, *_ = DIALECT.rulesets
DOWN, RESTART = "run_groupme-4-one-blob-down", "run_allotment_88"
every_transcript = pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)


@every_transcript
@pytest.mark.parametrize("ruleset", DIALECT.rulesets)
def test_show_prints_the_golden_decision_of_each(samples: Path, transcript: Path, ruleset: str) -> None:
    run_id = header_of(transcript)["run_id"]
    golden = transcript.with_name(golden_name(DIALECT, ruleset))
    assert call("-l", samples, "show", run_id, "--ruleset", ruleset, "-o", "json").raw == golden.read_bytes()
    assert f"under {ruleset}" in call("-l", samples, "--ruleset", ruleset, "show", run_id).out


@every_transcript
def test_why_says_in_a_line_what_each_other_decides(samples: Path, transcript: Path) -> None:
    run_id = header_of(transcript)["run_id"]
    for asked in DIALECT.rulesets:
        facts = call("-l", samples, "why", run_id, "--ruleset", asked, "-o", "json").json
        assert facts["ruleset"] == asked
        page = " ".join(call("-l", samples, "why", run_id, "--ruleset", asked).out.split())
        others = [one for one in DIALECT.rulesets if one != asked]
        for other, said in zip(others, facts["others"], strict=True):
            shown = call("-l", samples, "show", run_id, "--ruleset", other, "-o", "json").json
            assert (said["ruleset"], said["status"]) == (other, shown["status"])
            assert said["sentence"] in page
            assert said["same"] == said["sentence"].endswith("decides the same.")


def test_the_two_disagree_about_a_real_run_both_ways(samples: Path) -> None:
    reference = call("-l", samples, "why", DOWN, "-o", "json").json["others"][0]
    assert reference["sentence"] == f"Under {REFERENCE}: attachments would be committed; status the same."
    text = call("-l", samples, "why", DOWN, "--ruleset", REFERENCE, "-o", "json").json["others"][0]
    assert text["sentence"] == f"Under {TEXT}: attachments would not be staged; status the same."


def test_a_stream_that_only_the_other_ruleset_stages_can_be_asked_about_under_it(samples: Path) -> None:
    assert "COMMIT attachments" in call("-l", samples, "why", DOWN, "attachments", "--ruleset", REFERENCE).out


def test_runs_are_listed_as_the_ruleset_decides_them(samples: Path) -> None:
    def checkpoints(ruleset: str) -> dict[str, str]:
        rows = call("-l", samples, "runs", "--limit", "0", "--ruleset", ruleset, "-o", "json").json
        return {row["run_id"]: row["checkpoints"] for row in rows}

    text, reference = checkpoints(TEXT), checkpoints(REFERENCE)
    assert (text[DOWN], reference[DOWN]) == ("3 commit, 1 withhold", "4 commit, 1 withhold")
    assert text.keys() == reference.keys()


@pytest.mark.parametrize("command", [("show", "@latest"), ("why", "@latest"), ("runs",)])
def test_an_unknown_ruleset_says_which_there_are(samples: Path, command: tuple[str, ...]) -> None:
    done = call("-l", samples, *command, "--ruleset", "collection-profile/9")
    assert (done.status, done.out) == (4, "")
    assert TEXT in done.err
    assert REFERENCE in done.err
