"""What must hold of every decision about a run of the Collection Profile, whatever the run."""

from collections.abc import Iterator

import msgspec

from ledger.core.decision import Decision, decode_decision, encode_decision
from ledger.core.findings import LIST_LIMIT
from ledger.core.json_reader import Document, read_json
from ledger.dialects.collection_profile.clauses import CLAUSES
from ledger.dialects.collection_profile.rulesets import LATER
from tests.dialects.collection_profile.runs import Message, Run

SKIPS_SHOWN = 2 * LIST_LIMIT
"""The first hundred skips, and the newest of each stream where it came later."""


def check(decision: Decision, run: Run) -> None:
    """Hold a decision to everything that needs no knowledge of what the run said."""
    check_status(decision)
    check_checkpoints(decision)
    check_counts(decision)
    check_citations(decision)
    assert decision.through == (run.entries[-1].seq if run.entries else 0)
    assert decode_decision(encode_decision(decision)) == decision


def check_status(decision: Decision) -> None:
    """Status, cause and certification agree."""
    assert (decision.cause is None) == (decision.status in ("running", "succeeded"))
    assert not decision.certified or decision.status in ("failed", "abandoned")
    if decision.status == "succeeded":
        assert not decision.violations
        assert decision.terminal.status == "succeeded"
        assert decision.terminal.exit is None or decision.terminal.exit.code in (0, None)
    if decision.certified:
        assert decision.terminal.status == "failed"
    if decision.ruleset.id == LATER.id:
        check_later_status(decision)
    else:
        assert decision.failure is msgspec.UNSET
        assert decision.recovery is None or decision.recovery.gate is msgspec.UNSET


def check_later_status(decision: Decision) -> None:
    """What the later profile says of how a run ended, and of what may be done about it."""
    assert decision.status != "cancelled"
    assert (decision.failure is not msgspec.UNSET) == (decision.status == "failed")
    if decision.failure is not msgspec.UNSET and decision.failure.cause == "auth_rejected":
        assert decision.failure.by == "runtime"
    if decision.recovery is not None:
        assert decision.recovery.source == "recovery_hint"
        assert decision.recovery.gate in ("holds", "not_met")
    if decision.status == "abandoned":
        assert decision.commit.eligible == 0


def check_checkpoints(decision: Decision) -> None:
    """A checkpoint is committed for nothing else than the rules, and withheld for a reason."""
    verdicts = {checkpoint.decision for checkpoint in decision.checkpoints}
    assert ("pending" in verdicts) == (decision.status == "running" and bool(decision.checkpoints))
    if may_commit_nothing(decision):
        assert "commit" not in verdicts
    for checkpoint in decision.checkpoints:
        assert bool(checkpoint.reasons) == (checkpoint.decision in ("withhold", "indeterminate"))
        assert checkpoint.staged_total >= 1
        assert len(checkpoint.staged) == min(LIST_LIMIT, checkpoint.staged_total)
        assert list(checkpoint.staged) == sorted(set(checkpoint.staged))
        assert checkpoint.cursor_entry >= checkpoint.staged[-1]
        assert checkpoint.stream not in checkpoint.covers
        for reason in checkpoint.reasons:
            assert len(reason.keys) == min(LIST_LIMIT, reason.keys_total)
            assert len(reason.entries) == min(LIST_LIMIT, reason.entries_total)
            assert len(reason.near_misses) <= LIST_LIMIT


def may_commit_nothing(decision: Decision) -> bool:
    """Tell the runs that commit nothing, as the specification lists them."""
    refused = ("checkpoint_store_failed", "checkpoint_beyond_grant")
    store_failed = decision.cause is not None and decision.cause.code in refused
    uncertified = decision.status == "failed" and not decision.certified and not store_failed
    cancelled = decision.status == "cancelled" or decision.terminal.status == "cancelled"
    single_use = decision.subject.trigger == "single_use"
    undecided = decision.status in ("refused", "running", "indeterminate") and not store_failed
    return uncertified or cancelled or single_use or undecided or bool(decision.violations)


def check_counts(decision: Decision) -> None:
    """Sums agree with what they sum up."""
    for counts in decision.records:
        assert counts.emitted == counts.accepted + counts.discarded + counts.rejected
        assert min(counts.emitted, counts.accepted, counts.discarded, counts.rejected, counts.deletes) >= 0
        assert counts.deletes <= counts.emitted
    assert sum(counts.emitted for counts in decision.records) <= decision.terminal.counted
    for row in decision.coverage:
        measured = row.hydrated + row.gapped + row.unaccounted
        assert row.required == measured
        if row.condition == "complete":
            assert row.gapped == row.unaccounted == 0
        assert row.evidence != "none" or (row.condition not in ("complete", "gapped", "shortfall"))
    commit = decision.commit
    assert commit.staged == len(decision.checkpoints)
    assert commit.eligible == sum(one.decision == "commit" for one in decision.checkpoints)
    assert commit.committed == len(set(commit.committed_streams)) == len(commit.committed_streams)
    skipped = [one.stream for one in decision.checkpoints if one.outcome == "not_attempted"]
    assert list(commit.not_attempted) == skipped
    assert len(decision.skips) <= min(SKIPS_SHOWN, decision.totals.skips)
    assert len(decision.gaps) == min(LIST_LIMIT, decision.totals.gaps)
    facts = decision.facts or ()
    assert len(facts) == (decision.totals.facts or 0) <= LIST_LIMIT
    assert len({fact.id for fact in facts}) == len(facts)
    assert len(decision.interactions) == min(LIST_LIMIT, decision.totals.interactions)


