// Shows one job: how it does over time, its tasks, who wants what of it, what was decided and why not.

import { useAnswer } from "../app/api.js";
import { changed, link, place } from "../app/place.js";
import { Copies, Facts, Head, Name, Shown, State, Whole } from "../app/parts.js";
import { html } from "../app/ui.js";
import { brief, count, plural, rate, seconds, time, value } from "../app/words.js";
import { Alerts } from "./fleet.js";
import { JobActs } from "./job_acts.js";
import { JobConfig } from "./job_config.js";
import { JobDecisions, WhyNot } from "./job_decisions.js";
import { JobLogs } from "./job_logs.js";
import { JobPlots } from "./job_plots.js";
import { JobTasks } from "./job_tasks.js";

const TABS = [["", "Overview"], ["tasks", "Tasks"], ["logs", "Logs"], ["config", "Config"], ["decisions", "Decisions"], ["why-not", "Why not"]];

export function JobPage({ job }) {
  const answer = useAnswer(["jobs", job]);
  const { tab = "" } = place.value.query;
  const line = answer.body?.line;
  return html`
    <${Head} title=${job} acts=${line && html`<${JobActs} job=${answer.body} />`}>
      ${line && html`<${State} of=${line.state} />`}
      ${line?.overrides.some((one) => one.layer === "oncall") ? html`<a class="tag is-warn" href=${changed({ tab: "config" })}>overridden by hand</a>` : null}
    <//>
    <nav class="tabs" aria-label="Parts of the job">
      ${TABS.map(([key, title]) => html`<a key=${key} href=${changed({ tab: key, cursor: "", kind: "", task: "" })} aria-current=${tab === key ? "page" : undefined}>${title}</a>`)}
    </nav>
    <${Shown} answer=${answer}>${(body) => html`<${Tab} of=${tab} job=${job} body=${body} />`}<//>`;
}

function Tab({ of, job, body }) {
  switch (of) {
    case "tasks":
      return html`<${JobTasks} job=${job} expected=${body.expected} />`;
    case "logs":
      return html`<${JobLogs} job=${job} />`;
    case "config":
      return html`<${JobConfig} body=${body} />`;
    case "decisions":
      return html`<${JobDecisions} job=${job} />`;
    case "why-not":
      return html`<${WhyNot} job=${job} />`;
    default:
      return html`<${Overview} job=${job} body=${body} />`;
  }
}

function Overview({ job, body }) {
  const { line, sync, scaling } = body;
  return html`
    <${Trouble} sync=${sync} />
    <div class="strip">
      <span><b class=${line.running < line.tasks ? "bad" : ""}>${count(line.running)} / ${count(line.tasks)}</b> tasks run</span>
      <span><b class=${line.lagging ? "warn" : ""}>${seconds(line.lag_seconds)}</b> behind</span>
      <span><b>${brief(line.lag_records)}</b> records to read</span>
      <span><b>${rate(line.rate_in)}</b> input</span>
      <span><b>${value(body.expected.slo?.lag_seconds ?? null) === "null" ? "usual" : seconds(body.expected.slo.lag_seconds)}</b> allowed lag</span>
    </div>
    <${JobPlots} job=${job} slo=${body.expected.slo?.lag_seconds} />
    <div class="halves">
      <section aria-labelledby="facts">
        <div class="section-head"><h2 id="facts">What runs</h2></div>
        <${Facts} pairs=${facts(body)} />
      </section>
      <section aria-labelledby="size">
        <div class="section-head"><h2 id="size">Who decides about its size</h2></div>
        <${Facts} pairs=${sizes(scaling, line)} />
      </section>
    </div>
    ${body.open_alerts.length ? html`<${Alerts} of=${body.open_alerts} />` : null}
    <section><${Copies} command=${`turbine describe job ${job}`} path=${new URL(`api/v1/jobs/${encodeURIComponent(job)}`, document.baseURI).href} />
      <${Whole} value=${body} /></section>`;
}

/** What stands between what is expected and what runs. */
function Trouble({ sync }) {
  if (sync?.quarantine) {
    return html`<p class="note is-bad"><span class="strong">In quarantine: ${sync.quarantine.cause}.</span> <bdi>${sync.quarantine.explanation}</bdi>
      ${" "}The running config stays as it was until somebody releases the job or a newer version is accepted.</p>`;
  }
  if (sync?.plan) {
    const waits = sync.plan.missing.slice(0, 3).map((one) => `${one.task} (${one.why})`).join(", ");
    return html`<p class="note">A ${sync.plan.intent} sync is in step ${sync.plan.step || "none"}${waits && `, waiting for ${waits}`}.</p>`;
  }
  return null;
}

function facts({ expected, sync, versions }) {
  const found = expected.package || {};
  return [
    ["condition", sync?.condition ? html`<${State} of=${sync.condition} />` : "nobody has said yet"],
    ["versions", html`<code>${Object.entries(versions).map(([layer, version]) => `${layer} ${version}`).join(" · ")}</code>`],
    ["operator", html`<code class="break">${value(expected.operator)}</code>`],
    found.name && ["package", html`<${Name} of=${`${found.name} ${found.version ?? ""}`} />`],
    ["inputs", html`<bdi class="break">${(expected.inputs || []).map((one) => one.topic ?? value(one)).join(", ") || "–"}</bdi>`],
    ["tier", html`<a href=${link(["placement"], { tier: expected.tier || "default" })}><bdi>${expected.tier || "default"}</bdi></a>`],
  ];
}

function sizes(scaling, line) {
  const last = scaling?.last;
  const settings = Object.entries(scaling?.settings || {});
  return [
    ["policy", html`${scaling?.policy || line.policy} <span class=${line.mode === "act" ? "tag" : "tag is-warn"}>${scaling?.mode || line.mode}</span>`],
    settings.length > 0 && ["settings", settings.map(([key, found]) => `${key} = ${value(found)}`).join(", ")],
    ["last word", last ? html`<a href=${link(["decisions", last.id])}>${last.kind}</a>, ${time(last.at_ms)}` : "none yet; is the auto scaler running?"],
    last && ["because", html`<bdi>${last.body.explanation}</bdi>`],
    last?.body?.final_tasks && ["decided", plural(last.body.final_tasks, "task")],
    ["what if", html`<a href=${link(["whatif"], { job: line.job })}>play another policy on its recorded load</a>`],
  ];
}
