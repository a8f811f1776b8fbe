// Shows what another policy would have done with the load that a job was recorded to read, beside what
// was done: asked by a form, answered by the same model that the scoreboard plays.

import { ask, useAnswer } from "../app/api.js";
import { token, setToken } from "../app/dialogs.js";
import { change, place } from "../app/place.js";
import { Copies, Head, Marked, Nothing, Section, Table, Waiting } from "../app/parts.js";
import { Plot, TIMES, WHOLE } from "../app/plot.js";
import { classes, html, useMemo, useState } from "../app/ui.js";
import { clockName, count, number, rate, seconds, span, time, value } from "../app/words.js";
import { Zoom, zoomText } from "../app/zoom.js";

const HOURS = [["1h ago", "1 hour"], ["6h ago", "6 hours"], ["24h ago", "1 day"], ["7d ago", "7 days"], ["14d ago", "14 days"]];
const NAMES = { recorded: "as it was", replayed: "its own policy, played again", other: "the other policy" };

/** What is counted, how it is written; of all but the last less is better. */
const FIGURES = [
  ["slo_violation_s", "Behind what it allows", seconds],
  ["lag_s_p50", "Lag, half of the time above", seconds],
  ["lag_s_p99", "Lag, one minute in a hundred above", seconds],
  ["lag_s_max", "Lag at worst", seconds],
  ["task_hours", "Task hours", number],
  ["core_hours", "Processor hours", number],
  ["gb_hours", "Memory, GB hours", number],
  ["cost", "Cost", number],
  ["rescales", "Decisions to resize", count],
  ["restarts", "Restarts", count],
];

const LIMIT = 1_000;

export function WhatIfPage() {
  const { job = "", policy = "turbine" } = place.value.query;
  const policies = useAnswer(["policies"], { at: "" }, { live: false });
  const jobs = useAnswer(["jobs"], { sort: "name", limit: LIMIT, at: "" }, { live: false, all: true });
  const [state, set] = useState({});
  const play = async (asked) => {
    set({ waiting: true });
    try {
      set({ found: await ask(["whatif"], {}, { method: "POST", body: asked, token: token() }) });
    } catch (problem) {
      if (problem.status === 401 || problem.status === 403) setToken("");
      set({ problem });
    }
  };
  return html`<${Head} title="What-if" acts=${html`<${Copies} command=${`turbine whatif ${job || "JOB"} --policy ${policy}`} />`} />
    <p class="lead">The input that a job was recorded to read, played against another policy or other settings, through a model of the
      job that is learnt from its own reports. Nothing is sent to the fleet.</p>
    <${Form} policies=${policies.body?.items || []} jobs=${jobs.body?.items.map((one) => one.job)} play=${play} busy=${state.waiting} refused=${state.problem?.status} />
    ${state.waiting && html`<${Waiting} />`}
    ${state.problem && html`<div class="note is-bad" role="alert" data-state="error"><span class="strong">${state.problem.title}</span> <${Marked} text=${state.problem.message} /></div>`}
    ${state.found ? html`<${Answer} of=${state.found} />` : !state.waiting && !state.problem && html`<${Nothing}>Choose a job and a policy, and play it. An hour takes a moment, a fortnight some seconds.<//>`}`;
}

/** What is filled in is state of the URL: it outlives each redrawing, and a link shows it to others. */
const fill = (event) => change({ [event.target.name]: event.target.value }, { replace: true });

