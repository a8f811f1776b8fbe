// Shows one decision as a tree: the samples, what was made of them, each clamp, the number in the end,
// what was not chosen, and what became of it. Every leaf says where in the log it lies.

import { useAnswer } from "../app/api.js";
import { Differences, between } from "../app/differences.js";
import { link } from "../app/place.js";
import { Copies, Facts, Head, JobLink, Nothing, Section, Shown, Table, Time, Whole } from "../app/parts.js";
import { html } from "../app/ui.js";
import { clockName, leaves, number, parsed, plural, time, value } from "../app/words.js";

const EPOCH_MS = 10 ** 12; // less is a length of time and no instant of any log

export function DecisionPage({ id }) {
  const answer = useAnswer(["decisions", id], { at: "" });
  return html`<${Shown} answer=${answer}>${(body) => (body.id ? html`<${Decision} of=${body} />` : html`<${Request} of=${body} />`)}<//>`;
}

/** Somebody asked, and nobody has answered. */
const Request = ({ of }) => html`<${Head} title=${of.request?.kind || "A request"} />
  <${Nothing}>Nothing has answered this request yet; it is valid until ${time(of.request?.valid_until_ms)} ${clockName()}.<//>
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
          <${Tree} of=${of} />`}
    <div class="halves"><${Asked} of=${of.request} /><${Changed} of=${of} /></div>
    <${Where} of=${of} />`;
}

/** From what was seen to what was decided, a step a line. */
function Tree({ of }) {
  const { body, scaling } = of;
  const samples = scaling?.evidence || parsed(body.evidence_json || body.details_json);
  const steps = body.constraints || [];
  const became = scaling?.became || [];
  const has = body.symptom !== undefined || steps.length || Object.keys(samples).length || became.length;
  if (!has) return html`<${Section} id="says" title="What it says"><${Facts} pairs=${plainPairs(body)} /><//>`;
  return html`<ol class="tree" aria-label="How it was decided">
    <${Step} title="Seen" said=${body.symptom} none="nothing unusual"><${Samples} of=${samples} /><//>
    <${Step} title="Cause" said=${body.diagnosis} none="none was found">${body.policy && html`<p class="quiet small">policy ${body.policy}, mode ${body.mode}</p>`}<//>
    <${Numbers} body=${body} steps=${steps} />
    ${body.alternatives?.length ? html`<${Step} title="Not chosen" said=${plural(body.alternatives.length, "alternative")}><${Alternatives} of=${body.alternatives} /><//>` : null}
    <${Outcome} of=${of} became=${became} measures=${scaling?.measures} decided=${scaling?.decided} />
  </ol>`;
}

const Step = ({ title, said, none, children, mood }) => html`<li class=${mood}>
  <h2><span class="quiet">${title}</span> ${said || html`<span class="quiet">${none}</span>`}</h2>${children}
</li>`;

/** The number before any constraint, what each made of it, and the number after all, as bars of one scale. */
function Numbers({ body, steps }) {
  const all = [body.raw_tasks, body.final_tasks, ...steps.flatMap((one) => [one.before, one.after])].filter((one) => typeof one === "number");
  if (!all.length) return null;
  const most = Math.max(...all);
  const rows = [
    body.raw_tasks !== undefined && ["raw", body.raw_tasks, "what the policy asks for"],
    ...steps.map((one) => [one.name, one.after, one.note || `from ${number(one.before)}`]),
    body.final_tasks !== undefined && ["final", body.final_tasks, body.action ? `${body.action}${body.mode === "act" ? "" : `, ${body.mode} only`}` : ""],
  ].filter(Boolean);
  const title = body.final_tasks === undefined ? "no change" : plural(body.final_tasks, "task");
  return html`<${Step} title=${steps.length ? "Clamped to" : "Decided"} said=${title} mood="main-step">
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
  return html`<details open=${rows.length <= 24}>
    <summary class="small quiet">${plural(rows.length, "sample")}</summary>
    <dl class="samples">${rows.map(([path, found]) => html`<div key=${path}><dt>${path}</dt><dd><bdi>${shown(path, found)}</bdi></dd></div>`)}</dl>
  </details>`;
}

const Alternatives = ({ of }) => html`<ul class="alternatives">${of.map((one) => html`<li key=${one.action}><b>${one.action}</b> <bdi class="soft">${one.reason}</bdi></li>`)}</ul>`;

function Outcome({ of, became, measures, decided }) {
  const { body } = of;
  const promised = body.verify_ms && of.body.mode === "act" ? `held against what is seen at ${time(body.verify_ms)} ${clockName()}` : "";
  if (of.kind === "ScalingDeclined") {
    return html`<${Step} title="Not done" said=${body.reason}>${body.until_ms && html`<p class="quiet small">at least until ${time(body.until_ms)} ${clockName()}</p>`}<//>`;
  }
  if (!became.length && !promised && !measures && !decided) return null;
  const last = became.at(-1);
  const mood = last && /Reverted|Rejected|Failed|Quarantined/.test(last.kind) ? "is-bad" : "";
  return html`<${Step} title="Became" said=${last ? last.text : "not known yet"} mood=${mood}>
    ${promised && html`<p class="quiet small">${promised}</p>`}
    ${decided && html`<p class="small">of <a href=${link(["decisions", decided.id])}>${decided.kind}</a></p>`}
    ${became.length ? html`<ul class="became">${became.map((one) => html`<li key=${one.id}><${Time} ms=${one.at_ms} /> <a href=${link(["decisions", one.id])}>${one.kind}</a> <bdi class="soft">${one.text}</bdi></li>`)}</ul>` : null}
    <${Samples} of=${measures || {}} />
  <//>`;
}

const HIDDEN = new Set(["layer_json", "expected_json", "config_json", "traceparent", "moves_json", "measures_json"]);
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
  const found = of.differences || (of.before && of.after ? between(of.before, of.after) : []);
  if (!found.length) return null;
  return html`<${Section} id="changed" title="What it changed"><${Differences} of=${found} /><//>`;
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
