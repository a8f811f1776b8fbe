"""The number of each container's last life, and which tier has it: kept for good, apart from lives.

Lives lie in a partition with heartbeats and ticks, which expire, and are too many to be read for
two numbers. So before the log hears of a life its number is kept here, under the container's name,
with the time up to which the partition had been read: the next life reads on from there.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from components.runtime.emitter import Emitter
from components.runtime.intake import Message
from components.runtime.reading import read_span
from components.runtime.settings import Settings
from events.topics import LIVES, PREFIX, place
from projections.hold import Tenancy

SINCE = "\x00since"
"""The key of the word since when lives are kept here: whoever has none, and is not in the log of
before, never lived."""


class Past(NamedTuple):
    """What a life leaves to the next one."""

    epoch: int = 0
    tenancy: Tenancy | None = None
    read_ms: int = 0  # by the broker's time of what had been read of its partition


class Kept(NamedTuple):
    """What is known of one container. None: nothing was kept."""

    past: Past | None = None
    since_ms: int | None = None


def look(settings: Settings, partition: int, name: str) -> Kept:
    """The last word about a container, and since when such words are kept."""
    past, since_ms = None, None
    for poll in read_span(settings, {place(LIVES, partition): (0, None)}):
        for message in poll:
            if message.key == name.encode():
                past = _past_of(message)
            elif message.key == SINCE.encode():
                since_ms = int(message.value or b"0")
    return Kept(past, since_ms)


def _past_of(message: Message) -> Past | None:
    """None: another build kept it in another form, and the log is read instead."""
    try:
        plain = json.loads(message.value or b"")
        tenancy = None if plain["tenancy"] is None else Tenancy(*plain["tenancy"])
        return Past(int(plain["epoch"]), tenancy, int(plain["read_ms"]))
    except (KeyError, TypeError, ValueError):
        return None


def keep(emitter: Emitter, partition: int, name: str, past: Past) -> None:
    """Holds once the emitter has settled."""
    value = json.dumps(
        {"epoch": past.epoch, "tenancy": past.tenancy, "read_ms": past.read_ms}
    ).encode()
    emitter.write(PREFIX + LIVES, partition, name.encode(), value, [])


def keep_since(emitter: Emitter, partition: int, since_ms: int) -> None:
    """The same of the word since when."""
    emitter.write(PREFIX + LIVES, partition, SINCE.encode(), str(since_ms).encode(), [])