function Form({ policies, jobs, play, busy, refused }) {
  const { job = "", policy = "turbine", from = "6h ago", set = "" } = place.value.query;
  const [wrong, say] = useState("");
  const [secret, keep] = useState("");
  const chosen = policies.find((one) => one.policy === policy);
  const known = jobs || [];
  const names = job && !known.includes(job) ? [job, ...known] : known;
  const submit = (event) => {
    event.preventDefault();
    const settings = settingsOf(set);
    if (typeof settings === "string") {
      say(settings);
      return;
    }
    say("");
    if (secret) setToken(secret.trim());
    play({ job, policy, from, settings });
  };
  return html`<form class="whatif" onSubmit=${submit}>
    <label class="field"><span>Job</span><select name="job" required value=${job} onChange=${fill}>
      <option value="">${jobs && !jobs.length ? "there is no job" : "choose one"}</option>
      ${names.map((one) => html`<option key=${one} value=${one} selected=${one === job}>${one}</option>`)}
    </select></label>
    <label class="field"><span>Policy</span><select name="policy" value=${policy} onChange=${fill}>
      ${(policies.length ? policies : [{ policy }]).map((one) => html`<option key=${one.policy} value=${one.policy} selected=${one.policy === policy}>${one.policy}</option>`)}
    </select></label>
    <label class="field"><span>From</span><select name="from" value=${from} onChange=${fill}>${HOURS.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === from}>the last ${text}</option>`)}</select></label>
    <label class="field grow"><span>Settings, one <code>key=JSON</code> a line</span>
      <textarea name="set" rows="2" spellcheck="false" aria-invalid=${Boolean(wrong)} placeholder="utilization_target=0.7" value=${set} onInput=${fill}></textarea></label>
    ${(refused === 401 || refused === 403) && html`<label class="field"><span>Token</span><input name="token" type="password" autocomplete="off" required value=${secret} onInput=${(event) => keep(event.target.value)} /></label>`}
    <button type="submit" class="main-act" disabled=${busy}>Play</button>
    ${wrong && html`<p class="bad" role="alert">${wrong}</p>`}
    ${chosen?.settings.length > 0 && html`<details class="grow"><summary class="small quiet">${count(chosen.settings.length)} settings of ${policy}</summary>
      <${Table} label="Settings" columns=${SETTINGS} rows=${chosen.settings} keyOf=${(one) => one.setting} /></details>`}
  </form>`;
}

const SETTINGS = [
  { key: "setting", label: "Setting", fit: true, cell: (one) => html`<code>${one.setting}</code>` },
  { key: "default", label: "Default", fit: true, cell: (one) => value(one.default) },
  { key: "values", label: "May be", fit: true },
  { key: "meaning", label: "Meaning" },
];

/** An object of what was typed, or a sentence about the first wrong line. */
export function settingsOf(text) {
  const found = {};
  for (const line of text.split("\n").map((one) => one.trim()).filter(Boolean)) {
    const [key, ...rest] = line.split("=");
    try {
      found[key.trim()] = JSON.parse(rest.join("="));
    } catch {
      return `“${line}” is no key=JSON; write one such as utilization_target=0.7 or quiet_hours=["22:00"].`;
    }
  }
  return found;
}

function Answer({ of }) {
  return html`
    <${Honesty} of=${of.honesty} />
    <${Figures} sides=${of.sides} of=${of} />
    <${Series} of=${of} />
    ${of.notes?.length ? html`<${Section} id="notes" title="To be known"><ul class="plain-list">${of.notes.map((one) => html`<li key=${one}>${one}</li>`)}</ul><//>` : null}
    <div class="halves">${of.sides.map((one) => html`<${Deeds} key=${one.side} of=${one} />`)}</div>`;
}

/** A model that cannot tell again what happened has nothing to say about what did not. */
function Honesty({ of }) {
  if (!of) return null;
  return of.within_tolerance
    ? html`<p class="note">The model tells what happened within its tolerance, so that what it tells of the other policy counts.</p>`
    : html`<p class="note is-warn"><span class="strong">Take this with care.</span> Played again with the policy it had, the model differs from what
        was recorded by more than its tolerance.</p>`;
}

function Figures({ sides, of }) {
  const columns = [
    { key: "what", label: "", fit: true, cell: ([, text]) => text },
    ...sides.map((side) => ({
      key: side.side, num: true, fit: true, hint: NAMES[side.side],
      label: `${side.policy.name} · ${NAMES[side.side] || side.side}`,
      cell: ([key, , write]) => html`<span class=${classes(best(sides, key) === side.figures[key] && "strong")}>${write(side.figures[key])}</span>`,
    })),
  ];
  return html`<${Section} id="figures" title="Side by side" note=${`${time(of.from_ms)} to ${time(of.to_ms)} ${clockName()}, allowed lag ${span(of.slo_s * 1000)}`}>
    <${Table} label="Figures" columns=${columns} rows=${FIGURES.filter(([key]) => sides.some((one) => key in one.figures))} keyOf=${([key]) => key} />
  <//>`;
}

const best = (sides, key) => Math.min(...sides.map((one) => one.figures[key]).filter((one) => one !== null));
const COLOURS = ["plot-3", "plot-1", "plot-2"];

function Series({ of }) {
  const lines = useMemo(() => {
    const each = (key, more) => of.sides.map((one, at) => ({ label: one.side, values: of.series[one.side]?.[key] || [], colour: COLOURS[at], dashed: at === 0, ...more }));
    return { rate: [{ label: "in", values: of.series.rate_in, colour: "plot-1" }], lag: each("lag_s"), tasks: each("tasks", { stepped: true }) };
  }, [of]);
  const times = of.series.at_ms;
  return html`<${Section} id="series" title="Over time" note=${zoomText()} acts=${html`<${Zoom} whole=${[times[0], of.to_ms]} />`}><div class="plots">
    <${Plot} end=${of.to_ms} title="Input" times=${times} lines=${lines.rate} write=${rate} group="whatif" />
    <${Plot} end=${of.to_ms} title="Behind" times=${times} lines=${lines.lag} write=${(one) => span(one * 1000)} steps=${TIMES} limit=${of.slo_s} group="whatif" />
    <${Plot} end=${of.to_ms} title="Tasks" times=${times} lines=${lines.tasks} write=${count} steps=${WHOLE} group="whatif" />
  </div><//>`;
}

const SHOWN = 30;
function Deeds({ of }) {
  const rows = of.decisions.slice(-SHOWN).reverse();
  return html`<${Section} id=${`deeds-${of.side}`} title=${NAMES[of.side] || of.side} note=${`${of.policy.name}, ${count(of.decisions.length)} decisions`}>
    ${rows.length
      ? html`<ul class="alerts">${rows.map((one, at) => html`<li key=${at}><p><b>${one.action}</b> <span class="quiet">${time(one.at_ms)}</span></p><p class="soft break"><bdi>${one.explanation}</bdi></p></li>`)}</ul>`
      : html`<${Nothing}>It changed nothing.<//>`}
  <//>`;
}
