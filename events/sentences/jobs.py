"""What is decided of a job's config and raised about it, in one sentence each. Pure."""

from __future__ import annotations

from typing import assert_never

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    OverrideExpired,
)
from events.sentences.words import brief, by, instant, plain_of, settings, why

Said = (
    AlertCleared | AlertRaised | JobConfigChanged | JobConfigRejected | JobDeleted | OverrideExpired
)


def said(body: Said) -> str:
    """What became of the config, or what needs a person."""
    match body:
        case JobConfigChanged():
            return _changed(body)
        case JobConfigRejected():
            who = f", asked{by(body.author)}" if body.author else ""
            told = not body.path or body.explanation.startswith(body.path)
            at = "" if told else f", at {brief(body.path)}"
            return f"rejected as {brief(body.reason, 40)}{who}{at}{why(body.explanation)}"
        case OverrideExpired():
            return _expired(body)
        case JobDeleted():
            return f"deleted{by(body.author)}{why(body.reason)}"
        case AlertRaised():
            return f"{body.severity} alert {brief(body.alert)}{why(body.cause)}"
        case AlertCleared():
            return f"alert {brief(body.alert)} is over{why(body.explanation)}"
        case _:
            assert_never(body)


def _expired(body: OverrideExpired) -> str:
    left = settings(plain_of(body.layer_json or "{}"))
    if not left:
        return f"the {body.layer} override has expired, version {body.version} of it is empty"
    return f"an {body.layer} override has expired, version {body.version} of it sets {left}"


def _changed(body: JobConfigChanged) -> str:
    """A base is too long to be told; what lies above it is short, and all that matters."""
    told = ""
    if body.layer != "base":
        sets = settings(plain_of(body.layer_json))
        told = f", which sets {sets}" if sets else ", which sets nothing any more"
    until = "" if body.expires_ms is None else f" until {instant(body.expires_ms)}"
    head = f"version {body.version} of {body.layer}{by(body.author)}"
    return f"{head}{told}{until}{why(body.reason)}"
