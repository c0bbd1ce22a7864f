"""The checks, in the order in which they are asked."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ledger.errors import IntegrityError, LedgerError
from ledger.log.connecting import connect_to_inspect
from ledger.log.diagnosing.checks import Check, Subject, ok, problem, size_of
from ledger.log.diagnosing.files import (
    check_disk,
    check_file_system,
    check_permissions,
    check_python,
    check_users,
    check_wal,
    check_write_lock,
)
from ledger.log.diagnosing.inside import check_clock, check_growth, check_open_runs, check_pages
from ledger.log.schema import FORMAT
from ledger.log.sqlite_errors import translated

_OF_FILES = (check_permissions, check_disk, check_file_system, check_users, check_wal)
_OF_DATABASES = (check_write_lock, check_pages)
_OF_LEDGERS = (check_growth, check_open_runs, check_clock)

CHECKS: tuple[Callable[[Subject], Check], ...] = (check_python, *_OF_FILES, *_OF_DATABASES, *_OF_LEDGERS)
"""The checks. Whether the file is a ledger of this format is asked after those of files."""


def diagnose(path: Path, now: int) -> Iterator[Check]:
    """Look at a ledger and at the machine; one check that fails keeps no other back.

    Args:
        path: the ledger; that there is none is a problem like any other.
        now: the machine's clock, microseconds since the epoch, UTC.
    """
    subject = Subject(path, now)
    yield _asked(check_python, subject)
    if os.path.isfile(path):
        yield from (_asked(check, subject) for check in _OF_FILES)
    try:
        opened = list(_opened(subject))
        yield from opened
        if subject.connection is not None:
            yield from (_asked(check, subject) for check in _OF_DATABASES)
        if all(check.state == "ok" for check in opened):
            yield from (_asked(check, subject) for check in _OF_LEDGERS)
    finally:
        if subject.connection is not None:
            subject.connection.close()


def _opened(subject: Subject) -> Iterator[Check]:
    """Open the ledger for the checks to come, and say whether it is one."""
    try:
        connection, header, objects = connect_to_inspect(subject.path)
    except (LedgerError, OSError) as error:
        yield _failed("ledger", error)
        return
    subject.connection = connection
    for fault in (*header, *objects):
        what = f"expected {fault.expected}, found {fault.found}"
        yield problem("ledger", what, fault.next, IntegrityError.exit_status)
    if not header and not objects:
        yield ok("ledger", f"log format {FORMAT}, its schema unchanged, {size_of(subject.size())}")


def _asked(check: Callable[[Subject], Check], subject: Subject) -> Check:
    try:
        with translated(str(subject.path)):
            return check(subject)
    except (LedgerError, OSError) as error:
        return _failed(check.__name__.removeprefix("check_").replace("_", " "), error)


def _failed(name: str, error: LedgerError | OSError) -> Check:
    """Return the problem that an error is; what to do stands after its last semicolon."""
    if isinstance(error, OSError):
        return problem(name, f"the system refused: {error.strerror or error}", "check the path", 3)
    found, _, advice = str(error).rpartition("; ")
    return problem(name, found or advice, advice if found else "", error.exit_status)
