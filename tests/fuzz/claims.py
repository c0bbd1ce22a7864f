"""What must hold of any input. Each function raises where it does not; what it raises is the fault."""

import io
import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from cli.audit import audit
from cli.page import Page
from cli.show_page import write_decision
from cli.why_page import write_why
from ledger.core.decision import Decision, encode_decision
from ledger.core.entries import OBSERVER, PROGRAM, RUNTIME, Entry, Origin
from ledger.core.json_reader import Malformed, read_json
from ledger.core.line_cutting import LINE_LIMIT
from ledger.core.merkle import root
from ledger.core.observations import decode_observation, encode_observation, observation_type
from ledger.dialects import DIALECTS
from ledger.dialects.collection_profile.decode import read_program_line, read_runtime_line
from ledger.dialects.collection_profile.manifest import read_manifest
from ledger.errors import IntegrityError, LedgerError
from ledger.exchange.captures import Known
from ledger.exchange.exporting import export_run
from ledger.exchange.importing import Imported, import_transcript
from ledger.log.memory_store import MemoryStore
from ledger.log.store import Store
from ledger.replay.replay import replay
from tests.dialects.collection_profile.runs import PROFILE, Run
from tests.fuzz.corpus import SECRET
from tests.fuzz.mutations import Members
from tests.properties import invariants

STATUSES = frozenset((0, 1, 2, 3, 4, 5, 6))
"""Exit statuses of the documented table, but for a bug and an interrupt."""

LONGEST_PAGE = 200_000
"""Characters that a page may have, whatever the run; most of it names that a program chose."""

_OPEN_MEMBERS = ("type", "request_id", "status")


# ---- one line ---------------------------------------------------------------------------------------------


def hold_line(origin: Origin, line: bytes) -> None:
    """Hold a line to all that is claimed of lines: reading it is total, and its secrets are gone."""
    for speaker in (PROGRAM, RUNTIME, OBSERVER):
        redacted = PROFILE.redact(speaker, line)
        assert PROFILE.redact(speaker, redacted) == redacted, "redacting twice is not redacting once"
        assert not secret_survives(speaker, redacted), f"a secret of the {speaker} survives"
    body = PROFILE.redact(origin, line)
    label = PROFILE.label(origin, body)
    assert label.type.encode() is not None
    assert label.stream.encode() is not None
    read_program_line(body)
    read_runtime_line(body)
    document = read_json(line)
    if isinstance(document, Malformed):
        assert 0 <= document.offset <= len(line)
    for about in (Entry(2, 0, origin, "", label.type, label.stream, body), _as_observed(body)):
        for name, told in PROFILE.tell(about).items():
            assert name.encode() is not None
            assert len(told.encode()) <= 4000


def _as_observed(body: bytes) -> Entry:
    observation = decode_observation(body)
    name = observation_type(observation) if observation is not None else ""
    if observation is not None:
        assert decode_observation(encode_observation(observation)) == observation
    return Entry(2, 0, OBSERVER, "", name, "", body)


def secret_survives(origin: Origin, redacted: bytes) -> bool:
    """Tell whether the planted secret stands where nothing may be open, read as naively as can be."""
    if SECRET.encode() not in redacted or origin == OBSERVER:
        return False
    if isinstance(read_json(redacted), Malformed):
        return origin == RUNTIME
    try:
        value = json.loads(redacted, object_pairs_hook=Members)
    except ValueError:  # a number of more digits than int() takes
        return False
    return any(SECRET in text for text in _closed_texts(origin, value))


def _closed_texts(origin: Origin, value: Any) -> list[str]:
    """Return the texts of a well-formed line in which no secret may be."""
    if not isinstance(value, Members):
        return _texts(value) if origin == RUNTIME else []
    types = [item for name, item in value if name == "type" and isinstance(item, str)]
    if "INTERACTION_RESPONSE" in types or (origin == RUNTIME and "START" not in types):
        shut = [item for name, item in value if not (name in _OPEN_MEMBERS and isinstance(item, str))]
        return [text for item in shut for text in _texts(item)]
    if "START" in types:
        return [text for name, item in value if name == "bindings" for text in _texts(item)]
    return []


def _texts(value: Any) -> list[str]:
    """Return every text in a value, but no member name."""
    if isinstance(value, str):
        return [value]
    inner = [item for _, item in value] if isinstance(value, Members) else value
    return [text for item in inner for text in _texts(item)] if isinstance(inner, list) else []


# ---- one run ----------------------------------------------------------------------------------------------


