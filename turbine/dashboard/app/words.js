// Knows how numbers, sizes, times and records are written for people. Unknown is a dash, never 0.

import { local } from "./settings.js";

export const UNKNOWN = "–";
const known = (value) => value !== null && value !== undefined && value !== "" && !Number.isNaN(value);

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const count = (value) => (known(value) ? whole.format(value) : UNKNOWN);
export const number = (value) => (known(value) ? three.format(value) : UNKNOWN);
export const brief = (value) => (known(value) ? (Math.abs(value) < 1000 ? three : short).format(value).replace("K", "k") : UNKNOWN);
export const rate = (value) => (known(value) ? `${brief(value)}/s` : UNKNOWN);
export const percent = (share) => (known(share) ? `${(share * 100).toFixed(share && Math.abs(share) < 0.1 ? 1 : 0)} %` : UNKNOWN);
export const plural = (value, what, many = `${what}s`) => `${count(value)} ${value === 1 ? what : many}`;

/** Bytes, in units of 1024. */
export function bytes(value) {
  if (!known(value)) return UNKNOWN;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let rest = value;
  while (Math.abs(rest) >= 1024 && at < units.length - 1) {
    rest /= 1024;
    at += 1;
  }
  return `${three.format(rest)} ${units[at]}`;
}

/** A length of time in its two greatest units. */
export function span(ms) {
  if (!known(ms)) return UNKNOWN;
  const seconds = Math.abs(ms) / 1000;
  if (!seconds) return "0 s";
  if (seconds < 1) return `${Math.round(Math.abs(ms))} ms`;
  if (seconds < 60) return `${seconds < 10 ? three.format(seconds) : Math.round(seconds)} s`;
  const steps = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = steps.findIndex(([size]) => seconds >= size);
  const [size, unit] = steps[first];
  const head = Math.floor(seconds / size);
  const [next, nextUnit] = steps[first + 1];
  const rest = Math.floor((seconds % size) / next);
  return rest ? `${head} ${unit} ${rest} ${nextUnit}` : `${head} ${unit}`;
}

export const seconds = (value) => (known(value) ? span(value * 1000) : UNKNOWN);

const two = (value) => String(value).padStart(2, "0");

function fields(ms) {
  const date = new Date(ms);
  return local.value
    ? [date.getFullYear(), date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()]
    : [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
}

export const clockName = () => (local.value ? "local" : "UTC");

/** 14:03:22 */
export function clock(ms) {
  if (!known(ms)) return UNKNOWN;
  const [, , , hour, minute, second] = fields(ms);
  return `${two(hour)}:${two(minute)}:${two(second)}`;
}

/** 2026-11-19 14:03:22 */
export function time(ms) {
  if (!known(ms)) return UNKNOWN;
  const [year, month, day] = fields(ms);
  return `${year}-${two(month)}-${two(day)} ${clock(ms)}`;
}

/** What an instant is in the URL, in copies and in titles: the same for every reader. */
export const iso = (ms) => (known(ms) ? new Date(ms).toISOString().replace(".000Z", "Z") : "");

/** Of an instant in the URL; null where it is a position of the log. */
export function instant(text) {
  const found = /^\d{4}-\d\d-\d\d[T ]/.test(text) ? Date.parse(text.replace(" ", "T")) : NaN;
  return Number.isNaN(found) ? null : found;
}

/** What the `at` of the URL is: an instant, a span, a position of the log; "" where it is none of them. */
export function sortOfAt(text) {
  if (instant(text) !== null) return "instant";
  if (/^[\w.-]+\/\d+:\d+(,|$)/.test(text)) return "position";
  return /^\d+ ?(s|m|min|h|d)( ago)?$/.test(text) ? "span" : "";
}

/** How long ago, by the log's own time. */
export const ago = (ms, now) => (known(ms) && known(now) ? (now - ms < 1000 ? "now" : `${span(now - ms)} ago`) : UNKNOWN);

/** A value of a config in one line. */
export function value(found) {
  if (found === undefined || found === null) return found === null ? "null" : UNKNOWN;
  return typeof found === "string" ? found : JSON.stringify(found);
}

const KIND_CLASSES = [
  [/^Alert/, "alert"],
  [/^Scaling/, "scaling"],
  [/^(Sync|JobQuarantined|JobReleased|TaskSpecs)/, "sync"],
  [/^(Shard|Container|Placement|Tier|Capacity|Jobs(Pre|Res))/, "placement"],
];
/** The lane of the time bar that a kind of record belongs to. */
export const lane = (kind) => (KIND_CLASSES.find(([pattern]) => pattern.test(kind)) || [null, "config"])[1];

/** An object that a record holds as text; {} where it holds none. */
export function parsed(text) {
  try {
    const found = JSON.parse(text || "{}");
    return found && typeof found === "object" ? found : { value: found };
  } catch {
    return { text };
  }
}

/** The leaves of a value by dotted paths; a list is one leaf. */
export function leaves(found, path = "") {
  if (!found || typeof found !== "object" || Array.isArray(found) || !Object.keys(found).length) {
    return path ? [[path, found]] : [];
  }
  return Object.entries(found).flatMap(([key, inner]) =>
    leaves(inner, path ? `${path}.${key.replaceAll(".", "\\.")}` : key.replaceAll(".", "\\.")),
  );
}
