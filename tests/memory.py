"""How much memory a process of Python took at its most, measured in a process of its own."""

import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

_SCRIPT = """
import sys
from pathlib import Path
from tests.memory import peak
{setup}
before = peak()
{code}
print(peak() - before, file=sys.stderr)
"""


def peak() -> int:
    """Return the most memory that this process took, in KiB.

    Linux counts what a process was before it became this program into ru_maxrss, so it is asked elsewhere.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most


def growth(setup: str, code: str, *words: str | Path, stdin: bytes | None = None) -> tuple[int, str]:
    """Return by how many MiB the peak of a process grew while it ran ``code``, and what it printed.

    Args:
        setup: Python that is run before: what is imported by it is not counted.
        code: Python that finds the words in ``sys.argv``.
        words: what is given to it.
        stdin: what it can read.
    """
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(setup=setup, code=code), *map(str, words)],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return int(done.stderr.splitlines()[-1]) // 1024, done.stdout.decode()