def hold_run(run: Run, dice: Random) -> None:
    """Hold a run to what is claimed of decisions, under every ruleset, whole and in two parts."""
    for ruleset in PROFILE.rulesets.values():
        decision = replay(PROFILE, run.entries, run.documents, ruleset)
        invariants.check(decision, run)
        seen = dice.randint(0, len(run.entries))
        state = PROFILE.initial_state(ruleset, run.documents)
        PROFILE.evolve(state, run.entries[:seen])
        invariants.check(PROFILE.decide(state), Run(run.entries[:seen], run.documents))
        PROFILE.evolve(state, run.entries[seen:])
        assert encode_decision(PROFILE.decide(state)) == encode_decision(decision)
        hold_page(decision)


def hold_page(decision: Decision) -> None:
    """Hold the page of a decision to be printable, and short enough to be read."""
    page = Page(color=False, width=100)
    write_decision(page, decision, PROFILE.catalogue)
    _check_page(page)


def _check_page(page: Page) -> None:
    text = page.text()
    assert len(text) <= LONGEST_PAGE, f"a page of {len(text)} characters"
    assert all(line.isprintable() for line in text.split("\n")), "a page that is not printable"


# ---- one transcript ---------------------------------------------------------------------------------------


def hold_transcript(path: Path, dice: Random, known: Known | None = None) -> str:
    """Hold a file to be imported whole or refused in our words; tell which."""
    keep_partial = dice.random() < 0.3
    max_line = dice.choice((LINE_LIMIT, LINE_LIMIT, LINE_LIMIT, 300, 40))
    store = MemoryStore()
    try:
        done = import_transcript(
            store, path, DIALECTS, keep_partial=keep_partial, max_line=max_line, known=known
        )
    except LedgerError as error:
        _check_refusal(store, str(error))
        return type(error).__name__
    entries = list(store.entries(done.run.run_no))
    documents = _documents(store, entries)
    assert done.entries == len(entries) == store.size(done.run.run_no)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    times = [entry.at for entry in entries if entry.at]
    assert all(before <= after for before, after in pairwise(times)), "times go back"
    hold_run(Run(entries, documents), dice)
    hold_explanation(store, done)
    hold_identity(store, done)
    if not keep_partial:
        again = import_transcript(store, path, DIALECTS, max_line=max_line, known=known)
        assert again.outcome == "unchanged"
    return done.outcome


def _check_refusal(store: Store, message: str) -> None:
    assert len(message) < 2000, "an error of more than a screen"
    assert SECRET not in message
    assert not list(store.runs()), "a refused file left something behind"


def _documents(store: Store, entries: list[Entry]) -> dict[str, bytes]:
    opened = decode_observation(entries[0].body or b"")
    digest = getattr(opened, "manifest", None)
    return dict(store.documents([digest])) if digest is not None else {}


def hold_explanation(store: Store, done: Imported) -> None:
    """Hold the audit of a run to be total, printable and short."""
    explained = audit(store, done.run, None, None)
    msgspec.json.encode(explained)
    page = Page(color=False, width=100)
    write_why(page, explained)
    _check_page(page)


def hold_identity(store: Store, done: Imported) -> None:
    """Hold export and import to be the identity: same entries, salts and roots."""
    out = io.BytesIO()
    try:
        export_run(store, done.run, out)
    except IntegrityError:  # an erasure is told of in the part that was not imported
        assert done.stopped is not None or done.torn is not None
        assert next(store.erasures(done.run.run_no), None) is not None
        return
    path = Path("export.jsonl")
    path.write_bytes(out.getvalue())
    other = MemoryStore()
    back = import_transcript(other, path, DIALECTS)
    ours, theirs = done.run.run_no, back.run.run_no
    assert list(store.entries(ours, salts=True)) == list(other.entries(theirs, salts=True))
    assert _root(store, ours) == _root(other, theirs)


def _root(store: Store, run_no: int) -> bytes:
    *_, head = store.heads(run_no)
    return root(head.peaks, head.size)


# ---- one manifest, and what commands say ------------------------------------------------------------------


def hold_manifest(body: bytes) -> None:
    """Hold a document to be read as a manifest or to break rules by name."""
    reading = read_manifest(body)
    assert (reading.manifest is None) == bool(reading.faults)
    reading.connector_id.encode()
    reading.version.encode()
    for fault in reading.faults:
        assert fault.clause in PROFILE.catalogue.clauses, fault.clause
        PROFILE.catalogue.fault(fault.code, fault.detail).encode()


def hold_command(status: int, err: str, words: tuple[str, ...]) -> None:
    """Hold a command to end as the table of exit statuses says, and to talk instead of breaking."""
    assert status in STATUSES, f"{words[:3]} ended with {status}: {err[-500:]}"
    assert "Traceback" not in err, f"{words[:3]} shows a traceback: {err[-500:]}"
