// Shows a job over time: what came in and went out, how far it was behind, how many tasks it had, and
// what was decided when.

import { useAnswer } from "../app/api.js";
import { at, place } from "../app/place.js";
import { Choice, Nothing, Section, Shown } from "../app/parts.js";
import { MarkList, Plot, TIMES, WHOLE, folded } from "../app/plot.js";
import { head, wall } from "../app/stream.js";
import { html, useMemo } from "../app/ui.js";
import { brief, count, instant, iso, plural, rate, span } from "../app/words.js";
import { Zoom, zoomText, zoomed } from "../app/zoom.js";

const RANGES = [["", "1 h", 3_600_000], ["6h", "6 h", 21_600_000], ["1d", "1 d", 86_400_000], ["14d", "14 d", 1_209_600_000]];
const BUCKETS = 180;
const DECISIONS = 50;
const APART = 40; // marks nearer to one another than that part of the span lie on one another

export function JobPlots({ job, slo }) {
  const range = RANGES.find(([key]) => key === (place.value.query.range || "")) || RANGES[0];
  const seen = instant(at.value);
  const now = seen ?? head.value?.now_ms ?? wall.value;
  // The end moves by whole buckets: a plot that creeps by pixels cannot be read.
  const grain = range[2] / BUCKETS;
  const end = Math.ceil(now / grain) * grain;
  const part = zoomed();
  const [from, to] = part || [Math.round(end - range[2]), Math.round(end)];
  const series = useAnswer(["jobs", job, "series"], { from: iso(from), to: iso(to), buckets: BUCKETS, trim: !part });
  const decisions = useAnswer(["jobs", job, "decisions"], { limit: DECISIONS });
  const begin = series.body?.t_ms[0] ?? from;
  const marks = useMemo(
    () => folded((decisions.body?.items || []).filter((one) => one.stands && one.at_ms >= begin && one.at_ms <= to).flatMap(mark), (to - begin) / APART),
    [decisions.body, to, begin],
  );
  return html`<${Section} id="over-time" title="Over time" note=${zoomText() || `the last ${span(Math.min(range[2], to - begin))}${seen ? " before the instant" : ""}`}
    acts=${html`<${Zoom} whole=${[begin, to]} /><${Choice} label="Span" name="range" value=${part ? null : range[0]} also=${{ zoom: "" }} options=${RANGES} />`}>
    <${Shown} answer=${series}>${(body) => html`<${Plots} body=${body} slo=${slo} marks=${marks} seen=${seen} now=${now} />`}<//>
    <${MarkList} marks=${marks} />
  <//>`;
}

const KINDS = { "scale-up": "up", "memory-up": "up", "scale-down": "down", "memory-down": "down", revert: "bad" };

/** Only what changed the job, or called for somebody: the rest stands in the list of decisions. */
function mark(one) {
  const { kind, body, at_ms, id } = one;
  if (kind === "ScalingDecided") return [{ at_ms, id, kind: KINDS[body.action] || "other", text: `${body.action} to ${plural(body.final_tasks, "task")}` }];
  if (kind === "ScalingReverted") return [{ at_ms, id, kind: "bad", text: "scaling reverted" }];
  if (kind === "AlertRaised") return [{ at_ms, id, kind: "bad", text: body.alert }];
  if (kind === "JobQuarantined") return [{ at_ms, id, kind: "bad", text: "quarantined" }];
  if (kind === "JobConfigChanged" && body.layer !== "scaler") return [{ at_ms, id, kind: "other", text: `${body.layer} config changed`, what: "config change" }];
  return [];
}

const known = (values) => values.some((one) => one !== null);

function Plots({ body, slo, marks, seen, now }) {
  const lines = useMemo(
    () => ({
      rates: [
        { label: "in", values: body.rate_in, colour: "plot-1" },
        { label: "out", values: body.rate_out, colour: "plot-3", dashed: true },
      ],
      lag: [{ label: "lag", values: body.lag_seconds, colour: "plot-2" }],
      tasks: [{ label: "tasks", values: body.tasks, colour: "plot-1", stepped: true }],
      cores: [{ label: "cores", values: body.cores, colour: "plot-3" }],
    }),
    [body],
  );
  if (!body.t_ms.length || ![body.rate_in, body.lag_seconds, body.tasks].some(known)) {
    return html`<${Nothing}>No task of this job reported anything in this span. A task reports once a minute; see
      whether its tasks run, or choose a longer span.<//>`;
  }
  const common = { times: body.t_ms, end: body.end_ms, known: now, marks, seen };
  return html`<div class="plots">
    <${Plot} ...${common} title="Records" lines=${lines.rates} write=${rate} />
    <${Plot} ...${common} title="Behind" lines=${lines.lag} write=${(value) => span(value * 1000)} steps=${TIMES} limit=${slo} />
    <${Plot} ...${common} title="Tasks" lines=${lines.tasks} write=${count} steps=${WHOLE} />
    ${known(body.cores) && html`<${Plot} ...${common} title="Processors" lines=${lines.cores} write=${brief} />`}
  </div>`;
}
