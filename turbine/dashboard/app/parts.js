// Knows the parts that pages are put together from, and how a page says that it has nothing to show.

import { again } from "./api.js";
import { at, change, changed, link } from "./place.js";
import { head, wall } from "./stream.js";
import { classes, html, useState } from "./ui.js";
import { ago, clock, clockName, count, instant, iso, span, time } from "./words.js";

/** The head of a page: its name, what is said beside it, and what one can do. */
export function Head({ title, children, acts }) {
  return html`<div class="page-head">
    <h1><span class="name" title=${title}>${title}</span></h1>
    ${children}<span class="room"></span>${acts}
  </div>`;
}

/** A part of a page with a heading. */
export function Section({ title, note, acts, children, id }) {
  return html`<section aria-labelledby=${id}>
    <div class="section-head">
      <h2 id=${id}>${title}</h2>
      ${note && html`<span class="quiet small">${note}</span>`}<span class="room"></span>${acts}
    </div>
    ${children}
  </section>`;
}

/**
 * What an answer has to show: the page where it is known, and above it what is the matter; else a
 * sentence and the remedy. `children` is a function of the body.
 * @param {{answer: import("./api.js").Answer, children: (body: any) => any}} props
 */
export function Shown({ answer, children }) {
  if (answer.body !== null && answer.body !== undefined) {
    return html`${answer.problem && html`<${Stale} answer=${answer} />`}${children(answer.body)}`;
  }
  if (answer.problem) return html`<${Trouble} problem=${answer.problem} />`;
  return html`<${Waiting} />`;
}

function Stale({ answer }) {
  return html`<p class="note is-warn" role="status" data-state="stale">
    <span class="strong">What follows is ${span(Math.max(1000, wall.value - answer.since))} old.</span>${" "}
    <${Marked} text=${answer.problem.message} />
  </p>`;
}

export function Trouble({ problem }) {
  // Of an instant that is none, asking again helps nobody.
  const when = problem.told?.place === "query.at" && at.value;
  return html`<div class="note is-bad" role="alert" data-state="error">
    <p><span class="strong">${problem.title || "This cannot be shown."}</span> <${Marked} text=${problem.message} /></p>
    <p>${when
      ? html`<button type="button" onClick=${() => change({ at: "" })}>Back to now</button>`
      : html`<button type="button" onClick=${() => (again.value += 1)}>Ask again</button>`}</p>
  </div>`;
}

/** A sentence of the API: what stands in it between backticks is typed somewhere. */
export const Marked = ({ text }) =>
  html`<span class="break">${String(text).split(/(`[^`]+`)/).map((part, key) => (/^`.+`$/.test(part) ? html`<code key=${key}>${part.slice(1, -1)}</code>` : part))}</span>`;

/** A sentence by itself begins with a capital. */
export const sentence = (text) => text.replace(/^\p{Ll}/u, (first) => first.toUpperCase());

export const Waiting = () =>
  html`<div class="wait" role="status" data-state="loading" aria-label="Loading"><i></i><i></i><i></i></div>`;

/** There is nothing, which is an answer too: why, and what would change it. */
export const Nothing = ({ children }) => html`<p class="empty" data-state="empty">${children}</p>`;

/** A name of any length and script, on its own side of the text. */
export const Name = ({ of }) => html`<bdi class="name" title=${of}>${of}</bdi>`;

/** A link to a job. */
export const JobLink = ({ job }) =>
  html`<a href=${link(["jobs", job])} class="name" title=${job}><bdi>${job}</bdi></a>`;

/** An instant, short, with the whole of it for whoever points at it. */
export function Time({ ms, now, full }) {
  if (ms === null || ms === undefined) return html`<span class="quiet">–</span>`;
  const said = `${iso(ms)}${now ? `, ${ago(ms, now)}` : ""}`;
  return html`<time class="nowrap" datetime=${iso(ms)} title=${said}>${full ? time(ms) : clock(ms)}</time>`;
}

/** How long ago, by the log's own time, with the instant for whoever points at it. */
export function Ago({ ms }) {
  if (ms === null || ms === undefined) return html`<span class="quiet">–</span>`;
  const now = instant(at.value) ?? head.value?.now_ms ?? wall.value;
  return html`<time class="nowrap" datetime=${iso(ms)} title=${`${time(ms)} ${clockName()}`}>${ago(ms, now)}</time>`;
}

/** Until when something holds, counting down; in the past and in a file by the time of what is shown. */
export function Countdown({ ms }) {
  if (!ms) return html`<span class="quiet">never ends</span>`;
  const left = ms - (instant(at.value) ?? (head.value?.file ? head.value.now_ms : wall.value));
  return html`<span title=${`${time(ms)} ${clockName()}`} class=${left < 600_000 ? "warn nowrap" : "nowrap"}>
    ${left > 0 ? `ends in ${span(left)}` : "has ended"}</span>`;
}

const MOODS = {
  good: ["running", "held", "alive", "in sync", "verified", "accepted", "act", "active", "ready", "added", "current", "clean", "fine"],
  warn: ["paused", "lagging", "draining", "drained", "starting", "adding", "dropping", "killing", "dropped", "unheard",
    "warning", "behind", "restarting", "stopping", "syncing", "planned", "advise", "observe", "tight", "waiting", "asked", "killed", "unknown", "look"],
  bad: ["quarantined", "failed", "failing", "silent", "gone", "lost", "unplaced", "critical", "not running", "stopped",
    "unhealthy", "short", "reverted", "rejected", "mismatch", "needs you"],
};
export const mood = (word) => Object.keys(MOODS).find((one) => MOODS[one].includes(word)) || "";

/** One word for how something stands. */
export const State = ({ of }) => html`<span class=${classes("dot", mood(of) && `is-${mood(of)}`)}>${of || "unknown"}</span>`;

/** @typedef {{key: string, label: string, cell?: (row: any) => any, num?: boolean, sort?: string, fit?: boolean, wide?: boolean, hint?: string}} Column */

/**
 * A table; where a column sorts, its head is a link's worth of state in the URL.
 * With `to` a row is one link, for the mouse and for keys.
 * @param {{columns: Column[], rows: any[], label: string, keyOf?: (row: any, at: number) => string, sort?: string, rowClass?: (row: any) => string,
 *   to?: (row: any) => string, kind?: string}} props
 */
export function Table({ columns, rows, label, keyOf, sort, onSort, rowClass, to, kind: sheet }) {
  const kind = (one) => classes(one.num && "num", one.fit && "fit", one.wide && "wide");
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table class=${sheet}>
      <thead>
        <tr>
          ${columns.map(
            (one) => html`<th key=${one.key} scope="col" class=${kind(one)} title=${one.hint}
              aria-sort=${one.sort && sort === one.sort ? "descending" : undefined}>
              ${one.sort ? html`<button type="button" onClick=${() => onSort(one.sort)}>${one.label}${sort === one.sort ? " ↓" : ""}</button>` : one.label}
            </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row, at) => html`<tr key=${keyOf ? keyOf(row, at) : at} class=${classes(rowClass?.(row), to && "is-link")} ...${to && opens(to(row))}>
            ${columns.map((one) => html`<td key=${one.key} class=${kind(one)}>${one.cell ? one.cell(row) : row[one.key]}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Of a row: a click anywhere but on what has a meaning of its own, Enter, and the arrows to go on. */
