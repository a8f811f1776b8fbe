// Shows one decision: what it says, what became of it, and the tree of what it rests on. Every leaf
// says where in the log it lies.

import { useAnswer } from "../app/api.js";
import { Differences } from "../app/differences.js";
import { link } from "../app/place.js";
import { Copies, Facts, Head, JobLink, Nothing, Section, Shown, Table, Time, Whole } from "../app/parts.js";
import { html } from "../app/ui.js";
import { clockName, leaves, number, parsed, plural, time, value } from "../app/words.js";

const EPOCH_MS = 10 ** 12; // less is a length of time and no instant of any log
const SHOWN = 24; // values of one object, unfolded
const FEW = 6; // records of one minute, unfolded

export function DecisionPage({ id }) {
  const answer = useAnswer(["decisions", id], { at: "" });
  return html`<${Shown} answer=${answer}>${(body) => (body.id ? html`<${Decision} of=${body} />` : html`<${Request} of=${body} />`)}<//>`;
}

/** Somebody asked, and nobody has answered. */
const Request = ({ of }) => html`<${Head} title=${of.request.kind} />
  <${Nothing}>${of.void || `Nothing has answered this request yet; it is valid until ${time(of.request.valid_until_ms)} ${clockName()}.`}<//>
  <${Whole} value=${of} />`;

function Decision({ of }) {
  const { body } = of;
  return html`
    <${Head} title=${of.kind} acts=${html`<${Copies} command=${`turbine why ${of.id}`} />`}>
      ${of.job ? html`<${JobLink} job=${of.job} />` : html`<a href=${link(["placement"], { tier: of.tier })}>tier <bdi>${of.tier}</bdi></a>`}
      <${Time} ms=${of.at_ms} full /> <span class="quiet">${clockName()}</span>
      ${of.stands ? html`<span class="tag is-good">stands</span>` : html`<span class="tag is-bad">void</span>`}
    <//>
    ${!of.stands && html`<p class="note">It changed nothing: ${of.instead ? html`on its parent stands <a href=${link(["decisions", of.instead])}>another decision</a>` : "its parent was not the last standing decision"}.</p>`}
    ${body === null
      ? html`<${Nothing}>This build cannot read what it says; a newer one can.<//>`
      : html`<p class="lead says"><bdi>${of.summary}</bdi></p>
          <${Numbers} body=${body} />
          <${Section} id="says" title="What it says"><${Facts} pairs=${plainPairs(body)} /><//>`}
    <${Became} of=${of} />
    <${Tree} of=${of.tree.nodes} />
    <div class="halves"><${Asked} of=${of.request} /><${Changed} of=${of} /></div>
    <${Where} of=${of} />`;
}

/** What each constraint made of the number of tasks, as bars of one scale. */
function Numbers({ body }) {
  const steps = body.constraints || [];
  const all = [body.raw_tasks, body.final_tasks, ...steps.flatMap((one) => [one.before, one.after])].filter((one) => typeof one === "number");
  if (!all.length) return null;
  const most = Math.max(...all);
  const rows = [
    body.raw_tasks !== undefined && ["raw", body.raw_tasks, "what the policy asks for"],
    ...steps.map((one) => [one.name, one.after, one.note || `from ${number(one.before)}`]),
    body.final_tasks !== undefined && ["final", body.final_tasks, body.action ? `${body.action}${body.mode === "act" ? "" : `, ${body.mode} only`}` : ""],
  ].filter(Boolean);
  return html`<${Section} id="numbers" title=${body.final_tasks === undefined ? "No change" : plural(body.final_tasks, "task")}>
    <table class="clamps">
      <tbody>${rows.map(([name, found, note]) => html`<tr key=${name} class=${name === "final" ? "strong" : ""}>
        <th scope="row">${name}</th><td class="num">${number(found)}</td>
        <td class="bar-cell"><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width=${most ? (100 * found) / most : 0} height="6" /></svg></td>
        <td class="soft break"><bdi>${note}</bdi></td></tr>`)}</tbody>
    </table>
  <//>`;
}

const shown = (path, found) => (path.endsWith("_ms") && typeof found === "number" && found >= EPOCH_MS ? time(found) : typeof found === "number" ? number(found) : value(found));

function Samples({ of }) {
  const rows = leaves(of);
  if (!rows.length) return null;
  return html`<details open=${rows.length <= SHOWN}>
    <summary class="small quiet">${plural(rows.length, "value")}</summary>
    <dl class="samples">${rows.map(([path, found]) => html`<div key=${path}><dt>${path}</dt><dd><bdi>${shown(path, found)}</bdi></dd></div>`)}</dl>
  </details>`;
}

/** What it rests on, as the answer has it: each leaf a record, by its position. */
const Tree = ({ of }) => html`<${Section} id="tree" title="What it rests on">
  <ul class="tree" aria-label="Evidence">${of.map((node, at) => html`<${Branch} key=${at} of=${node} />`)}</ul>
<//>`;

