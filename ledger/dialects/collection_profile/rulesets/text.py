"""``collection-profile/0.1.0``: the text of the Collection Profile; the default, released and frozen.

Where the text leaves a choice, each rule's docstring names our reading, and each switch the clause that
leaves the choice open.
"""

from ledger.dialects.collection_profile.rules import (
    binding,
    coverage,
    done,
    eligible,
    evidence,
    interaction,
    restart,
    scope,
    start,
)
from ledger.dialects.collection_profile.rules import state as state_rules
from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.dialects.collection_profile.switches import Switches

COVERAGE = (eligible.coverage_is_complete, eligible.every_parent_was_reported)

TEXT = Ruleset(
    id="collection-profile/0.1.0",
    summary="the text of the Collection Profile, version 0.1.0",
    switches=Switches(),
    match_rules=(binding.bindings_are_offered, binding.capabilities_are_offered),
    start_rules=(
        start.scope_is_explicit,
        start.scope_has_no_view,
        start.scope_has_no_necessity,
        start.bounds_are_instants,
        start.required_bindings_are_described,
        start.scope_is_within_grant,
    ),
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
        "INTERACTION_RESPONSE": (interaction.answer_was_asked_for,),
    },
    staging_rules=(state_rules.stream_is_a_checkpoint,),
    exit_rules=(done.exit_agrees,),
    checkpoint_rules={
        "coverage": COVERAGE,
        "certified": (eligible.covers_no_failed_stream, *COVERAGE),
        "restart": (restart.faces_no_coverage_verdict, restart.nothing_is_owed),
    },
    end_rules=(
        scope.skipped_scope_sends_nothing,
        coverage.reports_come_last,
        done.success_names_no_failed_stream,
        interaction.every_question_is_answered,
    ),
)
