// Asks for a change and prints the verdict. kafkajs chooses partitions as Java does; avsc speaks Avro.

import { randomUUID } from 'node:crypto';
import avro from 'avsc';
import { Kafka, logLevel, Partitioners } from 'kafkajs';

const [broker, registry, job, set] = process.argv.slice(2);
const ask = async (path) => (await fetch(`${registry}${path}`)).json();
const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.ERROR });

// Ask for the change: the schema's id in four bytes behind a 0, then Avro.
const { id, schema } = await ask('/subjects/turbine.changes.v1.ConfigChangeProposed/versions/latest');
const change = `${Date.now() + 300_000}.${randomUUID()}`;
const asked = { change_id: change, job, author: 'somebody', set_json: set };
const prefix = Buffer.alloc(5);
prefix.writeInt32BE(id, 1);
const value = Buffer.concat([prefix, avro.Type.forSchema(JSON.parse(schema)).toBuffer(asked)]);
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
await producer.connect();
await producer.send({ topic: 'turbine.changes.base.v1', messages: [{ key: job, value }] });
await producer.disconnect();

// Follow what is decided, by whichever schema each record was written with.
const types = new Map();
const decode = async (bytes) => {
  const number = bytes.readInt32BE(1);
  if (!types.has(number)) {
    const found = await ask(`/schemas/ids/${number}`);
    types.set(number, avro.Type.forSchema(JSON.parse(found.schema)));
  }
  return types.get(number).fromBuffer(bytes.subarray(5));
};
const consumer = kafka.consumer({ groupId: `verdict-${change}` });
await consumer.connect();
await consumer.subscribe({ topic: 'turbine.outcomes.v1', fromBeginning: true });
await consumer.run({
  eachMessage: async ({ message }) => {
    if (message.headers.ce_causationid?.toString() !== change) return;
    const kind = message.headers.ce_type.toString().replace('turbine.', '');
    console.log(kind, JSON.stringify(await decode(message.value)));
    setImmediate(() => consumer.disconnect());
  },
});
