"""What people and programs ask for, in one sentence each: wishes that nobody has answered. Pure."""

from __future__ import annotations

from typing import assert_never

from events.generated.records import (
    ConfigChangeProposed,
    DrainRequested,
    JobDeleteRequested,
    OffsetResetRequested,
    PauseRequested,
    PlacementApplyRequested,
    ReleaseRequested,
    ResumeRequested,
    UndrainRequested,
)
from events.sentences.words import brief, instant, joined, plain_of, settings, why

Said = (
    ConfigChangeProposed
    | DrainRequested
    | JobDeleteRequested
    | OffsetResetRequested
    | PauseRequested
    | PlacementApplyRequested
    | ReleaseRequested
    | ResumeRequested
    | UndrainRequested
)
INSTANT_DIGITS = 15
"""Of milliseconds since 1970: a longer number is refused, whatever it was to be."""


def said(body: Said) -> str:
    """Who asks for what, and why."""
    who = brief(body.author, 40) or "somebody"
    return f"{who} asks {_wish(body)}{why(body.reason)}"


def _wish(body: Said) -> str:
    match body:
        case ConfigChangeProposed():
            return _change(body)
        case DrainRequested():
            return f"to empty {brief(body.container)}"
        case UndrainRequested():
            return f"to give {brief(body.container)} shards again"
        case JobDeleteRequested():
            return "to delete the job"
        case PauseRequested():
            return "to pause the job"
        case ResumeRequested():
            return "to let the job run again"
        case ReleaseRequested():
            return "to try the quarantined job again"
        case OffsetResetRequested():
            return f"to read the inputs again from {place(body.to)}"
        case PlacementApplyRequested():
            return f"to carry out plan {brief(body.plan_id)}"
        case _:
            assert_never(body)


def _change(body: ConfigChangeProposed) -> str:
    sets = settings(plain_of(body.set_json))
    clears = joined([brief(path, 40) for path in body.clear])
    parts = [f"to set {sets}" if sets else "", f"to clear {clears}" if clears else ""]
    until = "" if body.expires_ms is None else f", until {instant(body.expires_ms)}"
    return (" and ".join(filter(None, parts)) or "for no change") + until


def place(to: str) -> str:
    """From where inputs are read again, as a request or a reset says it."""
    text = to.strip()
    if text.startswith("{"):
        return f"offsets of {settings(plain_of(text)) or 'their own'}"
    timed = text.isascii() and text.isdigit() and len(text) <= INSTANT_DIGITS
    return instant(int(text)) if timed else brief(text)
