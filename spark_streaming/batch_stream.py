"""One line of batches: a query, its checkpoint, its sink, and what it has done.

A task has one, or, where something is kept from one batch to the next, one for each partition
number: the state of a partition lies under its own name, and whoever reads it goes on with it.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from spark_streaming.context import BadOperator
from spark_streaming.progress import QueryProgress
from spark_streaming.sink import Sink
from spark_streaming.source import At, read_offsets

Inputs = Sequence[tuple[str, Sequence[int]]]


class StreamSpec(NamedTuple):
    """What one line reads, and where it is kept."""

    inputs: Inputs
    lineage: str  # "": it begins anew at each start
    checkpoint: str  # "": nobody needs it later


Resets = Callable[[Iterable[At]], Iterable[str]]
"""By which requests partitions were read anew last."""


def by_partition(
    inputs: Inputs, counts: Mapping[str, int | None], checkpoint: str, what: str, resets: Resets
) -> list[StreamSpec]:
    """A line for each partition number. Records of one key lie under one number in all inputs that
    are keyed alike, so a join finds its other side.

    The place is the job's, and not the task's or the list's: whatever stops the job and however
    many tasks it has afterwards, who reads the number goes on with its line. Another operator keeps
    another state, and so does one that reads anew: these have other names. `counts` says how many
    partitions each input of the job has, as far as that is known.
    """
    found: defaultdict[int, list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
    for topic, numbers in inputs:
        for number in numbers:
            found[number].append((topic, (number,)))
    job = checkpoint.rpartition("/")[0]
    cuts = []
    for number, some in sorted(found.items()):
        _check_whole(number, {topic for topic, _ in some}, counts)
        name = _name(number, what, resets((topic, number) for topic, _ in some))
        cuts.append(StreamSpec(some, name, f"{job}/{name}"))
    return cuts


def _check_whole(number: int, topics: Set[str], counts: Mapping[str, int | None]) -> None:
    elsewhere = sorted(one for one, count in counts.items() if (count or 0) > number)
    elsewhere = [one for one in elsewhere if one not in topics]
    if elsewhere:
        most = max(count or 0 for count in counts.values())
        raise BadOperator(
            f"the job keeps state, and another task reads {elsewhere[0]}/{number}: equal numbers of"
            f" all inputs have to meet in one task; set tasks to at most {most}"
        )


def _name(number: int, what: str, resets: Iterable[str]) -> str:
    text = "\n".join([what, *sorted(set(resets))])
    return f"partition-{number}-{sha256(text.encode()).hexdigest()[:8]}"


@dataclass(slots=True)
class BatchStream:
    """A stream of a task that runs, with its query and its sink."""

    cut: StreamSpec
    rows: DataFrame
    query: StreamingQuery | None = None
    sink: Sink | None = None
    progress: QueryProgress = field(init=False)
    _known: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.progress = QueryProgress(topic for topic, numbers in self.cut.inputs if numbers)

    def begin(self, name: str, checkpoint: str, interval_ms: int, sink: Sink) -> StreamingQuery:
        """Starts the query; a first batch may come before this returns."""
        self.sink = sink
        self.rows.sparkSession.sparkContext.setLocalProperty("spark.scheduler.pool", name)
        self.query = (
            self.rows.writeStream.foreachBatch(sink)
            .queryName(f"{name} {self.cut.lineage}".strip())
            .option("checkpointLocation", checkpoint)
            .trigger(processingTime=f"{interval_ms} milliseconds")
            .start()
        )
        self._known.set()
        return self.query

    def offsets(self, batch: int) -> Mapping[At, int]:
        """How far the input of a batch goes, by Spark's own log of it."""
        self._known.wait()
        assert self.query is not None
        log = self.query._jsq.streamingQuery().offsetLog()  # the way to what no API tells
        found = read_offsets(log.get(batch).get().offsets().apply(0).get().json())
        ours = {(topic, number) for topic, numbers in self.cut.inputs for number in numbers}
        if found.keys() != ours:
            raise BadOperator("the query reads another task's partitions; make it of its own input")
        return found

    def close(self) -> None:
        """No effect is begun any more; returns when none is under way."""
        if self.sink is not None:
            self.sink.close()

    def stop(self) -> None:
        """Ends the sink's effects, then the query."""
        self.close()
        query = self.query
        if query is not None:
            query.stop()

    def release(self) -> None:
        """Lets go of all that Java holds on to as well."""
        self.query = None
        if self.sink is not None:
            self.sink.release()


def check_state(lines: Iterable[str], lineage: str) -> None:
    """State is kept with one line of batches. To begin another would be to forget it in silence."""
    others = sorted(set(lines) - {lineage})
    if others and lineage not in lines:
        raise BadOperator(
            f"the job keeps state, and it lies with another line of batches ({others[-1]}), which"
            " another operator or query has made. Bring that one back, or make it a job of another"
            " name, or have all inputs read anew (`turbine reset job`), which begins without state"
        )
