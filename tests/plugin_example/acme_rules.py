"""The rules that Acme decides its runs under: those of the text, and one of its own."""

from collections.abc import Iterator
from dataclasses import replace

from ledger.core.decision import Reason
from ledger.core.findings import rule, show_name
from ledger.dialects.collection_profile.plan import Plan
from ledger.dialects.collection_profile.rulesets import TEXT
from ledger.dialects.collection_profile.state import State


@rule("acme/1")
def acme_something_was_collected(state: State, plan: Plan, checkpoint: str) -> Iterator[Reason]:
    """A checkpoint moves only where a stream that it covers sent a record in this run."""
    covered = [plan.streams[name] for name in plan.covered_by(checkpoint) if name in plan.streams]
    if not any(stream.emitted for stream in covered):
        entries = (state.staged[checkpoint].cursor_entry,)
        yield Reason(
            code="acme_nothing_collected",
            clause="acme/1",
            stream=show_name(checkpoint),
            entries=entries,
            entries_total=len(entries),
        )


ACME = replace(
    TEXT,
    id="acme/1",
    summary="the text of the Collection Profile, and no checkpoint without a record",
    checkpoint_rules={
        **TEXT.checkpoint_rules,
        "coverage": (*TEXT.checkpoint_rules["coverage"], acme_something_was_collected),
    },
    catalogue=TEXT.catalogue.with_words(
        reasons={"acme_nothing_collected": "{stream} staged a checkpoint and sent no record in this run."},
        clauses={"acme/1": "A checkpoint moves only over records that were seen."},
    ),
)
