"""Where a batch goes: output and offsets in one transaction, or files, and then the offsets.

Spark calls a sink with each batch, and calls it again with a batch that it does not know to be
done. What makes an effect happen once is not Spark: it is the seat at the broker, whose transaction
holds output, offsets and the number of the batch, and which a newer generation takes away.
"""

from __future__ import annotations

import threading
import time  # noqa: TID251 - the age of a commit is of real time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from pyspark.sql import DataFrame

from spark_streaming.source import At
from turbine_client.errors import Corrupt

Record = tuple[bytes | None, bytes | None]
"""Key and value."""
Offsets = Callable[[int], Mapping[At, int]]
"""How far the input goes that a batch is made of."""


class OutputSession(Protocol):
    """A task's place at the broker: whoever takes it fences who had it."""

    @property
    def position(self) -> Mapping[At, int]:
        """The offsets that were committed last."""
        ...

    def last_batch(self, lineage: str) -> int:
        """The number of the batch that was committed last by the same line of batches; -1: none."""
        ...

    def lines(self, places: Iterable[At]) -> set[str]:
        """The lines of numbered batches that the offsets of these partitions come from."""
        ...

    def resets(self, places: Iterable[At]) -> set[str]:
        """The requests by which these partitions were read anew last; state from before is void."""
        ...

    def take(self) -> None:
        """Fences, looks whether a newer generation was here, and claims."""
        ...

    def await_lease(self) -> None:
        """Returns when an effect may be begun."""
        ...

    def write(
        self,
        topic: str | None,
        records: Iterable[Sequence[Record]],
        position: Mapping[At, int],
        mark: tuple[str, int],
    ) -> tuple[int, int]:
        """All of it in one transaction, with the batch's lineage and number; how many records and
        bytes that was."""
        ...

    def close(self) -> None:
        """Leaves the broker; what was begun and not ended is void."""
        ...


class LostCheckpoint(Corrupt):
    """The batches that a checkpoint counts are not those that were committed."""


class Closed(RuntimeError):
    """The task is being stopped: this batch will be the next start's."""


Effect = Callable[[DataFrame, int], None]


class Sink:
    """One run's. Spark calls it from a thread of its own, one batch at a time."""

    def __init__(
        self,
        seat: OutputSession,
        lineage: str,
        offsets: Offsets,
        topic: str | None,
        effect: Effect | None = None,
        *,
        turn: threading.Lock,
        voice: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`effect` is what is done with a batch beside the transaction, and before it: so it may be
        done again. `turn` is for all who write from one seat. `voice` is for what is printed."""
        self._voice = voice
        self._seat, self._lineage, self._offsets = seat, lineage, offsets
        self._topic, self._effect = topic, effect
        self._last = seat.last_batch(lineage)
        self._turn = turn
        self._closed = False
        self.failure: BaseException | None = None  # Spark tells only that there was one
        self.committed_s: float | None = None  # of the last batch, by the monotonic clock
        # Written; None where nobody counts it.
        self.records: int | None = None if effect is not None else 0
        self.bytes: int | None = self.records

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """One batch; one that was committed already is passed over."""
        try:
            with self._voice():
                self._do(rows, batch)
        except BaseException as error:
            self.failure = error
            raise

    def _do(self, rows: DataFrame, batch: int) -> None:
        if batch <= self._last:
            self._pass_over(rows, batch)
        elif self._effect is not None:
            self._take_effect(self._effect, rows, batch)
        elif self._topic is None:
            compute(rows)
            self._commit((), batch)
        else:
            self._commit(records_of(rows), batch)

    def _pass_over(self, rows: DataFrame, batch: int) -> None:
        """What was committed lies behind the group. A batch that does not is of a checkpoint that
        began anew, and nobody has written it. It is computed all the same: state comes of that."""
        committed = self._seat.position
        ahead = [at for at, end in self._offsets(batch).items() if end > committed.get(at, 0)]
        if ahead:
            raise LostCheckpoint(
                f"batch {batch} goes beyond what was committed of {ahead[0][0]}/{ahead[0][1]}: the"
                " checkpoint is not the one whose batches were committed; restore it, or ask for"
                " the same under another job's name"
            )
        compute(rows)

    def _take_effect(self, effect: Effect, rows: DataFrame, batch: int) -> None:
        """In one turn with its commit: who is stopped in order has done both, or neither."""
        with self._turn:
            if self._closed:
                raise Closed
            self._seat.await_lease()
            effect(rows, batch)
            self._write((), batch)

    def _commit(self, records: Iterable[Sequence[Record]], batch: int) -> None:
        with self._turn:
            if self._closed:
                raise Closed
            count, size = self._write(records, batch)
        self.records = (self.records or 0) + count
        self.bytes = (self.bytes or 0) + size

    def _write(self, records: Iterable[Sequence[Record]], batch: int) -> tuple[int, int]:
        position = self._offsets(batch)
        written = self._seat.write(self._topic, records, position, (self._lineage, batch))
        self._last, self.committed_s = batch, time.monotonic()
        return written

    def close(self) -> None:
        """Returns when no effect is under way, and none will be begun any more."""
        with self._turn:
            self._closed = True

    def release(self) -> None:
        """Lets go of the seat and of the query, which hold each other across two heaps."""
        del self._seat, self._offsets, self._effect


def compute(rows: DataFrame) -> None:
    """Does all that comes of a batch but its output."""
    rows.write.format("noop").mode("overwrite").save()


def records_of(rows: DataFrame) -> list[list[Record]]:
    """What a batch writes, computed before any of it is sent: so a transaction is short."""
    table = rows.select("key", "value").toArrow()
    return [
        list(zip(part.column(0).to_pylist(), part.column(1).to_pylist(), strict=True))
        for part in table.to_batches()
    ]


def files_in(path: str, task: str, lineage: str) -> Effect:
    """Each batch in a directory of its own, which is the same when it is written again."""

    def write(rows: DataFrame, batch: int) -> None:
        place = f"{path.rstrip('/')}/task={task.replace('/', '-')}/batch={lineage}-{batch:09d}"
        rows.write.mode("overwrite").parquet(place)

    return write


def kafka_of_spark(topic: str, options: Mapping[str, str]) -> Effect:
    """Spark's own sink: at least once, from all cores, with nothing that passes through Python."""

    def write(rows: DataFrame, _: int) -> None:
        rows.write.format("kafka").options(**options).option("topic", topic).save()

    return write
