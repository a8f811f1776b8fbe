// Knows which instant is shown, what happened around it, and lets one go there.
//
// The range input is the whole of it: a mouse drags it, arrows step it, a reader of the screen hears
// it. What lies under it is drawn and says nothing that the journal does not say in words.

import { useAnswer } from "./api.js";
import { at, change, changed, place } from "./place.js";
import { head, wall } from "./stream.js";
import { html, useEffect, useMemo, useRef, useState } from "./ui.js";
import { clock, clockName, instant, iso, plural, sortOfAt, span as spanText, time } from "./words.js";

const SPANS = [["15m", 900_000], ["1h", 3_600_000], ["6h", 21_600_000], ["1d", 86_400_000], ["7d", 604_800_000]];
const USUAL = "1h";
const STEPS = 600; // a step is less than a pixel or two on any screen
const BUCKETS = 120;
const DRAG_MS = 120;
const AT_SAYS = { position: "a position of the log", span: "before now", "": "is no instant" };
const LANES = ["alert", "scaling", "config", "sync", "placement"];

const spanOf = () => SPANS.find(([name]) => name === (place.value.query.span || USUAL)) || SPANS[1];

/** From when to when the bar goes: it stands still while one looks at the past within it. */
function useWindow() {
  const [, long] = spanOf();
  const grain = long / BUCKETS;
  const now = head.value?.now_ms || wall.value;
  const seen = instant(at.value);
  const kept = useRef(null);
  const end = Math.ceil(now / grain) * grain;
  const old = kept.current;
  const stays = at.value && old && old.long === long && (seen === null || (seen >= old.from && seen <= old.to));
  if (!stays) {
    const outside = seen !== null && seen < end - long;
    const to = outside ? Math.ceil((seen + long / 2) / grain) * grain : end;
    kept.current = { from: to - long, to, long, now: outside ? to : now };
  }
  return kept.current;
}

export function TimeBar() {
  const { from, to, now } = useWindow();
  const marks = useAnswer(["markers"], { from: iso(Math.round(from)), to: iso(Math.round(to)), buckets: BUCKETS, at: "" });
  const seen = instant(at.value);
  const [dragged, setDragged] = useState(null);
  const shown = dragged ?? seen ?? now;
  const timer = useRef(0);
  useEffect(() => setDragged(null), [at.value]);

  const step = (to - from) / STEPS;
  const text = (ms) => (ms >= now - step ? "" : iso(Math.round(ms / 1000) * 1000));
  const drag = (event) => {
    const ms = from + Number(event.target.value) * step;
    setDragged(ms);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change({ at: text(ms) }, { replace: Boolean(at.value) }), DRAG_MS);
  };
  const drop = (event) => {
    clearTimeout(timer.current);
    setDragged(null);
    change({ at: text(from + Number(event.target.value) * step) }, { replace: Boolean(at.value) });
  };
  const position = at.value && seen === null;
  const label = position ? "at a position" : time(shown);
  return html`<div class="timebar">
    <div class="instant">
      <strong class="name" title=${position ? at.value : iso(shown)}>${position ? at.value : `${clock(shown)} ${clockName()}`}</strong>
      ${position ? AT_SAYS[sortOfAt(at.value)] : shown < now - step ? `${spanText((head.value?.now_ms || now) - shown)} ago` : label.slice(0, 10)}
    </div>
    <div class="track">
      <${Marks} answer=${marks} from=${from} to=${to} />
      <input id="instant" type="range" min="0" max=${STEPS} step="1" aria-label="Instant that is shown"
        aria-valuetext=${shown >= now - step ? "now" : label}
        value=${Math.max(0, Math.min(STEPS, Math.round((shown - from) / step)))}
        onInput=${drag} onChange=${drop} />
    </div>
    <nav class="choice spans" aria-label="Span of the time bar">
      ${SPANS.map(([name]) => html`<a key=${name} href=${changed({ span: name === USUAL ? "" : name })}
        aria-current=${name === spanOf()[0] ? "true" : undefined}>${name}</a>`)}
    </nav>
  </div>`;
}

/** A lane for each kind of decision, a mark where one fell, taller where more did. */
function Marks({ answer, from, to }) {
  const told = answer.body;
  const drawn = useMemo(() => lanes(told), [told]);
  const total = drawn.reduce((sum, one) => sum + one.count, 0);
  const label = `${plural(total, "decision")} from ${clock(from)} to ${clock(to)}`;
  return html`<svg viewBox=${`0 0 ${BUCKETS} 40`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <line class="axis" x1="0" x2=${BUCKETS} y1="39.5" y2="39.5" vector-effect="non-scaling-stroke" />
    ${drawn.map((one) => html`<rect key=${one.key} class=${one.kind} x=${one.x + 0.12} y=${one.y} width="0.76" height=${one.height} />`)}
  </svg>`;
}

/** Counts of `/markers` as marks; each bucket is a pile, what is worst at its foot. */
export function lanes(told) {
  const times = told?.t_ms || [];
  const of = (kind, x) => told[kind]?.[x] || 0;
  const most = Math.max(4, ...times.map((_, x) => LANES.reduce((sum, kind) => sum + of(kind, x), 0)));
  const found = [];
  times.forEach((_, x) => {
    let y = 39;
    for (const kind of LANES) {
      const count = of(kind, x);
      if (!count) continue;
      // By the root: one alert beside a thousand moves is still seen.
      const height = Math.max(3, 33 * Math.sqrt(count / most));
      y = Math.max(0, y - height);
      found.push({ key: `${kind}${x}`, kind, x, y, height, count });
    }
  });
  return found;
}