function opens(href) {
  return {
    tabindex: 0,
    onClick: (event) => {
      if (event.target.closest("a, button, summary, input") || getSelection().toString()) return;
      if (event.ctrlKey || event.metaKey) open(href, "_blank", "noopener");
      else location.hash = href;
    },
    onKeyDown: (event) => {
      const { currentTarget: row } = event;
      if (event.target !== row) return;
      const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
      if (event.key === "Enter") location.hash = href;
      else if (next) next.focus();
      else return;
      event.preventDefault();
    },
  };
}

/** Pages by cursor: what comes next is the API's business; the way back is the browser's. */
export function Pager({ shown, total, next, first }) {
  return html`<nav class="pager" aria-label="Pages">
    <span>${total === undefined || total === null ? count(shown) : `${count(shown)} of ${count(total)}`}</span>
    ${first && html`<a href=${changed({ cursor: "" })}>First page</a>`}
    ${next && html`<a href=${changed({ cursor: next })} rel="next">Next page</a>`}
  </nav>`;
}

/** One of a few, in the URL; `also` is what else of it changes with that. */
export function Choice({ label, options, value, name, also }) {
  return html`<nav class="choice" aria-label=${label}>
    ${options.map(
      ([key, text], at) => html`<a key=${key} href=${changed({ [name]: at === 0 ? "" : key, cursor: "", ...also })}
        aria-current=${value === key ? "true" : undefined}>${text}</a>`,
    )}
  </nav>`;
}

/** Pairs of a word and what it is. */
export function Facts({ pairs }) {
  return html`<dl class="facts">
    ${pairs.filter(Boolean).map(([word, told]) => html`<dt key=${word}>${word}</dt><dd>${told}</dd>`)}
  </dl>`;
}

/** Puts a text on the clipboard, and says so. */
export function Copy({ text, label }) {
  const [done, set] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        set(true);
        setTimeout(() => set(false), 1500);
      },
      () => prompt("Copying is not allowed here; this is the text:", text),
    );
  return html`<button type="button" class="plain" onClick=${copy} title=${text}>${done ? "Copied" : label}</button>`;
}

/** Copies of what is shown: as a command, as a request, as a link. */
export function Copies({ command, path }) {
  return html`<span>
    ${command && html`<${Copy} label="Copy as a command" text=${command} />`}
    ${path && html`<${Copy} label="Copy as curl" text=${`curl -s '${path}'`} />`}
    <${Copy} label="Copy link" text=${location.href} />
  </span>`;
}

/** Any JSON, folded away. */
export const Whole = ({ value, label = "The whole of it as JSON" }) => html`<details>
  <summary class="quiet small">${label}</summary>
  <pre class="mono">${JSON.stringify(value, null, 2)}</pre>
</details>`;

/** Where a page says what to do about something. */
export function Runbook({ of, job }) {
  if (!of) return null;
  const name = of.split("/").pop().replace(/\.md$/, "");
  return /^https?:/.test(of)
    ? html`<a href=${of} rel="noreferrer">${name}</a>`
    : html`<a href=${link(["runbooks", name], { job })}>${name}</a>`;
}
