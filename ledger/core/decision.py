"""The decision about a run, as every dialect publishes it: ``run-decision/1``.

Names and codes here are public and change only with a new ``schema``. There is no prose: wording is rendered
from code, clause and detail by the catalogue. Lists of keys and entries hold their first hundred items; where
that may not be all, a total stands beside them. ``decision`` is what the rules say, ``outcome`` what really
happened.
"""

from typing import Literal, TypeAlias

import msgspec

from ledger.core.digests import canonical_json
from ledger.core.findings import By, Detail, Finding, Violation

Status: TypeAlias = Literal[
    "running", "refused", "succeeded", "failed", "cancelled", "abandoned", "indeterminate"
]
Verdict: TypeAlias = Literal["commit", "withhold", "pending", "indeterminate"]
Outcome: TypeAlias = Literal["committed", "failed", "not_attempted"]
Condition: TypeAlias = Literal["complete", "gapped", "shortfall", "missing", "inherited", "unknown"]
Evidence: TypeAlias = Literal["DETAIL_COVERAGE", "STREAM_EVIDENCE", "none"]


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """The shared shape of the parts of a decision."""


class RulesetName(_Part, frozen=True):
    """The ruleset that was asked."""

    id: str
    digest: str


class Subject(_Part, frozen=True):
    """What the run was.

    Attributes:
        program: the connector's id.
        version: the connector's version.
        manifest: digest of the manifest, null where none is known.
        namespace: where checkpoints go: ``global``, a grant id, or null for a single-use run.
        start: entry of the START, null where there is none.
    """

    program: str
    version: str
    manifest: str | None
    trigger: str
    grant_id: str | None
    namespace: str | None
    start: int | None


class NearMiss(_Part, frozen=True):
    """Something in the log that almost accounts for a key, or almost certifies a failure."""

    code: str
    entry: int
    key: str | None = None
    detail: Detail = {}


class Cause(_Part, frozen=True):
    """The one cause of a run that did not simply succeed."""

    code: str
    clause: str
    entries: tuple[int, ...]
    by: By
    detail: Detail = {}
    near_misses: tuple[NearMiss, ...] = ()


class Exit(_Part, frozen=True):
    """How the program ended; both null where that was not observed."""

    code: int | None
    signal: str | None


class ErrorReport(_Part, frozen=True):
    """What DONE says went wrong.

    Attributes:
        basis: the first hundred ids of OBSERVATIONs that it says it rests on, each once; left out where it
            does not say, or the ruleset does not read it.
    """

    code: str | None
    message: str
    retryable: bool | None
    basis: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class Terminal(_Part, frozen=True):
    """The end of the run, as far as it is known.

    Attributes:
        entry: entry of DONE; this and the DONE members are null where there is none.
        counted: RECORDs that the fold counted.
        exit: null where the end of the program was not observed before the decision.
    """

    entry: int | None
    status: str | None
    records_emitted: int | str | None
    counted: int
    exit: Exit | None
    error: ErrorReport | None


class Reason(_Part, frozen=True):
    """Why a checkpoint is withheld or undecided.

    Attributes:
        stream: the stream at fault, null where it is the run.
        keys: the first hundred keys at fault, of ``keys_total``.
        entries: the first hundred entries that this rests on, of ``entries_total``.
    """

    code: str
    clause: str
    stream: str | None
    keys: tuple[str, ...] = ()
    keys_total: int = 0
    entries: tuple[int, ...] = ()
    entries_total: int = 0
    near_misses: tuple[NearMiss, ...] = ()


class Checkpoint(_Part, frozen=True):
    """One staged checkpoint.

    Attributes:
        covers: the other streams in scope whose checkpoint this is.
        staged: the first hundred STATE entries, of ``staged_total``.
        cursor_entry: the newest of them.
        outcome: null where nothing was recorded of it.
        outcome_entries: the observations that say so.
        committed_cursor: the entry whose cursor the store took last, null where none is recorded.
        reasons: the first hundred.
        reasons_total: how many there are, left out where ``reasons`` holds them all.
    """

    stream: str
    covers: tuple[str, ...]
    staged: tuple[int, ...]
    staged_total: int
    cursor_entry: int
    decision: Verdict
    outcome: Outcome | None
    outcome_entries: tuple[int, ...]
    committed_cursor: int | None
    reasons: tuple[Reason, ...]
    reasons_total: int | msgspec.UnsetType = msgspec.UNSET


class Commit(_Part, frozen=True):
    """The sum over the checkpoints, and where committing stopped (eligible/5)."""

    staged: int
    eligible: int
    committed: int
    committed_streams: tuple[str, ...]
    failed_stream: str | None
    not_attempted: tuple[str, ...]


class Coverage(_Part, frozen=True):
    """How complete one stream is under one parent boundary.

    Attributes:
        checkpoint: what the rules say of the parent's checkpoint, null where none was staged; a child
            stream has no other status than this.
        outcome: what became of the parent's checkpoint.
    """

    stream: str
    parent: str
    required: int
    hydrated: int
    gapped: int
    unaccounted: int
    condition: Condition
    evidence: Evidence
    checkpoint: Verdict | None
    outcome: Outcome | None
    entries: tuple[int, ...]


