// Shows how the fleet is, the paper's three numbers first (Turbine VI), and who makes them bad.

import { useAnswer } from "../app/api.js";
import { link } from "../app/place.js";
import { JobLink, Nothing, Runbook, Section, Shown, State, Table, Time } from "../app/parts.js";
import { html } from "../app/ui.js";
import { brief, count, percent, plural, seconds, span } from "../app/words.js";
import { Digest, FleetDay, LastHour } from "./fleet_day.js";

const NUMBERS = [
  ["tasks_not_running", "not running", "Tasks that config expects to run and that do not, or of which nobody hears", { sort: "state" }],
  ["tasks_lagging", "lagging", "Tasks further behind than their job's slo.lag_seconds allows", {}],
  ["tasks_unhealthy", "unhealthy", "Tasks that failed, are started again and again, or wait in quarantine", { sort: "state" }],
];

export function FleetPage() {
  const answer = useAnswer(["fleet"]);
  return html`<h1 class="hidden-text">Fleet</h1>
    <${Shown} answer=${answer}>${(fleet) => html`<${Fleet} fleet=${fleet} />`}<//>`;
}

function Fleet({ fleet }) {
  const { totals } = fleet;
  if (!totals.jobs && !fleet.tiers.length) {
    return html`<${Nothing}>No job was ever asked for, and no tier was made.${" "}
      <code>make demo</code> starts a fleet to look at; <code>turbine apply -f job.yaml</code> makes a job.<//>`;
  }
  return html`
    <div class="three">
      ${NUMBERS.map(([key, word, says, query]) => {
        const found = totals[key];
        return html`<a key=${key} class=${found.count ? "figure is-bad" : "figure"} href=${link(["jobs"], query)} title=${says}>
          <b>${percent(found.percent / 100)}</b><span>of tasks ${word}</span>
          <small>${count(found.count)} of ${count(totals.tasks_wanted)}</small>
        </a>`;
      })}
      <p class="figure-side">
        <span><b>${count(totals.jobs)}</b> ${totals.jobs === 1 ? "job" : "jobs"}</span>
        <span><b>${count(totals.tasks_running)}</b> tasks run of <b>${count(totals.tasks_wanted)}</b></span>
        <span><b>${count(fleet.tiers.length)}</b> ${fleet.tiers.length === 1 ? "tier" : "tiers"}</span>
        ${fleet.dead_letters ? html`<a href=${link(["platform"])}><b>${count(fleet.dead_letters)}</b> dead letters</a>` : null}
      </p>
    </div>
    <div class="columns">
      <${Offenders} of=${fleet.offenders} />
      <${Alerts} of=${fleet.alerts} now=${fleet.now_ms} tiers=${fleet.tiers.map((one) => one.tier)} />
    </div>
    <${FleetDay} />
    <div class="halves">
      <${LastHour} />
      <${Digest} />
    </div>
    <${Tiers} of=${fleet.tiers} />`;
}

function Offenders({ of }) {
  const columns = [
    { key: "job", label: "Job", cell: (one) => html`<${JobLink} job=${one.job} />` },
    { key: "state", label: "State", fit: true, cell: (one) => html`<${State} of=${one.state} />` },
    { key: "lag", label: "Lag", num: true, fit: true, cell: (one) => seconds(one.lag_seconds) },
    { key: "why", label: "Why", wide: true, cell: (one) => html`<bdi>${one.why}</bdi>` },
  ];
  return html`<${Section} id="offenders" title="Worst offenders"
    acts=${html`<a class="small" href=${link(["jobs"])}>All jobs</a>`}>
    ${of.length
      ? html`<${Table} label="Worst offenders" columns=${columns} rows=${of} keyOf=${(one) => one.job} />`
      : html`<${Nothing}>Every task that should run does, none lags, none fails.<//>`}
  <//>`;
}

const RANK = { critical: 0, warning: 1, info: 2 };
const MOOD = { critical: "tag is-bad", warning: "tag is-warn" };

/** What an alert is about: a tier by that name, or else a job. */
const Subject = ({ of, tiers }) =>
  tiers.includes(of) ? html`<a href=${link(["placement"], { tier: of })}><bdi>${of}</bdi></a>` : html`<${JobLink} job=${of} />`;

