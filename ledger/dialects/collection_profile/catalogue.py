"""Codes into words: one sentence for every public code of a decision.

A decision holds codes, clauses and facts; the sentences live here, so that a better sentence changes no
digest. Each is a template over the ``detail`` of what carries the code, and over the names that stand
beside it. The tables are split by where a code stands.
"""

from collections.abc import Mapping

from ledger.core.wording import Catalogue
from ledger.dialects.collection_profile.clauses import CLAUSES

FAULTS: Mapping[str, str] = {
    # The manifest, the match and START: why a run is refused.
    "manifest_malformed": "The manifest is no JSON object ({reason}).",
    "manifest_without_streams": "The manifest declares no streams.",
    "stream_without_name": "Stream {position} of the manifest (from 0) has no name.",
    "stream_name_repeated": "The manifest declares two streams named {stream}.",
    "bindings_malformed": "A binding of the manifest is not an object with a boolean `required`.",
    "dependency_malformed": "The manifest's {field} of {stream} does not hold stream names.",
    "parent_is_itself": "{stream} names itself as its parent checkpoint.",
    "parent_undeclared": "{stream} names the parent {parent}, which the manifest does not declare.",
    "parent_repeated": "{stream} names one parent twice.",
    "two_dependency_shapes": "{stream} declares both state_stream and parent_streams.",
    "parents_empty": "{stream} declares parent_streams without any entry.",
    "dependency_cycle": "The checkpoint dependencies form a cycle: {cycle}.",
    "strategy_mismatch": "{stream} needs coverage_strategy {wanted} for the parents that it declares.",
    "strategy_unknown": "{stream} declares a coverage_strategy that is none of those known.",
    "declaration_missing": "{stream} declares no {member}.",
    "declaration_unknown": "{stream} declares a {member} that is none of those known.",
    "primary_key_malformed": "The {member} of {stream} does not name fields, each once.",
    "schema_malformed": "The {member} of {stream} is no object.",
    "connector_key_malformed": "The manifest's connector_key is no plain word of a-z, 0-9, '.', '_' and '-'.",
    "manifest_member_repeated": "An object of the manifest holds the member {member} twice.",
    "binding_missing": "The connector requires the binding {binding}, which the runtime did not offer.",
    "binding_unknown": "The binding {binding} is not in the registry, and stands under no DNS name.",
    "capabilities_malformed": "The manifest's protocol_capabilities are not a list of known capabilities.",
    "capability_missing": "The connector needs the capability {capability}, which the runtime did not offer.",
    "binding_not_described": "START describes no usable {binding}, which the manifest requires.",
    "scope_empty": "START asks for no stream.",
    "scope_with_wildcard": "START asks for streams by wildcard.",
    "scope_of_undeclared_stream": "START asks for {stream}, which the manifest does not declare.",
    "scope_with_view": "START carries an unresolved view for {stream}.",
    "scope_with_necessity": "START carries a necessity for {stream}.",
    "time_range_unreadable": "A bound of the time range for {stream} is no instant.",
    "now_unreadable": "START's now is no date-time with an offset.",
    "scope_beyond_grant": "START asks for {stream}, which the grant does not permit.",
    # What a message must be.
    "line_malformed": "The line is no JSON: {reason} at byte {offset}.",
    "line_too_long": "The line is longer than the recorder takes ({length} bytes).",
    "line_is_no_message": "The line is JSON, but no message: it must be an object with a string `type`.",
    "member_missing": "{type} lacks its member `{member}`.",
    "member_invalid": "{type} does not hold in `{member}` what belongs there ({expected}).",
    "message_unknown": "{type} is no message that a connector may send.",
    "stream_out_of_scope": "The message names {stream}, which is not in the scope of the run.",
    # What may come when.
    "start_not_first": "The runtime said something before START.",
    "start_repeated": "The runtime sent START a second time.",
    "line_before_start": "The connector spoke (entry {first}) before it was sent START.",
    "answer_not_asked_for": "The runtime answered a question that was not asked.",
    "message_while_waiting": "The connector spoke while its question (entry {asked}) waited for an answer.",
    "message_after_done": "The connector spoke after its DONE (entry {done}).",
    # Records.
    "record_out_of_scope": "A RECORD of {stream}, which is not in the scope of the run.",
    "record_outside_resources": "A RECORD of {stream} has the key {key}, which was not asked for.",
    "record_with_extra_field": "A RECORD of {stream} carries the field {field}, which was not asked for.",
    "record_outside_time_range": "A RECORD of {stream} is out of the time range: {field} is {value} ({why}).",
    "emitted_at_unreadable": "A RECORD of {stream} was emitted at {value}, which is no time of ISO 8601.",
    "record_without_key_field": "A RECORD of {stream} lacks {field}, which its key is made of.",
    "key_disagrees": "A RECORD of {stream} has the key {key}, which is not what its data holds in {fields}.",
    "delete_without_key_field": "A deletion of {stream} lacks {field}, which its key is made of.",
    "delete_of_append_only": "{key} is deleted from {stream}, which is append-only.",
    # Checkpoints, questions, reports, evidence.
    "state_of_no_checkpoint": "A STATE names {stream}, which is no checkpoint; it is not staged.",
    "interaction_not_offered": "The connector asks the owner, but the runtime did not offer `interactive`.",
    "interaction_kind_undeclared": "The connector asks for {kind}, which its manifest does not declare.",
    "coverage_of_child": "{stream} rides its parent's checkpoint and must not report coverage.",
    "coverage_of_undeclared_parent": "{stream} reports coverage against {parent}, which it does not declare.",
    "coverage_key_repeated": "The report of {stream} under {parent} holds {key} twice in {member}.",
    "coverage_key_not_required": "The report of {stream} under {parent} has {key} in {member} only.",
    "coverage_key_in_two_sets": "The report of {stream} under {parent} has {key} in {member} and elsewhere.",
    "coverage_reported_too_often": "{stream} reported more often than it has parents in scope.",
    "coverage_reported_twice": "{stream} reported twice under {parent}.",
    "evidence_of_no_child": "{stream} gives STREAM_EVIDENCE without declaring a state_stream.",
    "evidence_does_not_add_up": "The evidence of {stream} adds up to {outcomes}, not to {considered}.",
    "evidence_given_twice": "{stream} gave evidence twice.",
    "evidence_disagrees_with_records": "The evidence of {stream} disagrees with the records that were seen.",
    "evidence_disagrees_with_gaps": "The evidence of {stream} claims more gaps than were seen.",
    "evidence_miscounts_records": "The evidence of {stream} says {emitted} were emitted; {seen} were seen.",
    "evidence_miscounts_gaps": "The evidence of {stream} says {gapped} are gapped; {seen} were seen to be.",
    "said_after_evidence": "{stream} sent a {type} after its STREAM_EVIDENCE, which is final.",
    # What the connector says it saw: discarded, and nothing more.
    "fact_too_long": "An OBSERVATION of {length} bytes was discarded: it is too long.",
    "fact_id_invalid": "An OBSERVATION was discarded: it has no id in the form of one.",
    "fact_not_known": "An OBSERVATION was discarded: its fact is none that a connector may tell.",
    "fact_step_invalid": "An OBSERVATION was discarded: it does not name its step as it must.",
    "fact_attrs_invalid": "An OBSERVATION was discarded: `{member}` is not what belongs there ({expected}).",
    "fact_evidence_invalid": "An OBSERVATION was discarded: its evidence_ref is no reference.",
    "fact_resolves_invalid": "An OBSERVATION was discarded: its resolves are not one to sixteen ids.",
    "fact_resolves_nothing": "OBSERVATION {id} was discarded: it resolves {resolves}, which is none yet.",
    "fact_id_taken": "A second OBSERVATION with the id {id} was discarded.",
    "facts_too_many": "An OBSERVATION was discarded: the run has {limit} already.",
    # The end.
    "basis_without_capability": "DONE's error names a basis, but the manifest does not declare OBSERVATION.",
    "basis_not_accepted": "DONE's error rests on {id}, which is no accepted OBSERVATION of the run.",
    "success_with_error": "DONE says succeeded and carries an error.",
    "done_says_cancelled": "DONE says cancelled, which is the owner's to say and not the connector's.",
    "records_emitted_wrong": "DONE counts {records_emitted} records, the log {counted}.",
    "exit_disagrees": "DONE says {status}, but the program ended with {exit}.",
    # Findings: worth showing, deciding nothing.
    "line_torn": "The program ended in the middle of this line.",
    "line_unterminated": "The last line came without its line feed; it was read as it is.",
    "member_repeated": "A member name ({member}) occurs twice in a control message; the last was read.",
    "scope_not_supported": "The connector says that it cannot honour the scope of {stream}.",
    "record_after_scope_skip": "{stream} sent records after it was skipped as scope_not_supported.",
    "failed_stream_in_success": "{stream} was reported as failed, yet the run says it succeeded.",
    "report_before_last_record": "The report of {stream} under {parent} came before the last RECORD or gap.",
    "interaction_unanswered": "A question of the connector was never answered.",
    "answer_with_data": "An answer other than success carries data.",
    "runtime_line_unreadable": "The runtime sent a line that is no message of this profile.",
    "runtime_line_after_done": "The runtime sent a line after DONE.",
    "run_id_differs": "START carries the run id {run_id}, not the one that the run was opened with.",
    "state_for_single_use": "START carries state for a single-use run.",
    "scope_stream_repeated": "START names {stream} twice; the last entry was taken.",
    "time_range_not_applicable": "START sets a time range on {stream}, which declares no time field.",
    "records_rejected": "The store refused records of {stream}.",
    "cancel_too_late": "A cancellation came when the run was already {why}; it changes nothing.",
    "controller_lost_late": "The controller was lost after the decision; that changes nothing.",
    "submission_rejected_late": "A rejected submission was told after the decision; it changes nothing.",
    "refused_late": "The runtime says that it refused the run, but after the run was decided.",
    "observation_out_of_place": "An observation ({type}) is about an entry that does not come before it.",
    "other_grant_revoked": "A grant that this run does not work under was revoked.",
    "line_after_close": "A line was recorded after the run was closed; it changes nothing.",
    "line_after_decision": "The connector spoke after the decision; that changes nothing.",
    "run_opened_twice": "The log opens this run a second time; the first opening stands.",
    "transcript_torn": "The transcript ended in half a line; what was left of the line is kept.",
    "observation_unreadable": "An observation that this version cannot read.",
}
"""Violations, refusals and findings."""

