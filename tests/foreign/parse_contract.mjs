// Reads a contract on standard input with AsyncAPI's own parser; prints what it finds, as JSON.

import { Parser } from '@asyncapi/parser';
import { AvroSchemaParser } from '@asyncapi/avro-schema-parser';
import { text } from 'node:stream/consumers';

const parser = new Parser();
parser.registerSchemaParser(AvroSchemaParser());
const { document, diagnostics } = await parser.parse(await text(process.stdin));
const told = {
  // 0 is an error and 1 a warning; above it are remarks, such as one on a newer version.
  wrong: diagnostics
    .filter((one) => one.severity <= 1)
    .map((one) => `${one.path.join('/')}: ${one.message}`),
  channels: document ? document.channels().all().map((one) => one.address()).sort() : [],
  messages: document ? document.messages().all().map((one) => one.name()).sort() : [],
  operations: document ? document.operations().all().map((one) => one.id()).sort() : [],
};
process.stdout.write(JSON.stringify(told));
