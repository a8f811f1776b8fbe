"""Asks the broker whether the log is still the one that is read, and goes on asking.

Who reads on would not find out: of a topic that was made again one client starts at its beginning
without a word, and the other waits at a position that will not come for long.
"""

from __future__ import annotations

import threading
import time  # noqa: TID251 - patience with a broker is real time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]  # theirs

from components.runtime.core.ground import Ground, headless, misfit
from components.runtime.process.exits import (
    EXIT_EVICTED,
    EXIT_FAILED_HANDLER,
    EXIT_REFUSED_WRITE,
    EXIT_UNREADABLE,
    die,
)
from turbine_client.clients import admin, spot, unreachable
from turbine_client.errors import BrokerUnreachable
from turbine_client.settings import Settings

LOOK_S = 2.5
"""Between two looks. Each is three questions, whatever is read; two in a row have to say that
something is wrong, as a broker that has just started may not know all of its topics."""
ASK_S = 5.0
PATIENCE_S = 60.0
PAUSE_S = 0.2
AGAIN_S = 1.0
"""Between two looks of a process that is about to end anyway."""
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # theirs
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # theirs
_GONE = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.UNKNOWN_TOPIC_ID})


class Surveyor:
    """Asks the broker how the ground lies. Used from one thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._client = settings, admin(settings)

    def look(self, places: Iterable[str], topics: Iterable[str] = ()) -> Ground:
        """How it is now, of these topics too; KafkaException where the broker does not say."""
        by_topic: dict[str, list[str]] = {topic: [] for topic in topics}
        for at in sorted(places):
            by_topic.setdefault(at.partition("/")[0], []).append(at)
        ids = self._ids(by_topic)
        there = [at for topic in ids for at in by_topic[topic]]
        # In this order: what begins later than a position that is asked for next was unread.
        starts = self._offsets(there, _EARLIEST)
        ends = self._offsets(there, _LATEST)
        return Ground(ids, starts, {at: end for at, end in ends.items() if at in starts})

    def wait(self, places: Iterable[str], topics: Iterable[str] = ()) -> Ground:
        """The same; a broker that is away for a while is waited for."""
        asked, more, limit = [*places], [*topics], time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.look(asked, more)
            except KafkaException as error:
                self._client.poll(PAUSE_S)  # a refused login is raised here
                if time.monotonic() > limit:
                    raise unreachable(self._settings, error.args[0]) from None

    def _ids(self, topics: Iterable[str]) -> dict[str, str]:
        names = {self._settings.topic(topic): topic for topic in topics}
        if not names:
            return {}
        asked = self._client.describe_topics(TopicCollection([*names]), request_timeout=ASK_S)
        found = {names[name]: _told(answer) for name, answer in asked.items()}
        return {topic: str(one.topic_id) for topic, one in found.items() if one is not None}

    def _offsets(self, places: Iterable[str], which: OffsetSpec) -> dict[str, int]:
        spots = {at: spot(self._settings, at) for at in places}
        if not spots:
            return {}
        asked = self._client.list_offsets(
            dict.fromkeys(spots.values(), which), request_timeout=ASK_S
        )
        answers = {(one.topic, one.partition): answer for one, answer in asked.items()}
        found = {at: _told(answers[one.topic, one.partition]) for at, one in spots.items()}
        return {at: one.offset for at, one in found.items() if one is not None}


def _told(answer: Future[Any]) -> Any:
    """What was answered; None where there is no such topic any more."""
    try:
        return answer.result()
    except KafkaException as error:
        if error.args[0].code() in _GONE:
            return None
        raise


def _end(sentence: str) -> None:
    die(EXIT_UNREADABLE, sentence)


class TopicWatch:
    """Looks again and again, in a thread of its own; the process ends at what it finds.

    Views do not end (`ends`): they begin anew with what is left, where that is no beginning too.
    """

    def __init__(
        self,
        settings: Settings,
        seen: Callable[[], tuple[Mapping[str, str], Mapping[str, int]]],
        *,
        remedy: str,
        tell: Callable[[str], None] = _end,
        every_s: float = LOOK_S,
        ends: bool = True,
    ) -> None:
        """`seen` tells the ids and positions of what is read, and is called in that thread."""
        self.settings = settings
        self._surveyor, self._seen, self._tell = Surveyor(settings), seen, tell
        self._remedy, self._every_s, self._ends = remedy, every_s, ends
        self._over = threading.Event()
        if ends:
            _WATCHES.append(self)
        threading.Thread(target=self._run, name="ground", daemon=True).start()

    def close(self) -> None:
        """Ends the looks, and the thread that makes them."""
        self._over.set()
        if self in _WATCHES:
            _WATCHES.remove(self)

    def _run(self) -> None:
        before = ""
        while not self._over.wait(self._every_s):
            try:
                why = self.look(self._surveyor)
            except (BrokerUnreachable, KafkaException):
                why = ""  # whoever reads finds the broker away as well, and says so
            if why and before:
                self._tell(why)
                return
            before = why

    def look(self, surveyor: Surveyor) -> str:
        """What is wrong now, with the remedy; "" where nothing is."""
        ids, seen = self._seen()
        now = surveyor.look(seen, ids)
        _, later = self._seen()
        # What was read meanwhile counts for where places begin, and not for where they end.
        if self._ends and (why := headless(now)):
            return why
        why = misfit(ids, _between(seen, later, now), now)
        return f"{why}; {self._remedy}" if why else ""


def _between(before: Mapping[str, int], after: Mapping[str, int], now: Ground) -> dict[str, int]:
    return {
        at: after.get(at, position) if position < now.starts.get(at, 0) else position
        for at, position in before.items()
    }


_WATCHES: list[TopicWatch] = []
"""Of this process."""
_MET = frozenset({EXIT_FAILED_HANDLER, EXIT_REFUSED_WRITE, EXIT_UNREADABLE, EXIT_EVICTED})
"""How who was not told yet meets a log that is another one: a write is out of order, the group does
not know its member, an offset is out of range, and a client expects none of it."""


def last_look(code: int, sentence: str) -> tuple[int, str]:
    """With what a process ends that cannot go on: with this, or with what lies behind it."""
    watches = tuple(_WATCHES)
    if code not in _MET or not watches:
        return code, sentence
    surveyor, before, limit = Surveyor(watches[0].settings), "", time.monotonic() + ASK_S
    while True:
        try:
            why = next(filter(None, (watch.look(surveyor) for watch in watches)), "")
        except (BrokerUnreachable, KafkaException):
            if time.monotonic() > limit:
                return code, sentence
        else:
            if not why:
                return code, sentence
            if before:
                return EXIT_UNREADABLE, why
            before = why
        time.sleep(AGAIN_S)


def fail(code: int, sentence: str) -> None:
    """Ends the process at once, after a last look."""
    die(*last_look(code, sentence))