def check_citations(decision: Decision) -> None:
    """Every clause that is cited is one, and every entry that is cited is in the run."""
    for clause in cited_clauses(decision):
        assert clause in CLAUSES, clause
    for entry in cited_entries(decision):
        assert 1 <= entry <= decision.through, entry
    for finding in decision.findings:
        assert len(finding.entries) == min(LIST_LIMIT, finding.entries_total) > 0


def cited_clauses(decision: Decision) -> Iterator[str]:
    yield from (violation.clause for violation in decision.violations)
    yield from (finding.clause for finding in decision.findings)
    yield from (reason.clause for one in decision.checkpoints for reason in one.reasons)
    if decision.cause is not None:
        yield decision.cause.clause


def cited_entries(decision: Decision) -> Iterator[int]:
    yield from (violation.entry for violation in decision.violations)
    for finding in decision.findings:
        yield from finding.entries
    for one in decision.checkpoints:
        yield from (*one.staged, one.cursor_entry, *one.outcome_entries)
        for reason in one.reasons:
            yield from reason.entries
            yield from (miss.entry for miss in reason.near_misses)
    if decision.cause is not None:
        yield from decision.cause.entries
        yield from (miss.entry for miss in decision.cause.near_misses)
    if decision.failure is not msgspec.UNSET:
        yield from decision.failure.entries
    yield from (entry for row in decision.coverage for entry in row.entries)
    yield from (entry for one in decision.discrepancies for entry in one.entries)
    yield from (entry for fact in decision.unknowns for entry in fact.entries)
    yield from (skip.entry for skip in decision.skips)
    yield from (gap.entry for gap in decision.gaps)
    yield from (asked.entry for asked in decision.interactions)
    yield from (fact.entry for fact in decision.facts or ())


# A naive reading of the eligible-checkpoint algorithm, for runs in which nothing is broken.


def naively_eligible(manifest: Message, run: Run, *, reference: bool = False) -> list[str]:
    """Return the checkpoints to commit, in order, read off the lines themselves.

    For whole runs: START, lines of a good connector, DONE, and nothing observed but the exit.
    """
    parents = {
        stream["name"]: stream.get("parent_streams") or [stream.get("state_stream") or stream["name"]]
        for stream in manifest["streams"]
    }
    details = {stream["name"] for stream in manifest["streams"] if "parent_streams" in stream}
    lines = [to_message(entry.body) for entry in run.entries if entry.origin != "observer"]
    scope = {stream["name"] for stream in lines[0]["scope"]["streams"]}
    staged = list(dict.fromkeys(line["stream"] for line in lines if line["type"] == "STATE"))
    if reference:
        staged.sort(key=lambda name: (0, int(name)) if name.isdecimal() else (1, 0))
    else:
        staged = [name for name in staged if any(name in declared for declared in parents.values())]
    ineligible: set[str] = set()
    if lines[-1]["status"] == "failed":
        for line in lines:
            if line["type"] == "SKIP_RESULT" and line.get("reason") == "stream_collection_failed":
                ineligible.update(parents[line["stream"]])
                ineligible.update([] if reference else [line["stream"]])
    reported: set[tuple[str, str]] = set()
    for line in (line for line in lines if line["type"] == "DETAIL_COVERAGE"):
        reported.add((line["stream"], line["state_stream"]))
        if not naively_covered(line, lines, parents, reference=reference):
            ineligible.add(line["state_stream"])
    for stream in details & scope:
        ineligible.update(parent for parent in parents[stream] if (stream, parent) not in reported)
    return [stream for stream in staged if stream not in ineligible]


def naively_covered(
    report: Message, lines: list[Message], parents: dict[str, list[str]], *, reference: bool
) -> bool:
    """Tell whether a report leaves no required key unaccounted for."""
    boundary = (report["stream"], report["state_stream"])
    backed = []
    for gap in (line for line in lines if line["type"] == "DETAIL_GAP"):
        is_free = parents[gap["stream"]] == [gap["stream"]]
        spans = reference and is_free and "parent_stream" not in gap and gap["stream"] == boundary[0]
        if spans or boundary_of(gap, parents) == boundary:
            backed.append(gap["record_key"])
    listed = report.get("gap_keys", [])
    for key in report["required_keys"]:
        if reference:
            accounted = [*report["hydrated_keys"], *backed, *report.get("optional_skip_keys", [])]
            if as_text(key) not in map(as_text, accounted):
                return False
        elif not holds(report["hydrated_keys"], key) and not (holds(backed, key) and holds(listed, key)):
            return False
    return True


def boundary_of(gap: Message, parents: dict[str, list[str]]) -> tuple[str, str | None]:
    declared = parents[gap["stream"]]
    return gap["stream"], gap.get("parent_stream") or (declared[0] if len(declared) == 1 else None)


def as_text(key: object) -> str:
    """Return a small key as text, ``1.0`` as ``1``."""
    return f"{key:g}" if isinstance(key, int | float) else str(key)


def holds(keys: list[object], key: object) -> bool:
    """Tell whether a list holds a key: a number is no text."""
    return any(isinstance(one, str) == isinstance(key, str) and one == key for one in keys)


def to_message(body: bytes | None) -> Message:
    document = read_json(body or b"")
    assert isinstance(document, Document)
    message: Message = document.value
    return message
