"""The peer of a Spark task: consume, copy and commit in transactions, in one hand-written loop.

Arguments: bootstrap address, input, output, partitions. It copies all that is there and tells how
many rows a second that was, on standard output. It is given what a good hand would give it: batches
of the same size as Spark's, one call to send a batch, and values that are never looked into.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

BATCH = 100_000
WAIT_S = 30.0


def main(bootstrap: str, source: str, target: str, partitions: str) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": "loop",
            "linger.ms": 5,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "loop",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 5,
        }
    )
    producer.init_transactions(WAIT_S)
    spots = [TopicPartition(source, p, 0) for p in range(int(partitions))]
    ends = [consumer.get_watermark_offsets(one, WAIT_S)[1] for one in spots]
    consumer.assign(spots)
    began, rows, total = time.monotonic(), 0, sum(ends)
    while rows < total:
        batch: list[Any] = []
        while len(batch) < min(BATCH, total - rows):
            batch += consumer.consume(min(10_000, BATCH - len(batch)), 0.05)
        producer.begin_transaction()
        for begin in range(0, len(batch), 10_000):
            while len(producer) > 500_000:
                producer.poll(0.01)
            some = batch[begin : begin + 10_000]
            producer.produce_batch(target, [{"value": one.value()} for one in some])
        producer.send_offsets_to_transaction(
            consumer.position(spots), consumer.consumer_group_metadata(), WAIT_S
        )
        producer.commit_transaction(WAIT_S)
        rows += len(batch)
    print(json.dumps(total / (time.monotonic() - began)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
