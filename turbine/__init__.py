"""The front door: publish changes, follow outcomes, read the log.

    from turbine import Publisher, Subscriber, Log

Names are imported when they are first used: a command line that only prints help must not wait
for a Kafka client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from components.webhooks.signing import Tampered
    from components.webhooks.signing import verify as verify_webhook
    from turbine.bookmark import Once
    from turbine.log import Log
    from turbine.publish import (
        Accepted,
        Publisher,
        Rejected,
        TooLarge,
        Unheard,
        Unknown,
        Verdict,
    )
    from turbine.subscribe import Outcome, Subscriber

__all__ = [
    "Accepted",
    "Log",
    "Once",
    "Outcome",
    "Publisher",
    "Rejected",
    "Subscriber",
    "Tampered",
    "TooLarge",
    "Unheard",
    "Unknown",
    "Verdict",
    "verify_webhook",
]

_HOMES = {
    "Accepted": "turbine.publish",
    "Log": "turbine.log",
    "Once": "turbine.bookmark",
    "Outcome": "turbine.subscribe",
    "Publisher": "turbine.publish",
    "Rejected": "turbine.publish",
    "Subscriber": "turbine.subscribe",
    "Tampered": "components.webhooks.signing",
    "TooLarge": "turbine.publish",
    "Unheard": "turbine.publish",
    "Unknown": "turbine.publish",
    "Verdict": "turbine.publish",
    "verify_webhook": "components.webhooks.signing",
}
_CALLED = {"verify_webhook": "verify"}
"""Those that are called otherwise at home, where their module says what they are about."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'turbine' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), _CALLED.get(name, name))
