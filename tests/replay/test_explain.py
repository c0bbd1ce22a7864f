"""An explanation walks a decision: every code in words, with the entries behind it, and nothing added."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledger.core import decision as d
from ledger.core.decision import decode_decision
from ledger.core.entries import OBSERVER, PROGRAM, Entry, Origin
from ledger.core.json_reader import printable
from ledger.dialects import DIALECTS
from ledger.exchange.importing import import_transcript
from ledger.log.memory_store import MemoryStore
from ledger.replay.explain import (
    ENTRIES_SHOWN,
    OPENING,
    Explanation,
    entries_cited,
    explain,
)
from ledger.replay.history import LastCommit, Standing
from ledger.replay.records_at_fault import KEYS_LOOKED_FOR, RECORDS_SHOWN, records_naming

SAMPLES = Path(__file__).parent.parent.parent / "sample_runs" / "collection-profile"
DIALECT = DIALECTS["collection-profile"]


def sample(name: str) -> tuple[d.Decision, list[Entry]]:
    """The decision and the entries of a sample run."""
    store = MemoryStore()
    run = import_transcript(store, SAMPLES / name / "run.jsonl", DIALECTS).run
    decision = decode_decision((SAMPLES / name / "decision.json").read_bytes())
    return decision, list(store.entries(run.run_no))


def entry(seq: int, body: bytes, type: str = "RECORD", stream: str = "s", origin: Origin = PROGRAM) -> Entry:
    return Entry(seq, 0, origin, "", type, stream, body)


def reason(**given: Any) -> d.Reason:
    return d.Reason(
        **{"code": "coverage_unaccounted", "clause": "eligible/3", "stream": "s", "keys_total": 1, **given}
    )


def checkpoint(*reasons: d.Reason, **given: Any) -> d.Checkpoint:
    fixed: dict[str, Any] = {
        "stream": "p",
        "covers": ("s",),
        "staged": (9,),
        "staged_total": 1,
        "cursor_entry": 9,
        "decision": "withhold" if reasons else "commit",
        "outcome": None,
        "outcome_entries": (),
        "committed_cursor": None,
        "reasons": reasons,
    }
    return d.Checkpoint(**{**fixed, **given})


def decided(*checkpoints: d.Checkpoint, **given: Any) -> d.Decision:
    """A decision with these checkpoints, made from that of a run that went well."""
    plain, _ = sample("calendar-snapshot")
    return msgspec.structs.replace(plain, checkpoints=checkpoints, unknowns=(), **given)


def told(
    decision: d.Decision,
    entries: Mapping[int, Entry] | None = None,
    standings: Mapping[str, tuple[Standing, str | None]] | None = None,
    **more: Any,
) -> Explanation:
    return explain(DIALECT, decision, decision.checkpoints, entries or {}, {}, standings or {}, **more)


def explained(name: str) -> Explanation:
    decision, entries = sample(name)
    cited = {one.seq: one for one in entries if one.seq in entries_cited(decision, decision.checkpoints)}
    records = records_naming(entries, decision.checkpoints)
    return explain(DIALECT, decision, decision.checkpoints, cited, records, {})


# Which entries are needed.


def test_the_entries_cited_are_those_of_causes_reasons_near_misses_findings_and_discrepancies() -> None:
    decision = decided(
        checkpoint(reason(entries=(4, 5), near_misses=(d.NearMiss(code="gap_names_no_key", entry=6),))),
        cause=d.Cause(
            code="run_failed",
            clause="done/status",
            entries=(7,),
            by="program",
            near_misses=(d.NearMiss(code="skip_names_no_stream", entry=8),),
        ),
        discrepancies=(
            d.Discrepancy(code="committed_twice", clause="eligible/4", stream="p", entries=(10,)),
        ),
    )
    assert entries_cited(decision, decision.checkpoints) == {OPENING, 4, 5, 6, 7, 8, 10}


def test_no_more_entries_are_cited_than_are_shown() -> None:
    decision = decided(checkpoint(reason(entries=tuple(range(2, 102)), entries_total=5000)))
    assert entries_cited(decision, decision.checkpoints) == {*range(1, ENTRIES_SHOWN + 2)}


def test_only_the_checkpoints_asked_about_are_cited() -> None:
    decision = decided(checkpoint(reason(entries=(4,))), checkpoint(reason(entries=(5,)), stream="q"))
    assert entries_cited(decision, decision.checkpoints[:1]) == {OPENING, 4}


# Which records carry a key at fault.


def carrying(keys: tuple[str, ...], *bodies: bytes, **given: Any) -> dict[tuple[str, str], list[int]]:
    """Return the numbers of the records found, by stream and key; entries are numbered from 1."""
    entries = [entry(seq, body, **given) for seq, body in enumerate(bodies, 1)]
    found = records_naming(entries, [checkpoint(reason(keys=keys))])
    return {name: [one.seq for one in some] for name, some in found.items()}


@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("a", b'{"type":"RECORD","stream":"s","key":"a"}'),
        ("a", b'{"key" : "\\u0061"}'),
        ("ü", '{"key":"ü"}'.encode()),
        ("ü", b'{"key":"\\u00fc"}'),
        ('say "x"', b'{"key":"say \\"x\\""}'),
        ('["a","b"]', b'{"key":["a", "b"]}'),
        (printable("\ud800"), b'{"key":"\\ud800"}'),
        ("a", b'{"key":"z","key":"a"}'),
    ],
    ids=["plain", "escaped", "utf-8", "escaped letter", "quotes", "compound", "surrogate", "repeated"],
)
def test_a_record_carries_its_key_however_it_is_written(key: str, body: bytes) -> None:
    assert carrying((key,), body) == {("s", key): [1]}


@pytest.mark.parametrize(
    "body",
    [b'{"key":"b","data":{"next":"a"}}', b'{"data":{"key":"a"}}', b'"a"', b'["a"]', b"a", b"\xff", b"{", b""],
)
def test_a_record_that_only_mentions_a_key_or_cannot_be_read_carries_none(body: bytes) -> None:
    assert carrying(("a",), body) == {}


@pytest.mark.parametrize("given", [{"stream": "t"}, {"type": "STATE"}, {"origin": OBSERVER}], ids=str)
def test_only_records_of_the_program_and_of_the_stream_at_fault_count(given: dict[str, Any]) -> None:
    assert carrying(("a",), b'{"key":"a"}', **given) == {}


def test_an_erased_record_is_passed_over() -> None:
    erased = Entry(1, 0, PROGRAM, "", "RECORD", "s", None)
    assert records_naming([erased], [checkpoint(reason(keys=("a",)))]) == {}


def test_of_one_key_only_the_first_records_are_shown() -> None:
    assert carrying(("a",), *[b'{"key":"a"}'] * 50) == {("s", "a"): [*range(1, RECORDS_SHOWN + 1)]}


def test_only_the_first_keys_are_looked_for() -> None:
    keys = tuple(f"k{number}" for number in range(100))
    bodies = [b'{"key":"%s"}' % key.encode() for key in keys]
    assert len(carrying(keys, *bodies)) == KEYS_LOOKED_FOR


def test_where_no_key_is_at_fault_no_entry_is_read() -> None:
    entries = iter([entry(1, b'{"key":"a"}')])
    assert records_naming(entries, [checkpoint()]) == {}
    assert next(entries).seq == 1


# The words.


def test_a_reason_has_its_sentence_clause_demand_keys_and_entries() -> None:
    said = explained("gap-under-wrong-parent").checkpoints[0].reasons[0]
    assert said.sentence == "attachments left 1 required key unaccounted for."
    assert (said.clause, said.keys, said.keys_total) == ("eligible/3", ("att_3",), 1)
    assert said.demand.startswith("A checkpoint is withheld while")
    assert [(one.seq, one.type, one.facts["required_keys"]) for one in said.entries] == [
        (6, "DETAIL_COVERAGE", "2")
    ]


def test_a_near_miss_has_its_sentence_and_its_entry() -> None:
    (miss,) = explained("gap-under-wrong-parent").checkpoints[0].reasons[0].near_misses
    assert miss.code == "gap_names_other_parent"
    assert miss.sentence == "A DETAIL_GAP for att_3 exists at entry 5 but names parent direct_messages."
    assert [one.seq for one in miss.entries] == [5]


def test_a_record_that_carries_the_key_tells_what_became_of_it() -> None:
    said = explained("one-attachment-down").checkpoints[1].reasons[0]
    assert [(one.seq, one.facts["data.hydration_status"]) for one in said.records] == [(15, "failed")]


def test_a_cause_that_broke_a_clause_says_what_was_demanded_and_who_owed_it() -> None:
    cause = explained("record-before-since").cause
    assert cause is not None
    assert (cause.by, cause.clause) == ("program", "scope/2")
    assert cause.demand


def test_a_cause_that_broke_nothing_demands_nothing() -> None:
    cause = explained("restart-abandonment").cause
    assert cause is not None
    assert cause.demand == ""


@pytest.mark.parametrize(("total", "words"), [(1, "1 required key "), (2, "2 required keys ")])
def test_keys_are_counted_in_words(total: int, words: str) -> None:
    decision = decided(checkpoint(reason(keys=("a",), keys_total=total)))
    assert words in told(decision).checkpoints[0].reasons[0].sentence


def test_the_entries_shown_are_few_and_their_total_is_kept() -> None:
    decision = decided(checkpoint(reason(entries=tuple(range(1, 101)), entries_total=5000)))
    entries = {seq: entry(seq, b"{}") for seq in range(1, 101)}
    said = told(decision, entries).checkpoints[0].reasons[0]
    assert ([one.seq for one in said.entries], said.entries_total) == ([*range(1, ENTRIES_SHOWN + 1)], 5000)


def test_an_entry_that_is_not_at_hand_is_left_out_and_still_counted() -> None:
    decision = decided(checkpoint(reason(entries=(4, 5), entries_total=2)))
    said = told(decision, {5: entry(5, b"{}")}).checkpoints[0].reasons[0]
    assert ([one.seq for one in said.entries], said.entries_total) == ([5], 2)


def test_a_code_that_the_catalogue_lacks_is_shown_as_itself() -> None:
    assert told(decided(checkpoint(reason(code="new_code")))).checkpoints[0].reasons[0].sentence == "new_code"


def test_an_erased_entry_is_shown_as_erased() -> None:
    erased = Entry(4, 0, PROGRAM, "", "STATE", "p", None)
    said = told(decided(checkpoint(reason(entries=(4,)))), {4: erased}).checkpoints[0].reasons[0]
    assert said.entries[0].facts == {"body": "erased"}
    assert said.entries[0].at is None


# What happened, and where a checkpoint stands.


def test_a_discrepancy_stands_at_its_checkpoint_and_all_others_beside_them() -> None:
    differs = (
        d.Discrepancy(code="committed_twice", clause="eligible/4", stream="p", entries=(10, 11)),
        d.Discrepancy(code="committed_though_not_staged", clause="eligible/4", stream="q", entries=(12,)),
        d.Discrepancy(code="ran_though_refused", clause="eligible/4", stream=None, entries=(2,)),
    )
    said = told(decided(checkpoint(), discrepancies=differs))
    assert [one.code for one in said.checkpoints[0].differs] == ["committed_twice"]
    assert [one.code for one in said.differs] == ["committed_though_not_staged", "ran_though_refused"]
    assert said.differs[0].sentence == "q was committed, though the run never staged it."


@pytest.mark.parametrize(
    ("verdict", "outcome", "retry"),
    [
        ("withhold", None, True),
        ("withhold", "committed", False),
        ("commit", "failed", True),
        ("commit", "not_attempted", True),
        ("commit", "committed", False),
        ("indeterminate", None, True),
        ("pending", None, False),
    ],
)
def test_a_stream_stays_eligible_unless_it_was_committed_or_is_still_under_way(
    verdict: str, outcome: str | None, retry: bool
) -> None:
    said = told(decided(checkpoint(decision=verdict, outcome=outcome)))
    assert said.checkpoints[0].retry is retry


def test_a_standing_comes_with_its_cursor() -> None:
    standing = Standing(
        last_commit=LastCommit(run_no=1, run_id="r", opened_at=1, cursor_entry=4, basis="recorded"),
        unmoved_since=None,
        unmoved_runs=0,
        runs_seen=1,
        all_seen=True,
    )
    one = told(decided(checkpoint()), standings={"p": (standing, '{"n":1}')}).checkpoints[0]
    assert (one.standing, one.last_cursor) == (standing, '{"n":1}')
    unknown = told(decided(checkpoint())).checkpoints[0]
    assert (unknown.standing, unknown.last_cursor) == (None, None)


def test_only_the_checkpoints_asked_about_are_explained() -> None:
    decision, _ = sample("gap-under-wrong-parent")
    said = explain(DIALECT, decision, decision.checkpoints[1:], {}, {}, {}, stream="direct_messages")
    assert ([one.stream for one in said.checkpoints], said.asked) == (["direct_messages"], "direct_messages")


def test_the_opening_says_when() -> None:
    opening = Entry(OPENING, 1_000_000, OBSERVER, "", "RUN_OPENED", "", b"{}")
    assert told(decided(), {OPENING: opening}).opened == "1970-01-01T00:00:01.000000Z"
    assert told(decided()).opened is None


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
def test_an_explanation_adds_nothing_and_loses_nothing(name: str) -> None:
    decision, entries = sample(name)
    said = explained(name)
    assert [one.code for one in said.findings] == [one.code for one in decision.findings]
    assert [one.code for one in said.unknowns] == [one.what for one in decision.unknowns]
    assert (said.cause.code if said.cause else None) == (decision.cause.code if decision.cause else None)
    for one, mine in zip(decision.checkpoints, said.checkpoints, strict=True):
        assert [(r.code, r.clause, r.keys) for r in one.reasons] == [
            (r.code, r.clause, r.keys) for r in mine.reasons
        ]
        assert [r.entries[:ENTRIES_SHOWN] for r in one.reasons] == [
            tuple(shown.seq for shown in r.entries) for r in mine.reasons
        ]
    assert msgspec.json.decode(msgspec.json.encode(said))["through"] == len(entries)