export function Alerts({ of, now, tiers = [], title = "Open alerts" }) {
  const sorted = [...of].sort((one, other) => (RANK[one.severity] ?? 3) - (RANK[other.severity] ?? 3) || other.since_ms - one.since_ms);
  return html`<${Section} id="alerts" title=${title} note=${of.length ? count(of.length) : ""}>
    ${sorted.length
      ? html`<ul class="alerts">
          ${sorted.map(
            (one) => html`<li key=${`${one.alert} ${one.subject}`}>
              <p><span class=${MOOD[one.severity] || "tag"}>${one.alert}</span>${" "}<${Subject} of=${one.subject} tiers=${tiers} /></p>
              <p class="soft break"><bdi>${one.cause}</bdi></p>
              <p class="small quiet">
                ${now ? `since ${span(now - one.since_ms)}` : html`since <${Time} ms=${one.since_ms} />`}
                ${one.id && html` · <a href=${link(["decisions", one.id])}>decision</a>`}
                ${one.runbook && html` · what to do: <${Runbook} of=${one.runbook} job=${tiers.includes(one.subject) ? "" : one.subject} />`}
              </p>
            </li>`,
          )}
        </ul>`
      : html`<${Nothing}>Nothing needs a person.<//>`}
  <//>`;
}

const said = (counts) =>
  Object.entries(counts || {}).filter(([, many]) => many).map(([word, many]) => html`<span key=${word} class="pair">
    <${State} of=${word} /> ${count(many)}</span>`);

function Tiers({ of }) {
  const columns = [
    { key: "tier", label: "Tier", fit: true, cell: (one) => html`<a href=${link(["placement"], { tier: one.tier })}><bdi>${one.tier}</bdi></a>` },
    { key: "containers", label: "Containers", cell: (one) => said(one.containers) },
    { key: "shards", label: "Shards", cell: (one) => said(one.shards) },
    { key: "capacity", label: "Capacity: used, and reserved", cell: (one) => html`<${Capacity} of=${one} />` },
  ];
  return html`<${Section} id="tiers" title="Tiers">
    ${of.length
      ? html`<${Table} kind="stack" label="Tiers" columns=${columns} rows=${of} keyOf=${(one) => one.tier} />`
      : html`<${Nothing}>No tier is defined, so nothing can be placed.${" "}
          <code>turbine tier create default --shards 64</code> makes one.<//>`}
  <//>`;
}

export function Capacity({ of }) {
  const rows = Object.entries(of?.resources || {});
  if (!rows.length) return html`<span class="quiet">not reported yet; is the capacity manager running?</span>`;
  return html`<span class="meters">
    ${of.state && html`<${State} of=${of.state} />`}
    ${rows.map(([resource, one]) => html`<${Meter} key=${resource} label=${resource} of=${one.used_share} reserved=${one.reserved_share}
      hint=${`${brief(one.used)} used, ${brief(one.reserved)} reserved, of ${brief(one.capacity)}`} />`)}
    ${of.jobs_waiting ? html`<span class="warn">${plural(of.jobs_waiting, "job")} waiting</span>` : null}
  </span>`;
}

const width = (share) => Math.max(0, Math.min(1, share || 0)) * 40;

/** What is used of what there is, solid, and what is reserved beyond that, hatched; only a nearly full one has a colour. */
export function Meter({ label, of, reserved, hint }) {
  const most = Math.max(of || 0, reserved || 0);
  const mood = most > 0.95 ? "meter is-bad" : most > 0.85 ? "meter is-warn" : "meter";
  return html`<span class=${mood} title=${hint}>
    <span class="quiet">${label}</span>
    <svg viewBox="0 0 40 6" aria-hidden="true" preserveAspectRatio="none"><rect class="rest" width="40" height="6" rx="3" />
      ${reserved > (of || 0) ? html`<path class="reserved" d=${`M${width(of)} 3H${width(reserved)}`} />` : null}
      <rect class="used" width=${width(of)} height="6" rx="3" /></svg>
    <span>${percent(of)}${reserved === undefined ? " used" : ` used, ${percent(reserved)} reserved`}</span>
  </span>`;
}
