// Shows the day of a fleet: what it read, how far it was behind, what it used, how often tasks began
// again; what was decided in the last hour; and what a shift left, what needs somebody first.

import { useAnswer } from "../app/api.js";
import { at, link, place } from "../app/place.js";
import { Ago, Choice, Copies, JobLink, Nothing, Section, Shown, State, Time } from "../app/parts.js";
import { Plot, TIMES, WHOLE } from "../app/plot.js";
import { head } from "../app/stream.js";
import { html, useMemo } from "../app/ui.js";
import { brief, count, instant, iso, lane, plural, rate, span, value } from "../app/words.js";
import { Zoom, zoomText, zoomed } from "../app/zoom.js";

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
  const part = zoomed();
  const asked = part ? { from: iso(part[0]), to: iso(part[1]) } : at.value ? {} : { to: to && iso(to) };
  const answer = useAnswer(to ? ["fleet", "series"] : null, { ...asked, buckets: BUCKETS }, { live: false });
  const long = answer.body ? answer.body.end_ms - answer.body.t_ms[0] : 0;
  return html`<${Section} id="day" title=${part ? "A part of the day" : "The last day"} acts=${long > 0 && html`<${Zoom} whole=${[answer.body.t_ms[0], answer.body.end_ms]} />`}
    note=${zoomText() || (long && long < 24 * HOUR_MS - MINUTE_MS ? `${span(long)} of it: before that no task reported` : "")}>
    <${Shown} answer=${answer}>${(body) => html`<${Day} body=${body} now=${instant(at.value) ?? head.value?.now_ms ?? body.end_ms} />`}<//>
  <//>`;
}

function Day({ body, now }) {
  const lines = useMemo(
    () => ({
      rate: [{ label: "in", values: body.rate_in, colour: "plot-1" }],
      lag: [{ label: "the worst job", values: body.lag_seconds, colour: "plot-2" }],
      cores: [{ label: "cores used", values: body.cores, colour: "plot-3" }],
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

/** What happened to a job, what is open first, the newest of each sort first: word, instant, text. */
export function linesOf(one) {
  return [
    ...dated("open", one.open),
    ...dated("held", [one.quarantine].filter(Boolean)),
    ...dated("failed", [one.failed].filter(Boolean)),
    ...(one.waits_ms ? [["waits", one.waits_ms, "what is expected since then is not in effect"]] : []),
    ...newest("scaling", one.scaling, outcome),
    ...newest("config", one.config, (row) => row.what === "changed" && row.differences.map(change).join(", ")),
    ...newest("rejected", one.rejected),
    ...newest("released", one.released),
    ...newest("over", one.cleared),
  ];
}

/** The sentence of each record, with its instant; below it what `more` adds. */
const dated = (word, rows, more = () => "") =>
  rows.flatMap((row) => [[word, row.at_ms, row.text], ["", null, more(row)]].filter(([, , text]) => text));
const newest = (word, rows, more) => dated(word, [...rows].reverse(), more);
const outcome = (row) => row.tasks !== null && (row.became || "no outcome yet");
const change = (one) => `${one.path} ${value(one.before)} → ${value(one.after)}`;

function tierLines(one) {
  const moved = Object.entries(one.moves);
  return [
    ...dated("open", one.open),
    ...(moved.length ? [["moves", null, moved.map(([why, many]) => `${many} ${why}`).join(", ")]] : []),
    ...(one.killed ? [["killed", null, plural(one.killed, "shard")]] : []),
    ...newest("event", one.events),
    ...dated("over", one.cleared),
  ];
}
