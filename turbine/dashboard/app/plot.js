// Knows how values over time are drawn: uPlot, in the colours of the theme, with marks of decisions.

import uPlot from "../vendor/uplot.js";
import { link } from "./place.js";
import { local, shown } from "./settings.js";
import { html, useEffect, useMemo, useRef, useState } from "./ui.js";
import { UNKNOWN, clock, clockName, time } from "./words.js";
import { dragging, drags, leave, zoom, zoomed } from "./zoom.js";

const HEIGHT = 148;
/** Of what there are no halves. */
export const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
/** Of seconds: parts of a minute, an hour, a day. */
export const TIMES = [0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * @typedef {{label: string, values: (number | null)[], colour: string, stepped?: boolean, dashed?: boolean, bars?: boolean}} Line
 * @typedef {{at_ms: number, kind: string, id?: string, text: string}} Mark
 * @param {{title: string, times: number[], end: number, known: number, lines: Line[], write: (value: number) => string,
 *   marks?: Mark[], limit?: number, group?: string, seen?: number | null, steps?: number[], note?: string}} props
 *   `end` is where the last bucket ends, `known` how far the log itself was heard; `steps` are what an axis may count by
 */
export function Plot(props) {
  const { title, times, end, known = end, lines, write, marks = NONE, limit, group = "time", seen = null, steps, note = "" } = useStill(props);
  const ref = useRef(null);
  const [pointed, point] = useState(null);
  const part = within(times, end);
  const gaps = useMemo(() => unknown(times, end, known, lines), [times, end, known, lines]);
  useEffect(() => {
    const box = ref.current;
    const made = new uPlot(options({ box, part, lines, write, marks, limit, group, seen, steps, gaps, point }), [times.map((ms) => ms / 1000), ...lines.map((one) => one.values)], box);
    const watch = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      made.destroy();
      point(null);
    };
  }, [times, lines, marks, shown.value, local.value, seen, gaps.join(), part.join()]);
  return html`<figure class="plot">
    <figcaption><span class="strong">${title}</span>
      ${lines.map((one) => html`<${Legend} key=${one.label} line=${one} write=${write} />`)}
      ${gaps.length > 0 && html`<span class="legend-one quiet"><i class="hatch"></i>not known</span>`}
      ${note && html`<span class="quiet">${note}</span>`}</figcaption>
    <div class="plot-box">
      <div ref=${ref} role="img" aria-label=${told(title, times, lines, write)}></div>
      ${pointed && html`<${Tip} at=${pointed} times=${times} lines=${lines} write=${write} />`}
    </div>
  </figure>`;
}

const NONE = []; // the same each time, or all would be drawn anew

/** While one drags, all stands still: a chart that is made anew forgets where the drag began. */
function useStill(props) {
  const kept = useRef(props);
  if (!dragging.value) kept.current = props;
  return kept.current;
}

/** What the lines are where the cursor is, beside the cursor. */
function Tip({ at, times, lines, write }) {
  if (times[at.idx] === undefined) return null;
  const side = at.left > at.width / 2 ? { right: `${at.width - at.left + 10}px` } : { left: `${at.left + 10}px` };
  return html`<div class="tip" style=${side} aria-hidden="true"><span class="quiet">${clock(times[at.idx])} ${clockName()}</span>
    ${lines.map((one) => {
      const found = one.values[at.idx];
      return html`<span key=${one.label}>${one.label} <b>${found === null || found === undefined ? "not known" : write(found)}</b></span>`;
    })}</div>`;
}

/** Tasks report once a minute: what is not heard of for less is late, and not unknown. */
const LATE_MS = 120_000;

/**
 * From when to when nobody knows any of the lines, as far as the log was heard: what is blank would
 * else be taken for nothing.
 * @returns {[number, number][]}
 */
