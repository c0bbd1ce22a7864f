"""Which processes there are: so that a test can see that none was left behind. It ends none of them."""

import subprocess
from pathlib import Path


def is_running(pid: int) -> bool:
    """Tell whether a process is there; one that has ended and that nobody asked about yet is not."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False, text=True, timeout=20
    ).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started and that are running."""
    told = subprocess.run(
        ["ps", "-o", "pid=,ppid=", "-A"], capture_output=True, check=True, text=True, timeout=20
    ).stdout
    pairs = (line.split() for line in told.splitlines())
    return [int(child) for child, parent in pairs if int(parent) == pid]


def environment_of(pid: int) -> dict[str, str]:
    """Return what a process was started with, where the system tells it."""
    told = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(word.split("=", 1) for word in told if "=" in word)
