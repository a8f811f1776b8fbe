// Knows which part of the time that is drawn was chosen: by a drag over any chart of the page, or by
// keys; it stands in the address, and holds for all charts of the page.

import { change, place } from "./place.js";
import { html, signal } from "./ui.js";
import { clock, clockName, instant, iso } from "./words.js";

const LEAST_MS = 60_000; // tasks report once a minute: a shorter span shows nothing more
const SECOND_MS = 1_000;

/** Whether one drags over a chart just now. */
export const dragging = signal(false);

export function drags() {
  dragging.value = true;
  addEventListener("mouseup", () => (dragging.value = false), { once: true });
}

/** @returns {[number, number] | null} from when to when; null where all is drawn */
export function zoomed() {
  const [from, to] = (place.value.query.zoom || "").split("/").map((one) => instant(one));
  return from && to && from < to ? [from, to] : null;
}

export function zoom(from, to) {
  const end = Math.max(to, from + LEAST_MS);
  change({ zoom: [from, end].map((ms) => iso(Math.round(ms / SECOND_MS) * SECOND_MS)).join("/") });
}

export const leave = () => change({ zoom: "" });

/** In words, where a part is chosen. */
export function zoomText() {
  const found = zoomed();
  return found && `${clock(found[0])} to ${clock(found[1])} ${clockName()}`;
}

/**
 * By keys what a drag and a double click do: the later half of the span, and all of it again.
 * @param {{whole: [number, number]}} props what is drawn where nothing is chosen
 */
export function Zoom({ whole }) {
  const [from, to] = zoomed() || whole;
  return html`<button type="button" class="plain" title="The later half; or drag over a chart" disabled=${to - from < 2 * LEAST_MS}
      onClick=${() => zoom(from + (to - from) / 2, to)}>Closer</button>
    ${zoomed() && html`<button type="button" class="plain" title="Or double-click a chart" onClick=${leave}>Whole span</button>`}`;
}
