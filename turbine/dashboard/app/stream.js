// Knows whether the page is live: listens to the log, and tells the parts when to look again.
//
// The browser resumes by itself with the last position that it heard (`Last-Event-ID`), so nothing is
// lost. What is shown is always asked of the API anew: an event says that, not what, has changed.

import { at } from "./place.js";
import { computed, effect, signal } from "./ui.js";
import { sortOfAt } from "./words.js";

const LATE_MS = 15_000; // ticks come once a second; what is later than that is worth a word
const SILENT_MS = 30_000; // three looks without an answer
const BEAT_MS = 1_500; // between two looks, however fast the log goes on
const STILL_MS = 10_000; // lag creeps although nobody decides anything
const RECENT_MAX = 60;
const RECONNECT_MS = 3_000;

/** Rises when it is worth looking again. */
export const pulse = signal(0);
/** Why nothing can be changed from here; "" where it can. */
export const fixed = () =>
  head.value?.file ? "Nothing can be changed in a file" : at.value ? "Only now can be changed: press n to go back to it" : "";

/** The end of the log, as told last: `{now_ms, heard_ms}`, and the `file` that it lies in, if it does. */
export const head = signal(null);
/** The last decisions that were heard, newest first. */
export const recent = signal([]);
export const paused = signal(false);
const link = signal("waiting"); // waiting, open, lost
const heard = signal(0);
/** The clock on the wall, once a second: for ages and counts down. */
export const wall = signal(Date.now());

/** How far the log was behind the wall when it was heard last; once it is silent, how far it is. */
export const behindMs = computed(() => {
  if (!head.value?.now_ms || head.value.file) return 0; // nothing more comes of a file
  const { now_ms, heard_ms } = head.value;
  const silent = wall.value - heard_ms > SILENT_MS;
  return Math.max(0, (silent ? wall.value : heard_ms) - now_ms);
});

/** @returns {{kind: string, text: string}} */
export const state = computed(() => {
  if (at.value) return { kind: "past", text: sortOfAt(at.value) ? "past" : "no such instant" };
  if (head.value?.file) return { kind: "file", text: "a file" };
  if (paused.value) return { kind: "paused", text: "paused" };
  if (link.value === "lost") return { kind: "lost", text: "no connection" };
  if (link.value === "waiting") return { kind: "waiting", text: "connecting" };
  if (behindMs.value > LATE_MS) return { kind: "behind", text: "behind" };
  return { kind: "live", text: "live" };
});

export function togglePause() {
  paused.value = !paused.value;
  if (!paused.value) pulse.value += 1;
}

let beat = 0;
/** The first change shows at once; those that follow it closely show together. */
function look() {
  if (paused.value || at.value || document.hidden || beat) return;
  pulse.value += 1;
  beat = setTimeout(() => {
    beat = 0;
    if (late) {
      late = false;
      look();
    }
  }, BEAT_MS);
}
let late = false;
function noticed() {
  heard.value = Date.now();
  if (beat) late = true;
  look();
}

/** What any answer or event says of the end of the log; the greatest instant holds. */
export function hear(found) {
  if (found.now_ms < (head.value?.now_ms || 0)) return;
  head.value = { ...head.value, ...found, heard_ms: found.now_ms ? Date.now() : head.value?.heard_ms };
}

function told(event) {
  try {
    return JSON.parse(event.data);
  } catch {
    return null; // half an event of a connection that broke; it comes again
  }
}

let source = null;
export function listen(base) {
  source?.close();
  source = new EventSource(new URL("stream", base));
  source.addEventListener("open", () => {
    link.value = "open";
    noticed();
  });
  source.addEventListener("error", () => {
    link.value = "lost";
    // The browser gives up where the answer was a refusal; we do not.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(base), RECONNECT_MS);
  });
  source.addEventListener("view", (event) => {
    const view = told(event);
    if (view) hear(view);
    noticed();
  });
  for (const kind of ["decision", "alert"]) {
    source.addEventListener(kind, (event) => {
      const decision = told(event);
      if (decision?.id && !recent.value.some((one) => one.id === decision.id)) {
        recent.value = [decision, ...recent.value].slice(0, RECENT_MAX);
      }
      noticed();
    });
  }
}

setInterval(() => {
  wall.value = Date.now();
}, 1_000);
setInterval(look, STILL_MS);
document.addEventListener("visibilitychange", () => document.hidden || look());
effect(() => {
  if (!at.value && !paused.value) queueMicrotask(look);
});
