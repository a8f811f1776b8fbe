"""Numbers that go in, the group that reads them, and the numbers that come out."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from benchmarks.children import ChildFailed

LOOK_S = 0.2
QUEUED_MOST = 50_000
ASK_S, READ_S = 10.0, 120.0


class Feed:
    """Writes the numbers from 1 at a steady rate, each under itself as key and always in the same
    partition, and knows which of them the broker has."""

    def __init__(self, client: Mapping[str, str], topic: str, partitions: int, rate: int) -> None:
        self._topic, self._partitions, self._rate = topic, partitions, rate
        self._client = Producer(
            {**client, "enable.idempotence": True, "linger.ms": 10, "log_level": 2}
        )
        self.ends: Counter[int] = Counter()  # next offsets, by what was acknowledged
        self.sent = self.written = self.numbers = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        """From now on, after those that were sent."""
        self._thread.start()

    def close(self) -> None:
        """No more; returns when the broker has all of it."""
        self._over.set()
        self._thread.join()
        self.settle()

    def burst(self, numbers: Iterable[int]) -> None:
        """These at once, some of them perhaps once more; returns when the broker has them."""
        for number in numbers:
            self._send(number)
            self.numbers = max(self.numbers, number)
        self.settle()

    def settle(self) -> None:
        """Returns when the broker has all that was sent."""
        if self._client.flush(60) or self.written != self.sent:
            raise ChildFailed(f"the broker took {self.written} of {self.sent} inputs")

    def _run(self) -> None:
        began, first = time.monotonic(), self.numbers
        while not self._over.is_set():
            due = first + int((time.monotonic() - began) * self._rate)
            for number in range(self.numbers + 1, due + 1):
                self._send(number)
            self.numbers = max(self.numbers, due)
            self._client.poll(0)
            time.sleep(0.01)

    def _send(self, number: int) -> None:
        text = b"%d" % number
        while len(self._client) > QUEUED_MOST:
            self._client.poll(0.01)
        self._client.produce(
            self._topic,
            text,
            text,
            partition=number % self._partitions,
            on_delivery=self._delivered,
        )
        self.sent += 1

    def _delivered(self, error: object, message: Any) -> None:
        if error is None and message.offset() is not None:
            self.written += 1
            at = message.partition()
            self.ends[at] = max(self.ends[at], message.offset() + 1)


class GroupWatch:
    """What a lag tool sees of a job's group, looked at all the time."""

    def __init__(self, client: Mapping[str, str], group: str, topic: str, partitions: int) -> None:
        # Not by the admin client: in librdkafka 2.16 its call crashes where a coordinator moves.
        self._asker = Consumer({**client, "group.id": group, "enable.auto.commit": False})
        self._spots = [TopicPartition(topic, p) for p in range(partitions)]
        self._seen: dict[int, int] = {}
        self.asked = self.unseen = self.went_back = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="group", daemon=True)

    def start(self) -> None:
        """From now on."""
        self._thread.start()

    def close(self) -> None:
        """No more."""
        self._over.set()
        self._thread.join()
        self._asker.close()

    def position(self) -> dict[int, int]:
        """The committed offsets, by partition, as they were seen last."""
        return dict(self._seen)

    def looked(self) -> dict[int, int]:
        """The same, by a look that was begun after this call."""
        asked = self.asked
        while self.asked < asked + 2:
            time.sleep(LOOK_S / 4)
        return self.position()

    def beyond(self, before: Mapping[int, int]) -> bool:
        """Has every partition come on since?"""
        now = self.position()
        return len(now) == len(self._spots) and all(
            offset > before.get(at, 0) for at, offset in now.items()
        )

    def _run(self) -> None:
        while not self._over.is_set():
            self._look()
            self._over.wait(LOOK_S)

    def _look(self) -> None:
        self.asked += 1
        try:
            found = self._asker.committed(self._spots, timeout=ASK_S)
        except KafkaException:
            self.unseen += 1
            return
        known = {one.partition: one.offset for one in found if one.offset >= 0}
        if len(known) < len(self._spots) and self._seen:
            self.unseen += 1
        self.went_back += sum(offset < self._seen.get(at, 0) for at, offset in known.items())
        self._seen |= known


class Found(NamedTuple):
    """How often the numbers came out."""

    missing: int
    doubled: int
    foreign: int  # what is none of them


def count_numbers(client: Mapping[str, str], topic: str, partitions: int, most: int) -> Found:
    """Reads all that is committed, once, to the end."""
    reader = Consumer({**client, "group.id": "count", "isolation.level": "read_committed"})
    spots = [TopicPartition(topic, p, 0) for p in range(partitions)]
    ends = {one.partition: reader.get_watermark_offsets(one, ASK_S)[1] for one in spots}
    reader.assign(spots)
    times, foreign = bytearray(most + 1), 0
    limit = time.monotonic() + READ_S
    while any(one.offset < ends[one.partition] for one in reader.position(spots)):
        if time.monotonic() > limit:
            raise ChildFailed(f"{topic} cannot be read to its end: a transaction hangs")
        for message in reader.consume(50_000, 0.2):
            number = int(message.value() or b"0")
            if 1 <= number <= most:
                times[number] = min(250, times[number] + 1)
            else:
                foreign += 1
    reader.close()
    counts = Counter(times[1:])
    return Found(counts[0], sum(n for seen, n in counts.items() if seen > 1), foreign)
