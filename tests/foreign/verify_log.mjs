// Judges a log by what docs/contract.md and the AsyncAPI document say, and by nothing else of Turbine.
//
// It is given a file with one message a line, as a broker hands them out (bytes in base64), and the document
// as JSON. It prints how many records, chains and decisions there are, and every violation.

import avro from 'avsc';
import { Kafka } from 'cloudevents';
import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js';
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const SKEW_MS = 5000;
const REQUIRED = ['ce_specversion', 'ce_id', 'ce_source', 'ce_type'];
const CHAINS = ['journal.v1', 'tiers.v1'];
const REPORTED = ['tasks.v1', 'loads.v1', 'containers.v1', 'profiles.v1', 'clock.v1'];
const ANSWERS = ['JobConfigChanged', 'JobConfigRejected', 'JobDeleted', 'PlacementRejected'];
const ASKED = /^(changes\.\w+|operator)\.v1$/;
const OWN_BYTES = /^(rows\..*|lives\.v1)$/;
const TRACE = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const NO_TEXT = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;
const URL_SPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');
const [log, contract] = process.argv.slice(2);
const { channels, components } = JSON.parse(readFileSync(contract));
const types = new Map();
for (const [kind, { schema }] of Object.entries(components.schemas)) {
  const message = components.messages[kind];
  if (message) types.set(message['x-schema-id'], avro.Type.forSchema(schema));
}

// --- as the contract has it

const sha1 = (...parts) => createHash('sha1').update(Buffer.concat(parts.map((one) => Buffer.from(one)))).digest();
const uuid5 = (space, ...parts) => {
  const bytes = sha1(space, ...parts).subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x50;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes;
};
const told = (bytes) => bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const NS = uuid5(URL_SPACE, 'urn:turbine:decision');

const decisionId = ({ headers, kind, key, value }) =>
  told(uuid5(NS, `${headers.ce_parent}\0${kind}\0${key.length}\0`, key, value));
const factId = ({ headers, kind, key, value }) =>
  sha1(NS, `fact\0${kind}\0`, key, `\0${headers.ce_evidence ?? ''}\0`, value)
    .subarray(0, 12).toString('base64').replaceAll('+', '-').replaceAll('/', '_');

const points = (text) => [...text].map((one) => one.codePointAt(0));
const byPoints = (one, other) => {
  const [a, b] = [points(one), points(other)];
  const at = a.findIndex((point, i) => point !== b[i]);
  return at < 0 ? a.length - b.length : a[at] - (b[at] ?? -1);
};
const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort(byPoints);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
};
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const lay = (below, above) => {
  const merged = { ...below };
  for (const [key, value] of Object.entries(above)) {
    if (value === null) delete merged[key];
    else merged[key] = isObject(value) ? lay(isObject(merged[key]) ? merged[key] : {}, value) : value;
  }
  return merged;
};

// --- reading

const records = [];
const violations = [];
const places = new Map();
const byId = new Map();
const wrong = (one, what) => violations.push(`${one.kind} at ${one.place}:${one.offset}: ${what}`);

const evidenceOf = (headers) =>
  (headers.ce_evidence ? headers.ce_evidence.split(',') : []).map((one) => {
    const at = one.lastIndexOf(':');
    return [one.slice(0, at), Number(one.slice(at + 1))];
  });

for await (const line of createInterface({ input: createReadStream(log) })) {
  const [topic, partition, offset, at, key, value, headers] = JSON.parse(line);
  const short = topic.replace('turbine.', '');
  const names = headers.map(([name]) => name);
  const one = {
    topic: short, partition, offset, at, place: `${short}/${partition}`,
    key: Buffer.from(key ?? '', 'base64'), value: Buffer.from(value ?? '', 'base64'),
    headers: Object.fromEntries(headers.map(([name, text]) => [name, Buffer.from(text, 'base64').toString()])),
  };
  one.kind = (one.headers.ce_type ?? '').replace('turbine.', '');
  one.evidence = evidenceOf(one.headers);
  if (new Set(names).size < names.length) wrong(one, 'a header stands twice');
  if (OWN_BYTES.test(short)) {
    if (names.length) wrong(one, 'it has headers, and is none of the contract');
  } else records.push(one);
  if (!places.has(one.place)) places.set(one.place, []);
  places.get(one.place).push(one);
  const same = byId.get(one.headers.ce_id) ?? [];
  byId.set(one.headers.ce_id, [...same.slice(0, 63), one]);
}
for (const place of places.values()) place.sort((one, other) => one.offset - other.offset);

// --- each record by itself

const requests = new Map();
const events = new Map();

