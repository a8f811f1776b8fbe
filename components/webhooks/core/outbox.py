"""Which messages a receiver gets next, in each subject's order, and which are given up. Pure.

A lane is what one topic says of one subject. The head of a lane is with the receiver, or waits for
its next attempt; what is behind it waits for it. Other lanes go on.

A receiver that takes nothing at all is down: it is knocked at by one message at a time, each time
another lane's, and that counts against no message until `give_up_ms`. A message that fails while
others are taken has something the matter itself, and so has one that is refused (4xx): it has
`attempts`, and is then given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["taken", "gone", "refused", "down"]

MESSAGES_MAX = 1_000
"""Read and not yet done, of one receiver: nothing more is read then."""
BYTES_MAX = 16 * 1024 * 1024
TROUBLE = 3
"""Failures with nothing taken between them, from which on the receiver is held to be down."""
HOLD_MS_MAX = 3_600_000
"""How long a receiver may ask us to wait (Retry-After)."""
# Of 4xx these say "later", and not "never": the request took too long, came too early, or was one
# too many.
_LATER = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """How patient we are with one receiver."""

    attempts: int = 8
    give_up_ms: int = 24 * 3_600_000
    pause_ms: int = 1_000
    pause_ms_max: int = 60_000
    parallel: int = 4

    def pause(self, failures: int) -> int:
        """After so many failures in a row: once, twice, four times … the first pause."""
        return int(min(self.pause_ms_max, self.pause_ms * 2 ** min(max(failures, 1) - 1, 20)))


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message for one receiver."""

    place: str
    offset: int
    lane: str
    id: str
    kind: str
    body: bytes


@dataclass(frozen=True, slots=True)
class DeliveryAnswer:
    """What a receiver said to one attempt, or why nothing was heard (status 0)."""

    status: int
    words: str
    retry_after_ms: int = 0

    @property
    def verdict(self) -> Verdict:
        """What it means for the message."""
        if 200 <= self.status < 300:
            return "taken"
        if self.status == 410:
            return "gone"
        if 300 <= self.status < 500 and self.status not in _LATER:
            return "refused"
        return "down"


@dataclass(frozen=True, slots=True)
class AbandonedMessage:
    """A message that is given up, and why."""

    delivery: Delivery
    attempts: int
    words: str


@dataclass(slots=True)
class _Lane:
    queue: deque[Delivery] = field(default_factory=deque)
    busy: bool = False
    failures: int = 0  # of the head
    counted: int = 0  # those of them that are its own fault
    taken_before: int = 0  # by the receiver, when the head failed last
    first_ms: int = 0  # when it failed first
    next_ms: int = 0
    tried: int = 0  # which attempt of all it was

    def begin(self) -> None:
        """The head is done with; the next one has a past of its own."""
        self.queue.popleft()
        self.failures = self.counted = self.taken_before = self.first_ms = self.next_ms = 0