CAUSES: Mapping[str, str] = {
    "refused_by_runtime": "The runtime refused the run: {text}",
    "cancel_requested": "The owner cancelled the run.",
    "grant_revoked": "The run's grant was revoked, which cancels the run.",
    "cancelled_by_program": "The connector says that it was cancelled.",
    "controller_lost": "The controller was lost before it acted; the connector did not fail.",
    "no_terminal": "The program ended without a valid DONE.",
    "run_failed": "The connector says that the run failed.",
    "streams_failed": "The connector says that these streams failed, and certifies it: {streams}.",
    "checkpoint_store_failed": "The store failed to write the checkpoint {stream}.",
    "checkpoint_beyond_grant": "The grant does not permit {stream}, so the store refuses its checkpoint.",
    "entry_erased": "An entry that decides the run was erased.",
    "manifest_unknown": "The manifest of the run is not known.",
}
"""Causes that are not faults; a fault as a cause is worded by FAULTS."""

REASONS: Mapping[str, str] = {
    "coverage_unaccounted": "{stream} left {keys} unaccounted for.",
    "coverage_missing": "{stream} is in scope and never reported its coverage for this checkpoint.",
    "covers_failed_stream": "{stream}, which this checkpoint covers, was reported as failed.",
    "restart_detail_parent": "The controller was lost; {stream} accounts its details to this checkpoint.",
    "restart_gap_pending": "The controller was lost while {stream} still owed details.",
    "restart_coverage_unproven": "The controller was lost; {stream} left {keys} unaccounted for.",
    "restart_coverage_missing": "The controller was lost before {stream} reported its own coverage.",
    "restart_stream_failed": "The controller was lost after {stream} was reported as failed.",
    "run_refused": "The run was refused, and commits nothing.",
    "run_cancelled": "The run was cancelled, and a cancelled run commits nothing.",
    "run_violated": "The run broke the protocol, and commits nothing.",
    "run_failed": "The run failed without certifying which streams did, and commits nothing.",
    "run_abandoned": "The controller was lost, and a run that it left commits nothing.",
    "no_terminal": "The run has no valid DONE, and commits nothing.",
    "checkpoint_beyond_grant": "The grant does not permit {stream}, so the store refuses this checkpoint.",
    "after_refused_checkpoint": "The store refuses {stream} before this, and the rest are not attempted.",
    "single_use": "A single-use run keeps no state.",
    "entry_erased": "What this checkpoint rests on was erased, so it cannot be decided.",
    "manifest_unknown": "The manifest is not known, so nothing can be decided.",
}
"""Why a checkpoint is withheld or undecided."""

