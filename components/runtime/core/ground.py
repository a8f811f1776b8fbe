"""Whether the log is still the one that was read: not made again, cut, or gone below a position.
Pure.

Positions alone cannot tell. Where a topic was deleted and made again, what comes lies below the
position that was kept, and counts as read already: whoever goes on from there is healthy, and never
answers anything. So who reads knows its topics by the ids that the broker gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.runtime.core.step import Stepper
from events.topics import ALERTS, CLOCK, JOURNAL, OUTCOMES, TIERS
from turbine_client.identity import RUNBOOK

_PASSING = frozenset({CLOCK, OUTCOMES, ALERTS})
"""What is there for now: a tick that expired is no loss, nor is news that nobody could be told."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What the broker has of some topics: their ids by short name, where their places begin and
    end. A topic that is not there has none of them."""

    ids: Mapping[str, str] = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)
    ends: Mapping[str, int] = field(default_factory=dict)


def misfit(ids: Mapping[str, str], seen: Mapping[str, int], now: Ground) -> str:
    """Why what was read of topics with these ids, up to these positions, is not of the log that
    there is now; "" where it is."""
    for topic, known in sorted(ids.items()):
        found = now.ids.get(topic)
        if found is None:
            return f"the topic {topic} is gone, and had been read"
        if found != known:
            return (
                f"the topic {topic} was deleted and made again: what had been read"
                " was another log's"
            )
    for at, position in sorted(seen.items()):
        if at in now.ends and (why := outside(at, position, now.starts[at], now.ends[at])):
            return why
    return ""


def outside(at: str, position: int, start: int, end: int) -> str:
    """Why a place cannot be read on from a position; "" where it can."""
    if position < start and at.partition("/")[0] not in _PASSING:
        return (
            f"{at}: it had been read up to {position}, and what lies below {start} has expired or"
            " was deleted since, so records in between were never read"
        )
    if position > end:
        return (
            f"{at}: it had been read up to {position}, and the log ends at {end}, so it is another"
            " log"
        )
    return ""


def begin_at(owner: Stepper[Any], now: Ground) -> None:
    """Where the owner has read nothing it begins with what is there: what has expired before was
    never its own to read."""
    for at in owner.places:
        owner.seen.setdefault(at, now.starts.get(at, 0))


def headless(now: Ground) -> str:
    """Why decisions cannot be read from their beginning, with the remedy; "" where they can.

    Each stands on the one before it, so without the first of them none stands. Who has read beyond
    could go on, but nobody could begin anew: what is decided from then on would be lost as well.
    """
    for at, start in sorted(now.starts.items()):
        if start > 0 and at.partition("/")[0] in (JOURNAL, TIERS):
            return (
                f"{at}: what lies below {start} was deleted, and nothing stands without it; that"
                f" topic has to be deleted, and all begins anew: see {RUNBOOK}"
            )
    return ""


def remedy_of(*components: str) -> str:
    """What a person does about it."""
    named = " ".join(components)
    return (
        "if the log was replaced on purpose, stop what runs and have it begin with what is left by"
        f" `turbine rows forget {named}`; see {RUNBOOK}"
    )
