"""What the fold holds while it goes through a run.

The state is owned by ``evolve``, which changes it in place; ``decide`` only reads it. What can grow with a
run is bounded or is what the decision needs: gaps and coverage reports are kept, records are counted.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from ledger.core.findings import LIST_LIMIT, Fault, Tally, Violation
from ledger.core.observations import (
    CheckpointCommitFailed,
    CheckpointCommitted,
    ProgramExited,
    RunOpened,
)
from ledger.dialects.collection_profile.gaps import Gaps
from ledger.dialects.collection_profile.manifest import ManifestReading
from ledger.dialects.collection_profile.messages import (
    DetailCoverage,
    Done,
    Interaction,
    InteractionResponse,
    Key,
    SkipResult,
    StreamEvidence,
)
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.ruleset import Ruleset


class Phase(StrEnum):
    """Where a run stands; see ``machine`` for what each phase makes of each message."""

    INITIALIZING = "initializing"
    COLLECTING = "collecting"
    WAITING = "waiting_for_interaction"
    DONE = "done"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"
    VIOLATED = "violated"
    REFUSED = "refused"
    CLOSED = "closed"
    CUT = "cut"


UNREAD = frozenset((Phase.CANCELLED, Phase.ABANDONED, Phase.VIOLATED, Phase.REFUSED, Phase.CLOSED, Phase.CUT))
"""Phases in which lines are not read: they stay in the log and decide nothing."""


class Staged:
    """The STATEs of one checkpoint: the first hundred entries, how many, and the newest.

    Attributes:
        entries: the first hundred, each with the seq of the last RECORD before it (0 where there is none).
        newest: the newest, likewise.
        erased: whether the body of the newest was erased.
    """

    __slots__ = ("entries", "erased", "newest", "total")

    def __init__(self) -> None:
        self.entries: list[tuple[int, int]] = []
        self.newest = (0, 0)
        self.total = 0
        self.erased = False

    @property
    def cursor_entry(self) -> int:
        """The entry whose cursor counts."""
        return self.newest[0]

    def add(self, entry: int, last_record: int, *, erased: bool = False) -> None:
        """Stage a STATE; ``last_record`` is the seq of the last RECORD before it."""
        self.newest = (entry, last_record)
        if len(self.entries) < LIST_LIMIT:
            self.entries.append(self.newest)
        self.total += 1
        self.erased = erased

    def drop_since(self, entry: int) -> None:
        """Forget what was staged from an entry on."""
        if self.newest[0] >= entry:
            self.entries = [staged for staged in self.entries if staged[0] < entry]
            self.newest = self.entries[-1] if self.entries else (0, 0)
            self.total = len(self.entries)

    def last_record_before(self, entry: int) -> int:
        """Return the seq of the last RECORD before a STATE; of one not kept, that of an earlier one."""
        return max((last for seq, last in (*self.entries, self.newest) if seq <= entry), default=0)


class Report(msgspec.Struct, frozen=True):
    """An accepted DETAIL_COVERAGE."""

    entry: int
    message: DetailCoverage
    hydrated: frozenset[Key]
    listed_gaps: frozenset[Key]


class Skip(msgspec.Struct, frozen=True):
    """An accepted SKIP_RESULT."""

    entry: int
    message: SkipResult


class FactKept(msgspec.Struct, frozen=True):
    """An accepted OBSERVATION.

    Attributes:
        fact: ``element_expectation``, ``wait_expired`` or ``provider_message``.
        resolves: ids of earlier ones that it settles.
        state: the state in which it leaves the element that it is about, None where it is about none.
    """

    entry: int
    fact: str
    resolves: tuple[str, ...] = ()
    state: str | None = None


class Question:
    """An INTERACTION and what became of it."""

    __slots__ = ("answer", "answer_entry", "entry", "message", "timed_out")

    def __init__(self, entry: int, message: Interaction | None) -> None:
        self.entry = entry
        self.message = message
        self.answer: InteractionResponse | None = None
        self.answer_entry: int | None = None
        self.timed_out = False


class Ending(msgspec.Struct, frozen=True):
    """An event from outside that ends a run, by its entry; ``code`` names it, ``text`` says more."""

    entry: int
    code: str
    text: str = ""


class Erased:
    """The entries whose bodies were erased, and which of them were what.

    Attributes:
        entries: all of them.
        reports: the DETAIL_COVERAGEs by stream; likewise ``gaps``, ``skips`` and ``evidence``.
        records: the RECORDs by stream; likewise ``rejections``, which say that the store refused some.
        run: those that leave open what the run is, or how it ended.
        since: the entry from which on it is open where the run stands, so that what seems to have ended it
            after that may have been nothing of the kind.
        start: whether one of them was the START, so that nobody knows what was in scope.
        cuts: whether one of them said of some line that it was never read.
        exit: the one that said how the program ended.
        durable: whether one of them said which records were durable.
        facts: the OBSERVATIONs.
        doubtful_facts: ids of readable OBSERVATIONs that are accepted or not by what an erased one said.
    """

    __slots__ = (
        "cuts",
        "doubtful_facts",
        "durable",
        "entries",
        "evidence",
        "exit",
        "facts",
        "gaps",
        "records",
        "rejections",
        "reports",
        "run",
        "since",
        "skips",
        "start",
    )

    def __init__(self) -> None:
        self.entries = Tally(Fault(code="entry_erased", clause="log/erasure", by="owner"))
        self.reports: dict[str, list[int]] = {}
        self.gaps: dict[str, list[int]] = {}
        self.skips: dict[str, list[int]] = {}
        self.evidence: dict[str, list[int]] = {}
        self.run: list[int] = []
        self.since: int | None = None
        self.start = False
        self.cuts = False
        self.exit: int | None = None
        self.durable = False
        self.records: dict[str, list[int]] = {}
        self.rejections: dict[str, list[int]] = {}
        self.facts: list[int] = []
        self.doubtful_facts: set[str] = set()

    def leave_open(self, entry: int, *, since: int | None = None) -> None:
        """Keep an entry that leaves the run open, and from which entry on it is open where the run stands."""
        self.run.append(entry)
        if since is not None and self.since is None:
            self.since = since


class State:
    """Everything that the fold knows about one run after some prefix of its entries."""

    def __init__(self, ruleset: Ruleset, documents: Mapping[str, bytes]) -> None:
        self.ruleset = ruleset
        self.documents = documents
        self.through = 0
        self.phase = Phase.INITIALIZING

        # What the run is.
        self.opened: RunOpened | None = None
        self.manifest: ManifestReading | None = None
        self.plan: Plan | None = None
        self.start_entry: int | None = None
        self.first_program_line: int | None = None
        self.runtime_lines: set[int] = set()
        self.refusals: list[tuple[int, Fault]] = []

        # What the program said.
        self.counted = 0
        self.last_record = 0
        self.staged: dict[str, Staged] = {}
        self.reports: dict[tuple[str, str], Report] = {}
        self.reporting: dict[str, list[str]] = {}
        self.reports_read: dict[str, int] = {}
        self.gaps = Gaps()
        self.skips: list[Skip] = []
        self.skips_total = 0
        self.newest_skips: dict[str | None, Skip] = {}
        self.failed_streams: dict[str, Tally] = {}
        self.evidence: dict[str, tuple[int, StreamEvidence]] = {}
        self.evidence_rejected: dict[str, int] = {}
        self.connector_facts: dict[str, FactKept] = {}
        self.asked: list[Question] = []
        self.asked_total = 0
        self.pending: Question | None = None
        self.done: Done | None = None
        self.done_entry: int | None = None

        # What the rules made of it.
        self.violations: list[Violation] = []
        self.tallies: dict[tuple[str, str, str], Tally] = {}

        # What rules and switches had to judge, where only the moment tells; see ``occasions`` (and ``fate``).
        self.types_asked: set[str] = set()
        self.types_broken: set[str] = set()
        self.occasions: set[str] = set()

        # What the observer saw, and what was erased.
        self.spawned: int | None = None
        self.refused: Ending | None = None
        self.cancelled: Ending | None = None
        self.controller_lost: Ending | None = None
        self.submissions_rejected: list[int] = []
        self.exit: ProgramExited | None = None
        self.exit_entry: int | None = None
        self.closed: int | None = None
        self.cut: int | None = None
        self.commits: list[tuple[int, CheckpointCommitted | CheckpointCommitFailed]] = []
        self.durable_through: int | None = None
        self.undurable_commits: list[tuple[int, str, int]] = []
        self.erased = Erased()

    @property
    def exit_in_time(self) -> ProgramExited | None:
        """How the program ended, where that was seen before the decision."""
        return self.exit if self.cut is None or (self.exit_entry or 0) < self.cut else None

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, or has been decided as if it had."""
        return self.exit_entry is not None or self.closed is not None or self.cut is not None

    def violate(self, entry: int, fault: Fault) -> None:
        """End the run on a broken clause; lines after it change nothing."""
        self.violations.append(
            Violation(
                entry=entry,
                code=fault.code,
                clause=fault.clause,
                by=fault.by,
                entries=fault.entries,
                detail=fault.detail,
            )
        )
        self.phase = Phase.VIOLATED

    def note(self, fault: Fault, *entries: int) -> None:
        """Keep a finding; those of one code about one stream are told together."""
        subject = str(fault.detail.get("stream", "")) + "\0" + str(fault.detail.get("parent", ""))
        tally = self.tallies.setdefault((fault.code, fault.by, subject), Tally(fault))
        tally.add(*(entries or (self.through,)))
