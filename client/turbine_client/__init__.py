"""The client of Turbine: publish changes, follow outcomes, read what stands.

    from turbine_client import Publisher, Subscriber

Names are imported when they are first used: a program that only asks the API must not wait for a
Kafka client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbine_client.api import Api, ApiProblem, ApiRefused, ApiUnavailable
    from turbine_client.asynchronous import AsyncApi, AsyncPublisher
    from turbine_client.bookmark import BadBookmark, Once
    from turbine_client.errors import (
        BadRequest,
        BrokerUnreachable,
        Corrupt,
        LoginRefused,
        NoTopic,
        TurbineError,
        Unavailable,
    )
    from turbine_client.publish import Pending, Publisher, TooLarge, Unheard
    from turbine_client.reading import LogUnreadable
    from turbine_client.settings import BadSettings, Settings
    from turbine_client.signing import Tampered
    from turbine_client.signing import verify as verify_webhook
    from turbine_client.subscribe import BadTopic, Subscriber
    from turbine_client.verdicts import Accepted, Outcome, Rejected, Unknown, Verdict

_HOMES = {
    "Accepted": "verdicts",
    "Api": "api",
    "ApiProblem": "api",
    "ApiRefused": "api",
    "ApiUnavailable": "api",
    "AsyncApi": "asynchronous",
    "AsyncPublisher": "asynchronous",
    "BadBookmark": "bookmark",
    "BadRequest": "errors",
    "BadSettings": "settings",
    "BadTopic": "subscribe",
    "BrokerUnreachable": "clients",
    "Corrupt": "errors",
    "LogUnreadable": "reading",
    "LoginRefused": "clients",
    "NoTopic": "errors",
    "Once": "bookmark",
    "Outcome": "verdicts",
    "Pending": "publish",
    "Publisher": "publish",
    "Rejected": "verdicts",
    "Settings": "settings",
    "Subscriber": "subscribe",
    "Tampered": "signing",
    "TooLarge": "publish",
    "TurbineError": "errors",
    "Unavailable": "errors",
    "Unheard": "publish",
    "Unknown": "verdicts",
    "Verdict": "verdicts",
    "verify_webhook": "signing",
}
_CALLED = {"verify_webhook": "verify"}
"""Those that are called otherwise at home, where their module says what they are about."""

__all__ = [
    "Accepted",
    "Api",
    "ApiProblem",
    "ApiRefused",
    "ApiUnavailable",
    "AsyncApi",
    "AsyncPublisher",
    "BadBookmark",
    "BadRequest",
    "BadSettings",
    "BadTopic",
    "BrokerUnreachable",
    "Corrupt",
    "LogUnreadable",
    "LoginRefused",
    "NoTopic",
    "Once",
    "Outcome",
    "Pending",
    "Publisher",
    "Rejected",
    "Settings",
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
    if name not in _HOMES:
        raise AttributeError(f"module 'turbine_client' has no attribute {name!r}")
    return getattr(import_module(f"turbine_client.{_HOMES[name]}"), _CALLED.get(name, name))
