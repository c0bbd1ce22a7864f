"""How much memory a process of Python took at its most, measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Not ru_maxrss where there is something better: that begins at what the parent of the process had.
_SCRIPT = """
import resource, sys
from pathlib import Path

def peak():
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)

{setup}
before = peak()
{code}
print(peak() - before, file=sys.stderr)
"""


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