NEAR_MISSES: Mapping[str, str] = {
    "gap_names_other_parent": "A DETAIL_GAP for {key} exists at entry {entry} but names parent {parent}.",
    "gap_names_no_parent": "A DETAIL_GAP for {key} exists at entry {entry} but names no parent.",
    "gap_not_listed": "A DETAIL_GAP for {key} exists at entry {entry}, but gap_keys leave it out.",
    "gap_key_of_other_type": "A DETAIL_GAP at entry {entry} has {key} as another type (number or text).",
    "gap_of_other_stream": "A DETAIL_GAP for {key} exists at entry {entry} but is of stream {stream}.",
    "gap_names_no_key": "A DETAIL_GAP at entry {entry} is of this boundary but names no record_key.",
    "key_listed_without_gap": "The report lists {key} in gap_keys, but no DETAIL_GAP stands behind it.",
    "key_is_optional_skip": "The report lists {key} in optional_skip_keys, which are not credited.",
    "error_code_without_skip": "DONE's code would certify a failure, but no skip names a failed stream.",
    "skips_without_error_code": "A skip names a failed stream, but DONE's error code does not certify it.",
    "skip_names_no_stream": "The skip at entry {entry} has the reason, but names no stream.",
    "skip_reason_differs": "The skip at entry {entry} has the reason {reason}, which is spelled otherwise.",
}
"""What almost accounts for a key, or almost certifies a failure."""