function Branch({ of }) {
  const { name, positions, nodes } = of;
  const plain = of.value === null || typeof of.value !== "object";
  const bare = nodes.length > FEW && nodes.every((one) => one.value === null && !one.nodes.length);
  const below = nodes.length ? html`<ul>${nodes.map((node, at) => html`<${Branch} key=${at} of=${node} />`)}</ul>` : null;
  return html`<li>
    <span>${name}</span>${plain && of.value !== null ? html` <bdi class="break">${shown(name, of.value)}</bdi>` : null}
    ${positions.map((one) => html` <code key=${one} class="break quiet">${one}</code>`)}
    ${plain ? null : html`<${Samples} of=${of.value} />`}
    ${bare ? html`<details><summary class="small quiet">${plural(nodes.length, "record")}</summary>${below}</details>` : below}
  </li>`;
}

function Became({ of }) {
  const promised = of.body?.verify_ms && of.body.mode === "act" ? `Held against what is seen at ${time(of.body.verify_ms)} ${clockName()}.` : "";
  const decided = of.scaling?.decided;
  const none = of.kind === "ScalingDecided" && of.stands;
  if (!of.became.length && !promised && !decided && !none) return null;
  return html`<${Section} id="became" title="What became of it">
    ${promised && html`<p class="quiet small">${promised}</p>`}
    ${decided && html`<p class="small">of <a href=${link(["decisions", decided.id])}>${decided.kind}</a></p>`}
    ${of.became.length
      ? html`<ul class="became">${of.became.map((one) => html`<li key=${one.id}><${Time} ms=${one.at_ms} /> <a href=${link(["decisions", one.id])}>${one.kind}</a> <bdi class="soft">${one.text}</bdi></li>`)}</ul>`
      : none && html`<${Nothing}>Nothing yet.<//>`}
  <//>`;
}

// Of the body: what the tree tells, or what is for programs.
const HIDDEN = new Set(["layer_json", "expected_json", "config_json", "traceparent", "moves_json", "measures_json", "evidence_json", "constraints", "alternatives"]);
function plainPairs(body) {
  return Object.entries(body)
    .filter(([key, found]) => !HIDDEN.has(key) && found !== null && found !== "" && !(Array.isArray(found) && !found.length))
    .map(([key, found]) => [key, html`<bdi class="break">${shown(key, found)}</bdi>`]);
}

function Asked({ of }) {
  if (!of) return null;
  const set = leaves(parsed(of.body?.set_json));
  return html`<${Section} id="asked" title="What was asked">
    <${Facts} pairs=${[
      ["by", html`<bdi>${of.author || "–"}</bdi>`],
      ["reason", html`<bdi class="break">${of.reason || "–"}</bdi>`],
      ["change", html`<code class="break">${of.change_id}</code>`],
      ["at", html`<code class="break">${of.position}</code>`],
      set.length > 0 && ["set", set.map(([path, found]) => html`<div key=${path}><code>${path}</code> <bdi>${value(found)}</bdi></div>`)],
      of.body?.clear?.length > 0 && ["clear", html`<code class="break">${of.body.clear.join(", ")}</code>`],
    ]} />
  <//>`;
}

function Changed({ of }) {
  if (!of.differences.length) return null;
  return html`<${Section} id="changed" title="What it changed"><${Differences} of=${of.differences} /><//>`;
}

function Where({ of }) {
  const evidence = Object.entries(of.evidence || {});
  const columns = [
    { key: "place", label: "Place", cell: ([place]) => html`<code>${place}</code>` },
    { key: "offset", label: "Read up to", num: true, fit: true, cell: ([, offset]) => String(offset) },
  ];
  return html`<div class="halves">
    <${Section} id="where" title="Where it stands in the log">
      <${Facts} pairs=${[
        ["position", html`<code class="break">${of.position}</code>`],
        ["id", html`<code class="break">${of.id}</code>`],
        ["parent", of.parent === "root" ? "none: the first about it" : html`<a href=${link(["decisions", of.parent || ""])}><code class="break">${of.parent}</code></a>`],
        ["decided by", `${of.source}, logic ${of.logic}`],
        ["at the tick", html`<${Time} ms=${of.tick_ms} full />`],
        ["as it was", html`<a href=${link(of.job ? ["jobs", of.job] : ["placement"], { at: of.position })}>look at that position</a>`],
      ]} />
    <//>
    <${Section} id="evidence" title="Evidence" note="all that it may depend on">
      ${evidence.length ? html`<${Table} label="Evidence" columns=${columns} rows=${evidence} keyOf=${([place]) => place} />` : html`<${Nothing}>It names none.<//>`}
    <//>
  </div>
  <${Whole} value=${of} />`;
}
