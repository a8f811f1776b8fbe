// Shows how the scaling policies did beside one another on the same loads: the last scoreboard that was
// played, case by case. Less is better in each column, but for what is explained.

import { useAnswer } from "../app/api.js";
import { change, place } from "../app/place.js";
import { Choice, Copies, Copy, Head, Marked, Nothing, Section, Shown, Table, sentence } from "../app/parts.js";
import { classes, html, useMemo } from "../app/ui.js";
import { number, plural, time } from "../app/words.js";

const COLUMNS = [
  ["violation_s", "Violation s", "Seconds in which the job was further behind than it allows"],
  ["lag_s_p99", "Lag s, p99", "The lag that one minute in a hundred was above"],
  ["cpu_hours", "CPU h", "Processor hours that were paid for"],
  ["gb_hours", "GB h", "Memory that was paid for"],
  ["rescales", "Rescales", "Restarts for another size"],
  ["wrong_ways", "Wrong ways", "Actions taken back soon after"],
  ["converge_minutes", "Converge min", "From a step of the load to a size that holds"],
  ["false_scale_outs", "False outs", "More tasks although more tasks could not help"],
  ["explained", "Explained", "Decisions with a reason"],
  ["cost", "Cost", "Violations, resources and restarts in one number"],
  ["over_least", "Of least", "Of what a planner who knows the future pays"],
];
const MORE_IS_BETTER = new Set(["explained"]);

export function ScoreboardPage() {
  const answer = useAnswer(["scoreboard"], { at: "" }, { live: false });
  return html`<${Head} title="Scoreboard" acts=${html`<${Copies} command="turbine scoreboard" />`}><span class="quiet">policies beside one another, on the same loads</span><//>
    ${answer.problem?.status === 404
      ? html`<${Nothing}><${Marked} text=${sentence(answer.problem.message)} /><//>`
      : html`<${Shown} answer=${answer}>${(body) => html`<${Board} of=${body} />`}<//>`}`;
}

const title = (row) => (row.kind === "all" ? "all traces" : row.case);
const KIND_ORDER = ["all", "trace", "scenario"];

function Board({ of }) {
  const parts = [...new Set(of.rows.map((one) => one.part))];
  const { part = parts[0], of: only = "" } = place.value.query;
  const rows = of.rows.filter((one) => one.part === part);
  const cases = useMemo(() => {
    const found = Map.groupBy(rows, (one) => `${one.kind} ${one.case}`);
    return [...found.values()].sort((one, other) => KIND_ORDER.indexOf(one[0].kind) - KIND_ORDER.indexOf(other[0].kind) || one[0].case.localeCompare(other[0].case));
  }, [of, part]);
  const shown = only ? cases.filter((one) => one[0].case === only || title(one[0]) === only) : cases;
  return html`
    <div class="filters">
      ${parts.length > 1 && html`<${Choice} label="Part" name="part" value=${part} options=${parts.map((one) => [one, one])} />`}
      <select aria-label="Case" value=${only} onChange=${(event) => change({ of: event.target.value })}>
        <option value="">Every case</option>${cases.map((one) => html`<option key=${title(one[0])} value=${title(one[0])}>${title(one[0])}</option>`)}
      </select>
    </div>
    <${Made} of=${of} />
    <${Stands} of=${of} part=${part} />
    ${shown.map((one) => html`<${Case} key=${title(one[0])} rows=${one} own=${of.policy} />`)}`;
}

/** Whether it is of this installation, and how it is made again. */
function Made({ of }) {
  const { made, recorded } = of;
  if (!made) return null;
  const what = [made.traces.length && plural(made.traces.length, "trace"), made.scenarios.length && plural(made.scenarios.length, "scenario")].filter(Boolean).join(" and ");
  return html`<div class="note" data-state=${recorded ? "recorded" : undefined}>
    ${recorded && html`<p><span class="strong">A recording that Turbine comes with,</span> not of this fleet: the traces are public ones, and Turbine's own policy was developed on them.</p>`}
    <p>Played ${time(made.at_ms).slice(0, 10)} by Turbine ${made.turbine}: ${plural(made.policies.length, "policy", "policies")} on ${what}. <code class="break">${made.command}</code>
      ${" "}<${Copy} label="Copy" text=${made.command} /></p>
    ${made.traces.length > 0 && html`<details><summary class="small">The traces, by what is in them</summary>
      <dl class="facts">${made.traces.map((one) => html`<dt key=${one.trace}>${one.trace}</dt><dd><code class="break">${one.sha256}</code></dd>`)}</dl></details>`}
  </div>`;
}

/** How often nobody else was better, in one line. */
function Stands({ of, part }) {
  const stands = (of.standings || []).filter((one) => one.part === part);
  if (!stands.length) return null;
  const first = stands.filter((one) => !one.not_better_than.length).length;
  return html`<p class="lead">${of.policy} is better than every other policy in ${first} of ${stands.length} cases, on violations and cost together.</p>`;
}

function Case({ rows, own }) {
  const used = COLUMNS.filter(([key]) => rows.some((one) => one[key] !== null && one[key] !== undefined));
  const best = Object.fromEntries(
    used.map(([key]) => {
      const values = rows.map((one) => one[key]).filter((one) => typeof one === "number");
      return [key, MORE_IS_BETTER.has(key) ? Math.max(...values) : Math.min(...values)];
    }),
  );
  const columns = [
    { key: "policy", label: "Policy", fit: true, cell: (one) => html`<span class=${one.policy === own ? "strong" : ""}>${one.policy}</span>` },
    ...used.map(([key, label, hint]) => ({
      key, label, hint, num: true, fit: true,
      cell: (one) => html`<span class=${classes(one[key] === best[key] && "good strong")}>${number(one[key])}</span>`,
    })),
  ];
  return html`<${Section} id=${`case-${title(rows[0])}`} title=${title(rows[0])} note=${rows[0].kind === "all" ? "summed" : rows[0].kind}>
    <${Table} label=${title(rows[0])} columns=${columns} rows=${rows} keyOf=${(one) => one.policy} />
  <//>`;
}
