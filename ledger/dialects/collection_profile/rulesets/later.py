"""``collection-profile/0.2.0``: the later profile, of October 2026, which calls itself normative.

What it does not decide otherwise is as in ``0.1.0``. Each of its changes has its own function beside the
older one, or a switch where the choice lies in the machinery.
"""

from dataclasses import replace

from ledger.dialects.collection_profile.rules import scope
from ledger.dialects.collection_profile.rules import state as state_rules
from ledger.dialects.collection_profile.rulesets.text import TEXT
from ledger.dialects.collection_profile.switches import Switches

_MESSAGE_RULES = {
    **TEXT.message_rules,
    "STATE": (scope.names_stream_in_scope("state/stream"), state_rules.cursor_is_an_object_or_null),
}

LATER = replace(
    TEXT,
    id="collection-profile/0.2.0",
    summary="the later profile of October 2026, version 0.2.0",
    switches=Switches(controller_loss="withhold"),
    message_rules=_MESSAGE_RULES,
    checkpoint_rules={**TEXT.checkpoint_rules, "restart": ()},
)