DISCREPANCIES: Mapping[str, str] = {
    "committed_though_withheld": "{stream} was committed, though the rules withhold it.",
    "committed_though_not_staged": "{stream} was committed, though the run never staged it.",
    "attempted_though_withheld": "A write of {stream} was tried, though the rules withhold it.",
    "attempted_after_failure": "A write of {stream} was tried after an earlier write had failed.",
    "not_committed_though_eligible": "{stream} was not committed, though the rules commit it.",
    "committed_out_of_order": "{stream} was committed after a checkpoint that was staged after it.",
    "attempted_out_of_order": "{stream} was tried before one that was staged earlier.",
    "committed_twice": "{stream} was committed twice.",
    "committed_other_cursor": "{stream} was committed with another cursor than its newest.",
    "committed_in_other_namespace": "{stream} was committed in the namespace {namespace}.",
    "committed_before_durable": "{stream} was committed when records before it were not durable yet.",
    "ran_though_refused": "The program ran, though the rules refuse the run.",
    "refused_though_allowed": "The runtime refused the run, though the rules allow it.",
}
"""Where what happened is not what the rules say."""

UNKNOWNS: Mapping[str, str] = {
    "exit_status": "How the program ended was not observed.",
    "durability": "Whether the records are durable was not observed.",
    "bindings": "What the runtime offered is not known, so bindings were not checked.",
    "scope": "No START is in the log, so every declared stream counts as in scope.",
    "grant": "What the grant permits is not known, so the scope was not held against it.",
    "manifest": "The manifest is not known.",
    "erased": "Bodies of entries were erased.",
}
"""What no entry shows."""


FAILURES: Mapping[str, str] = {
    "auth_rejected": "The provider rejected what the owner had submitted, as the runtime saw.",
    "expectation_mismatch": "By its own account the connector did not find what it expected.",
    "unknown": "Nothing that the connector met is known to be behind it.",
}
"""What a failed run is put down to."""

CATALOGUE = Catalogue(
    failures=FAILURES,
    faults=FAULTS,
    causes=CAUSES,
    reasons=REASONS,
    near_misses=NEAR_MISSES,
    discrepancies=DISCREPANCIES,
    unknowns=UNKNOWNS,
    clauses=CLAUSES,
)
"""The words of the Collection Profile."""
