"""The page about recording: its example runs, and what it makes is a whole run."""

import json
import re
import subprocess
import sys
from pathlib import Path

from ledger.log.recorder import RunRecorder
from tests.cli.running import call, environment
from tests.cli.transcripts import ROOT, manifest, start, state

PAGE = (ROOT / "docs" / "recording.md").read_text()


def test_the_example_records_a_run_that_succeeds_and_commits(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (line,) = start("run_live_1", ["mail"])
    said = [state("mail"), {"type": "DONE", "status": "succeeded", "records_emitted": 0}]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest("mail")))
    (tmp_path / "start.json").write_text(line["line"])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=environment(),
        input="".join(json.dumps(one) + "\n" for one in said),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    decision = call("-l", tmp_path / "ledger.db", "show", "run_live_1", "-o", "json").json
    (checkpoint,) = decision["checkpoints"]
    assert decision["status"] == "succeeded"
    assert (checkpoint["decision"], checkpoint["outcome"]) == ("commit", "committed")
    assert call("-l", tmp_path / "ledger.db", "verify").status == 0


def test_every_method_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"recorder\.(\w+)\(", PAGE)) | {"due_in"}
    assert all(callable(getattr(RunRecorder, name)) for name in named)
