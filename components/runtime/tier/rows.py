"""The topic in which a tier-wide component keeps snapshots: reads the newest, writes the next.

What it folds of containers expires, and a week of their heartbeats takes too long to fold again.
"""

from __future__ import annotations

import time  # noqa: TID251 - how often rows are kept is a matter of real time, not of decisions
import zlib
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

import structlog

from components.runtime.core.component import Component
from components.runtime.core.ground import Ground
from components.runtime.core.snapshots import (
    Slots,
    Snapshot,
    SnapshotRecord,
    keepable,
    lost,
    restored,
    take,
)
from components.runtime.core.step import Stepper
from components.runtime.core.store import Restored
from components.runtime.faust.rows import build
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import Message
from components.runtime.kafka.surveying import Surveyor
from events.topics import place, rows_topic
from turbine_client.errors import BrokerUnreachable, Unreadable
from turbine_client.reading import LogUnreadable, read_span
from turbine_client.settings import Settings

R = TypeVar("R")

SNAPSHOT_EVERY_S = 60.0
"""How long what was folded may be unkept: it bounds what a restart has to read again."""
SNAPSHOT_BYTES_PER_S = 4_096
"""That snapshots may cost: the larger one is, the less often it is kept."""
SELDOM_S = 300.0
"""But as often as that: a start reads what five minutes of a large fleet say in some seconds."""
KEEP_SHARE = 0.1
"""Of the time, for keeping: a large row is kept less often."""
THEIRS = 1.5
"""How many periods another instance that keeps is given: were it one, both would find out in turn
that the other one is late, and both would write."""
SNAPSHOT_HEADER = "snapshot"
_UNFIT = (AttributeError, IndexError, KeyError, TypeError, Unreadable, ValueError, zlib.error)

log = structlog.get_logger(__name__)


def period_s(size: int, every_s: float = SNAPSHOT_EVERY_S) -> float:
    """From one snapshot to the next, of so many bytes."""
    return max(every_s, min(SELDOM_S, size / SNAPSHOT_BYTES_PER_S))


class Shelf(Generic[R]):
    """The topic as far as it was read. Used from one thread."""

    def __init__(self, settings: Settings, component: Component[R]) -> None:
        self.build = build()
        self.slots = Slots(component.logic)
        self._settings, self._component = settings, component
        self.topic = rows_topic(component.name, tier_wide=True)
        self._place = place(self.topic.short, 0)
        self._read_to = 0

    def look(self) -> list[SnapshotRecord]:
        """What has come since the last look."""
        span: dict[str, tuple[int, int | None]] = {self._place: (self._read_to, None)}
        pieces = [_piece(message) for poll in read_span(self._settings, span) for message in poll]
        for piece in pieces:
            self.slots.lay(piece)
            self._read_to = piece.offset + 1
        return pieces

    def open(self, upto: Mapping[str, int] | None = None) -> tuple[Restored[R], int]:
        """What an owner starts from, nothing where nothing holds, and when that was kept.

        With `upto`, only what had not read beyond it.
        """
        # Compaction may remove what is written over beyond the end that a look goes to.
        while self.look() and not self.slots.whole():
            continue
        for snapshot in self.slots.whole():
            if upto is None or all(
                offset <= upto.get(at, 0)
                for at, offset in snapshot.seen.items()
                if at.partition("/")[0] in self._component.inputs
            ):
                found = self._restored(snapshot)
                if found is not None:
                    return found, snapshot.at_ms
        return Restored(), 0

    def _restored(self, snapshot: Snapshot) -> Restored[R] | None:
        try:
            found = restored(self._component, snapshot, self.build)
        except _UNFIT as bad:
            # A row that cannot be loaded would end every process that tries.
            log.warning("kept rows left aside", at=snapshot.slot, why=repr(bad))
            return None
        return found if found.seen else None

    def check(self, kept: Restored[R], places: Iterable[str], ground: Ground | None = None) -> None:
        """LogUnreadable where the log cannot be read on from what was kept."""
        if kept.seen:
            asked = [*places]
            now = ground or Surveyor(self._settings).wait(asked, kept.log)
            if why := lost(kept, asked, now, self._component.name):
                raise LogUnreadable(why)


class Snapshots(Generic[R]):
    """Keeps what one instance holds. Used from one thread."""

    def __init__(
        self,
        settings: Settings,
        component: Component[R],
        emitter: Emitter,
        every_s: float = SNAPSHOT_EVERY_S,
    ) -> None:
        self.shelf = Shelf(settings, component)
        self._component, self._emitter, self._every_s = component, emitter, every_s
        self.log: Mapping[str, str] = {}  # which topics are read, by their ids
        self._ours = ""  # the id of what this instance kept last
        self._due_s = 0.0

    def begin(self, kept_ms: int, now_ms: int) -> None:
        """The newest snapshot is of then, by the broker's time of both; 0 where there is none."""
        age_s = max(0, now_ms - kept_ms) / 1000
        self._due_s = time.monotonic() + max(0.0, self._period_s() - age_s) if kept_ms else 0.0

    def _period_s(self) -> float:
        """As large as the newest one is, whoever kept it."""
        newest = next(iter(self.shelf.slots.whole()), None)
        return period_s(len(newest.packed) if newest else 0, self._every_s)

    def keep_if_due(self, owner: Stepper[R]) -> None:
        """Keeps what the owner holds, unless another instance has just done so."""
        if time.monotonic() < self._due_s or not keepable(owner):
            return
        pieces = self._look()
        if pieces is None:
            self._due_s = time.monotonic() + self._period_s()
        elif self._heard_another(pieces):
            self._due_s = time.monotonic() + THEIRS * self._period_s()
        else:
            self._keep(owner)

    def _look(self) -> list[SnapshotRecord] | None:
        """What others wrote; None while the broker is away: whoever reads on when it is back needs
        no snapshot, and one that is written unseen may lie where the only whole one did."""
        try:
            return self.shelf.look()
        except (BrokerUnreachable, LogUnreadable) as away:
            log.warning("not kept", component=self._component.name, why=str(away))
            return None

    def _heard_another(self, pieces: list[SnapshotRecord]) -> bool:
        """Of two that wrote at once it is the one that closed first who waits."""
        markers = [piece for piece in pieces if self.shelf.slots.closes(piece)]
        return bool(markers) and markers[-1].of != self._ours

    def _keep(self, owner: Stepper[R]) -> None:
        since = time.monotonic()
        snapshot = take(owner, self.shelf.build, self.log)
        self._ours = snapshot.id
        for piece in self.shelf.slots.cut(snapshot):
            headers = [(SNAPSHOT_HEADER, piece.of.encode())]
            self._emitter.write(self.shelf.topic.short, 0, piece.key.encode(), piece.value, headers)
        self._emitter.settle()
        now = time.monotonic()
        size = len(snapshot.packed)
        self._due_s = now + max(period_s(size, self._every_s), (now - since) / KEEP_SHARE)
        log.info(
            "kept",
            component=self._component.name,
            bytes=size,
            read=sum(snapshot.seen.values()),
            seconds=round(now - since, 3),
        )

    def close(self, owner: Stepper[R]) -> None:
        """Keeps what is left: the next start has nothing to read again."""
        if keepable(owner) and self._look() is not None:
            self._keep(owner)


def _piece(message: Message) -> SnapshotRecord:
    """What is nothing of ours has a key that no slot has."""
    of = dict(message.headers or []).get(SNAPSHOT_HEADER) or b""
    key = (message.key or b"").decode(errors="replace")
    return SnapshotRecord(
        key, message.value, of.decode(errors="replace"), message.offset, message.at_ms
    )
