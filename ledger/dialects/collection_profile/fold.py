"""The fold: entries in, state out. Live and replay call this same function."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ledger.core.entries import OBSERVER, PROGRAM, Entry
from ledger.core.findings import Fault
from ledger.core.observations import decode_observation
from ledger.dialects.collection_profile import erased, machine
from ledger.dialects.collection_profile.decode import read_program_line as read_usual_line
from ledger.dialects.collection_profile.decode import read_runtime_line
from ledger.dialects.collection_profile.messages import Record
from ledger.dialects.collection_profile.observed import observe
from ledger.dialects.collection_profile.state import Phase, State

STRETCH = 1000
FIRST_STRETCH = 16
STRETCH_BYTES = 8 * 1024 * 1024
"""Entries that several states take at a time: while two of them collect, and before; and bytes of them."""


def evolve(state: State, entries: Iterable[Entry]) -> None:
    """Take entries, in order, into the state, in place.

    Folding a prefix and then the rest equals folding all. Time and memory are constant in a RECORD (but
    where ``evidence_closure`` is not off, which keeps the keys of child streams).
    """
    read_program_line = state.ruleset.wire.read
    phase = state.phase
    table = machine.PROGRAM.get(phase)
    for entry in entries:
        state.through = entry.seq
        if entry.origin == PROGRAM:
            if state.phase is not phase:  # looked up where it changes: a member of an enum is dear to hash
                phase = state.phase
                table = machine.PROGRAM.get(phase)
            if table is None:
                note_unread(state, entry)
            elif entry.body is None:
                if state.phase is Phase.INITIALIZING and entry.type:
                    machine.begin_without_start(state, entry)
                erased.take_program_line(state, entry)
            else:
                message = read_program_line(entry.body)  # machine.take, written out: the hot path
                table.handlers.get(type(message), table.default)(state, entry, message)
        elif entry.origin == OBSERVER:
            take_observation(state, entry)
        else:
            take_runtime_line(state, entry)


def evolve_all(states: Sequence[State], entries: Iterable[Entry]) -> None:
    """Take entries into several states, whatever their rulesets, and read most RECORDs once for all of them.

    It is :func:`evolve` for each. Those that collect share a RECORD that every ruleset reads alike; whatever
    else there is, each takes for itself.
    """
    if len(states) == 1:
        evolve(states[0], entries)
        return
    remaining = iter(entries)
    collecting: list[State] = []
    while stretch := _stretch(remaining, STRETCH if collecting else FIRST_STRETCH):
        collecting = [state for state in states if state.phase is Phase.COLLECTING]
        if len(collecting) > 1:
            _evolve_together(collecting, stretch)
        else:
            collecting = []
        others = [state for state in states if state not in collecting]
        if others:
            _evolve_apart(others, stretch)


def _stretch(entries: Iterator[Entry], limit: int) -> tuple[Entry, ...]:
    """Take the next entries, few enough to be held at once."""
    room = STRETCH_BYTES
    taken: list[Entry] = []
    for entry in islice(entries, limit):
        taken.append(entry)
        room -= len(entry.body or b"")
        if room <= 0:
            break
    return tuple(taken)


def _evolve_together(states: Sequence[State], stretch: Sequence[Entry]) -> None:
    """Take entries into states that all collect; from where one of them no longer does, each by itself.

    A RECORD without a spelled-out ``upsert`` is one under every ruleset, see ``wire``.
    """
    collecting = Phase.COLLECTING  # looked up once: a member of an enum is dear to look up
    on_record = machine.PROGRAM[collecting].handlers[Record]
    for taken, entry in enumerate(stretch, start=1):
        message = None
        if entry.type == "RECORD" and entry.origin == PROGRAM and entry.body is not None:
            message = read_usual_line(entry.body)
        is_shared = type(message) is Record and message.op != "upsert"
        all_collect = True
        for state in states:
            if is_shared:
                state.through = entry.seq
                on_record(state, entry, message)
            else:
                evolve(state, (entry,))
            if state.phase is not collecting:
                all_collect = False
        if not all_collect:
            for state in states:
                evolve(state, stretch[taken:])
            return


def _evolve_apart(states: Sequence[State], stretch: Sequence[Entry]) -> None:
    """Take entries into states, each by itself; one that hears no program passes over most of them."""
    heard = [entry for entry in stretch if entry.origin != PROGRAM]
    for state in states:
        evolve(state, heard if _hears_no_program(state) else stretch)
        state.through = stretch[-1].seq


def _hears_no_program(state: State) -> bool:
    """Tell whether no line of the program changes a state any more, whatever else comes."""
    if state.phase is Phase.REFUSED:
        return state.first_program_line is not None
    return state.phase in (Phase.VIOLATED, Phase.CANCELLED, Phase.ABANDONED)


def take_runtime_line(state: State, entry: Entry) -> None:
    """Take a line of the runtime; a START is remembered even where it is no longer read."""
    state.runtime_lines.add(entry.seq)
    if state.phase not in machine.RUNTIME:
        if entry.type == "START" and state.start_entry is None:
            state.start_entry = entry.seq
    elif entry.body is None:
        erased.take_runtime_line(state, entry)
    else:
        machine.take(machine.RUNTIME, state, entry, read_runtime_line(entry.body))


def take_observation(state: State, entry: Entry) -> None:
    """Take an observation; one that this version does not know is a finding."""
    if entry.body is None:
        erased.take_observation(state, entry)
        return
    observation = decode_observation(entry.body)
    if observation is None:
        state.note(_unreadable(entry), entry.seq)
    else:
        observe(state, entry, observation)


def _unreadable(entry: Entry) -> Fault:
    """Return the finding on an observer's entry that is no observation; without a type it is a torn line."""
    if not entry.type:
        return Fault(code="transcript_torn", clause="log/transcript", by="observer")
    detail = {"type": entry.type}
    return Fault(code="observation_unreadable", clause="log/observation", by="observer", detail=detail)


def note_unread(state: State, entry: Entry) -> None:
    """Keep that the connector spoke where nothing is read any more: refused, or after the decision."""
    if entry.body is not None and not entry.body.strip():
        return
    if state.phase is Phase.CUT:
        state.note(Fault(code="line_after_decision", clause="session/done"), entry.seq)
    elif state.phase is Phase.CLOSED:
        state.note(Fault(code="line_after_close", clause="log/closing", by="observer"), entry.seq)
    elif state.phase is Phase.REFUSED and state.first_program_line is None:
        state.first_program_line = entry.seq
