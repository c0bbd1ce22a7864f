"""What the system knows about a file: where it lies, and which processes have it open or lock it.

Read from ``/proc``, which Linux has; elsewhere each answer is None, "cannot tell". Never opens the file
itself: a process that closes a file lets go of every lock that it has on it, also SQLite's.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec

_WRITE_LOCK = 120
"""The byte of a -shm that a writer locks; the marks of readers follow (SQLite, ``wal.c``)."""

_READ_MARKS = range(123, 128)
_LOCK = re.compile(r"\d+: POSIX\s+\S+\s+(READ|WRITE)\s+(\d+)\s+\w+:\w+:(\d+)\s+(\d+)\s+(\d+|EOF)")
_OCTAL = re.compile(r"\\([0-7]{3})")


class Process(msgspec.Struct, frozen=True, order=True):
    """A process, by number and name."""

    pid: int
    name: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.name})"


class Locks(msgspec.Struct, frozen=True, kw_only=True):
    """Who locks a ledger at this moment.

    Attributes:
        writer: who has the write lock.
        readers: who reads, in a transaction.
    """

    writer: Process | None
    readers: tuple[Process, ...]


def file_system(path: Path, proc: Path = Path("/proc")) -> str | None:
    """Return the type of the file system on which a path lies, such as ``ext4``."""
    try:
        mounts = (proc / "mounts").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    place, found, longest = os.path.realpath(path), None, -1
    for line in mounts:
        _, point, kind, *_ = line.split(" ")
        point = _OCTAL.sub(lambda octal: chr(int(octal[1], 8)), point).rstrip("/")
        if len(point) >= longest and (place == point or place.startswith(f"{point}/")):
            found, longest = kind, len(point)
    return found


def users(path: Path, proc: Path = Path("/proc")) -> list[Process] | None:
    """Return the other processes that have a file open, as far as we may see them."""
    try:
        pids = [int(entry) for entry in os.listdir(proc) if entry.isdecimal()]
    except OSError:
        return None
    place = os.path.realpath(path)
    return [_process(pid, proc) for pid in sorted(pids) if pid != os.getpid() and _has_open(pid, place, proc)]


def locks(path: Path, proc: Path = Path("/proc")) -> Locks | None:
    """Return who locks a ledger in WAL mode; ``path`` is the ledger."""
    shm = f"{os.path.realpath(path)}-shm"
    try:
        inode = os.stat(shm).st_ino
        lines = (proc / "locks").read_text().splitlines()
    except OSError:
        return None
    writer: Process | None = None
    readers: set[Process] = set()
    for found in filter(None, map(_LOCK.match, lines)):
        kind, pid, first, last = found[1], int(found[2]), int(found[4]), found[5]
        if int(found[3]) != inode or last == "EOF" or pid == os.getpid() or not _has_open(pid, shm, proc):
            continue
        covered = range(first, int(last) + 1)
        if kind == "WRITE" and _WRITE_LOCK in covered:
            writer = _process(pid, proc)
        elif kind == "READ" and any(mark in covered for mark in _READ_MARKS):
            readers.add(_process(pid, proc))
    return Locks(writer=writer, readers=tuple(sorted(readers)))


def _has_open(pid: int, place: str, proc: Path) -> bool:
    folder = proc / str(pid) / "fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if os.readlink(folder / name) == place:
                    return True
    return False


def _process(pid: int, proc: Path) -> Process:
    with suppress(OSError):
        return Process(pid, (proc / str(pid) / "comm").read_text("utf-8", "replace").strip())
    return Process(pid, "ended")
