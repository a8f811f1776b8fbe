"""`python -m infra.spark.warm SCRATCH DUMP JAR…`: carries a stream, so that Java knows its classes.

On a broker of its own, as an engine would: from a topic, through an observed batch, to Python.
"""

import sys
import time
from pathlib import Path

from confluent_kafka import Producer

from infra.kafka.broker import temporary_broker
from spark_streaming.context import TopicSource
from spark_streaming.operator import as_records
from spark_streaming.session import SparkOptions, start_session
from spark_streaming.source import java_options, read_kafka

ROWS, BATCH, LIMIT_S = 3_000, 1_000, 90.0


def main(scratch: str, dump: str, *jars: str) -> int:
    """0 once Java has ended in order, which is when it writes the archive."""
    flags = (f"-XX:ArchiveClassesAtExit={dump}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
    options = SparkOptions(tuple(map(Path, jars)), Path(scratch), flags=flags)
    with temporary_broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        for number in range(ROWS):
            producer.produce("rows", b"%d" % number, partition=0)
        producer.flush(30)
        spark, java = start_session(options, lambda: None)
        position = {("rows", 0): 0}
        kafka = java_options(broker.bootstrap, {})
        rows = read_kafka(spark, kafka, [TopicSource("rows", (0,))], position, BATCH)
        seen = list[int]()
        query = (
            as_records(rows)
            .writeStream.foreachBatch(lambda batch, _: seen.append(batch.toArrow().num_rows))
            .option("checkpointLocation", f"{scratch}/checkpoint")
            .start()
        )
        limit = time.monotonic() + LIMIT_S
        while sum(seen) < ROWS and time.monotonic() < limit and query.isActive:
            time.sleep(0.1)
        query.stop()
        spark.stop()
    assert java.stdin is not None
    java.stdin.close()  # its gateway ends with it, and Java with the gateway
    return java.wait(LIMIT_S)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
