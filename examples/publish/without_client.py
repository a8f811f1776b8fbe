"""Asks for a change by a Kafka client and an Avro library alone, and prints the verdict."""

import io
import sys
import time  # noqa: TID251 - a request says until when it counts
import uuid
from pathlib import Path

import yaml
from confluent_kafka import Consumer, Producer
from fastavro import parse_schema, schemaless_reader, schemaless_writer

BROKER, CONTRACT, JOB, SET = sys.argv[1:]
parts = yaml.safe_load(Path(CONTRACT).read_text())["components"]
message = parts["messages"]["ConfigChangeProposed"]
schema = parse_schema(parts["schemas"]["ConfigChangeProposed"]["schema"])

until_ms = int(time.time() * 1000) + 300_000
change = f"{until_ms}.{uuid.uuid4().hex}"  # noqa: TID251 - any token will do
value = io.BytesIO()
value.write(b"\0" + message["x-schema-id"].to_bytes(4, "big"))
asked = {"change_id": change, "job": JOB, "author": "somebody", "set_json": SET}
schemaless_writer(value, schema, asked)
producer = Producer({"bootstrap.servers": BROKER, "partitioner": "murmur2_random"})
producer.produce("turbine.changes.base.v1", key=JOB, value=value.getvalue())
producer.flush()

consumer = Consumer(
    {
        "bootstrap.servers": BROKER,
        "group.id": f"verdict-{change}",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
    }
)
consumer.subscribe(["turbine.outcomes.v1"])
while True:
    outcome = consumer.poll(1.0)
    if outcome is None or outcome.error():
        continue
    headers: dict[str, bytes] = dict(outcome.headers() or [])  # type: ignore[arg-type]  # all bytes
    if headers.get("ce_causationid") != change.encode():
        continue
    kind = headers["ce_type"].decode().removeprefix("turbine.")
    schema = parse_schema(parts["schemas"][kind]["schema"])
    print(kind, schemaless_reader(io.BytesIO((outcome.value() or b"")[5:]), schema))
    break
