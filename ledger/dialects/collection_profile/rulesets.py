"""The shipped rulesets, each frozen once released.

``0.1.0`` is the specification's text. Where the text leaves a choice, each rule's docstring names our
reading, and each switch the clause that leaves the choice open.
"""

from collections.abc import Mapping

from ledger.dialects.collection_profile.rules import coverage, done, evidence, interaction, scope
from ledger.dialects.collection_profile.rules import state as state_rules
from ledger.dialects.collection_profile.ruleset import Ruleset, Switches

TEXT = Ruleset(
    id="collection-profile/0.1.0",
    summary="the text of the Collection Profile, version 0.1.0",
    switches=Switches(),
    record_rules=(scope.within_resources, scope.no_extra_field, scope.within_time_range),
    message_rules={
        "STATE": (scope.names_stream_in_scope("state/stream"), state_rules.cursor_is_an_object),
        "INTERACTION": (interaction.interactive_was_offered,),
        "SKIP_RESULT": (scope.names_stream_in_scope("skip/stream"),),
        "DETAIL_COVERAGE": (
            scope.names_stream_in_scope("coverage/stream"),
            coverage.child_reports_no_coverage,
            coverage.boundary_is_declared,
            coverage.self_mapped_stream_reports_on_itself,
            coverage.boundary_is_in_scope,
            coverage.keys_do_not_repeat,
            coverage.outcomes_were_required,
            coverage.boundary_reports_once,
        ),
        "DETAIL_GAP": (scope.names_stream_in_scope("gap/stream"),),
        "STREAM_EVIDENCE": (
            scope.names_stream_in_scope("evidence/2"),
            evidence.evidence_is_of_a_child,
            evidence.outcomes_add_up,
            evidence.evidence_is_given_once,
            evidence.evidence_agrees_with_counts,
        ),
        "PROGRESS": (scope.names_stream_in_scope("progress/stream"),),
        "DONE": (done.success_has_no_error, done.error_says_whether_to_retry, done.count_is_right),
    },
)

RULESETS: Mapping[str, Ruleset] = {TEXT.id: TEXT}
"""Every shipped ruleset by id, the default first."""
