"""Follows what was decided about the tier and about all jobs, and tells what of it stands.

It begins with what the publisher kept of the chains, and reads on from there: a start costs what
there is of jobs, and not what was ever decided about them.

In a thread of its own: whether a decision stands may be a question to the broker, which may take
its time, and a container's heartbeats must not wait for that. It folds nothing and decides nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import structlog

from components.runtime.births import Births
from components.runtime.clients import BrokerUnreachable, LoginRefused
from components.runtime.component import Component
from components.runtime.intake import DeadLetter, Message, take_in
from components.runtime.reading import Follower, ends_now, read_span, starts_now
from components.runtime.rows import look
from components.runtime.settings import Settings
from components.runtime.standing import Row, places_of, standing
from components.runtime.step import Held, Owner
from components.runtime.store import Restored
from events.codec import Read
from events.records import Body, TierDefined
from events.topics import JOURNAL, TIERS, place
from projections.hold import FOLDED_KINDS as HOLD_KINDS
from projections.lists import FOLDED_KINDS as LIST_KINDS

POLL_S, POLL_MOST = 0.1, 2_000
CHAIN = place(TIERS, 0)
KINDS = HOLD_KINDS | LIST_KINDS

log = structlog.get_logger(__name__)


# Whoever only wants to know what stands.
_VIEW: Component[None] = Component(
    name="task-manager",
    logic="task-manager/1",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, TIERS}),
    folds=KINDS,
    says=frozenset(),
    fold=lambda *_: None,
    decide=lambda *_: (),
    effects=lambda _: (),
    wake_ms=lambda *_: None,
    dump=lambda _: None,
    load=lambda _: None,
)


class Standing(NamedTuple):
    """A decision that stands, and all that was known of its key with it."""

    read: Read
    vector: Mapping[str, int]


class Kept(NamedTuple):
    """What stood of a key where reading began."""

    key: str
    row: Row
    vector: Mapping[str, int]


class Reader:
    """From what was kept on; where nothing was, or it does not fit the log, from the first record
    on. Either way it tells the same."""

    def __init__(self, settings: Settings, partitions: int, tier: str) -> None:
        self._settings, self._count = settings, partitions
        self._tier = f"{tier}/placement"
        self._births = Births(settings)
        self.owners: dict[str, Owner[None]] = {}
        self._first = [place(JOURNAL, p) for p in range(partitions)]  # one of each owner's
        self._places = [at for p in range(partitions) for at in places_of(p)]
        for p in range(partitions):
            self._begin(p, Restored())
        self._standing: deque[Standing | Kept] = deque()
        self._read_all = False
        self._told: dict[str, int] = {}  # what there was to read, until it was told
        self.now_ms = 0  # by ticks that others read: what waits for a forgery's time is due by it
        self.failure: Exception | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reader", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def _begin(self, partition: int, kept: Restored[Row]) -> None:
        places = places_of(partition)
        held: dict[str, Held[None]] = {
            key: Held(vector=one.vector, last=one.last, tick_ms=one.tick_ms)
            for key, one in kept.held.items()
        }
        owner: Owner[None] = Owner(
            _VIEW, places, self._possible, seen=kept.seen, held=held, heed=self._heed
        )
        self.owners |= dict.fromkeys(places, owner)

    def take(self, most: int) -> list[Standing | Kept]:
        """What has come to stand since the last time, in causal order for each key."""
        taken = [self._standing.popleft() for _ in range(min(most, len(self._standing)))]
        if self.caught_up and self._told:
            log.info("caught up", **self._told)
            self._told = {}
        return taken

    @property
    def caught_up(self) -> bool:
        """Was all taken that stood when reading began?"""
        return self._read_all and not self._standing

    def seen(self, at: str) -> int:
        """How far the place was read."""
        return self.owners[at].seen.get(at, 0)

    def close(self) -> None:
        """Ends soon; nobody waits for it."""
        self._over.set()

    # --- the thread

    def _run(self) -> None:
        try:
            kept = look(self._settings, standing, range(self._count))
            ends, starts = (asked(self._settings, self._places) for asked in (ends_now, starts_now))
            self._standing += self._fitting(kept, starts, ends)
            records = 0
            spans = {at: (self.seen(at), end) for at, end in ends.items()}
            for poll in read_span(self._settings, spans):
                records += len(poll)
                self._fold(poll)
            self._told = {"records": records, "below": sum(ends.values())}
            self._read_all = True
            start = {at: max(end, self.seen(at)) for at, end in ends.items()}
            follower = Follower(self._settings, start)
            while not self._over.is_set():
                self._fold(follower.poll(POLL_S, POLL_MOST))
            follower.close()
        except Exception as error:  # noqa: BLE001 - told in the main thread, which ends the process
            self.failure = error

    def _fitting(
        self, kept: Mapping[int, Restored[Row]], starts: Mapping[str, int], ends: Mapping[str, int]
    ) -> Iterator[Kept]:
        """Begins each partition with what was kept of it, if that can be of this log."""
        for partition, one in sorted(kept.items()):
            if not one.seen:
                log.warning("nothing was kept to begin with", partition=partition)
                continue
            outside = [at for at, n in one.seen.items() if not starts[at] <= n <= ends[at]]
            if outside or any(held.early for held in one.held.values()):
                log.warning("what was kept does not fit", partition=partition, places=outside)
                continue
            self._begin(partition, one)
            for key, held in sorted(one.held.items()):
                if not isinstance(held.row, TierDefined) or key == self._tier:
                    yield Kept(key, held.row, dict(held.vector))

    def _fold(self, messages: Iterable[Message]) -> None:
        for message in messages:
            at = message.place
            owner = self.owners[at]
            owner.now_ms = max(owner.now_ms, message.at_ms)
            found = take_in(message, self._count, KINDS)
            if isinstance(found, DeadLetter):  # other readers of the topic write its letter
                owner.pass_by(at, message.offset, message.at_ms)
            else:
                owner.read(found)
        for owner in map(self.owners.__getitem__, self._first):
            owner.now_ms = max(owner.now_ms, self.now_ms)
            owner.settle()

    def _heed(self, read: Read, stands: bool) -> None:
        at, record = read.place, read.record
        if not stands or not isinstance(record.body, Body) or record.kind not in KINDS:
            return
        if at == CHAIN and record.key != self._tier:
            return
        self._standing.append(Standing(read, dict(self.owners[at].held[record.key].vector)))

    def _possible(self, at: str, offset: int, by_ms: int) -> bool | None:
        """Asks until the broker answers: without it, nobody knows what stands."""
        while True:
            try:
                return self._births.possible(at, offset, by_ms)
            except LoginRefused:
                raise
            except BrokerUnreachable as away:
                log.warning("the broker does not answer", why=str(away))
