// Knows how a change is asked for and followed, by whatever one has at hand. The whole of it, with the
// bytes, is docs/contract.md.

export const SNIPPETS = [
  {
    name: "Shell",
    says: "With Turbine installed; the exit code is 0 where it was accepted.",
    text: `turbine publish change clicks --set tasks=8 --reason "the evening peak" --author me
turbine subscribe outcomes --job clicks -o jsonl`,
  },
  {
    name: "HTTP",
    says: "By this API. A dry run answers with a plan; that plan is applied by its id, and refused where the job has moved since.",
    text: `curl -s -X POST http://127.0.0.1:PORT/api/v1/changes \\
    -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
    -d '{"job": "clicks", "layer": "oncall", "set": {"tasks": 8}, "expires": "2h",
         "reason": "the evening peak", "dry_run": true}'
curl -s -X POST http://127.0.0.1:PORT/api/v1/plans/PLAN/apply \\
    -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d '{}'
curl -sN http://127.0.0.1:PORT/api/v1/stream`,
  },
  {
    name: "Python",
    says: "Without Turbine: fastavro, confluent-kafka and the AsyncAPI document.",
    text: `import io, sys, time, uuid, yaml
from confluent_kafka import Producer
from fastavro import parse_schema, schemaless_writer

broker, contract, job, wanted = sys.argv[1:]
parts = yaml.safe_load(open(contract))["components"]
message = parts["messages"]["ConfigChangeProposed"]
schema = parse_schema(parts["schemas"]["ConfigChangeProposed"]["schema"])

change = f"{int(time.time() * 1000) + 300_000}.{uuid.uuid4().hex}"
value = io.BytesIO()
value.write(b"\\0" + message["x-schema-id"].to_bytes(4, "big"))
schemaless_writer(value, schema, {"change_id": change, "job": job, "author": "me", "set_json": wanted})

# librdkafka's own partitioner is another one: the change would become a dead letter.
producer = Producer({"bootstrap.servers": broker, "partitioner": "murmur2_random"})
producer.produce("turbine.changes.base.v1", key=job, value=value.getvalue())
producer.flush()`,
  },
  {
    name: "kcat",
    says: "Shows place, key and headers of every outcome. The kind is in ce_type, the change it answers in ce_causationid.",
    text: `kcat -b 127.0.0.1:9092 -C -t turbine.outcomes.v1 -o beginning \\
    -X isolation.level=read_committed -f '%p:%o %k %h\\n'`,
  },
];
