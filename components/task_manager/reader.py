"""Follows what was decided about the tier and about all jobs, and tells what of it stands.

In a thread of its own: whether a decision stands may be a question to the broker, which may take
its time, and a container's heartbeats must not wait for that. It folds nothing and decides nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

import structlog

from components.runtime.births import Births
from components.runtime.clients import BrokerUnreachable, LoginRefused
from components.runtime.component import Component
from components.runtime.ground import RUNBOOK, headless
from components.runtime.intake import DeadLetter, Message, take_in
from components.runtime.reading import Follower, Unreadably, ends_now, read_span
from components.runtime.settings import Settings
from components.runtime.step import Owner
from components.runtime.surveying import Surveyor, Watch
from events.codec import Read
from events.records import Body
from events.topics import JOURNAL, TIERS, place
from projections.hold import FOLDED_KINDS as HOLD_KINDS
from projections.lists import FOLDED_KINDS as LIST_KINDS

POLL_S, POLL_MOST = 0.1, 2_000
CHAIN = place(TIERS, 0)
KINDS = HOLD_KINDS | LIST_KINDS
WATCH_S = 3.5
"""There may be thousands of containers, and each look is some questions to the broker."""
REMEDY = f"the next start reads the log that there is; see {RUNBOOK}"

log = structlog.get_logger(__name__)


def _view(topic: str, folds: frozenset[str]) -> Component[None]:
    """Whoever only wants to know what stands."""
    return Component(
        name="task-manager",
        logic="task-manager/1",
        output=topic,
        inputs=frozenset({topic}),
        folds=folds,
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


class Reader:
    """From the first record on: whoever comes late has the full lists from the topic alone."""

    def __init__(self, settings: Settings, partitions: int, tier: str) -> None:
        self._settings, self._count = settings, partitions
        self._tier = f"{tier}/placement"
        self._births = Births(settings)
        self.owners: dict[str, Owner[None]] = {}
        views = {TIERS: _view(TIERS, HOLD_KINDS), JOURNAL: _view(JOURNAL, LIST_KINDS)}
        for at, topic in [
            (CHAIN, TIERS),
            *((place(JOURNAL, p), JOURNAL) for p in range(partitions)),
        ]:
            heed = partial(self._heed, at)
            self.owners[at] = Owner(views[topic], [at], self._possible, heed=heed)
        self._standing: deque[Standing] = deque()
        self._read_all = False
        self.now_ms = 0  # by ticks that others read: what waits for a forgery's time is due by it
        self.failure: Exception | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reader", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def take(self, most: int) -> list[Standing]:
        """What has come to stand since the last time, in causal order for each key."""
        return [self._standing.popleft() for _ in range(min(most, len(self._standing)))]

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
            self._stand()
            ends = ends_now(self._settings, self.owners)
            for poll in read_span(self._settings, {at: (0, end) for at, end in ends.items()}):
                self._fold(poll)
            self._read_all = True
            start = {at: max(end, self.seen(at)) for at, end in ends.items()}
            follower = Follower(self._settings, start)
            while not self._over.is_set():
                self._fold(follower.poll(POLL_S, POLL_MOST))
            follower.close()
        except Exception as error:  # noqa: BLE001 - told in the main thread, which ends the process
            self.failure = error

    def _stand(self) -> None:
        """Unreadably where nothing can stand; from now on it is watched that the log stays one."""
        ground = Surveyor(self._settings).wait(self.owners)
        if why := headless(ground):
            raise Unreadably(f"{why}; see {RUNBOOK}")
        self._watch = Watch(
            self._settings,
            lambda: (ground.ids, {at: self.seen(at) for at in self.owners if self._read_all}),
            remedy=REMEDY,
            tell=self._fail,
            every_s=WATCH_S,
        )

    def _fail(self, sentence: str) -> None:
        self.failure = Unreadably(sentence)

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
        for owner in self.owners.values():
            owner.now_ms = max(owner.now_ms, self.now_ms)
            owner.settle()

    def _heed(self, at: str, read: Read, stands: bool) -> None:
        record = read.record
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
