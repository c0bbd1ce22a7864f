"""What a table of figures must say about the machine; nothing that names it."""

import os
import platform
import re
import sqlite3
from pathlib import Path

import msgspec


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Where something was measured."""

    cpu: str
    cores: int
    python: str
    sqlite: str
    msgspec: str
    file_system: str
    load: float


def describe_machine(folder: Path) -> Machine:
    """Describe this machine, and the file system of a folder."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        sqlite=sqlite3.sqlite_version,
        msgspec=msgspec.__version__,
        file_system=_file_system(folder),
        load=round(os.getloadavg()[0], 1),
    )


def _cpu() -> str:
    described = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", described.read_text(), re.M) if described.exists() else None
    return found.group(1) if found is not None else platform.processor() or "unknown"


def _file_system(folder: Path) -> str:
    """Return the type of the file system that holds a folder, as the mount that lies nearest says it."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    inside = str(folder.resolve()) + "/"
    found = [line.split()[1:3] for line in mounts.read_text().splitlines()]
    holding = [(len(at), kind) for at, kind in found if inside.startswith(at.rstrip("/") + "/")]
    return max(holding, default=(0, "unknown"))[1]
