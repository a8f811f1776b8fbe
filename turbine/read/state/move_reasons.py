"""Why shards move, as a short list of words that a metric may have as labels. Pure.

The log tells it in sentences, for people, with names of containers in them.
"""

from __future__ import annotations

import re

from components.shard_manager.core.moving import WHYS
from events.generated.records import ShardAddRequested, ShardDropRequested

ORPHAN, RESTART, OPERATOR = "orphan", "restart", "operator"
REASONS = (*WHYS, ORPHAN, RESTART, OPERATOR)

_SENTENCES = {
    reason: re.compile(re.sub(r"\\\{[a-z]+\\\}", ".+", re.escape(why)))
    for reason, why in WHYS.items()
}


def reason_of(body: ShardDropRequested | ShardAddRequested) -> str:
    """Why; "" for the second half of a move, which was counted with its first."""
    if isinstance(body, ShardDropRequested):
        for reason, sentence in _SENTENCES.items():
            if sentence.match(body.reason):
                return reason
        return OPERATOR
    if body.plan_id:
        return ORPHAN  # nobody held it
    return RESTART if body.reason == "its container began another life" else ""
