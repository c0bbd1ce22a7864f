"""``collection-profile/0.1.0+reference``: what the reference implementation did; released and frozen.

It is that of 17 August 2026, where it is known to have done otherwise than the text says.
"""

from dataclasses import replace

from ledger.dialects.collection_profile.rules import (
    binding,
    coverage,
    done,
    eligible,
    gap,
    manifest,
    scope,
    start,
)
from ledger.dialects.collection_profile.rules import state as state_rules
from ledger.dialects.collection_profile.rulesets.text import COVERAGE, TEXT
from ledger.dialects.collection_profile.switches import Switches

_MESSAGE_RULES = {
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
del _MESSAGE_RULES["STREAM_EVIDENCE"]

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
    message_rules=_MESSAGE_RULES,
    checkpoint_rules={
        "coverage": COVERAGE,
        "certified": (eligible.covers_no_failed_child, *COVERAGE),
        "restart": (),
    },
    store_rules=(start.checkpoint_is_within_grant,),
)
