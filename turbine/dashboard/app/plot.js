// Knows how values over time are drawn: uPlot, in the colours of the theme, with marks of decisions.

import uPlot from "../vendor/uplot.js";
import { link } from "./place.js";
import { local, shown } from "./settings.js";
import { html, useEffect, useRef, useState } from "./ui.js";
import { UNKNOWN, clock, clockName, time } from "./words.js";

const HEIGHT = 148;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * @typedef {{label: string, values: (number | null)[], colour: string, stepped?: boolean, dashed?: boolean}} Line
 * @typedef {{at_ms: number, kind: string, id?: string, text: string}} Mark
 * @param {{title: string, times: number[], lines: Line[], write: (value: number) => string, marks?: Mark[],
 *   limit?: number, group?: string, seen?: number | null}} props
 */
export function Plot({ title, times, lines, write, marks = [], limit, group = "time", seen = null }) {
  const ref = useRef(null);
  const [pointed, point] = useState(null);
  useEffect(() => {
    const box = ref.current;
    const made = new uPlot(options({ box, lines, write, marks, limit, group, seen, point }), [times.map((ms) => ms / 1000), ...lines.map((one) => one.values)], box);
    const watch = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [times, lines, marks, shown.value, local.value, seen]);
  return html`<figure class="plot">
    <figcaption><span class="strong">${title}</span>
      ${lines.map((one) => html`<${Legend} key=${one.label} line=${one} at=${pointed} write=${write} />`)}
      ${pointed !== null && times[pointed] !== undefined && html`<span class="quiet">${clock(times[pointed])} ${clockName()}</span>`}</figcaption>
    <div ref=${ref} role="img" aria-label=${told(title, times, lines, write)}></div>
  </figure>`;
}

const last = (values) => values.findLast((one) => one !== null && one !== undefined);

/** What the line is, and its value where the cursor is, or else where it ends. */
function Legend({ line, at, write }) {
  const found = at === null ? last(line.values) : line.values[at];
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

function options({ box, lines, write, marks, limit, group, seen, point }) {
  const ink = colour("--ink-3");
  const grid = { stroke: colour("--line"), width: 1 };
  const font = '11px "Inter", sans-serif';
  return {
    width: box.clientWidth || 600,
    height: HEIGHT,
    // A day later is a day later, whatever clocks were put back: instants are UTC but for their text.
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: group }, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(high ?? 0, limit || 0) * 1.08 || 1] } },
    axes: [
      { stroke: ink, font, grid: { ...grid, show: false }, ticks: grid, size: 26, space: 70, values: (_, all) => all.map((one) => clock(one * 1000).slice(0, 5)) },
      { stroke: ink, font, grid, ticks: { show: false }, size: 62, space: 34, values: (_, all) => all.map((one) => write(one)) },
    ],
    series: [
      { value: (_, one) => (one === null ? UNKNOWN : `${time(one * 1000)} ${clockName()}`) },
      ...lines.map((one) => ({
        label: one.label,
        stroke: colour(CSS[one.colour]),
        width: 1.5,
        dash: one.dashed ? [5, 4] : undefined,
        paths: one.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
        points: { show: false },
        spanGaps: false, // a gap is what nobody knows
      })),
    ],
    hooks: { draw: [(plot) => draw(plot, { marks, limit, seen })], setCursor: [(plot) => point(plot.cursor.left < 0 ? null : plot.cursor.idx)] },
  };
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

/** The marks of a plot once more, as links: a picture cannot be clicked by keys. */
export function MarkList({ marks }) {
  if (!marks.length) return null;
  return html`<ul class="marks" aria-label="Decisions in this span">
    ${marks.slice(0, 12).map(
      (one) => html`<li key=${one.id}><a href=${link(["decisions", one.id])} class=${`mark is-${one.kind}`}>
        <time>${clock(one.at_ms)}</time> <bdi>${one.text}</bdi></a></li>`,
    )}
  </ul>`;
}
