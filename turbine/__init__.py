"""The front door: publish changes, follow outcomes, read the log.

    from turbine import Publisher, Subscriber, Log

Names are imported when they are first used: a command line that only prints help must not wait
for a Kafka client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbine.read.sources.log import Log
    from turbine_client import (
        Accepted,
        BadRequest,
        BadSettings,
        BrokerUnreachable,
        Corrupt,
        Once,
        Outcome,
        Publisher,
        Rejected,
        Subscriber,
        Tampered,
        TooLarge,
        TurbineError,
        Unavailable,
        Unheard,
        Unknown,
        Verdict,
        verify_webhook,
    )

__all__ = [
    "Accepted",
    "BadRequest",
    "BadSettings",
    "BrokerUnreachable",
    "Corrupt",
    "Log",
    "Once",
    "Outcome",
    "Publisher",
    "Rejected",
    "Subscriber",
    "Tampered",
    "TooLarge",
    "TurbineError",
    "Unavailable",
    "Unheard",
    "Unknown",
    "Verdict",
    "verify_webhook",
]

_HOMES = {
    "Accepted": "turbine_client",
    "BadRequest": "turbine_client",
    "BadSettings": "turbine_client",
    "BrokerUnreachable": "turbine_client",
    "Corrupt": "turbine_client",
    "Log": "turbine.read.sources.log",
    "Once": "turbine_client",
    "Outcome": "turbine_client",
    "Publisher": "turbine_client",
    "Rejected": "turbine_client",
    "Subscriber": "turbine_client",
    "Tampered": "turbine_client",
    "TooLarge": "turbine_client",
    "TurbineError": "turbine_client",
    "Unavailable": "turbine_client",
    "Unheard": "turbine_client",
    "Unknown": "turbine_client",
    "Verdict": "turbine_client",
    "verify_webhook": "turbine_client",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'turbine' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
