// Shows what a stranger may publish and read: the topics, the schemas, and how it is done in a few
// languages. It is the AsyncAPI document of this installation, read aloud.

import { useAnswer } from "../app/api.js";
import { changed, place } from "../app/place.js";
import { Copy, Facts, Head, Nothing, Section, Shown, Table, Whole } from "../app/parts.js";
import { html } from "../app/ui.js";
import { SNIPPETS } from "./snippets.js";

const KINDS = {
  ingress: "ask here", operator: "ask here", world: "follow here", journal: "decisions", tiers: "decisions", facts: "reports",
  "dead-letters": "what was not understood",
};

export function ContractPage() {
  const topics = useAnswer(["topics"], { at: "" }, { live: false });
  const contract = useAnswer(["contract"], { at: "" }, { live: false });
  const { topic = "" } = place.value.query;
  return html`
    <${Head} title="Contract" acts=${html`<${Copy} label="Copy as a command" text="turbine contract" />`}>
      <a class="small" href="asyncapi.json">AsyncAPI as JSON</a> <a class="small" href="docs">The HTTP API</a>
    <//>
    <p class="lead">Any program publishes a change on a topic and follows what becomes of it on another. It needs a Kafka client and
      an Avro library, and nothing of Turbine.</p>
    <${Shown} answer=${topics}>${(body) => html`<${Topics} of=${body.items.filter((one) => one.kind !== "rows")} chosen=${topic} />`}<//>
    <${Shown} answer=${contract}>${(body) => html`<${Records} of=${body} topics=${topics.body?.items || []} topic=${topic} />`}<//>
    <${Snippets} />`;
}

function Topics({ of, chosen }) {
  const columns = [
    { key: "topic", label: "Topic", fit: true, cell: (one) => html`<a href=${changed({ topic: one.topic === chosen ? "" : one.topic })}
      aria-current=${one.topic === chosen ? "true" : undefined}><code>${one.topic}</code></a>` },
    { key: "kind", label: "For", fit: true, cell: (one) => KINDS[one.kind] || one.kind },
    { key: "key", label: "Key", fit: true },
    { key: "by", label: "Written by", wide: true, cell: (one) => one.written_by },
    { key: "doc", label: "What it is", wide: true, cell: (one) => one.doc },
    { key: "records", label: "Records", num: true, fit: true, cell: (one) => html`<span title=${one.records.join(", ")}>${one.records.length}</span>` },
  ];
  return html`<${Section} id="topics" title="Topics"><${Table} label="Topics" columns=${columns} rows=${of} keyOf=${(one) => one.topic} /><//>`;
}

function Records({ of, topics, topic }) {
  const { name = "ConfigChangeProposed" } = place.value.query;
  const messages = of.components?.messages || {};
  const wanted = topics.find((one) => one.topic === topic)?.records;
  const names = Object.keys(messages).filter((one) => !wanted || wanted.includes(one)).sort();
  const shown = names.includes(name) ? name : names[0];
  return html`<${Section} id="records" title="Records" note=${topic ? `on ${topic}` : ""}>
    ${names.length
      ? html`<div class="records">
          <ul aria-label="Records">${names.map((one) => html`<li key=${one}><a href=${changed({ name: one })} aria-current=${one === shown ? "true" : undefined}>${one}</a></li>`)}</ul>
          <${Schema} name=${shown} message=${messages[shown]} schema=${of.components?.schemas?.[shown]?.schema} />
        </div>`
      : html`<${Nothing}>No record of that topic is in the contract.<//>`}
  <//>`;
}

/** A type of Avro in a word or two. */
export function typeText(type) {
  if (Array.isArray(type)) return type.map(typeText).join(" or ");
  if (type && typeof type === "object") {
    if (type.type === "array") return `list of ${typeText(type.items)}`;
    if (type.type === "map") return `map of ${typeText(type.values)}`;
    if (type.type === "enum") return type.symbols.join(" | ");
    return type.name || typeText(type.type);
  }
  return String(type).split(".").pop();
}

function Schema({ name, message, schema }) {
  if (!schema) return html`<${Nothing}>It has no schema: its bytes are what somebody sent.<//>`;
  const columns = [
    { key: "name", label: "Field", fit: true, cell: (one) => html`<code>${one.name}</code>` },
    { key: "type", label: "Type", cell: (one) => typeText(one.type) },
    { key: "default", label: "Default", fit: true, cell: (one) => ("default" in one ? html`<code>${JSON.stringify(one.default)}</code>` : html`<span class="quiet">required</span>`) },
    { key: "doc", label: "Meaning", cell: (one) => one.doc },
  ];
  return html`<div>
    <h3>${name}</h3><p class="soft">${schema.doc}</p>
    <${Facts} pairs=${[["schema id", String(message?.["x-schema-id"] ?? "–")], ["urn", html`<code class="break">${message?.["x-dataschema"] ?? "–"}</code>`]]} />
    <${Table} label=${`Fields of ${name}`} columns=${columns} rows=${schema.fields || []} keyOf=${(one) => one.name} />
    <${Whole} value=${schema} label="The schema as JSON" />
  </div>`;
}

function Snippets() {
  const { language = SNIPPETS[0].name } = place.value.query;
  const shown = SNIPPETS.find((one) => one.name === language) || SNIPPETS[0];
  return html`<${Section} id="snippets" title="How to" acts=${html`<${Copy} label="Copy" text=${shown.text} />`}>
    <nav class="tabs" aria-label="Languages">${SNIPPETS.map((one) => html`<a key=${one.name} href=${changed({ language: one.name })}
      aria-current=${one === shown ? "page" : undefined}>${one.name}</a>`)}</nav>
    <p class="soft">${shown.says}</p>
    <pre class="code" tabindex="0" aria-label=${shown.name}>${shown.text}</pre>
  <//>`;
}
