// Writes a value and reads it back as kafkajs's users do, with the schema of a registry.

import clients from '@kafkajs/confluent-schema-registry';
import { text } from 'node:stream/consumers';

const { url, subject, body, foreign } = JSON.parse(await text(process.stdin));
const registry = new clients.SchemaRegistry({ host: url });
const id = await registry.getLatestSchemaId(subject);
const value = await registry.encode(id, body);
const unknown = await registry.decode(Buffer.from(foreign, 'hex')).catch((error) => error.message);
const told = { id, value: value.toString('hex'), body: await registry.decode(value), unknown };
process.stdout.write(JSON.stringify(told));
