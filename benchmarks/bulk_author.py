"""An author in a hurry: asks for many changes as fast as the broker takes them, then says how long.

Arguments: bootstrap address, the topic's full name, prefix of the jobs' names, number of jobs,
number of changes, and perhaps the number of the first one and how many tasks it asks for. The first
change of each job creates it. One JSON line is written when all are acknowledged.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.configs import base_config, next_version
from benchmarks.writer import Writer
from components.runtime.kafka.clients import partitions_of
from events.generated.records import ConfigChangeProposed
from events.topics import CHANGES, partition_of
from events.wire.codec import Record, encode, headers_of
from turbine_client.identity import change_id
from turbine_client.settings import Settings

VALID_MS = 300_000
TOPIC = CHANGES["base"]


def proposal(job: str, number: int, change: dict[str, Any], now_ms: int, valid_ms: int) -> Record:
    """A change of the base layer, whatever version stands."""
    body = ConfigChangeProposed(
        change_id=change_id(now_ms + valid_ms, f"{job}-{number}"),
        job=job,
        author="bulk",
        set_json=json.dumps(change),
    )
    return Record(job, body.change_id, "ConfigChangeProposed", encode(body), body)


def main(  # noqa: PLR0917 - the arguments, in their order
    bootstrap: str, name: str, prefix: str, jobs: int, changes: int, first: int = 0, tasks: int = 0
) -> None:
    settings = Settings(bootstrap=bootstrap)
    partitions = partitions_of(settings)[TOPIC]
    writer = Writer(settings, **{"queue.buffering.max.messages": 1_000_000})
    now_ms = int(time.time() * 1000)
    ready = []
    for number in range(first, first + changes):
        job = f"{prefix}-{number % jobs:04}"
        change = base_config(number) if number < jobs else next_version(number)
        if tasks:
            change["tasks"] = tasks
        record = proposal(job, number, change, now_ms, VALID_MS)
        ready.append((partition_of(job, partitions), job, record.value, headers_of(record, TOPIC)))
    since = time.monotonic()
    for partition, job, value, headers in ready:
        writer.write(name, partition, job, value, headers=headers)
    writer.settle()
    print(json.dumps({"changes": changes, "seconds": time.monotonic() - since}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