class Outbox:
    """What is on its way to one receiver. `positions` is how far all is done, place by place."""

    def __init__(self, limits: RetryLimits, start: Mapping[str, int]) -> None:
        self.limits = limits
        self._read = dict(start)
        self._undone: dict[str, dict[int, None]] = {place: {} for place in start}
        self._lanes: dict[str, _Lane] = {}
        self._bytes = self._tried = 0
        self.busy = 0  # messages that are with the receiver
        self._taken = 0
        self._streak = 0  # failures since anything was taken
        self._knock_ms = 0

    # --- what is read

    @property
    def full(self) -> bool:
        """Nothing more should be read."""
        return self.waiting >= MESSAGES_MAX or self._bytes >= BYTES_MAX

    @property
    def waiting(self) -> int:
        """Messages that were read and are not done."""
        return sum(map(len, self._undone.values()))

    @property
    def down(self) -> bool:
        """Whether the receiver has refused so much in a row that it counts as down."""
        return self._streak >= TROUBLE

    def pass_by(self, place: str, offset: int) -> None:
        """A message that is not for this receiver."""
        self._read[place] = max(self._read.get(place, 0), offset + 1)

    def put(self, delivery: Delivery) -> None:
        """A message that is; one that was put before, as after a reconnection, is nothing new."""
        if delivery.offset < self._read.get(delivery.place, 0):
            return
        self.pass_by(delivery.place, delivery.offset)
        self._undone.setdefault(delivery.place, {})[delivery.offset] = None
        if delivery.lane not in self._lanes:  # behind those that wait already
            self._lanes[delivery.lane] = _Lane(tried=self._tried)
        self._lanes[delivery.lane].queue.append(delivery)
        self._bytes += len(delivery.body)

    @property
    def positions(self) -> dict[str, int]:
        """Of each place the first offset that is not done: a restart goes on there."""
        return {
            place: next(iter(self._undone.get(place, ())), read)
            for place, read in self._read.items()
        }

    # --- what is sent

    def due(self, now_ms: int) -> Iterator[Delivery]:
        """What is to be sent now; each of them has to be answered."""
        room = (1 if self.down else self.limits.parallel) - self.busy
        if room <= 0 or now_ms < self._knock_ms:
            return
        # Who waited longest comes first: a lane that always fails must not be the only knocker.
        ready = sorted(
            (lane for lane in self._lanes.values() if not lane.busy and lane.next_ms <= now_ms),
            key=lambda lane: lane.tried,
        )
        for lane in ready[:room]:
            self._tried += 1
            lane.busy, lane.tried = True, self._tried
            self.busy += 1
            yield lane.queue[0]

    def answered(
        self, delivery: Delivery, answer: DeliveryAnswer, now_ms: int
    ) -> AbandonedMessage | None:
        """What the answer to an attempt means; a refusal where the message is given up."""
        lane = self._lanes[delivery.lane]
        assert lane.busy, "an answer to what was not sent"
        assert lane.queue[0] is delivery, "an answer to what is not the head of its lane"
        lane.busy = False
        self.busy -= 1
        verdict = answer.verdict
        if verdict == "taken":
            self._recover(now_ms)
            self._end(delivery)
            return None
        lane.failures += 1
        lane.first_ms = lane.first_ms or now_ms
        if verdict == "down":
            self._slow_down(answer, now_ms)
        else:
            self._streak, self._knock_ms = 0, 0  # it refuses, so it is there
        own_fault = lane.failures > 1 and self._taken > lane.taken_before
        lane.counted += verdict == "refused" or own_fault
        lane.taken_before = self._taken
        if verdict == "gone" or self._is_over(lane, now_ms):
            failures = lane.failures
            self._end(delivery)
            return AbandonedMessage(delivery, failures, answer.words)
        lane.next_ms = now_ms + self.limits.pause(lane.failures)
        return None

    def _is_over(self, lane: _Lane, now_ms: int) -> bool:
        return (
            lane.counted >= self.limits.attempts or now_ms - lane.first_ms >= self.limits.give_up_ms
        )

    def _end(self, delivery: Delivery) -> None:
        lane = self._lanes[delivery.lane]
        lane.begin()
        del self._undone[delivery.place][delivery.offset]
        self._bytes -= len(delivery.body)
        if not lane.queue:
            del self._lanes[delivery.lane]

    def _recover(self, now_ms: int) -> None:
        """Something was taken: whoever waits because the receiver was down need not any more."""
        if self.down:
            for lane in self._lanes.values():
                lane.next_ms = min(lane.next_ms, now_ms) if not lane.counted else lane.next_ms
        self._taken += 1
        self._streak, self._knock_ms = 0, 0

    def _slow_down(self, answer: DeliveryAnswer, now_ms: int) -> None:
        self._streak += 1
        wait_ms = min(answer.retry_after_ms, HOLD_MS_MAX)
        if self.down:
            wait_ms = max(wait_ms, self.limits.pause(self._streak - TROUBLE + 1))
        self._knock_ms = now_ms + wait_ms if wait_ms else 0
