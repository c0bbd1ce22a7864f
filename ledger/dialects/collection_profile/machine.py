"""The state machine of a run, as tables: phase, then message, then what is done.

Source: the connector states and the transition table of the profile, section 2, with some phases of our own.
The phases of ``state.UNREAD`` have no table: lines that come then stay in the log and change nothing, and are
not even read. A message that a table does not name goes to the table's default.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from ledger.core.entries import PROGRAM as ORIGIN_PROGRAM
from ledger.core.entries import Entry
from ledger.core.json_reader import Malformed
from ledger.dialects.collection_profile import messages as m
from ledger.dialects.collection_profile import program_lines as p
from ledger.dialects.collection_profile import runtime_lines as r
from ledger.dialects.collection_profile.state import Phase, State

Handler: TypeAlias = Callable[[State, Entry, Any], None]


class Table(NamedTuple):
    """What one phase makes of each message."""

    handlers: Mapping[type, Handler]
    default: Handler


def take(tables: "Mapping[Phase, Table]", state: State, entry: Entry, message: object) -> None:
    """Give a message to what the table of the state's phase says."""
    table = tables[state.phase]
    table.handlers.get(type(message), table.default)(state, entry, message)


def begin_without_start(state: State, entry: Entry) -> None:
    """Begin with every declared stream in scope: no START is known (yet)."""
    state.first_program_line = entry.seq
    if state.manifest is not None and state.manifest.manifest is not None:
        r.begin(state, state.manifest.manifest, None)
    else:
        state.phase = Phase.COLLECTING


def on_line_without_start(state: State, entry: Entry, message: object) -> None:
    """Begin with every declared stream in scope, and take the line."""
    begin_without_start(state, entry)
    take(PROGRAM, state, entry, message)


def on_repeated(state: State, entry: Entry, message: m.Repeated) -> None:
    """Keep that member names occur twice, and take the message as it was read (last wins)."""
    p.note_repeated(state, entry, message)
    take(PROGRAM if entry.origin == ORIGIN_PROGRAM else RUNTIME, state, entry, message.message)


PROGRAM: Mapping[Phase, Table] = {
    Phase.INITIALIZING: Table({m.Blank: p.on_blank}, on_line_without_start),
    Phase.COLLECTING: Table(
        {
            m.Record: p.on_record,
            m.State: p.on_state,
            m.Interaction: p.on_interaction,
            m.SkipResult: p.on_skip_result,
            m.DetailCoverage: p.on_detail_coverage,
            m.DetailGap: p.on_detail_gap,
            m.StreamEvidence: p.on_stream_evidence,
            m.ConnectorFact: p.on_connector_fact,
            m.Progress: p.on_progress,
            m.Done: p.on_done,
            m.Blank: p.on_blank,
            m.Unknown: p.on_unknown,
            m.Misshapen: p.on_misshapen,
            m.Repeated: on_repeated,
            Malformed: p.on_malformed,
        },
        p.on_nothing_known,
    ),
    Phase.WAITING: Table({m.Blank: p.on_blank}, p.on_line_while_waiting),
    Phase.DONE: Table({m.Blank: p.on_blank}, p.on_line_after_done),
}
"""Lines of the connector."""

RUNTIME: Mapping[Phase, Table] = {
    Phase.INITIALIZING: Table(
        {
            m.Start: r.on_start,
            m.Misshapen: r.on_misshapen_start,
            m.Blank: r.on_blank,
            m.Repeated: on_repeated,
        },
        r.on_line_before_start,
    ),
    Phase.COLLECTING: Table(
        {
            m.Start: r.on_second_start,
            m.InteractionResponse: r.on_answer,
            m.Misshapen: r.on_misshapen_while_collecting,
            m.Blank: r.on_blank,
            m.Repeated: on_repeated,
        },
        r.note_unreadable,
    ),
    Phase.WAITING: Table(
        {
            m.Start: r.on_second_start,
            m.InteractionResponse: r.on_answer,
            m.Misshapen: r.on_misshapen_while_waiting,
            m.Unknown: r.note_unreadable,
            m.Blank: r.on_blank,
            m.Repeated: on_repeated,
        },
        r.on_unreadable_answer,
    ),
    Phase.DONE: Table(
        {
            m.Start: r.on_second_start,
            m.Misshapen: r.on_misshapen_after_done,
            m.Blank: r.on_blank,
            m.Repeated: on_repeated,
        },
        r.on_late_line,
    ),
}
"""Lines of the runtime."""
