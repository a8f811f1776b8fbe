"""A task's place at the broker: one transactional name, one claim, and offsets that only its holder
moves.

Whoever takes it fences who had it (`init_transactions`), then looks whether a newer generation has
claimed the partitions, then commits a claim of its own, and only then are they read. An empty
commit does not speak to the broker, so a claim is always a commit of offsets.
"""

from __future__ import annotations

import json
import time  # noqa: TID251 - leases and time-outs are real time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from components.runtime.kafka.transactions import in_time, transactional
from events.job_config.reserved import NO_TOPIC, is_reserved_topic
from tasks.core.claims import Claim, claim_of
from tasks.core.protocol import FAILED, FENCED, REFUSED, STOPPED, InputSpot, WorkOrder
from tasks.core.resets import OutOfRange, begin_of, wish_of
from tasks.deadline import Deadline, own_ms
from tasks.watchdog import Watchdog
from turbine_client.clients import ABSENT, consumer
from turbine_client.errors import BrokerUnreachable
from turbine_client.settings import Settings

ASK_S = 15.0
"""For one question of a start, while the broker elects a leader or looks for a coordinator."""
COMMIT_S = 5.0
"""For one step of a commit."""
GRACE_S = 3.0
"""Of time awake, for a call beyond its time-out: send_offsets_to_transaction does not heed its own
while it waits for a coordinator that has left the cluster; the next start finds the new one."""
TRANSACTION_MS = 10_000
"""The broker gives up what was begun and not ended as long ago, and looks every 10 s. A commit is
sent while the lease holds, or it waits; so what a container that is paused had begun is void 20 s
after its lease ended, which is before its shards are given away: also where nobody begins again
under the same name, and fences it."""
LEASE_LOOK_S = 0.02
_FENCED = frozenset(
    {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
)
GONE = ABSENT | {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}

AT_ONCE = 10_000
QUEUE_MOST = 100_000
"""Records that the client holds at most, as it does by itself."""

At = tuple[str, int]
Record = tuple[bytes | str | None, bytes | None]
"""Key and value."""
NO_MARK = ("", -1)


class SessionEnd(NamedTuple):
    """How a run ends, and why: fields of `Ended`."""

    how: str
    cause: str = ""
    explanation: str = ""
    error_class: str = ""


class Over(Exception):
    """The run cannot go on; how it ends."""

    def __init__(self, how: str, cause: str, explanation: str) -> None:
        super().__init__(explanation)
        self.how, self.cause = how, cause


def refuse_reserved(work: WorkOrder, settings: Settings) -> None:
    """Of a config that was accepted before such topics were refused, or by who does not know the
    prefix of the log: nothing of it is run."""
    output = (json.loads(work.config_json or "{}").get("output") or {}).get("topic")
    for topic in (*(topic for topic, _ in work.inputs), output or ""):
        ours = settings.topic("")
        if is_reserved_topic(topic) or topic.startswith(ours):
            name = (
                NO_TOPIC if is_reserved_topic(topic) else f'one that does not begin with "{ours}"'
            )
            said = f"{topic} is no topic for a job; change its config: name {name}"
            raise Over(REFUSED, "reserved-topic", said)


class TaskSession:
    """Of one run. Used from one thread at a time."""

    def __init__(
        self,
        work: WorkOrder,
        settings: Settings,
        deadline: Deadline,
        stopped: Callable[[], bool],
        **tuning: object,
    ) -> None:
        self._work, self._settings, self._deadline = work, settings, deadline
        self._stopped = stopped
        self._watch = Watchdog()
        self._claim = Claim(work.specs, work.shard, work.shard_number, work.container, work.epoch)
        self._position: dict[At, int] = {}
        self._marks: dict[At, tuple[str, int]] = {}  # the line and the batch of each offset
        self._resets: dict[At, str] = {}  # by which request each was read anew last
        self._config = json.loads(work.config_json or "{}")
        self._producer = transactional(
            settings,
            f"{settings.job_group(work.job)}/{work.task}",
            TRANSACTION_MS,
            **{"delivery.timeout.ms": TRANSACTION_MS, **tuning},
        )
        self._consumer = consumer(
            settings,
            **{"group.id": settings.job_group(work.job), "isolation.level": "read_committed"},
        )

    @property
    def position(self) -> dict[At, int]:
        """What was committed last: the next offset of each partition."""
        return self._position  # another one after each commit: it may be read from any thread

    def spots(self) -> tuple[InputSpot, ...]:
        """The same, as it is told."""
        return tuple(InputSpot(*at, offset) for at, offset in sorted(self._position.items()))

    def last_batch(self, lineage: str) -> int:
        """The number of the batch that was committed last, of those that are numbered in one line;
        -1: none was, or they begin anew at each start."""
        if not lineage:
            return -1
        return max((batch for name, batch in self._marks.values() if name == lineage), default=-1)

    def lines(self, places: Iterable[At]) -> set[str]:
        """The lines of numbered batches that the offsets of these partitions come from."""
        return {self._marks[at][0] for at in places if at in self._marks}

    def resets(self, places: Iterable[At]) -> set[str]:
        """The requests by which these partitions were read anew last; state from before is void."""
        return {self._resets[at] for at in places if at in self._resets}

    # --- to take it

    def take(self) -> None:
        """Fences, looks, claims; the position is where the predecessor came."""
        spots = [TopicPartition(topic, n) for topic, ns in self._work.inputs for n in ns]
        refuse_reserved(self._work, self._settings)
        if spots:
            self._check_topics()
        self.await_lease()
        self._ask(self._producer.init_transactions)
        if not spots:
            return  # more tasks than partitions: it holds its name, and has nothing to read
        found: dict[At, int] = {}
        for one in self._ask(self._consumer.committed, spots):
            if one.error is not None:
                raise KafkaException(one.error)
            self._look_at(one)
            found[one.topic, one.partition] = self._begin(one)
        self._position = found
        self.await_lease()
        self._producer.begin_transaction()
        self._commit(self._position, self._marks)

    def _check_topics(self) -> None:
        """A topic that is not there would be waited for in silence."""
        output = (self._config.get("output") or {}).get("topic")
        wanted = [(topic, numbers, "input-gone") for topic, numbers in self._work.inputs]
        wanted += [(output, (), "output-gone")] if output is not None else []
        for topic, numbers, cause in wanted:
            found = self._ask(self._consumer.list_topics, topic).topics[topic]
            missing = [n for n in numbers if n not in found.partitions]
            if found.error is not None or missing:
                there = found.error is None and found.partitions
                what = f"{topic}/{missing[0]}" if there else f"topic {topic}"
                raise Over(
                    FAILED,
                    cause,
                    f"the broker has no {what}; create it (`turbine topics create {topic}`), or"
                    " name another",
                )

    def _begin(self, one: TopicPartition) -> int:
        """Where the predecessor came to, unless an operator wants it to be read anew."""
        at, wish = (one.topic, one.partition), wish_of(self._config)
        known: int | None = one.offset if one.offset >= 0 else None
        if wish is not None and self._resets.get(at) != wish.id:
            moved = begin_of(wish, at, known, self)
            if moved is not None:
                self._resets[at] = wish.id
                self._marks.pop(at, None)  # no batch has led there
                return moved
        if known is not None:
            return known
        low, _ = self.edges(at)
        return low

    def edges(self, at: At) -> tuple[int, int]:
        """The first offset that a partition has, and the next one after its last."""
        low, high = self._ask(self._consumer.get_watermark_offsets, TopicPartition(*at))
        return int(low), int(high)

    def since(self, at: At, ms: int) -> int:
        """The first record of that instant or later; below 0: there is none."""
        (found,) = self._ask(self._consumer.offsets_for_times, [TopicPartition(*at, ms)])
        if found.error is not None:
            raise KafkaException(found.error)
        return int(found.offset)

    def _look_at(self, one: TopicPartition) -> None:
        claim = claim_of(one.metadata)
        if claim is None:
            return
        if claim.outranks(self._claim):
            raise Over(
                FENCED,
                "fenced",
                f"{one.topic}/{one.partition} is claimed by generation {claim.specs}.{claim.shard}"
                f" of {claim.container}, and this is {self._claim.specs}.{self._claim.shard}",
            )
        if claim.lineage:
            self._marks[one.topic, one.partition] = claim.lineage, claim.batch
        if claim.reset:
            self._resets[one.topic, one.partition] = claim.reset

    # --- to write

    def write(
        self,
        topic: str | None,
        records: Iterable[Sequence[Record]],
        position: Mapping[At, int],
        mark: tuple[str, int] = NO_MARK,
    ) -> tuple[int, int]:
        """Records and offsets in one transaction; how many records and bytes that was."""
        back = [at for at, offset in position.items() if offset < self._position.get(at, 0)]
        if back:
            where = f"{back[0][0]}/{back[0][1]}"
            raise Over(FAILED, "offsets-back", f"a batch ends before what was committed of {where}")
        self.await_lease()
        self._producer.begin_transaction()
        count = size = 0
        if topic is not None:
            for part in records:
                count += len(part)
                size += self._produce(topic, part)
        marks = dict.fromkeys(position, mark) if mark[0] else {}
        self._commit(position, marks)
        self._position = {**self._position, **position}
        self._marks.update(marks)
        return count, size

    def _produce(self, topic: str, part: Sequence[Record]) -> int:
        """In few calls: one for each record costs as much as all the rest."""
        client, size = self._producer, 0
        for begin in range(0, len(part), AT_ONCE):
            some = part[begin : begin + AT_ONCE]
            # What does not fit would be passed over, and what follows it not: the order is kept by
            # waiting for room first.
            while len(client) > QUEUE_MOST - len(some):
                client.poll(LEASE_LOOK_S)
            messages: list[dict[str, Any]] = [
                {"value": value} if key is None else {"key": key, "value": value}
                for key, value in some
            ]
            if client.produce_batch(topic, messages) < len(messages):
                refused: KafkaError = next(m["_error"] for m in messages if "_error" in m)
                raise Over(FAILED, "sink-refused", f"{topic} cannot take a record: {refused.str()}")
            size += sum(len(value or b"") + len(key or b"") for key, value in some)
        return size

    def _commit(self, position: Mapping[At, int], marks: Mapping[At, tuple[str, int]]) -> None:
        """Ends the transaction that is open, with these offsets and the claim in it."""
        group = self._consumer.consumer_group_metadata()
        spots = [
            TopicPartition(*at, offset, metadata=self._claim_on(at, marks).text())
            for at, offset in sorted(position.items())
        ]
        self._do(self._producer.send_offsets_to_transaction, spots, group)
        # One who was frozen here for long must not end what it began: its lease may be over.
        self.await_lease()
        self._do(self._producer.commit_transaction)
        self._producer.poll(0)  # a fatal error is raised here, once, and nowhere else

    def _claim_on(self, at: At, marks: Mapping[At, tuple[str, int]]) -> Claim:
        return self._claim.marked(*marks.get(at, NO_MARK), self._resets.get(at, ""))

    def await_lease(self) -> None:
        """Returns when the container's lease holds, which is nearly always at once.

        Who is told to stop meanwhile leaves what it began: whoever comes next aborts it.
        """
        while not self._deadline.holds(own_ms()):
            if self._stopped():
                raise Over(STOPPED, "", "")
            time.sleep(LEASE_LOOK_S)

    def _ask(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """A call of a start, with its time-out."""
        return self._timed(ASK_S, call, *arguments)

    def _do(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """A step of a commit, with its time-out."""
        return self._timed(COMMIT_S, call, *arguments)

    def _timed(self, seconds: float, call: Callable[..., Any], *arguments: Any) -> Any:
        with self._watch.within(seconds + GRACE_S, call.__name__):
            return in_time(call, *arguments, seconds=seconds, before_again=self.await_lease)

    # --- its end

    @property
    def reader(self) -> Consumer:
        """The client that reads what the seat is for."""
        return self._consumer

    def close(self) -> None:
        """Leaves the broker; what was begun and not ended is void once somebody else comes.

        The producer is let go of and not closed: to close waits for records that no broker takes.
        One that stayed would go on asking for its name, and fence who has it by then.
        """
        self._watch.close()
        try:
            self._consumer.close()
        finally:
            self._producer.purge()
            del self._producer

    @staticmethod
    def verdict(error: BaseException) -> SessionEnd | None:
        """How a run ends by this; None: it is none of the broker's."""
        match error:
            case Over() | OutOfRange():
                return SessionEnd(error.how, error.cause, str(error))
            case KafkaException():
                return _verdict(error.args[0])
            case BrokerUnreachable():
                return SessionEnd(FAILED, "broker-unreachable", str(error))
            case _:
                return None


def _verdict(error: KafkaError) -> SessionEnd:
    """A fatal error first: after it the client answers with errors that look like passing."""
    if error.code() in _FENCED:
        said = f"another has its name at the broker: {error.str()}"
        return SessionEnd(FENCED, "fenced", said, error.name())
    cause = "input-gone" if error.code() in GONE else "sink-refused"
    return SessionEnd(FAILED, cause, error.str(), error.name())
