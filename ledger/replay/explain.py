"""Why: a decision walked through, with the sentence of every code and the entries that it rests on.

An explanation decides nothing. It takes a decision, the entries that the decision cites, and where the
checkpoints stand, and puts words and facts side by side. ``why -o json`` prints it as it is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from ledger.core.decision import Cause, Checkpoint, Decision, Discrepancy, Failure, Reason, UnknownFact
from ledger.core.dialect import Dialect
from ledger.core.entries import Entry
from ledger.core.findings import Detail, Finding
from ledger.core.instants import write_micros
from ledger.core.wording import Catalogue
from ledger.replay.compare import OtherRuleset, compare
from ledger.replay.history import Standing

OPENING = 1
"""The entry that says when the run was opened."""

ENTRIES_SHOWN = 10
"""Entries shown behind one fact."""

FACTS_TOLD = 1000
"""Checkpoints, findings and discrepancies that one explanation tells, of each at most, beside their total."""


class EntryShown(msgspec.Struct, frozen=True, kw_only=True):
    """An entry, as far as a person wants to see it; ``at`` is null where the time is unknown."""

    seq: int
    at: str | None
    origin: str
    type: str
    stream: str
    facts: Mapping[str, str]


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One fact in words: its code, its clause and what that demands.

    Attributes:
        entries: the first entries behind it, of ``entries_total``.
    """

    code: str
    sentence: str
    clause: str = ""
    demand: str = ""
    by: str = ""
    stream: str | None = None
    entries: tuple[EntryShown, ...] = ()
    entries_total: int = 0


class ReasonSaid(msgspec.Struct, frozen=True, kw_only=True):
    """Why a checkpoint is withheld or undecided.

    Attributes:
        keys: the first hundred keys at fault, of ``keys_total``.
        entries: the first entries that the reason rests on, of ``entries_total``.
        near_misses: what almost accounts for a key.
        records: records that carry a key at fault.
    """

    code: str
    sentence: str
    clause: str
    demand: str
    stream: str | None
    keys: tuple[str, ...]
    keys_total: int
    entries: tuple[EntryShown, ...]
    entries_total: int
    near_misses: tuple[Said, ...]
    records: tuple[EntryShown, ...]


