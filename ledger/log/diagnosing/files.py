"""Checks of a ledger's files: who may write to them, who uses them, how long they are, on what disk."""

import os
import sqlite3
import stat
import sys
import time
from contextlib import closing

from ledger.errors import BusyError, DiskError, UnavailableError
from ledger.log.connecting import SQLITE_NEEDED
from ledger.log.diagnosing import machine
from ledger.log.diagnosing.checks import Check, Subject, note, ok, problem, size_of
from ledger.log.sqlite_errors import primary_code
from ledger.log.transactions import WAL_BYTES, take_write_lock

LOCK_SECONDS = 0.3
"""How long the write lock is waited for: writers hold it for some milliseconds at a time."""

LOOKS = 5
LOOK_SECONDS = 0.01
"""A transaction that is there at each look is taken for a long one."""

LITTLE_ROOM = 64 * 1024 * 1024
_LONG_WAL = 2 * WAL_BYTES

_NETWORK = frozenset(
    {
        *("9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "fuse.glusterfs", "fuse.rclone"),
        *("fuse.sshfs", "fuse.vmhgfs-fuse", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs"),
        *("smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    }
)
"""Where locks or shared memory are not those of one machine, or not reliable."""

_FLEETING = frozenset({"tmpfs", "ramfs"})
_CANNOT_TELL = "cannot be told on this system"


def check_python(subject: Subject) -> Check:
    """What runs this: Python and its SQLite."""
    version = ".".join(map(str, sys.version_info[:3]))
    found = f"Python {version} with SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < SQLITE_NEEDED:
        advice = "use a Python with SQLite 3.37 or newer, for STRICT tables"
        return problem("software", found, advice, UnavailableError.exit_status)
    return ok("software", found)


def check_permissions(subject: Subject) -> Check:
    """Whether this user may write to the ledger, and who else may."""
    path = subject.path.resolve()
    mode, folder = path.stat().st_mode, path.parent
    found = f"{stat.filemode(mode)} {path.name} in {stat.filemode(folder.stat().st_mode)} {folder}"
    if not os.access(path, os.R_OK):
        return problem("permissions", found, "let this user read the file", DiskError.exit_status)
    if not os.access(path, os.W_OK):
        return note("permissions", f"{found}: read-only for this user", "to append, make the file writable")
    if not os.access(folder, os.W_OK | os.X_OK):
        advice = "to append, make the folder writable too: SQLite keeps a -wal in it"
        return note("permissions", f"{found}: the folder is read-only for this user", advice)
    if mode & stat.S_IWOTH or _is_open_to_all(folder.stat().st_mode):
        return note(
            "permissions", f"{found}: every user may change it", "take the right to write from others"
        )
    return ok("permissions", found)


def _is_open_to_all(mode: int) -> bool:
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def check_disk(subject: Subject) -> Check:
    """Whether there is room to append, and for a copy."""
    room = os.statvfs(subject.path.resolve().parent)
    free = room.f_bavail * room.f_frsize
    needed = subject.size() + subject.size("-wal")
    found = f"{size_of(free)} free, for a ledger of {size_of(needed)}"
    if free < LITTLE_ROOM:
        advice = f"free some space: the write-ahead log alone may take {size_of(WAL_BYTES)} and more"
        return problem("disk", found, advice, DiskError.exit_status)
    if room.f_files and not room.f_favail:
        return problem("disk", f"{found}, but no file more", "delete some files", DiskError.exit_status)
    if free < needed + WAL_BYTES:
        return note(
            "disk", found, "free some space: erasing, and a backup on this disk, need room for a copy"
        )
    return ok("disk", found)


def check_file_system(subject: Subject) -> Check:
    """Whether locks and the write-ahead log can be relied on where the ledger lies."""
    kind = machine.file_system(subject.path)
    if kind is None:
        return ok("file system", _CANNOT_TELL)
    if kind in _NETWORK:
        advice = (
            "move the ledger to a disk of this machine: over a network the locks and the write-ahead log of "
            "SQLite do not hold, and two machines that write can damage it"
        )
        return problem("file system", f"{kind}, shared between machines", advice, DiskError.exit_status)
    if kind in _FLEETING:
        return note(
            "file system", f"{kind}, in memory", "move the ledger to a disk: here it ends with the machine"
        )
    return ok("file system", kind)


def check_users(subject: Subject) -> Check:
    """Which other processes have it open."""
    found = machine.users(subject.path)
    if found is None:
        return ok("in use", _CANNOT_TELL)
    return ok(
        "in use", f"by {', '.join(map(str, found))}" if found else "by no other process that may be seen"
    )


def check_wal(subject: Subject) -> Check:
    """How long the write-ahead log is, and who keeps it from being emptied."""
    size, journal = subject.size("-wal"), subject.size("-journal")
    if journal:
        advice = "nothing is lost: the next command that writes takes back what was not finished"
        return note(
            "write-ahead log", f"{size_of(journal)} in a -journal, left by a writer that was killed", advice
        )
    found = size_of(size) if size else "empty"
    if size > _LONG_WAL:
        readers = _long_readers(subject)
        if readers:
            who = ", ".join(map(str, readers))
            found = f"{found}, kept from being emptied by a transaction of {who}"
            return note(
                "write-ahead log", found, "end that transaction: until then every append makes it longer"
            )
        advice = (
            "it is emptied by the next append; where it stays long, something reads in one long transaction"
        )
        return note("write-ahead log", found, advice)
    if size and machine.users(subject.path) == []:
        advice = (
            "nothing is lost, it is read with the ledger: do not delete it, and copy with `runledger backup`"
        )
        return note("write-ahead log", f"{found}, left by a process that was killed, or had no room", advice)
    return ok("write-ahead log", found)


def _long_readers(subject: Subject) -> list[machine.Process]:
    """Return who reads in one transaction over several looks; ours and other writers come and go."""
    looks = []
    for _ in range(LOOKS):
        looks.append(machine.locks(subject.path) or machine.Locks(writer=None, readers=()))
        time.sleep(LOOK_SECONDS)
    writers = {look.writer for look in looks}
    return sorted(set.intersection(*(set(look.readers) for look in looks)) - writers)


def check_write_lock(subject: Subject) -> Check:
    """Whether one could append now; the lock is taken and given back, and nothing is written."""
    path = subject.path.resolve()
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return ok("write lock", "not tried: read-only for this user")
    uri = f"{path.as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        try:
            take_write_lock(connection, LOCK_SECONDS)
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY:
                raise
            locks = machine.locks(path)
            who = str(locks.writer) if locks is not None and locks.writer is not None else "another process"
            advice = "wait for it; if it hangs, end it: nothing is lost but what it had not committed"
            return problem("write lock", f"held by {who}", advice, BusyError.exit_status)
        connection.execute("ROLLBACK")
    return ok("write lock", "free")
