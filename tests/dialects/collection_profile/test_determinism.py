"""One decision, byte for byte, whatever the hash seed, the time zone, the locale or the optimisation."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.core.decision import encode_decision
from ledger.core.observations import CheckpointCommitFailed, CheckpointCommitted, ControllerLost, Decided
from tests.dialects.collection_profile.runs import (
    TEXT,
    Erased,
    Run,
    Step,
    child,
    coverage,
    detail,
    done,
    error,
    evidence,
    exited,
    gap,
    record,
    run,
    skip,
    start,
    start_all,
    state,
    streams,
    to_line,
)

ROOT = Path(__file__).parents[3]
NAMES = [f"stream_{n}" for n in range(40)]
WIDE = streams(*NAMES, "p", "q", c=child("p"), d=detail("p", "q"))
LOST = "stream_collection_failed"


def scripted_runs() -> list[Run]:
    """Return runs whose decisions are made of sets, times, numbers and words."""
    states = [state(name) for name in NAMES]
    reports = [coverage("d", "p", NAMES, NAMES[:3], gap_keys=NAMES[3:9]), gap("d", NAMES[3], "q")]
    failing = [skip(name) for name in NAMES[::3]]
    end = done(0, "failed", error=error(LOST, message="İstanbul ıI"))
    tried: list[Step] = [
        CheckpointCommitted(stream=NAMES[1], namespace="global", cursor_seq=4),
        CheckpointCommitFailed(stream=NAMES[2], namespace="global", error="ß"),
    ]
    cut = Decided(ruleset=TEXT, through_seq=60, decision="sha256:x")
    fields = {
        "name": "t",
        "fields": NAMES,
        "resources": NAMES,
        "time_range": {"since": "2026-03-01T02:00:00+05:30"},
    }
    timed = streams(t={"consent_time_field": "at"})
    late = record("t", NAMES[0], data={"at": "2026-02-28T20:30:00Z"})
    early = record("t", NAMES[0], data={"at": "2026-02-28T20:29:59.999999999Z"})
    extra = record("t", NAMES[0], data={"zz": 1, "yy": 2, "at": "2026-03-02"})
    broken = streams(**{name: child(NAMES[(n + 1) % 40]) for n, name in enumerate(NAMES)})
    return [
        run(WIDE, start_all(WIDE), *states, *failing, *reports, evidence("c"), end, exited(1), cut, *tried),
        run(WIDE, start_all(WIDE), *states, *reports, state("p"), done(), exited(0)),
        run(WIDE, start_all(WIDE), *states, gap(NAMES[0], 1.5), Erased(skip("c")), ControllerLost()),
        run(timed, start(fields), late, done(1), exited(0)),
        run(timed, start(fields), early, done(1), exited(0)),
        run(timed, start(fields), extra, done(1), exited(0)),
        run(broken, start(*NAMES)),
        run(to_line(WIDE)[:-1], start("p")),
        run(WIDE, start_all(WIDE), '{"type":"PROGRESS","message":"\\ud800","count":1e400}', {"type": "İ"}),
    ]


def fingerprint() -> str:
    """Return a digest over the bytes of every decision."""
    decisions = b"\n".join(encode_decision(scripted.decided()) for scripted in scripted_runs())
    return hashlib.sha256(decisions).hexdigest()


WORLDS: list[tuple[dict[str, str], list[str]]] = [
    ({"PYTHONHASHSEED": "0"}, []),
    ({"PYTHONHASHSEED": "1"}, []),
    ({"PYTHONHASHSEED": "random", "TZ": "Asia/Kolkata"}, []),
    ({"TZ": "America/Los_Angeles", "LC_ALL": "C"}, []),
    ({"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, []),
    ({"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1", "LC_ALL": "POSIX"}, []),
    ({"PYTHONINTMAXSTRDIGITS": "640"}, []),
    ({}, ["-O"]),
    ({}, ["-OO"]),
]


@pytest.mark.parametrize(("world", "flags"), WORLDS, ids=str)
def test_the_same_bytes_in_every_world(world: dict[str, str], flags: list[str]) -> None:
    program = "import tests.dialects.collection_profile.test_determinism as t; print(t.fingerprint())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **world}
    ran = subprocess.run(
        [sys.executable, *flags, "-c", program],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == fingerprint()


def test_the_same_bytes_twice_in_one_process() -> None:
    assert fingerprint() == fingerprint()
