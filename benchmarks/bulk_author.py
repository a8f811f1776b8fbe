"""An author in a hurry: asks for many changes as fast as the broker takes them, then says how long.

Arguments: bootstrap address, the topic's full name, prefix of the jobs' names, number of jobs,
number of changes. The first change of each job creates it. One JSON line is written when all are
acknowledged.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.configs import base_config, next_version
from components.runtime.clients import partitions_of, producer
from components.runtime.settings import Settings
from events.codec import Record, encode, headers_of
from events.identity import change_id
from events.records import ConfigChangeProposed
from events.topics import CHANGES, partition_of

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


def main(bootstrap: str, name: str, prefix: str, jobs: int, changes: int) -> None:
    settings = Settings(bootstrap=bootstrap)
    partitions = partitions_of(settings)[TOPIC]
    client = producer(settings, **{"queue.buffering.max.messages": 1_000_000})
    now_ms = int(time.time() * 1000)
    records = []
    for number in range(changes):
        job = f"{prefix}-{number % jobs:04}"
        change = base_config(number) if number < jobs else next_version(number)
        records.append(proposal(job, number, change, now_ms, VALID_MS))
    headers: list[Any] = [headers_of(record, TOPIC) for record in records]
    since = time.monotonic()
    refused: list[Any] = []
    for record, its_headers in zip(records, headers, strict=True):
        client.produce(
            name,
            value=record.value,
            key=record.key.encode(),
            headers=its_headers,
            partition=partition_of(record.key, partitions),
            on_delivery=lambda error, _: refused.append(error) if error else None,
        )
        client.poll(0)
    assert client.flush(120) == 0, "the broker did not take all changes in two minutes"
    assert not refused, f"the broker refused {len(refused)} changes, first: {refused[0]}"
    print(json.dumps({"changes": changes, "seconds": time.monotonic() - since}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