class CheckpointSaid(msgspec.Struct, frozen=True, kw_only=True):
    """One staged checkpoint: what the rules say, what happened, and where it stands.

    Attributes:
        covers: the other streams whose status this checkpoint is.
        reasons: the first hundred, of ``reasons_total``.
        differs: where what happened is not what the rules say.
        last_cursor: the cursor that was last committed, as JSON text; null where none is known.
        retry: whether the stream stays eligible for the next run.
    """

    stream: str
    covers: tuple[str, ...]
    staged: tuple[int, ...]
    staged_total: int
    cursor_entry: int
    decision: str
    outcome: str | None
    reasons: tuple[ReasonSaid, ...]
    reasons_total: int
    differs: tuple[Said, ...]
    standing: Standing | None
    last_cursor: str | None
    retry: bool


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run was decided as it was.

    Attributes:
        opened: when the run was opened, null where that is unknown.
        asked: the one stream that was asked about, null where all were.
        checkpoints: those asked about; of more than a thousand the first, the troubled ones before others.
        differs: where what happened is not what the rules say, beyond these checkpoints; the first thousand.
        findings: the first thousand.
        recovery_gate: whether what the connector suggests is acted on, left out where it is authoritative.
        failure: what a failed run is put down to, left out where the ruleset does not ask for it.
        others: what each other shipped ruleset decides of the whole run.
    """

    schema: str = "run-explanation/1"
    run_id: str
    program: str
    opened: str | None
    ruleset: str
    asked: str | None
    status: str
    through: int
    cause: Said | None
    cause_near_misses: tuple[Said, ...]
    checkpoints: tuple[CheckpointSaid, ...]
    checkpoints_total: int
    differs: tuple[Said, ...]
    differs_total: int
    findings: tuple[Said, ...]
    findings_total: int
    unknowns: tuple[Said, ...]
    recovery: str | None
    recovery_gate: str | msgspec.UnsetType = msgspec.UNSET
    failure: Said | msgspec.UnsetType = msgspec.UNSET
    others: tuple[OtherRuleset, ...]


def told_checkpoints(decision: Decision, checkpoints: list[Checkpoint]) -> list[Checkpoint]:
    """Return the checkpoints that an explanation tells: all, or of many the troubled ones first."""
    if len(checkpoints) <= FACTS_TOLD:
        return checkpoints
    differing = {one.stream for one in decision.discrepancies}
    well = {one.stream for one in checkpoints if _is_well(one) and one.stream not in differing}
    return sorted(checkpoints, key=lambda one: one.stream in well)[:FACTS_TOLD]


def _is_well(checkpoint: Checkpoint) -> bool:
    return checkpoint.decision == "commit" and checkpoint.outcome in ("committed", None)


def entries_cited(decision: Decision, checkpoints: Iterable[Checkpoint]) -> set[int]:
    """Return the entries that an explanation of these checkpoints shows, by seq."""
    cited: set[int] = {OPENING}
    if decision.cause is not None:
        cited.update(decision.cause.entries, (miss.entry for miss in decision.cause.near_misses))
    if decision.failure is not msgspec.UNSET:
        cited.update(decision.failure.entries[:ENTRIES_SHOWN])
    for listed in (decision.findings, decision.discrepancies):
        for one in listed[:FACTS_TOLD]:
            cited.update(one.entries[:ENTRIES_SHOWN])
    for checkpoint in checkpoints:
        for reason in checkpoint.reasons:
            cited.update(reason.entries[:ENTRIES_SHOWN], (miss.entry for miss in reason.near_misses))
    return cited


def explain(
    dialect: Dialect,
    decision: Decision,
    checkpoints: Collection[Checkpoint],
    cited: Mapping[int, Entry],
    records: Mapping[tuple[str, str], list[Entry]],
    standings: Mapping[str, tuple[Standing, str | None]],
    *,
    stream: str | None = None,
    asked_total: int | None = None,
    others: Iterable[Decision] = (),
    erased: Mapping[int, str] = {},
    words: Catalogue | None = None,
) -> Explanation:
    """Put a decision into words.

    Args:
        dialect: whose words.
        decision: the decision of the run.
        checkpoints: those of its checkpoints that are asked about.
        cited: the entries of :func:`entries_cited`, by seq.
        records: the records of :func:`~.records_at_fault.records_naming`.
        standings: where each checkpoint stands, and the text of its last committed cursor.
        stream: the one stream that was asked about; None for all.
        asked_total: how many checkpoints are asked about, None where it is those of ``checkpoints``.
        others: what other rulesets decide of the same entries.
        erased: what is known of the erasure of those of ``cited`` that have no body, in words, by seq.
        words: those of the ruleset that decided; None for the dialect's.
    """
    opening = cited.get(OPENING)
    teller = _Teller(dialect, words or dialect.catalogue, cited, erased)
    asked = {checkpoint.stream for checkpoint in checkpoints}
    elsewhere = [one for one in decision.discrepancies if one.stream not in asked]
    differing = _by_stream(decision.discrepancies)
    return Explanation(
        run_id=decision.run_id,
        program=decision.subject.program,
        opened=write_micros(opening.at) if opening is not None and opening.at else None,
        ruleset=decision.ruleset.id,
        asked=stream,
        status=decision.status,
        through=decision.through,
        cause=teller.cause(decision, decision.cause) if decision.cause else None,
        cause_near_misses=tuple(teller.near_misses(decision.cause)) if decision.cause else (),
        checkpoints=tuple(
            teller.checkpoint(one, differing.get(one.stream, [])[:FACTS_TOLD], records, standings)
            for one in checkpoints
        ),
        checkpoints_total=len(checkpoints) if asked_total is None else asked_total,
        differs=tuple(teller.discrepancy(one) for one in elsewhere[:FACTS_TOLD]),
        differs_total=len(elsewhere),
        findings=tuple(teller.finding(one) for one in decision.findings[:FACTS_TOLD]),
        findings_total=len(decision.findings),
        unknowns=tuple(teller.unknown(one) for one in decision.unknowns),
        recovery=decision.recovery.action if decision.recovery else None,
        recovery_gate=decision.recovery.gate if decision.recovery else msgspec.UNSET,
        failure=teller.failure(decision.failure),
        others=tuple(compare(decision, other) for other in others),
    )


def _by_stream(discrepancies: Iterable[Discrepancy]) -> dict[str | None, list[Discrepancy]]:
    found: dict[str | None, list[Discrepancy]] = {}
    for one in discrepancies:
        found.setdefault(one.stream, []).append(one)
    return found


class _Teller:
    """Words and entries of one decision."""

    def __init__(
        self, dialect: Dialect, words: Catalogue, cited: Mapping[int, Entry], erased: Mapping[int, str]
    ) -> None:
        self.dialect = dialect
        self.words = words
        self.cited = cited
        self.erased = erased

    def cause(self, decision: Decision, cause: Cause) -> Said:
        """Word the cause; a clause demands something only where it was broken."""
        said = self._said(cause, self.words.cause(cause.code, cause.detail), by=cause.by)
        broken = any(one.code == cause.code for one in decision.violations)
        return said if broken else msgspec.structs.replace(said, demand="")

    def failure(self, failure: Failure | msgspec.UnsetType) -> Said | msgspec.UnsetType:
        if failure is msgspec.UNSET:
            return failure
        return Said(
            code=failure.cause,
            sentence=self.words.failure(failure.cause),
            clause="failure/cause",
            by=failure.by,
            entries=self._entries(failure.entries),
            entries_total=len(failure.entries),
        )

    def finding(self, finding: Finding) -> Said:
        sentence, stream = self.words.fault(finding.code, finding.detail), finding.detail.get("stream")
        return self._said(
            finding, sentence, by=finding.by, stream=str(stream) if stream is not None else None
        )

    def discrepancy(self, one: Discrepancy) -> Said:
        sentence = self.words.discrepancy(one.code, one.detail, one.stream)
        return self._said(one, sentence, by="", stream=one.stream)

    def unknown(self, one: UnknownFact) -> Said:
        return Said(code=one.what, sentence=self.words.unknown(one.what))

    def near_misses(self, owner: Cause | Reason) -> Iterator[Said]:
        for miss in owner.near_misses:
            sentence = self.words.near_miss(miss.code, miss.detail, miss.key, miss.entry)
            entries = self._entries((miss.entry,))
            yield Said(code=miss.code, sentence=sentence, entries=entries, entries_total=1)

    def checkpoint(
        self,
        one: Checkpoint,
        differing: Sequence[Discrepancy],
        records: Mapping[tuple[str, str], list[Entry]],
        standings: Mapping[str, tuple[Standing, str | None]],
    ) -> CheckpointSaid:
        standing, cursor = standings.get(one.stream, (None, None))
        return CheckpointSaid(
            stream=one.stream,
            covers=one.covers,
            staged=one.staged,
            staged_total=one.staged_total,
            cursor_entry=one.cursor_entry,
            decision=one.decision,
            outcome=one.outcome,
            reasons=tuple(self._reason(reason, records) for reason in one.reasons),
            reasons_total=len(one.reasons) if one.reasons_total is msgspec.UNSET else one.reasons_total,
            differs=tuple(map(self.discrepancy, differing)),
            standing=standing,
            last_cursor=cursor,
            retry=one.decision != "pending" and one.outcome != "committed",
        )

    def _reason(self, reason: Reason, records: Mapping[tuple[str, str], list[Entry]]) -> ReasonSaid:
        keys = f"{reason.keys_total} required key" + ("" if reason.keys_total == 1 else "s")
        names: Detail = {"stream": reason.stream or "", "keys": keys}
        carrying = [e for key in reason.keys for e in records.get((reason.stream or "", key), ())]
        return ReasonSaid(
            code=reason.code,
            sentence=self.words.reason(reason.code, names),
            clause=reason.clause,
            demand=self.words.demand(reason.clause),
            stream=reason.stream,
            keys=reason.keys,
            keys_total=reason.keys_total,
            entries=self._entries(reason.entries),
            entries_total=reason.entries_total,
            near_misses=tuple(self.near_misses(reason)),
            records=tuple(self.show(entry) for entry in carrying),
        )

    def _said(
        self, one: Cause | Finding | Discrepancy, sentence: str, *, by: str, stream: str | None = None
    ) -> Said:
        return Said(
            code=one.code,
            sentence=sentence,
            clause=one.clause,
            demand=self.words.demand(one.clause),
            by=by,
            stream=stream,
            entries=self._entries(one.entries),
            entries_total=one.entries_total if isinstance(one, Finding) else len(one.entries),
        )

    def _entries(self, numbers: Iterable[int]) -> tuple[EntryShown, ...]:
        return tuple(self.show(self.cited[seq]) for seq in [*numbers][:ENTRIES_SHOWN] if seq in self.cited)

    def show(self, entry: Entry) -> EntryShown:
        """Show one entry."""
        erased = {"body": self.erased[entry.seq]} if entry.seq in self.erased else {}
        return EntryShown(
            seq=entry.seq,
            at=write_micros(entry.at) if entry.at else None,
            origin=entry.origin,
            type=entry.type,
            stream=entry.stream,
            facts={**self.dialect.tell(entry), **erased},
        )
