"""The number of each container's last life, and which tier has it: kept for good, apart from lives.

Lives lie in a partition with heartbeats and ticks, which expire, and are too many to be read for
two numbers. So before the log hears of a life its number is kept here, under the container's name,
with the time up to which the partition had been read: the next life reads on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import NamedTuple

import structlog

from components.runtime.core.step import SKEW_MS
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import Message
from events.topics import LIVES, place
from projections.hold import Tenancy
from turbine_client.reading import read_span
from turbine_client.settings import Settings

SINCE = "\x00since"
"""The key of the word since when lives are kept here: who has none, and is not in the log of
before, never lived. So a container with a new name reads no more than that."""

log = structlog.get_logger(__name__)


class PastLife(NamedTuple):
    """What a life leaves to the next one."""

    epoch: int = 0
    tenancy: Tenancy | None = None
    read_ms: int = 0  # by the broker's time of what had been read of its partition


class KeptLife(NamedTuple):
    """What is known of one container. None: nothing was kept."""

    past: PastLife | None = None
    since_ms: int | None = None


def look(settings: Settings, partition: int, name: str) -> KeptLife:
    """What stands kept of a container now."""
    polls = read_span(settings, {place(LIVES, partition): (0, None)})
    return kept_of((message for poll in polls for message in poll), name)


def kept_of(messages: Iterable[Message], name: str) -> KeptLife:
    """The last word about a container, and since when such words are kept; where another build kept
    either in another form, the log tells all of it."""
    past, since_ms = None, None
    try:
        for message in messages:
            if message.key == name.encode():
                past = _past_of(message.value or b"")
            elif message.key == SINCE.encode():
                since_ms = int(message.value or b"")
    except (KeyError, TypeError, ValueError) as bad:
        log.warning("what was kept of its lives is left aside", why=repr(bad))
        return KeptLife()
    return KeptLife(past, since_ms)


def _past_of(value: bytes) -> PastLife:
    plain = json.loads(value)
    tenancy = None if plain["tenancy"] is None else Tenancy(*plain["tenancy"])
    return PastLife(int(plain["epoch"]), tenancy, int(plain["read_ms"]))


def unknown(kept: KeptLife, end: int, offset_at: Callable[[int], int]) -> tuple[int, int]:
    """What of the partition of lives may tell of a container what is not kept: from where, up to
    where. Brokers' clocks may differ, so it is a little more."""
    if kept.past is not None:
        return offset_at(max(0, kept.past.read_ms - SKEW_MS)), end
    if kept.since_ms is not None:
        return 0, min(end, offset_at(kept.since_ms + SKEW_MS))
    return 0, end


def keep(emitter: Emitter, partition: int, name: str, past: PastLife) -> None:
    """Holds once the emitter has settled."""
    value = json.dumps(
        {"epoch": past.epoch, "tenancy": past.tenancy, "read_ms": past.read_ms}
    ).encode()
    emitter.write(LIVES, partition, name.encode(), value, [])


def keep_since(emitter: Emitter, partition: int, since_ms: int) -> None:
    """The same of the word since when."""
    emitter.write(LIVES, partition, SINCE.encode(), str(since_ms).encode(), [])
