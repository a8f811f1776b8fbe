"""Follows what was decided about the tier and about all jobs, and tells what of it stands.

It begins with what the publisher kept of the chains, and reads on from there: a start costs what
there is of jobs, and not what was ever decided about them.

In a thread of its own: whether a decision stands may be a question to the broker, which may take
its time, and a container's heartbeats must not wait for that. It folds nothing and decides nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

import structlog

from components.runtime.core.ground import RUNBOOK, Ground, headless
from components.runtime.core.standing import Row, standing
from components.runtime.core.store import Restored
from components.runtime.faust.rows import look
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.kafka.surveying import Surveyor, TopicWatch
from components.task_manager.core.chains import KINDS, Chains, KeptChain, StandingDecision, unfit
from turbine_client.errors import BrokerUnreachable, LoginRefused
from turbine_client.reading import Follower, LogUnreadable, ends_now, read_span
from turbine_client.settings import Settings

POLL_S, POLL_MOST = 0.1, 2_000
WATCH_S = 3.5
"""There may be thousands of containers, and each look is some questions to the broker."""
REMEDY = f"the next start reads the log that there is; see {RUNBOOK}"

log = structlog.get_logger(__name__)


class ContainerReader:
    """From what was kept on; where nothing was, or it does not fit the log, from the first record
    on. Either way it tells the same."""

    def __init__(self, settings: Settings, partitions: int, tier: str) -> None:
        self._settings, self._count = settings, partitions
        self._append_times = AppendTimes(settings)
        self._chains = Chains(partitions, tier, self._possible)
        self.owners = self._chains.owners
        self._read_all = False
        self._told: dict[str, int] = {}  # what there was to read, until it was told
        self.now_ms = 0  # by ticks that others read: what waits for a forgery's time is due by it
        self.failure: Exception | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reader", daemon=True)

    def start(self) -> None:
        """Starts the thread that reads."""
        self._thread.start()

    def take(self, most: int) -> list[StandingDecision | KeptChain]:
        """What has come to stand since the last time, in causal order for each key."""
        standing = self._chains.standing
        taken = [standing.popleft() for _ in range(min(most, len(standing)))]
        if self.caught_up and self._told:
            log.info("caught up", **self._told)
            self._told = {}
        return taken

    @property
    def caught_up(self) -> bool:
        """Was all taken that stood when reading began?"""
        return self._read_all and not self._chains.standing

    def seen(self, at: str) -> int:
        """How far the place was read."""
        return self._chains.seen(at)

    def close(self) -> None:
        """Ends soon; nobody waits for it."""
        self._over.set()

    # --- the thread

    def _run(self) -> None:
        try:
            kept = look(self._settings, standing, range(self._count))
            ground = self._stand()
            for partition, one in sorted(kept.items()):
                self._begin(partition, one, ground)
            ends, records = ends_now(self._settings, self.owners), 0
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

    def _begin(self, partition: int, kept: Restored[Row], ground: Ground) -> None:
        if why := unfit(kept, ground):
            log.warning("it begins with the first record", partition=partition, why=why)
        else:
            self._chains.begin(partition, kept)

    def _stand(self) -> Ground:
        """LogUnreadable where nothing can stand; a watch sees from now on that it stays one."""
        ground = Surveyor(self._settings).wait(self.owners)
        if why := headless(ground):
            raise LogUnreadable(why)
        self._watch = TopicWatch(
            self._settings,
            lambda: (ground.ids, {at: self.seen(at) for at in self.owners if self._read_all}),
            remedy=REMEDY,
            tell=self._fail,
            every_s=WATCH_S,
        )
        return ground

    def _fail(self, sentence: str) -> None:
        self.failure = LogUnreadable(sentence)

    def _fold(self, messages: Iterable[Message]) -> None:
        for message in messages:
            found = take_in(message, self._count, KINDS)
            if isinstance(found, DeadLetter):  # other readers of the topic write its letter
                self._chains.pass_by(message.place, message.offset, message.at_ms)
            else:
                self._chains.read(found)
        self._chains.settle(self.now_ms)

    def _possible(self, at: str, offset: int, by_ms: int) -> bool | None:
        """Asks until the broker answers: without it, nobody knows what stands."""
        while True:
            try:
                return self._append_times.possible(at, offset, by_ms)
            except LoginRefused:
                raise
            except BrokerUnreachable as away:
                log.warning("the broker does not answer", why=str(away))
