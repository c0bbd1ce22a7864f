"""The page about transcripts: its example comes in, and it names every member and observation there is."""

import re
from pathlib import Path
from typing import get_args

import pytest

from ledger.core.observations import Observation, RunOpened
from ledger.dialects import DIALECTS
from ledger.exchange import transcript
from ledger.exchange.importing import import_transcript
from ledger.log.memory_store import MemoryStore
from ledger.replay.replay import opening, replay

PAGE = (Path(__file__).parent.parent.parent / "docs" / "transcripts.md").read_text()


def test_the_example_is_a_run_that_commits_its_checkpoint(tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "example.jsonl"
    path.write_text(example)
    store = MemoryStore()
    run = import_transcript(store, path, DIALECTS).run
    entries = list(store.entries(run.run_no))
    opened = opening(entries[0])
    assert opened is not None
    assert opened.manifest is not None
    decision = replay(DIALECTS[run.dialect], entries, store.documents([opened.manifest]))
    assert decision.status == "succeeded"
    assert [(one.stream, one.decision) for one in decision.checkpoints] == [("notes", "commit")]
    assert decision.findings == ()


@pytest.mark.parametrize(
    "name",
    [*transcript._WireHeader.__struct_fields__, *transcript._WireLine.__struct_fields__],
)
def test_every_member_that_is_read_is_on_the_page(name: str) -> None:
    assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize("observation", [one for one in get_args(Observation) if one is not RunOpened])
def test_every_observation_is_on_the_page_with_its_members(observation: type[Observation]) -> None:
    tag = observation.__struct_config__.tag
    (members,) = re.findall(rf"`{tag}`(?: \((.*?)\))?(?: ·|\n)", PAGE, re.DOTALL)
    assert re.findall(r"`(\w+)`", members) == list(observation.__struct_fields__)
