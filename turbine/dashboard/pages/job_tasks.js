// Shows the tasks of a job: all of them as a heat-map, the worst ones in words. A task that stands out
// from its like is what a person looks for.

import { useAnswer } from "../app/api.js";
import { Heat } from "../app/heat.js";
import { link, place } from "../app/place.js";
import { Ago, Choice, Nothing, Pager, Section, Shown, State, Table } from "../app/parts.js";
import { html, useMemo } from "../app/ui.js";
import { brief, bytes, count, number, percent, plural, rate, seconds } from "../app/words.js";

/** What the heat-map can be of, each with how it is written. */
const MEASURES = [
  ["", "lag", (one) => one.lag_seconds, seconds],
  ["rate", "input", (one) => one.records_in_per_s, rate],
  ["busy", "busy", (one) => one.busy_share, percent],
  ["cpu", "processors", (one) => one.cpu_cores, number],
  ["memory", "memory", (one) => one.memory_bytes, bytes],
  ["state", "state", (one) => one.state_bytes, bytes],
];
const LIMIT = 1_000; // of a page; the map is of all pages, the table of the worst
const SHOWN = 100;
const OUTLIER = 3; // standard scores: one task in a thousand is as far out by chance

export function JobTasks({ job, expected }) {
  const answer = useAnswer(["jobs", job, "tasks"], { limit: LIMIT }, { all: true });
  return html`<${Shown} answer=${answer}>
    ${(body) =>
      body.items.length
        ? html`<${Tasks} items=${body.items} total=${body.total ?? body.items.length} slo=${expected.slo?.lag_seconds} />`
        : html`<${Nothing}>The job has no tasks at this instant: nothing of it was published to run. <code>turbine get syncs</code>
            shows how far its config is.<//>`}
  <//>`;
}

function Tasks({ items, total, slo }) {
  const of = place.value.query.measure || "";
  const measure = MEASURES.find(([key]) => key === of) || MEASURES[0];
  const scored = useMemo(() => scores(items, measure[2]), [items, measure]);
  const cells = useMemo(() => scored.map(({ task, found, score }) => cell(task, found, score, measure, slo, scored)), [scored, slo]);
  const outliers = scored.filter((one) => Math.abs(one.score) >= OUTLIER).length;
  const label = `${plural(total, "task")} by ${measure[1]}${outliers ? `, ${count(outliers)} far from the others` : ""}; the deeper the more, a frame where nobody knows`;
  const worst = [...scored].sort((one, other) => rank(one.task) - rank(other.task) || (other.found ?? -1) - (one.found ?? -1));
  // Of a job that keeps no state there is nothing to say in that column.
  const columns = COLUMNS.filter((one) => one.key !== "state-size" || items.some((task) => task.state_bytes));
  return html`
    <${Section} id="heat" title="All tasks" acts=${html`<${Choice} label="Measure" name="measure" value=${of} options=${MEASURES} />`}>
      <${Heat} cells=${cells} label=${label} />
    <//>
    <${Section} id="tasks" title="The worst first" note=${`by state, then ${measure[1]}`}>
      <${Table} label="Tasks" columns=${columns} rows=${worst.slice(0, SHOWN)} keyOf=${(one) => String(one.task.task)} />
      <${Pager} shown=${Math.min(SHOWN, worst.length)} total=${total} />
    <//>`;
}

const RANKS = ["lost", "unheard", "quarantined", "failed", "restarting", "stopped", "waiting", "stopping", "running"];
const rank = (task) => (RANKS.indexOf(task.state) + RANKS.length + 1) % (RANKS.length + 1);

/** How far each is from the mean of all, in standard deviations. */
function scores(items, of) {
  const known = items.map(of).filter((one) => one !== null && one !== undefined);
  const mean = known.reduce((sum, one) => sum + one, 0) / (known.length || 1);
  const deviation = Math.sqrt(known.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (known.length || 1));
  return items.map((task) => {
    const found = of(task) ?? null;
    return { task, found, score: found === null || !deviation ? 0 : (found - mean) / deviation };
  });
}

function cell(task, found, score, [key, word, , write], slo, all) {
  // Lag has a meaning of its own: the deepest is what the job does not allow. All else is compared.
  const most = key === "" && slo ? slo : Math.max(...all.map((one) => one.found ?? 0)) || 1;
  const away = Math.abs(score) >= OUTLIER ? `, ${number(score)} standard deviations from the mean` : "";
  return {
    key: task.name,
    share: ["failed", "restarting", "lost", "unheard"].includes(task.state) ? 1 : found === null ? null : found / most,
    text: `${task.name}: ${task.state}, ${word} ${write(found)}${away}${task.container ? `, on ${task.container}` : ""}`,
  };
}

const COLUMNS = [
  { key: "task", label: "Task", num: true, fit: true, cell: ({ task }) => html`<a href=${link(["jobs", task.job], { tab: "logs", task: task.task })} title="What it prints, and how it failed last">${count(task.task)}</a>` },
  { key: "state", label: "State", fit: true, cell: ({ task }) => html`<${State} of=${task.state} />` },
  { key: "container", label: "Container", fit: true, cell: ({ task }) => task.container && html`<a href=${link(["placement"], { container: task.container })}><bdi>${task.container}</bdi></a>` },
  { key: "lag", label: "Lag", num: true, fit: true, cell: ({ task }) => seconds(task.lag_seconds) },
  { key: "behind", label: "Records behind", num: true, fit: true, cell: ({ task }) => brief(task.lag_records) },
  { key: "in", label: "In", num: true, fit: true, cell: ({ task }) => rate(task.records_in_per_s) },
  { key: "out", label: "Out", num: true, fit: true, cell: ({ task }) => rate(task.records_out_per_s) },
  { key: "busy", label: "Busy", num: true, fit: true, cell: ({ task }) => percent(task.busy_share) },
  { key: "cpu", label: "Cores", num: true, fit: true, cell: ({ task }) => number(task.cpu_cores) },
  { key: "memory", label: "Memory", num: true, fit: true, cell: ({ task }) => bytes(task.memory_bytes) },
  { key: "state-size", label: "State size", num: true, fit: true, cell: ({ task }) => bytes(task.state_bytes) },
  { key: "partitions", label: "Partitions", num: true, fit: true, hint: "That it reads", cell: ({ task }) => html`<span title=${partitions(task)}>${count(task.partitions?.length)}</span>` },
  { key: "generation", label: "Gen.", num: true, fit: true, hint: "Of its specs, and of its shard", cell: ({ task }) => (task.generation === null ? "–" : `${task.generation}/${task.shard_generation}`) },
  { key: "attempt", label: "Attempt", num: true, fit: true, cell: ({ task }) => count(task.attempt) },
  { key: "since", label: "Since", fit: true, cell: ({ task }) => html`<${Ago} ms=${task.since_ms} />` },
  { key: "why", label: "Says", wide: true, cell: ({ task }) => html`<bdi class="break">${task.explanation || task.cause}</bdi>` },
];

const partitions = (task) => (task.partitions || []).slice(0, 40).map((one) => `${one.topic}/${one.partition} ${brief(one.lag_records)} behind`).join("\n");
