"""Reading, looking and copying on a full disk and where nothing may be written."""

import ctypes
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, Done, call, environment
from tests.cli.transcripts import ROOT
from tests.log.writers import Writer

_DROP = 24
_OVER_PERMISSIONS = (1, 2)
"""Linux: prctl's PR_CAPBSET_DROP, and the capabilities CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of root."""

SMALL = 3_000_000
"""Bytes of a disk that is soon full."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder whose permissions may be changed."""
    folder = tmp_path / "place"
    folder.mkdir()
    yield folder
    folder.chmod(0o755)


def one_sentence(done: Done) -> str:
    """What was said: one line, and no traceback."""
    assert "Traceback" not in done.err
    (line,) = done.err.splitlines()
    return line


# ---- disks that fill up ------------------------------------------------------------------------------------


def has_small_disks() -> bool:
    """Tell whether this user can mount a disk in memory, seen by a process and its children alone."""
    try:
        words = ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"]
        return subprocess.run(words, capture_output=True, check=False, timeout=20).returncode == 0
    except OSError:
        return False


def on_a_small_disk(script: str, *words: str | Path) -> Done:
    """Run a shell script whose folder is a disk of its own; ``runledger`` is the command."""
    shell = (
        f"set -u; mount -t tmpfs -o size={SMALL} none /mnt && cd /mnt || exit 99\n"
        f'runledger() {{ PYTHONPATH={shlex.quote(str(ROOT))} {shlex.join(COMMAND)} "$@"; }}\n{script}'
    )
    done = subprocess.run(
        ["unshare", "-Urm", "bash", "-c", shell, "bash", *map(str, words)],
        env=environment(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


small_disk = pytest.mark.skipif(not has_small_disks(), reason="no disk can be mounted here")


@small_disk
def test_a_backup_that_does_not_fit_leaves_nothing(samples: Path) -> None:
    script = """
    cp "$1" ledger.db; cat /dev/zero >filler 2>&-
    runledger backup copy.db; echo "backup $?"; ls -A
    rm filler; runledger backup copy.db >row; echo "again $?"; ls -A
    """
    done = on_a_small_disk(script, samples)
    assert "copy.db" in one_sentence(done)
    left = [name for name in done.lines if not name.startswith("ledger.db-")]
    assert left == ["backup 3", "filler", "ledger.db", "again 0", "copy.db", "ledger.db", "row"]


@small_disk
def test_what_is_on_a_full_disk_can_be_read(samples: Path) -> None:
    script = """
    cp "$1" ledger.db; cat /dev/zero >filler 2>&-
    runledger heads; echo "heads $?"
    runledger import "$2"; echo "import $?"
    """
    done = on_a_small_disk(script, samples, ROOT / "sample_runs")
    heads = call("-l", samples, "heads").out
    assert done.out.startswith(f"{heads}heads 0\n")
    assert done.lines[-1] == "import 3"
    assert "free space" in one_sentence(done)


# ---- places that may not be written to ---------------------------------------------------------------------


def obey_permissions() -> None:
    """Let also root obey what files say about who may do what, once it has become another program."""
    if os.geteuid() == 0:
        for capability in _OVER_PERMISSIONS:
            ctypes.CDLL(None).prctl(_DROP, capability, 0, 0, 0)


def obeying(*words: str | Path) -> Done:
    """Run the command as a user who is not above permissions."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=obey_permissions,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def obeys(folder: Path) -> bool:
    """Tell whether a process can be made to obey permissions here."""
    words = [sys.executable, "-c", "import os, sys; sys.exit(os.access(sys.argv[1], os.W_OK))", str(folder)]
    return subprocess.run(words, check=False, preexec_fn=obey_permissions).returncode == 0


@pytest.fixture
def sealed(samples: Path, place: Path) -> Path:
    """A ledger that may only be read, as its folder may."""
    path = Path(shutil.copyfile(samples, place / "ledger.db"))
    path.chmod(0o444)
    place.chmod(0o555)
    if not obeys(place):
        pytest.skip("permissions hold back nobody here")
    return path


def test_a_link_to_what_a_killed_writer_left_is_not_read_past(place: Path, tmp_path: Path) -> None:
    path = place / "ledger.db"
    with Writer(path, "run_1") as writer:
        writer.wait_for_more()
        writer.kill()
    Path(f"{path}-shm").unlink()
    (tmp_path / "link.db").symlink_to(path)
    place.chmod(0o555)
    if not obeys(place):
        pytest.skip("permissions hold back nobody here")
    done = obeying("-l", tmp_path / "link.db", "runs")
    assert (done.status, done.out) == (3, "")
    assert "ledger.db-wal" in one_sentence(done)


def test_a_backup_of_what_may_only_be_read_goes_where_one_may_write(
    sealed: Path, place: Path, samples: Path, tmp_path: Path
) -> None:
    done = obeying("-l", sealed, "backup", tmp_path / "copy.db")
    assert (done.status, done.err) == (0, "")
    assert call("-l", tmp_path / "copy.db", "heads").out == call("-l", samples, "heads").out
    done = obeying("-l", sealed, "backup", place / "copy.db")
    assert (done.status, done.out) == (3, "")
    assert "copy.db" in one_sentence(done)
    assert os.listdir(place) == ["ledger.db"]


def test_a_ruleset_of_ones_own_decides_where_nothing_can_be_kept(sealed: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('id = "own/1"\nextends = "collection-profile/0.1.0"')
    before = sealed.read_bytes()
    done = obeying("-l", sealed, "show", "@latest", "--ruleset", own)
    assert (done.status, done.err) == (0, "")
    assert "under own/1" in done.out
    assert sealed.read_bytes() == before


def test_doctor_tells_what_may_only_be_read_from_what_may_not(sealed: Path) -> None:
    done = obeying("-l", sealed, "doctor", "-o", "json")
    states = {row["check"]: (row["state"], row["found"]) for row in json.loads(done.out)}
    assert done.status == 0
    assert states["permissions"][0] == "note"
    assert states["write lock"] == ("ok", "not tried: read-only for this user")
    sealed.chmod(0o000)
    done = obeying("-l", sealed, "doctor", "-o", "json")
    assert done.status == 3
    assert {row["check"] for row in json.loads(done.out) if row["status"]} == {"permissions", "ledger"}