export function unknown(times, end, known, lines) {
  const found = [];
  times.forEach((from, at) => {
    const to = times[at + 1] ?? end;
    if (lines.some((one) => one.values[at] !== null && one.values[at] !== undefined)) return;
    const last = found.at(-1);
    if (last && last[1] === from) last[1] = to;
    else found.push([from, to]);
  });
  return found.map(([from, to]) => [from, Math.min(to, known)]).filter(([from, to]) => to - from > (to >= known ? LATE_MS : 0));
}

const last = (values) => values.findLast((one) => one !== null && one !== undefined);

/** What the line is, and its value where it ends. */
function Legend({ line, write }) {
  const found = last(line.values);
  return html`<span class="legend-one">
    <svg width="14" height="8" aria-hidden="true"><line x1="0" x2="14" y1="4" y2="4" class=${line.colour} stroke-dasharray=${line.dashed ? "3 2" : undefined} /></svg>
    ${line.label} <b>${found === undefined || found === null ? UNKNOWN : write(found)}</b></span>`;
}

function told(title, times, lines, write) {
  const known = lines.map((one) => [one.label, one.values.filter((value) => value !== null)]).filter(([, values]) => values.length);
  if (!known.length) return `${title}: nothing was reported`;
  const parts = known.map(([label, values]) => `${label} from ${write(Math.min(...values))} to ${write(Math.max(...values))}, at last ${write(values.at(-1))}`);
  return `${title}, ${time(times[0])} to ${time(times.at(-1))}: ${parts.join("; ")}`;
}

const CSS = { "plot-1": "--plot-1", "plot-2": "--plot-2", "plot-3": "--plot-3" };

/** A label once: 0, 1 and 1 says that something rises which does not. */
const once = (texts) => texts.map((text, at) => (texts.indexOf(text) === at ? text : ""));
const DAY_S = 86_400;

/** From when to when is drawn: what was chosen of what there is. */
function within(times, end) {
  const [from, to] = zoomed() || [times[0], end];
  return from < end && to > times[0] ? [Math.max(from, times[0]), Math.min(to, end)] : [times[0], end];
}

/** A drag over one chart chooses for all: the others of its group are told of the drag, too, and keep still. */
function dragged() {
  let own = false;
  return {
    ready: [({ over }) => {
      over.addEventListener("mousedown", () => {
        own = true;
        drags();
      });
      over.addEventListener("dblclick", leave);
    }],
    setSelect: [(plot) => {
      const { left, width } = plot.select;
      if (own && width > 0) zoom(...[left, left + width].map((at) => plot.posToVal(at, "x") * 1000));
      own = false;
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }],
  };
}

const DRAG_PX = 6; // less is a click

function options({ box, part, lines, write, marks, limit, group, seen, steps, gaps, point }) {
  const ink = colour("--ink-3");
  const grid = { stroke: colour("--line"), width: 1 };
  const font = '11px "Inter", sans-serif';
  const span = part.map((ms) => ms / 1000);
  const when = (one) => (span[1] - span[0] > 2 * DAY_S ? time(one * 1000).slice(5, 10) : clock(one * 1000).slice(0, span[1] - span[0] < 300 ? 8 : 5));
  return {
    width: box.clientWidth || 600,
    height: HEIGHT,
    // A day later is a day later, whatever clocks were put back: instants are UTC but for their text.
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: group }, points: { size: 6 }, drag: { x: true, y: false, setScale: false, dist: DRAG_PX } },
    scales: {
      x: { range: () => span },
      y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(high ?? 0, limit || 0) * 1.08 || 1] },
    },
    axes: [
      { stroke: ink, font, grid: { ...grid, show: false }, ticks: grid, size: 26, space: 70, values: (_, all) => once(all.map(when)) },
      { stroke: ink, font, grid, ticks: { show: false }, size: 62, space: 34, values: (_, all) => once(all.map((one) => write(one))), ...(steps ? { incrs: steps } : {}) },
    ],
    series: [
      { value: (_, one) => (one === null ? UNKNOWN : `${time(one * 1000)} ${clockName()}`) },
      ...lines.map((one) => ({
        label: one.label,
        stroke: colour(CSS[one.colour]),
        fill: one.bars ? colour(CSS[one.colour]) : undefined,
        width: one.bars ? 0 : 1.5,
        dash: one.dashed ? [5, 4] : undefined,
        paths: one.bars ? uPlot.paths.bars({ size: [0.7, 24], align: 1 }) : one.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
        // A point with nobody on either side is no line, and would not be seen.
        points: { show: !one.bars && one.values.filter((value) => value !== null).length < 3, size: 4 },
        spanGaps: false, // a gap is what nobody knows
      })),
    ],
    hooks: {
      ...dragged(),
      drawClear: [(plot) => hatch(plot, gaps)],
      draw: [(plot) => draw(plot, { marks, limit, seen })],
      setCursor: [(plot) => point(plot.cursor.left < 0 ? null : { idx: plot.cursor.idx, left: plot.cursor.left + plot.over.offsetLeft, width: box.clientWidth })],
    },
  };
}

