"""Every error that Run Ledger raises on purpose, as one tree.

::

    LedgerError
    ├── UsageError            2   what was asked makes no sense
    ├── InputError            3   something could not be read
    │   ├── TranscriptError       a line of a transcript, by number
    │   ├── ManifestError         a manifest that is no JSON object
    │   ├── RulesetError          a ruleset that somebody wrote, and that is none
    │   └── DiskError             the file system refused
    ├── DiffersError          1   the same run id, other content
    ├── NotFoundError         4   no such ledger, run, entry, ruleset
    ├── UnavailableError      5   the ledger cannot be used right now
    │   ├── BusyError             another process holds it
    │   ├── SequenceConflict      another writer appended to this run
    │   └── FormatError           another program's database, or a newer format
    └── IntegrityError        6   the log refused what would bend it, or no longer holds

A program that misbehaves is not an error: its log is a good log, and what it did is a finding. These are
for the caller and for the world. Each message is one sentence that says what was expected, what was found,
where, and what to do next. The number is the exit status that the command line gives it.
"""

from typing import ClassVar


class LedgerError(Exception):
    """The root of the tree; never raised itself."""

    exit_status: ClassVar[int] = 70


class UsageError(LedgerError):
    """What was asked makes no sense."""

    exit_status = 2


class InputError(LedgerError):
    """Something that was to be read could not be."""

    exit_status = 3


class TranscriptError(InputError):
    """A file is no transcript, or one line of it is not.

    Attributes:
        line_number: 1-based line of the file, or None where the whole file is at fault.
    """

    def __init__(self, message: str, *, line_number: int | None = None) -> None:
        super().__init__(message)
        self.line_number = line_number


class ManifestError(InputError):
    """A manifest is no JSON object."""


class RulesetError(InputError):
    """What somebody wrote as a ruleset of their own is none."""


class DiskError(InputError):
    """The file system refused: full, read-only, not permitted.

    Attributes:
        of_ledger: whether it refused the ledger, and not something that was to be read.
    """

    def __init__(self, message: str, *, of_ledger: bool = False) -> None:
        super().__init__(message)
        self.of_ledger = of_ledger


class DiffersError(LedgerError):
    """The ledger holds this run already, with other content."""

    exit_status = 1


class NotFoundError(LedgerError):
    """There is no such ledger, run, entry or ruleset."""

    exit_status = 4


class UnavailableError(LedgerError):
    """The ledger cannot be used as things stand."""

    exit_status = 5


class BusyError(UnavailableError):
    """Another process held the ledger longer than we wait."""


class SequenceConflict(UnavailableError):
    """A run had grown past the sequence number that the writer expected.

    Attributes:
        expected: the sequence number that the writer meant to append at.
        found: the next sequence number of the run as it stands.
    """

    def __init__(self, message: str, *, expected: int, found: int) -> None:
        super().__init__(message)
        self.expected = expected
        self.found = found


class FormatError(UnavailableError):
    """The file is another program's database, or a ledger of another format."""


class IntegrityError(LedgerError):
    """The log refused a write that would bend it, or no longer holds what it held."""

    exit_status = 6