class Records(_Part, frozen=True):
    """The RECORDs of one stream: emitted = accepted + discarded (out of scope) + rejected (by the store)."""

    stream: str
    emitted: int
    accepted: int
    discarded: int
    rejected: int
    deletes: int


class Discrepancy(_Part, frozen=True):
    """Where what happened is not what the rules say."""

    code: str
    clause: str
    stream: str | None
    entries: tuple[int, ...]
    detail: Detail = {}


class UnknownFact(_Part, frozen=True):
    """Something that no entry shows and that nothing is assumed about."""

    what: Literal["exit_status", "durability", "bindings", "scope", "grant", "manifest", "erased"]
    entries: tuple[int, ...] = ()


class HintShown(_Part, frozen=True):
    """A recovery hint, the bare form with ``retryable`` null."""

    action: str
    retryable: bool | None


class ContinuationShown(_Part, frozen=True):
    """One proven slice; it says nothing of the rest."""

    boundary: str
    slice_start: int
    slice_end: int
    considered: int
    covered: int


class SkipShown(_Part, frozen=True):
    """A SKIP_RESULT; ``newest`` marks the one that counts for its stream."""

    entry: int
    stream: str | None
    reason: str | None
    recovery_hint: HintShown | None
    continuation: ContinuationShown | None
    newest: bool


class GapShown(_Part, frozen=True):
    """A DETAIL_GAP; ``accounted_by`` is the report that it accounts a key for."""

    entry: int
    stream: str
    parent: str | None
    record_key: str | None
    reason: str | None
    retryable: bool | None
    accounted_by: int | None


class InteractionShown(_Part, frozen=True):
    """An INTERACTION and its answer, null where none came."""

    entry: int
    request_id: str | None
    kind: str | None
    answer_entry: int | None
    answer: str | None
    timed_out: bool


class FactShown(_Part, frozen=True):
    """An OBSERVATION that was accepted.

    Attributes:
        state: the state in which it leaves the element that it is about, null where it is about none.
        resolves: the ids of earlier ones that it settles.
    """

    entry: int
    id: str
    fact: str
    state: str | None
    resolves: tuple[str, ...]


class Recovery(_Part, frozen=True):
    """What the owner is asked to do; ``source`` says whether a hint asked for it or only a flag.

    Attributes:
        gate: where a hint is only a suggestion, whether what the runtime recorded lets it be acted on;
            left out where a hint is authoritative.
    """

    action: str
    retryable: bool | None
    entry: int
    source: Literal["recovery_hint", "retryable"] = msgspec.field(name="from")
    gate: Literal["holds", "not_met"] | msgspec.UnsetType = msgspec.UNSET


class Failure(_Part, frozen=True):
    """What a failed run is put down to.

    Attributes:
        by: whose word that is: a record of the runtime, or the connector's own account, on which nothing is
            done.
        basis: the first hundred ids of the OBSERVATIONs that it rests on.
        entries: the first hundred entries that it rests on.
    """

    cause: Literal["auth_rejected", "expectation_mismatch", "unknown"]
    by: Literal["runtime", "program"]
    basis: tuple[str, ...]
    entries: tuple[int, ...]


class Totals(_Part, frozen=True):
    """How many there were of what is listed only in part; ``facts`` where the decision lists any."""

    violations: int
    skips: int
    gaps: int
    interactions: int
    facts: int | msgspec.UnsetType = msgspec.UNSET


class Decision(_Part, frozen=True, kw_only=True):
    """What a run's log means under one ruleset.

    Attributes:
        failure: what a failed run is put down to; left out where the run did not fail, or the ruleset puts
            no failure down to anything.
        facts: the first hundred OBSERVATIONs that were accepted; left out where the ruleset knows none.
    """

    schema: Literal["run-decision/1"] = "run-decision/1"
    run_id: str
    dialect: str
    ruleset: RulesetName
    fold: int
    through: int
    subject: Subject
    status: Status
    cause: Cause | None
    failure: Failure | msgspec.UnsetType = msgspec.UNSET
    certified: bool
    terminal: Terminal
    checkpoints: tuple[Checkpoint, ...]
    commit: Commit
    coverage: tuple[Coverage, ...]
    records: tuple[Records, ...]
    violations: tuple[Violation, ...]
    findings: tuple[Finding, ...]
    discrepancies: tuple[Discrepancy, ...]
    unknowns: tuple[UnknownFact, ...]
    skips: tuple[SkipShown, ...]
    gaps: tuple[GapShown, ...]
    interactions: tuple[InteractionShown, ...]
    facts: tuple[FactShown, ...] | msgspec.UnsetType = msgspec.UNSET
    recovery: Recovery | None
    totals: Totals


def committable(decision: Decision) -> list[str]:
    """Return the checkpoints that are to be committed, in order."""
    return [one.stream for one in decision.checkpoints if one.decision == "commit"]


def encode_decision(decision: Decision) -> bytes:
    """Return the decision as JSON: the same bytes for the same decision, everywhere."""
    return canonical_json(decision)


def decode_decision(body: bytes) -> Decision:
    """Read a decision back.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError, RecursionError: it is none.
    """
    decision: Decision = msgspec.json.decode(body, type=Decision)
    return decision