function checkTexts(one) {
  for (const [name, text] of Object.entries(one.headers)) {
    if (NO_TEXT.test(text)) wrong(one, `${name} has a control character, which no CloudEvent has`);
  }
  const sorted = one.evidence.map(([place]) => place).sort(byPoints);
  if (one.evidence.some(([place], i) => place !== sorted[i])) wrong(one, 'its evidence is not sorted by place');
}

function checkRequired(one) {
  if (ASKED.test(one.topic)) return;
  const has = components.messages[one.kind]?.headers.allOf[0].$ref.split('/').pop();
  for (const name of components.schemas[has]?.required ?? []) if (!one.headers[name]) wrong(one, `it has no ${name}`);
  const told = components.schemas[has]?.properties ?? one.headers;
  for (const name of Object.keys(one.headers)) if (!told[name]) wrong(one, `the contract has no ${name} on it`);
}

function checkOnce(one) {
  const name = `${one.headers.ce_source} ${one.headers.ce_id}`;
  const known = events.get(name) ?? one;
  events.set(name, known);
  if (!known.value.equals(one.value) || !known.key.equals(one.key)) wrong(one, 'another event has its source and id');
}

function checkTrace(one) {
  const { traceparent: trace, ce_causationid: cause } = one.headers;
  if (ASKED.test(one.topic)) {
    const said = [trace, one.body?.traceparent].find((text) => TRACE.test(text ?? ''));
    if (one.body && !requests.has(one.body.change_id)) requests.set(one.body.change_id, said);
    return;
  }
  if (trace && !TRACE.test(trace)) wrong(one, 'its traceparent is none');
  one.answers = cause;
}

function checkEvent(one) {
  // The SDK takes a version that is not there for the newest one.
  for (const name of REQUIRED) if (!one.headers[name]) wrong(one, `no CloudEvent: it has no ${name}`);
  try {
    const event = Kafka.toEvent({ key: one.key.toString(), value: one.value, headers: one.headers });
    event.validate();
    if (event.id !== one.headers.ce_id || event.type !== `turbine.${one.kind}`) wrong(one, 'the SDK reads another event');
  } catch (error) {
    wrong(one, `no CloudEvent: ${error.message} ${JSON.stringify(error.errors ?? '')}`);
  }
}

function checkValue(one) {
  if (!components.messages[one.kind] || !channels[one.topic]?.messages[one.kind]) {
    wrong(one, 'the contract has no such kind on this topic');
    return;
  }
  const type = one.value[0] === 0 ? types.get(one.value.readInt32BE(1)) : undefined;
  if (!type || type.name.split('.').pop() !== one.kind) {
    wrong(one, 'the value is not framed as a record of its kind');
    return;
  }
  try {
    one.body = type.fromBuffer(one.value.subarray(5));
    if (!type.toBuffer(one.body).equals(one.value.subarray(5))) wrong(one, 'its bytes are not canonical');
  } catch (error) {
    wrong(one, `its value cannot be read: ${error.message}`);
  }
}

function checkPlace(one) {
  if (!channels[one.topic]) return;
  const { partitions, 'x-partitioner': by } = channels[one.topic].bindings.kafka;
  if (!by || one.kind === 'ClockTicked') return;
  const home = (murmur2(one.key) & 0x7fffffff) % partitions;
  if (home !== one.partition) wrong(one, `its key belongs in partition ${home}`);
}

function checkId(one) {
  const { ce_id: id, ce_parent: parent, ce_tick: tick } = one.headers;
  let expected = id;
  if (CHAINS.includes(one.topic)) expected = decisionId(one);
  else if (one.kind === 'ClockTicked') expected = `tick-${one.body?.number}`;
  else if (one.body?.change_id !== undefined && parent === undefined) expected = one.body.change_id ?? id;
  else if (REPORTED.includes(one.topic) && !tick) expected = factId(one);
  if (id !== expected) wrong(one, `its id is ${id}, by the contract ${expected}`);
}

function checkCause(one) {
  const { ce_causationid: cause, ce_logic: logic } = one.headers;
  if (!cause) {
    if (ANSWERS.includes(one.kind)) wrong(one, 'it answers no request');
    return;
  }
  if (!logic && !['outcomes.v1', 'alerts.v1'].includes(one.topic)) wrong(one, 'a report follows from nothing');
  const found = byId.get(cause) ?? [];
  if (!found.length) wrong(one, `it follows from ${cause}, which is not there`);
  else if (found.every((other) => other.place === one.place && other.offset >= one.offset)) wrong(one, 'it follows from itself');
  if (ANSWERS.includes(one.kind) && one.body?.change_id !== cause) wrong(one, 'it names another request than its value');
}

