"""The shipped rulesets, each frozen once released.

``0.1.0`` is the specification's text. Where the text leaves a choice, each rule's docstring names our
reading, and each switch the clause that leaves the choice open. ``0.1.0+reference`` is what the reference
implementation did on 17 August 2026, where it is known to have done otherwise.
"""

from collections.abc import Mapping
from dataclasses import replace

from ledger.dialects.collection_profile.rules import (
    binding,
    coverage,
    done,
    eligible,
    evidence,
    gap,
    interaction,
    manifest,
    restart,
    scope,
    start,
)
from ledger.dialects.collection_profile.rules import state as state_rules
from ledger.dialects.collection_profile.ruleset import Ruleset
from ledger.dialects.collection_profile.switches import Switches

_COVERAGE = (eligible.coverage_is_complete, eligible.every_parent_was_reported)

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
        "coverage": _COVERAGE,
        "certified": (eligible.covers_no_failed_stream, *_COVERAGE),
        "restart": (restart.faces_no_coverage_verdict, restart.nothing_is_owed),
    },
    end_rules=(
        scope.skipped_scope_sends_nothing,
        coverage.reports_come_last,
        done.success_names_no_failed_stream,
        interaction.every_question_is_answered,
    ),
)

_MESSAGE_RULES_OF_REFERENCE = {
    **TEXT.message_rules,
    "STATE": (scope.names_stream_in_scope("state/stream"), state_rules.cursor_is_an_object_or_null),
    "DETAIL_COVERAGE": (
        *TEXT.message_rules["DETAIL_COVERAGE"],
        coverage.optional_skips_do_not_repeat,
        coverage.optional_skips_were_required,
        coverage.outcomes_do_not_overlap,
    ),
    "DETAIL_GAP": (scope.names_stream_in_scope("gap/stream"), gap.key_has_no_space_around),
    "DONE": (done.success_has_no_error, done.count_is_right),
}
del _MESSAGE_RULES_OF_REFERENCE["STREAM_EVIDENCE"]

REFERENCE = replace(
    TEXT,
    id="collection-profile/0.1.0+reference",
    summary="what the reference implementation of 2026-08-17 did",
    switches=Switches(
        state_of_no_checkpoint="stage",
        unknown_message="ignore_inherited_names",
        stream_evidence="unknown",
        spelled_out_upsert="violate",
        unknown_error_member="violate",
        unknown_hint_member="violate",
        key_equality="text",
        optional_skip_keys="credit",
        undeclared_parent="accept",
        unlisted_gap="accounted",
        unscoped_gap="any_boundary",
        commit_order="integers_first",
        controller_loss="withhold",
    ),
    manifest_rules=(manifest.strategies_are_known,),
    match_rules=(binding.every_binding_is_offered, binding.capabilities_are_offered),
    start_rules=tuple(rule for rule in TEXT.start_rules if rule is not start.scope_is_within_grant),
    record_rules=(
        scope.within_resources_by_field,
        scope.no_extra_field,
        scope.within_time_range_in_milliseconds,
    ),
    message_rules=_MESSAGE_RULES_OF_REFERENCE,
    checkpoint_rules={
        "coverage": _COVERAGE,
        "certified": (eligible.covers_no_failed_child, *_COVERAGE),
        "restart": (),
    },
    store_rules=(start.checkpoint_is_within_grant,),
)

RULESETS: Mapping[str, Ruleset] = {TEXT.id: TEXT, REFERENCE.id: REFERENCE}
"""Every shipped ruleset by id, the default first."""
