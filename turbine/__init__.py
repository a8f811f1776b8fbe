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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'turbine' has no attribute {name!r}")
    home = "turbine.read.sources.log" if name == "Log" else "turbine_client"
    return getattr(import_module(home), name)