// --- chains

function impossible(one) {
  const by = one.at + SKEW_MS;
  if (Number(one.headers.ce_tick ?? 0) > by) return true;
  return one.evidence.some(([place, next]) => {
    if (place === one.place && next > one.offset) return true;
    const there = places.get(place) ?? [];
    // The last offset below it may be none: a marker of a transaction, or what has expired.
    const last = there.findLast((other) => other.offset < next);
    return next > 0 && (last === undefined || last.at > by || next > there.at(-1).offset + 1);
  });
}

const standing = new Map();
const counts = { chains: 0, decisions: 0, void: 0, traced: 0 };
const layers = new Map();
const ends = new Map();
const LAYERS = ['base', 'provisioner', 'scaler', 'oncall'];

function follow(one, last) {
  const chain = `${one.topic} ${one.key}`;
  counts.decisions += 1;
  if (!last.has(chain)) counts.chains += 1;
  if (one.headers.ce_parent !== (last.get(chain) ?? 'root') || impossible(one)) {
    const known = one.headers.ce_parent === 'root' || byId.has(one.headers.ce_parent);
    if (!last.has(chain)) last.set(chain, 'root');
    if (!known) wrong(one, `nobody said its parent ${one.headers.ce_parent}`);
    counts.void += 1;
    return;
  }
  if (standing.has(one.headers.ce_id)) wrong(one, 'its id stood before');
  last.set(chain, one.headers.ce_id);
  standing.set(one.headers.ce_id, one);
  addUp(one);
}

function addUp(one) {
  const key = `${one.key}`;
  if (one.kind === 'JobDeleted') for (const kept of [layers, ends]) kept.delete(key);
  if (!['JobConfigChanged', 'OverrideExpired'].includes(one.kind) || !one.body) return;
  const mine = layers.get(key) ?? {};
  mine[one.body.layer] = JSON.parse(one.body.layer_json || '{}');
  if (one.body.layer === 'oncall') checkEnds(one, key);
  layers.set(key, mine);
  const expected = LAYERS.reduce((below, layer) => lay(below, mine[layer] ?? {}), {});
  if (one.body.layer_json && canonical(mine[one.body.layer]) !== one.body.layer_json) wrong(one, 'its layer is not canonical');
  if (canonical(expected) !== one.body.expected_json) wrong(one, 'the layers do not add up to that');
}

// What a change says that the layer will be at an instant is what it is then, and who is named is whose it was.
function checkEnds(one, key) {
  const { ends: told, expires_ms: at, layer_json: layer, change_id: id, other_ids: others } = one.body;
  if (one.kind === 'JobConfigChanged') {
    ends.set(key, told ?? []);
    if (told?.some((end, i) => i > 0 && end.expires_ms <= told[i - 1].expires_ms)) wrong(one, 'two of its ends are one instant');
    return;
  }
  const [end, ...rest] = ends.get(key) ?? [];
  ends.set(key, rest);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const wanted = end && [end.expires_ms, end.layer_json, end.change_id, end.other_ids];
  if (layer !== null && !same(wanted, [at, layer, id, others])) wrong(one, 'it is none of the ends that were told');
}

function checkPassedOn(one) {
  if (!requests.has(one.answers)) {
    if (one.headers.traceparent) wrong(one, 'it answers no request and has a traceparent');
  } else if (one.headers.traceparent !== requests.get(one.answers)) wrong(one, 'it has not the trace context of its request');
  else if (one.headers.traceparent) counts.traced += 1;
}

function checkCopy(one) {
  const of = standing.get(one.headers.ce_id);
  if (!of && one.headers.ce_parent) wrong(one, 'it copies nothing that stands');
  if (of && !(of.value.equals(one.value) && of.key.equals(one.key))) wrong(one, 'its copy says something else');
}

const checks = [checkTexts, checkEvent, checkValue, checkRequired, checkPlace, checkId, checkOnce, checkCause, checkTrace];
for (const one of records) for (const check of checks) check(one);
for (const one of records) if (!ASKED.test(one.topic)) checkPassedOn(one);
const last = new Map();
for (const topic of CHAINS) {
  for (const one of records.filter((each) => each.topic === topic && each.offset >= 0)) {
    if (!one.headers.ce_parent) wrong(one, 'a decision without a parent');
  }
  for (const [place, found] of places) {
    if (place.startsWith(`${topic}/`)) for (const one of found) follow(one, last);
  }
}
for (const one of records) if (['outcomes.v1', 'alerts.v1'].includes(one.topic)) checkCopy(one);

console.log(JSON.stringify({ records: records.length, ...counts, violations }));
