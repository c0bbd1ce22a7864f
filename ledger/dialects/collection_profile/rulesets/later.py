"""``collection-profile/0.2.0``: the later profile, of October 2026, which calls itself normative.

What it does not decide otherwise is as in ``0.1.0``. Each of its changes has its own function beside the
older one, or a switch where the choice lies in the machinery.
"""

from dataclasses import replace

from ledger.dialects.collection_profile.rules import (
    binding,
    connector_fact,
    done,
    evidence,
    gap,
    interaction,
    manifest,
    record,
    scope,
    skip,
    start,
)
from ledger.dialects.collection_profile.rules import state as state_rules
from ledger.dialects.collection_profile.rulesets.text import TEXT
from ledger.dialects.collection_profile.switches import Switches

_PERMITTED = evidence.evidence_agrees_with_counts
"""The check that the older text permits, and in place of which this one has its own."""

_MESSAGE_RULES = {
    **TEXT.message_rules,
    "STATE": (
        scope.names_stream_in_scope("state/stream"),
        state_rules.cursor_is_there,
        state_rules.cursor_is_an_object_or_null,
    ),
    "INTERACTION": (interaction.kind_is_declared,),
    "SKIP_RESULT": (
        *TEXT.message_rules["SKIP_RESULT"],
        skip.skip_names_its_stream,
        skip.skip_gives_its_reason,
        skip.skip_has_words,
    ),
    "DETAIL_GAP": (
        *TEXT.message_rules["DETAIL_GAP"],
        gap.gap_is_reference_only,
        gap.gap_is_pending,
        gap.gap_names_its_key,
        gap.gap_reason_is_one_of_four,
        gap.gap_can_be_retried,
        gap.gap_locates_its_detail,
        gap.gap_names_its_parent,
        evidence.gap_comes_before_evidence,
    ),
    "STREAM_EVIDENCE": (
        *(rule for rule in TEXT.message_rules["STREAM_EVIDENCE"] if rule is not _PERMITTED),
        evidence.evidence_equals_counts,
    ),
    "OBSERVATION": (
        connector_fact.fact_is_short,
        connector_fact.fact_has_an_id,
        connector_fact.fact_is_one_of_three,
        connector_fact.fact_names_its_step,
        connector_fact.attributes_are_of_the_fact,
        connector_fact.evidence_is_a_reference,
        connector_fact.resolved_facts_came_before,
        connector_fact.fact_id_is_new,
        connector_fact.facts_are_few,
    ),
    "DONE": (
        done.outcome_is_success_or_failure,
        *TEXT.message_rules["DONE"],
        done.basis_is_of_accepted_facts,
    ),
}

_MANIFEST_RULES = (
    manifest.coverage_strategy_is_declared,
    manifest.strategies_are_known,
    manifest.freshness_strategy_is_declared,
    manifest.freshness_strategy_is_known,
    manifest.semantics_are_declared,
    manifest.semantics_are_known,
    manifest.primary_key_is_declared,
    manifest.primary_key_names_fields,
    manifest.schema_is_declared,
    manifest.schema_is_an_object,
    manifest.connector_key_is_a_plain_word,
    manifest.member_names_occur_once,
    binding.bindings_are_in_the_registry,
    binding.capabilities_are_known,
)

LATER = replace(
    TEXT,
    id="collection-profile/0.2.0",
    summary="the later profile of October 2026, version 0.2.0",
    switches=Switches(
        controller_loss="withhold",
        owner_cancellation="failed",
        recovery_hints="gated",
        failure_cause="derived",
        connector_facts="known",
        evidence_closure="equal",
        manifest_declarations="required",
    ),
    manifest_rules=_MANIFEST_RULES,
    match_rules=(binding.bindings_are_offered, binding.known_capabilities_are_offered),
    start_rules=(*TEXT.start_rules, start.now_is_a_time),
    record_rules=(
        record.emitted_at_is_a_time,
        record.append_only_stream_deletes_nothing,
        record.delete_carries_its_key,
        record.key_agrees_with_data,
        scope.within_resources,
        scope.no_extra_field,
        scope.every_record_is_within_time_range,
        evidence.record_comes_before_evidence,
    ),
    message_rules=_MESSAGE_RULES,
    checkpoint_rules={**TEXT.checkpoint_rules, "restart": ()},
)