const HATCH = 7;

/** Slanting lines where nobody knows. */
function hatch(plot, gaps) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour("--line-strong");
  ctx.lineWidth = devicePixelRatio;
  for (const [from, to] of gaps) {
    const left = Math.max(bbox.left, plot.valToPos(from / 1000, "x", true));
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(to / 1000, "x", true));
    if (right <= left) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.beginPath();
    for (let x = left - bbox.height; x < right; x += HATCH * devicePixelRatio) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

const MARKS = { up: "--plot-2", down: "--plot-1", bad: "--bad", other: "--ink-3" };

/** Under the lines what was decided, above them what was promised. */
function draw(plot, { marks, limit, seen }) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  const upright = (ms, dash) => {
    const x = Math.round(plot.valToPos(ms / 1000, "x", true)) + 0.5;
    if (x < bbox.left || x > bbox.left + bbox.width) return null;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    return x;
  };
  for (const mark of marks) {
    ctx.strokeStyle = ctx.fillStyle = colour(MARKS[mark.kind] || MARKS.other);
    ctx.globalAlpha = 0.75;
    const x = upright(mark.at_ms, [2, 3]);
    if (x === null) continue;
    ctx.globalAlpha = 1;
    const size = 4 * devicePixelRatio;
    const flip = mark.kind === "down" ? -1 : 1;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top - flip * size);
    ctx.lineTo(x + size, bbox.top + flip * size);
    ctx.lineTo(x - size, bbox.top + flip * size);
    ctx.fill();
  }
  if (limit) {
    const y = Math.round(plot.valToPos(limit, "y", true)) + 0.5;
    ctx.strokeStyle = colour("--bad");
    ctx.setLineDash([6, 4]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  if (seen) {
    ctx.strokeStyle = colour("--ink");
    upright(seen, []);
  }
  ctx.restore();
}

/**
 * Marks of one sort that lie closer together than they could be drawn, as one that says how many.
 * @param {(Mark & {what?: string})[]} marks @param {number} apart in milliseconds
 */
export function folded(marks, apart) {
  const found = [];
  for (const one of [...marks].sort((one, other) => one.at_ms - other.at_ms)) {
    const last = found.at(-1);
    if (last && one.what && last.what === one.what && last.kind === one.kind && one.at_ms - last.until_ms < apart) {
      last.count += 1;
      last.until_ms = one.at_ms;
      last.text = `${last.count} ${one.what}s`;
    } else {
      found.push({ ...one, count: 1, until_ms: one.at_ms });
    }
  }
  return found;
}

/** The marks of a plot once more, as links: a picture cannot be clicked by keys. */
export function MarkList({ marks }) {
  if (!marks.length) return null;
  return html`<ul class="marks" aria-label="Decisions in this span">
    ${marks.slice(-12).map(
      (one) => html`<li key=${one.id}><a href=${link(["decisions", one.id])} class=${`mark is-${one.kind}`}>
        <time>${clock(one.at_ms)}</time> <bdi>${one.text}</bdi></a></li>`,
    )}
  </ul>`;
}
