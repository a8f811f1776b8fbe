// Shows the day of a fleet: what it read, how far it was behind, what it used, how often tasks began
// again; what was decided in the last hour; and what a shift left, what needs somebody first.

import { useAnswer } from "../app/api.js";
import { at, link, place } from "../app/place.js";
import { Ago, Choice, Copies, JobLink, Nothing, Section, Shown, State, Time } from "../app/parts.js";
import { Plot, TIMES, WHOLE } from "../app/plot.js";
import { head } from "../app/stream.js";
import { html, useMemo } from "../app/ui.js";
import { brief, count, instant, iso, lane, plural, rate, span, value } from "../app/words.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const STEP_MS = 30_000; // the day is drawn anew so often: minutes are what it is made of
const BUCKETS = 144;

/** The log's own time as it is shown, by whole steps; null until it is known. */
function useNow(step) {
  const now = instant(at.value) ?? head.value?.now_ms;
  return now ? Math.ceil(now / step) * step : null;
}

const known = (values) => values.some((one) => one !== null);

export function FleetDay() {
  const to = useNow(STEP_MS);
  const asked = at.value ? { buckets: BUCKETS } : { to: to && iso(to), buckets: BUCKETS };
  const answer = useAnswer(to ? ["fleet", "series"] : null, asked, { live: false });
  const long = answer.body ? answer.body.end_ms - answer.body.t_ms[0] : 0;
  return html`<${Section} id="day" title="The last day" note=${long && long < 24 * HOUR_MS - MINUTE_MS ? `${span(long)} of it: before that no task reported` : ""}>
    <${Shown} answer=${answer}>${(body) => html`<${Day} body=${body} now=${instant(at.value) ?? head.value?.now_ms ?? body.end_ms} />`}<//>
  <//>`;
}

function Day({ body, now }) {
  const lines = useMemo(
    () => ({
      rate: [{ label: "in", values: body.rate_in, colour: "plot-1" }],
      lag: [{ label: "the worst job", values: body.lag_seconds, colour: "plot-2" }],
      cores: [{ label: "used", values: body.cores, colour: "plot-3" }],
      // Of a day without any there is nothing to draw, and 0 to say.
      restarts: [{ label: "tasks", values: body.restarts, colour: "plot-2", bars: true }],
    }),
    [body],
  );
  if (![body.rate_in, body.lag_seconds, body.cores].some(known)) {
    return html`<${Nothing}>No task reported anything in the last day. A task reports once a minute; do any run?<//>`;
  }
  const common = { times: body.t_ms, end: body.end_ms, known: now, group: "fleet" };
  const jobs = body.jobs.findLast((one) => one !== null);
  const unsure = body.lag_unknown.findLast((one) => one !== null);
  const total = body.restarts.reduce((sum, one) => sum + (one || 0), 0);
  return html`<div class="plots is-grid">
    <${Plot} ...${common} title="Input" lines=${lines.rate} write=${rate} note=${jobs ? `of ${plural(Math.round(jobs), "job")}` : ""} />
    <${Plot} ...${common} title="Behind" lines=${lines.lag} write=${(one) => span(one * 1000)} steps=${TIMES} note=${unsure ? `${plural(Math.round(unsure), "job")} whose lag nobody knows` : ""} />
    <${Plot} ...${common} title="Processors" lines=${lines.cores} write=${brief} />
    <${Plot} ...${common} title="Restarts" lines=${lines.restarts} write=${count} steps=${WHOLE} note=${`${count(total)} in all: after a failure, a move, or for another size`} />
  </div>`;
}

// --- the last hour

const TOLD = [
  "JobConfigChanged", "JobDeleted", "OverrideExpired", "JobConfigRejected", "ScalingDecided", "ScalingReverted", "ScalingVerified", "JobQuarantined",
  "JobReleased", "SyncFailed", "AlertRaised", "AlertCleared", "ContainerFailOverRequested", "CapacityLent", "CapacityBorrowed", "JobsPreempted", "JobsRestored",
].join(",");
const READ = 100;
const SHOWN = 10;

/** Entries of one kind about one job that follow one another, as one with a count. */
export function bursts(items) {
  const found = [];
  for (const one of items) {
    const before = found.at(-1);
    if (before && before.kind === one.kind && before.job === one.job && before.tier === one.tier) before.count += 1;
    else found.push({ ...one, count: 1 });
  }
  return found;
}

export function LastHour() {
  const answer = useAnswer(["journal"], { kind: TOLD, void: "false", limit: READ });
  const since = (useNow(MINUTE_MS) ?? 0) - HOUR_MS;
  return html`<${Section} id="hour" title="What changed in the last hour"
    acts=${html`<a class="small" href=${link(["journal"])}>Journal</a>`}>
    <${Shown} answer=${answer}>
      ${(body) => {
        const all = body.items.filter((one) => one.at_ms >= since);
        const rows = bursts(all);
        if (!rows.length) return html`<${Nothing}>Nothing: no config, no size, no alert.<//>`;
        return html`<ul class="alerts hour">${rows.slice(0, SHOWN).map((one) => html`<${Change} key=${one.id} of=${one} />`)}</ul>
          ${rows.length > SHOWN && html`<p class="small quiet">and ${count(rows.length - SHOWN)}${all.length === READ ? " and more" : ""} before that</p>`}`;
      }}
    <//>
  <//>`;
}

