"""The notes on a run, as the pages about it show them. They are no part of any decision."""

from cli.page import Page
from ledger.core.entries import Entry
from ledger.core.instants import write_micros
from ledger.core.observations import Note, decode_observation, observation_type
from ledger.log.store import RunRow, Store

SHOWN = 20
"""The newest notes; older ones are counted."""


def notes_on(store: Store, run: RunRow) -> list[Entry]:
    """Return the entries that are notes, oldest first."""
    return [entry for _, entry in store.observations(observation_type(Note), run_no=run.run_no)]


def write_notes(page: Page, notes: list[Entry]) -> None:
    """Write the notes below whatever is on the page, where there are any."""
    told = (f"{_told(entry)} (entry {entry.seq})" for entry in notes[-SHOWN:])
    page.newest("Notes", told, len(notes), all_of_them="runledger log RUN --type NOTE")


def _told(entry: Entry) -> str:
    note = None if entry.body is None else decode_observation(entry.body)
    if not isinstance(note, Note):
        return "[erased]" if entry.body is None else "[unreadable]"
    day = f", {write_micros(entry.at)[:10]}" if entry.at else ""
    return f"{note.by}{day}: {note.text}"
