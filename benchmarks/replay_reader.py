"""Reads a whole log once, in a process of its own: as our shells do, or with a bare loop.

Arguments: bootstrap address, and the way. One JSON line tells records, seconds, CPU seconds and
the most memory that was resident; and for the way "profile", where the time went.

folded: the job service's component, an owner a partition, as the shell catches up.
decoded: the same, but loads are decoded too, which the component itself would skip by a header.
bare: consume(500) and fastavro, and nothing is kept.
profile: as folded, under cProfile.
"""

from __future__ import annotations

import cProfile
import io
import json
import pstats
import sys
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError
from fastavro import parse_schema, schemaless_reader

from benchmarks.figures import peak_mb
from components.job_service.decide import component
from components.runtime.core.component import places_of
from components.runtime.core.step import Stepper
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.intake import DeadLetter, take_in
from components.runtime.process.garbage import collect_seldom
from events.topics import CLOCK, LOADS, place
from events.wire.lock import read_lock
from turbine_client.clients import (
    consumer,
    spot,
)
from turbine_client.reading import ends_now, read_span
from turbine_client.settings import Settings

TOPICS = sorted(component.inputs | {CLOCK, LOADS})
TOP = 15


def places(settings: Settings) -> list[str]:
    """All places that are read."""
    return [place(topic, p) for topic in TOPICS for p in range(settings.partitions)]


def fold(settings: Settings, folds: frozenset[str]) -> int:
    """Folds all of it; how many records that were. The log must call for nothing more."""
    append_times, partitions = AppendTimes(settings), settings.partitions
    ends = ends_now(settings, places(settings))
    owners: list[Stepper[Any]] = [
        Stepper(component, places_of(component, [p]), append_times.possible, ends=ends)
        for p in range(partitions)
    ]
    records = 0
    for poll in read_span(settings, {at: (0, end) for at, end in ends.items()}):
        records += len(poll)
        for message in poll:
            owner = owners[message.partition]
            if message.topic == CLOCK:
                owner.tick(message.place, message.offset, message.at_ms)
                continue
            found = take_in(message, partitions, folds)
            assert not isinstance(found, DeadLetter), found.sentence
            owner.read(found)
        for owner in owners:
            owner.settle()
    append_times.close()
    for owner in owners:
        said = owner.flush()
        assert not said, f"the log calls for {said[0][1].kind} although it is whole"
        assert not owner.counts.void, f"{owner.counts.void} decisions of a valid chain are void"
        assert not owner.blocked, f"{len(owner.blocked)} keys wait although all is read"
    return records


def consume(settings: Settings, _: frozenset[str]) -> int:
    """Decodes all of it; how many records that were."""
    schemas = {one.id: parse_schema(one.schema) for one in read_lock()}
    client = consumer(settings, **{"enable.partition.eof": True})
    client.assign([spot(settings, at, 0) for at in places(settings)])
    records, ended = 0, set[tuple[str, int]]()
    whole = settings.partitions * len(TOPICS)
    while len(ended) < whole:
        for message in client.consume(500, 0.05):
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error.str()
                ended.add((str(message.topic()), int(message.partition() or 0)))
                continue
            value = message.value() or b""
            schemaless_reader(
                io.BytesIO(value[5:]), schemas[int.from_bytes(value[1:5], "big")], None
            )
            records += 1
    client.close()
    return records


WAYS: dict[str, tuple[Callable[[Settings, frozenset[str]], int], frozenset[str]]] = {
    "folded": (fold, component.folds),
    "decoded": (fold, component.folds | {"TaskLoadReported"}),
    "bare": (consume, frozenset()),
    "profile": (fold, component.folds),
}


def main(bootstrap: str, way: str) -> None:
    settings = Settings(bootstrap=bootstrap)
    read, folds = WAYS[way]
    collect_seldom()
    profile = cProfile.Profile() if way == "profile" else None
    since, cpu = time.perf_counter(), time.process_time()
    records = profile.runcall(read, settings, folds) if profile else read(settings, folds)
    said = {
        "records": records,
        "seconds": time.perf_counter() - since,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": peak_mb(),
        "top": hottest(profile) if profile else [],
    }
    print(json.dumps(said), flush=True)


def hottest(profile: cProfile.Profile) -> list[str]:
    """The functions with the most time of their own, as shares of all of it."""
    stats: Any = pstats.Stats(profile, stream=io.StringIO())
    found = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:TOP]
    return [
        f"{100 * own / stats.total_tt:.1f} % {_named(*name)} ({calls:,} calls)"
        for name, (_, calls, own, _, _) in found
    ]


def _named(path: str, line: int, function: str) -> str:
    """The last two parts of the path are enough to find it, and name no machine."""
    return function if path == "~" else f"{'/'.join(path.split('/')[-2:])}:{line} {function}"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