const Change = ({ of }) => html`<li>
  <p><a href=${link(["decisions", of.id])} class=${`kind is-${lane(of.kind)}`}>${of.kind}</a>${" "}
    ${of.count > 1 && html`<span class="tag">× ${count(of.count)}</span>${" "}`}
    ${of.job ? html`<${JobLink} job=${of.job} />` : html`<a href=${link(["placement"], { tier: of.tier })}>tier <bdi>${of.tier}</bdi></a>`}
    <span class="small quiet when"><${Ago} ms=${of.at_ms} /></span></p>
  <p class="soft break"><bdi>${of.summary}</bdi></p>
</li>`;

// --- the digest

const SHIFTS = [["", "8 h", 8], ["1h", "1 h", 1], ["1d", "1 d", 24]];
const JOBS_SHOWN = 8;
const LINES_SHOWN = 4;

export function Digest() {
  const shift = SHIFTS.find(([key]) => key === (place.value.query.shift || "")) || SHIFTS[0];
  const now = useNow(MINUTE_MS);
  const answer = useAnswer(now ? ["digest"] : null, { from: now && iso(now - shift[2] * HOUR_MS) }, { live: false });
  return html`<${Section} id="digest" title="Digest"
    acts=${html`<${Choice} label="Shift" name="shift" value=${shift[0]} options=${SHIFTS} /><${Copies} command=${`turbine digest --since ${shift[2]}h`} />`}>
    <${Shown} answer=${answer}>${(body) => html`<${Told} of=${body} />`}<//>
  <//>`;
}

function Told({ of }) {
  const many = (stands) => of.jobs.filter((one) => one.stands === stands).length;
  const needing = many("needs you");
  return html`<p class="soft"><b class=${needing ? "bad" : ""}>${plural(needing, "job")}</b> ${needing === 1 ? "needs" : "need"} you,
      ${" "}${count(many("look"))} to look at, ${count(many("fine"))} changed, ${count(of.quiet)} quiet.${" "}
      ${!of.whole && "So much happened that only the last of it is told; choose a shorter span."}</p>
    <ul class="alerts">
      ${of.jobs.slice(0, JOBS_SHOWN).map((one) => html`<li key=${one.job}>
        <p><${JobLink} job=${one.job} /> <${State} of=${one.stands} /></p>
        <${Lines} of=${linesOf(one)} /></li>`)}
      ${of.tiers.map((one) => html`<li key=${`tier ${one.tier}`}>
        <p>${one.tier ? html`<a href=${link(["placement"], { tier: one.tier })}>tier <bdi>${one.tier}</bdi></a>` : "containers"}</p>
        <${Lines} of=${tierLines(one)} /></li>`)}
    </ul>
    ${of.jobs.length > JOBS_SHOWN && html`<p class="small quiet">and ${plural(of.jobs.length - JOBS_SHOWN, "job")} more; <code>turbine digest</code> tells all</p>`}`;
}

const Lines = ({ of }) => html`
  ${of.slice(0, LINES_SHOWN).map(([word, ms, text], at) => html`<p key=${at} class="small soft break"><span class="quiet">${word}</span> ${ms ? html`<${Time} ms=${ms} /> ` : ""}<bdi>${text}</bdi></p>`)}
  ${of.length > LINES_SHOWN && html`<p class="small quiet">and ${count(of.length - LINES_SHOWN)} more</p>`}`;

const change = (one) => `${one.path} ${value(one.before)} → ${value(one.after)}`;

/** What happened to a job, what is open first, the newest of each sort first: word, instant, text. */
export function linesOf(one) {
  const newest = (word, rows, text) => [...rows].reverse().map((row) => [word, row.at_ms, text(row)]);
  return [
    ...one.open.map((row) => ["open", row.at_ms, `${row.alert}: ${row.cause}`]),
    ...(one.quarantine ? [["held", one.quarantine.at_ms, `${one.quarantine.cause}: ${one.quarantine.explanation}`]] : []),
    ...(one.failed ? [["failed", one.failed.at_ms, `${one.failed.name || "the plan"}: ${one.failed.explanation}`]] : []),
    ...(one.waits_ms ? [["waits", one.waits_ms, "what is expected since then is not in effect"]] : []),
    ...newest("scaling", one.scaling, (row) =>
      row.tasks === null
        ? `${row.outcome}, decided earlier: ${row.because}`
        : `${row.action}, ${row.tasks_before ?? "?"} → ${plural(row.tasks, "task")}: ${row.outcome ? `${row.outcome}, ${row.because}` : "no outcome yet"}`),
    ...newest("config", one.config, (row) =>
      [`${row.what}${row.layer ? ` ${row.layer} ${row.version}` : ""}${row.author ? ` by ${row.author}` : ""}`,
        row.what === "changed" && row.differences.map(change).join(", "), row.reason].filter(Boolean).join(": ")),
    ...newest("refused", one.rejected, (row) => row.explanation),
    ...newest("released", one.released, (row) => row.explanation || row.reason),
    ...newest("over", one.cleared, (row) => `${row.alert}: ${row.explanation}`),
  ];
}

function tierLines(one) {
  const moved = Object.entries(one.moves);
  return [
    ...one.open.map((row) => ["open", row.at_ms, `${row.alert}: ${row.cause}`]),
    ...(moved.length ? [["moves", null, moved.map(([why, many]) => `${many} ${why}`).join(", ")]] : []),
    ...(one.killed ? [["killed", null, plural(one.killed, "shard")]] : []),
    ...[...one.events].reverse().map((row) => ["event", row.at_ms, row.text]),
    ...one.cleared.map((row) => ["over", row.at_ms, `${row.alert}: ${row.explanation}`]),
  ];
}
