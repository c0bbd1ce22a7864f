"""Which processes there are: so that a test can see that none was left behind. It ends none of them."""

import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

SECONDS_TO_END = 10.0


def is_running(pid: int) -> bool:
    """Tell whether a process is there; one that has ended and that nobody asked about yet is not."""
    state = _ps("-o", "stat=", "-p", str(pid)).strip()
    return bool(state) and not state.startswith("Z")


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [child for child, _ in _children(pid)]


def workers_of(pid: int) -> list[int]:
    """Return those that fold for it; beside them is one that only looks after what they share."""
    return [child for child, command in _children(pid) if "spawn_main" in command]


def assert_all_end(pids: Iterable[int]) -> None:
    """Wait for processes to end by themselves."""
    deadline = time.monotonic() + SECONDS_TO_END
    left = list(pids)
    while left := [pid for pid in left if is_running(pid)]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.02)


def environment_of(pid: int) -> dict[str, str]:
    """Return what a process was started with, where the system tells it."""
    told = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(word.split("=", 1) for word in told if "=" in word)


def _children(pid: int) -> list[tuple[int, str]]:
    rows = (line.split(None, 2) for line in _ps("-A", "-o", "pid=,ppid=,args=").splitlines())
    return [(int(child), command) for child, parent, command in rows if int(parent) == pid]


def _ps(*words: str) -> str:
    return subprocess.run(["ps", *words], capture_output=True, check=False, text=True, timeout=20).stdout
