"""The fold over generated runs: total, deterministic, the same by steps and at once, true to the rules."""

import inspect
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec
from hypothesis import given, note, settings
from hypothesis import strategies as st

from ledger.core.decision import Decision, encode_decision
from ledger.core.entries import OBSERVER, PROGRAM, Entry
from ledger.core.observations import Decided, LineCut
from ledger.dialects.collection_profile.fold import evolve
from ledger.dialects.collection_profile.rulesets import REFERENCE
from ledger.dialects.collection_profile.state import State
from ledger.replay.replay import replay
from tests.dialects.collection_profile import runs as r
from tests.dialects.collection_profile.runs import PROFILE, Run, verdicts
from tests.properties import invariants
from tests.properties.strategies import (
    HUNT,
    endings,
    manifests,
    messages,
    ordinary,
    rare,
    starts,
    whole_runs,
    wire_lines,
)

any_run = whole_runs()
good_runs = whole_runs(damage=False, erase=False)
more_steps = st.lists(wire_lines | wire_lines.map(r.Sent) | ordinary | rare, max_size=4)


def under_every_ruleset(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test, which takes a ruleset first, under each of them on the same draw: drawing costs most."""

    @wraps(test)
    def under_each(*drawn: Any, **named: Any) -> None:
        for ruleset in PROFILE.rulesets:
            note(ruleset)
            test(ruleset, *drawn, **named)

    parameters = [*inspect.signature(test).parameters.values()][1:]
    under_each.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return under_each


def fresh(run: Run, ruleset: str) -> State:
    return PROFILE.initial_state(PROFILE.rulesets[ruleset], run.documents)


def decided(run: Run, entries: list[Entry], ruleset: str) -> Decision:
    return replay(PROFILE, entries, run.documents, PROFILE.rulesets[ruleset])


def bytes_of(decision: Decision, **changed: Any) -> bytes:
    return encode_decision(msgspec.structs.replace(decision, **changed))


def continued(run: Run, entries: list[Entry], steps: list[Any]) -> list[Entry]:
    return [*entries, *(r.to_entry(seq, step) for seq, step in enumerate(steps, start=len(entries) + 1))]


@given(any_run)
@under_every_ruleset
def test_any_run_can_be_decided_at_every_prefix(ruleset: str, run: Run) -> None:
    state = fresh(run, ruleset)
    for seen, entry in enumerate(run.entries, start=1):
        evolve(state, [entry])
        decision = PROFILE.decide(state)
        invariants.check(decision, Run(run.entries[:seen], run.documents))


@given(good_runs)
@under_every_ruleset
def test_any_good_run_can_be_decided_at_every_prefix(ruleset: str, run: Run) -> None:
    for seen in range(len(run.entries) + 1):
        prefix = Run(run.entries[:seen], run.documents)
        invariants.check(decided(prefix, prefix.entries, ruleset), prefix)


@given(any_run, st.data())
@under_every_ruleset
def test_folding_a_prefix_and_then_the_rest_is_folding_all(
    ruleset: str, run: Run, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(run.entries)))
    state = fresh(run, ruleset)
    evolve(state, run.entries[:at])
    PROFILE.decide(state)
    evolve(state, run.entries[at:])
    assert encode_decision(PROFILE.decide(state)) == encode_decision(decided(run, run.entries, ruleset))


@given(any_run, st.data())
def test_folding_under_all_rulesets_at_once_is_folding_under_each(run: Run, data: st.DataObject) -> None:
    states = [fresh(run, ruleset) for ruleset in PROFILE.rulesets]
    at = data.draw(st.integers(0, len(run.entries)))
    PROFILE.evolve_all(states, run.entries[:at])
    PROFILE.evolve_all(states, iter(run.entries[at:]))
    together = [encode_decision(PROFILE.decide(state)) for state in states]
    assert together == [encode_decision(decided(run, run.entries, ruleset)) for ruleset in PROFILE.rulesets]


@given(any_run)
@under_every_ruleset
def test_deciding_changes_nothing(ruleset: str, run: Run) -> None:
    state = fresh(run, ruleset)
    for entry in run.entries:
        evolve(state, [entry])
        assert encode_decision(PROFILE.decide(state)) == encode_decision(PROFILE.decide(state))
    assert encode_decision(PROFILE.decide(state)) == encode_decision(decided(run, run.entries, ruleset))


@given(any_run, st.data())
@under_every_ruleset
def test_lines_after_the_first_violation_change_nothing(ruleset: str, run: Run, data: st.DataObject) -> None:
    state, seen = fresh(run, ruleset), 0
    while seen < len(run.entries) and not state.violations:
        evolve(state, [run.entries[seen]])
        seen += 1
    before = PROFILE.decide(state)
    if before.status != "failed" or not before.violations:
        return
    steps = data.draw(st.lists(wire_lines, min_size=1, max_size=5))
    after = decided(run, continued(run, run.entries[:seen], steps), ruleset)
    assert bytes_of(after, through=before.through) == encode_decision(before)


@given(any_run, more_steps)
@under_every_ruleset
def test_entries_after_the_decision_decide_nothing(ruleset: str, run: Run, steps: list[Any]) -> None:
    # LINE_CUT is no event: it says that an earlier line was never read.
    steps = [step for step in steps if not isinstance(step, LineCut)]
    cut = Decided(ruleset=ruleset, through_seq=len(run.entries), decision="sha256:x")
    entries = continued(run, run.entries, [cut])
    before, after = decided(run, entries, ruleset), decided(run, continued(run, entries, steps), ruleset)
    store_failed = after.cause is not None and after.cause.code == "checkpoint_store_failed"
    if not (store_failed and before.status == "succeeded"):
        assert (after.status, after.cause) == (before.status, before.cause)
    for name in ("certified", "violations", "terminal", "gaps", "skips", "recovery"):
        assert getattr(after, name) == getattr(before, name)
    assert [(c.stream, c.decision, c.reasons, c.staged) for c in after.checkpoints] == [
        (c.stream, c.decision, c.reasons, c.staged) for c in before.checkpoints
    ]
    assert [msgspec.structs.replace(row, outcome=None) for row in after.coverage] == [
        msgspec.structs.replace(row, outcome=None) for row in before.coverage
    ]


@given(any_run, st.data())
@under_every_ruleset
def test_a_cut_line_told_late_ends_the_run_where_it_stands(
    ruleset: str, run: Run, data: st.DataObject
) -> None:
    lines = [entry.seq for entry in run.entries if entry.origin != OBSERVER and entry.body is not None]
    if not lines:
        return
    cut = LineCut(seq=data.draw(st.sampled_from(lines)), length=9, sha256="")
    at_once = decided(run, continued(run, run.entries[: cut.seq], [cut]), ruleset)
    whole = continued(run, run.entries, [cut])
    late = decided(run, whole, ruleset)
    invariants.check(late, Run(whole, run.documents))
    if not at_once.violations:  # the run had ended by then, and never read the line
        without = decided(run, run.entries, ruleset)
        assert (late.status, late.cause) == (without.status, without.cause)
        assert verdicts(late) == verdicts(without)
        return
    assert r.committable(late) == []
    others = [entry.seq for entry in run.entries[cut.seq :] if entry.type == "LINE_CUT"]  # of earlier lines
    if at_once.status == "failed" and late.status == "failed" and not others:
        assert (late.violations, late.cause) == (at_once.violations, at_once.cause)
        assert late.terminal.status == at_once.terminal.status
        assert [c.stream for c in late.checkpoints] == [c.stream for c in at_once.checkpoints]


@given(good_runs, st.data())
@under_every_ruleset
def test_erasing_a_line_never_turns_a_verdict_round(ruleset: str, run: Run, data: st.DataObject) -> None:
    before = decided(run, run.entries, ruleset)
    at = data.draw(st.integers(0, len(run.entries) - 1))
    victim = run.entries[at]
    if before.violations or victim.origin == OBSERVER:
        return
    erased = msgspec.structs.replace(victim, body=None)
    after = decided(run, [*run.entries[:at], erased, *run.entries[at + 1 :]], ruleset)
    invariants.check(after, run)
    for stream, verdict in verdicts(after).items():
        assert verdict == "indeterminate" or verdict == verdicts(before)[stream], (victim, stream)
    counted = victim.type == "RECORD" and any(e.type == "STREAM_EVIDENCE" for e in run.entries)
    if victim.type in ("RECORD", "PROGRESS", "STREAM_EVIDENCE") and not counted:
        assert verdicts(after) == verdicts(before)
    assert set(verdicts(after)) == set(verdicts(before)) or after.status == "indeterminate"


@given(whole_runs(erase=False), st.data())
@under_every_ruleset
def test_erasing_any_entries_leaves_a_verdict_as_it_was_or_open(
    ruleset: str, run: Run, data: st.DataObject
) -> None:
    seqs = [entry.seq for entry in run.entries[1:] if entry.type != "LATER_FACT"]
    gone = frozenset(data.draw(st.lists(st.sampled_from(seqs), unique=True))) if seqs else frozenset()
    before = decided(run, run.entries, ruleset)
    if broken_by(before, run, gone):
        return
    without = [msgspec.structs.replace(e, body=None) if e.seq in gone else e for e in run.entries]
    after = decided(run, without, ruleset)
    invariants.check(after, run)
    # Where START is erased, a cancel may have come after what broke the run by the scope.
    is_scope_known = all(entry.type != "START" or entry.seq not in gone for entry in run.entries)
    assert after.status in (before.status, "indeterminate", *([] if is_scope_known else ["cancelled"]))
    # Where START is erased, what broke the run may come later, behind more that was staged.
    unstaged = "withhold" if after.violations else None
    for stream, verdict in verdicts(after).items():
        assert verdict in (verdicts(before).get(stream, unstaged), "indeterminate"), stream
    assert verdicts(before).keys() <= verdicts(after).keys() or after.status == "indeterminate"
    assert not Counter(r.discrepancies(after)) - Counter(r.discrepancies(before))
    assert known_cause(after) in (None, known_cause(before))


def known_cause(decision: Decision) -> str | None:
    """Return what a failure is put down to, None where that is not known."""
    failure = decision.failure
    return None if failure is msgspec.UNSET or failure.cause == "unknown" else failure.cause


def broken_by(decision: Decision, run: Run, gone: frozenset[int]) -> bool:
    """Tell whether what broke the run is erased.

    Such runs are exempt: what was erased is taken to have kept to the rules, so that erasing the line that
    broke a run hides that it did, and `erase` says so before it erases; see ``docs/limits.md``.
    """
    for violation in decision.violations:
        rests_on = {violation.entry, *violation.entries}
        if violation.code == "answer_not_asked_for":
            asked = [e.seq for e in run.entries if e.type == "INTERACTION" and e.seq < violation.entry]
            rests_on.update(asked[-1:])
        if rests_on & gone:
            return True
    return False


@st.composite
def plain_runs(draw: st.DrawFn) -> tuple[r.Message, Run]:
    """Draw START, lines of a good connector, DONE, and an exit that agrees with it."""
    manifest = draw(manifests())
    sent = draw(starts(manifest))
    in_scope = [stream["name"] for stream in sent["scope"]["streams"]]
    drawn = draw(st.lists(messages(manifest, in_scope), max_size=16))
    reports = ("DETAIL_COVERAGE", "STREAM_EVIDENCE")
    lines = [line for line in drawn if line["type"] not in (*reports, "INTERACTION")]
    once = {(m["stream"], m.get("state_stream")): m for m in drawn if m["type"] in reports}
    for report in once.values():
        lines.insert(draw(st.integers(0, len(lines))), report)
        for key in report.get("required_keys", ()):
            if key not in report["hydrated_keys"] and draw(st.booleans()):
                parent = draw(st.sampled_from([None, report["state_stream"], "x"]))
                lines.append(r.gap(report["stream"], draw(st.sampled_from([key, key, str(key)])), parent))
    end = draw(endings(r.count(lines)))
    exit_code = int(end["status"] != "succeeded")
    return manifest, r.run(manifest, r.Sent(sent), *lines, end, r.exited(exit_code))


@settings(max_examples=HUNT or 400)
@given(plain_runs())
@under_every_ruleset
def test_what_is_committed_is_what_a_naive_reading_commits(
    ruleset: str, drawn: tuple[r.Message, Run]
) -> None:
    manifest, run = drawn
    decision = run.decided(ruleset)
    if decision.violations or not (decision.certified or decision.status == "succeeded"):
        assert r.committable(decision) == []
    else:
        reference = ruleset == REFERENCE.id
        assert r.committable(decision) == invariants.naively_eligible(manifest, run, reference=reference)


@given(any_run)
@under_every_ruleset
def test_a_connector_that_speaks_only_to_its_runtime_is_read_by_origin(ruleset: str, run: Run) -> None:
    said = [entry for entry in run.entries if entry.origin == PROGRAM]
    decision = decided(run, run.entries, ruleset)
    assert decision.terminal.counted <= len(said)
    assert decision.totals.gaps + decision.totals.skips + decision.terminal.counted <= len(said)
