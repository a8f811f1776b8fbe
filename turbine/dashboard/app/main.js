// Starts the page: the frame, the route to a page, the stream.

import { BASE, useAnswer } from "./api.js";
import { ActDialog } from "./dialogs.js";
import { Help, PAGES, helping } from "./keys.js";
import { change, go, link, place } from "./place.js";
import { Name } from "./parts.js";
import { local, shown, toggleClock, toggleTheme } from "./settings.js";
import { behindMs, head, listen, state, togglePause } from "./stream.js";
import { TimeBar } from "./timebar.js";
import { html, render, useEffect, useRef, useState } from "./ui.js";
import { clockName, count, span } from "./words.js";
import { ContractPage } from "../pages/contract.js";
import { DecisionPage } from "../pages/decision.js";
import { FleetPage } from "../pages/fleet.js";
import { JobPage } from "../pages/job.js";
import { JobsPage } from "../pages/jobs.js";
import { JournalPage } from "../pages/journal.js";
import { PlacementPage } from "../pages/placement.js";
import { PlatformPage } from "../pages/platform.js";
import { RunbookPage } from "../pages/runbook.js";
import { ScoreboardPage } from "../pages/scoreboard.js";
import { WhatIfPage } from "../pages/whatif.js";

/** @param {string[]} path @returns {[any, object, string]} */
function route([first, second]) {
  switch (first) {
    case undefined:
      return [FleetPage, {}, "Fleet"];
    case "jobs":
      return second === undefined ? [JobsPage, {}, "Jobs"] : [JobPage, { job: second }, second];
    case "decisions":
      return [DecisionPage, { id: second || "" }, "Decision"];
    case "placement":
      return [PlacementPage, {}, "Placement"];
    case "journal":
      return [JournalPage, {}, "Journal"];
    case "whatif":
      return [WhatIfPage, {}, "What-if"];
    case "scoreboard":
      return [ScoreboardPage, {}, "Scoreboard"];
    case "contract":
      return [ContractPage, {}, "Contract"];
    case "platform":
      return [PlatformPage, {}, "Platform health"];
    case "runbooks":
      return [RunbookPage, { name: second || "" }, "Runbook"];
    default:
      return [NoPage, { name: first }, "No such page"];
  }
}

const NoPage = ({ name }) => html`<h1>No such page</h1>
  <p class="empty" data-state="empty">There is no page called <${Name} of=${name} />. <a href=${link([])}>The fleet</a> is
  where all others are reached from.</p>`;

function App() {
  const { path } = place.value;
  const [Page, props, title] = route(path);
  const key = path.join("/");
  const main = useRef(null);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${title} · Turbine`;
  }, [title]);
  useEffect(() => {
    // Who reads by ear or by keys is taken to the new page, as a page load would have done.
    if (!first.current) main.current?.focus({ preventScroll: true });
    if (!first.current) scrollTo(0, 0);
    first.current = false;
  }, [key]);
  return html`<a class="skip" href=${location.hash || "#/"} onClick=${(event) => {
      event.preventDefault();
      main.current.focus();
    }}>Skip to the page</a>
    <div class="frame">
      <header class="head">
        <${Bar} /><${TimeBar} />
      </header>
      <${Nav} first=${path[0]} />
      <main class="main" id="main" tabindex="-1" ref=${main}><${Page} key=${key} ...${props} /></main>
    </div>
    <${Help} /><${ActDialog} />`;
}

function Bar() {
  return html`<div class="bar">
    <a class="brand" href=${link([])} aria-label="Turbine, the fleet"><img src="icon.svg" alt="" /><span>Turbine</span></a>
    <${Search} />
    <span class="room"></span>
    <${Chip} />
    <button type="button" class="plain" onClick=${toggleClock} title="Times in UTC or in this machine's zone (u)"
      aria-label=${`Times are ${clockName()}; change`}>${local.value ? "Local" : "UTC"}</button>
    <button type="button" class="plain" onClick=${toggleTheme} title="Dark or light (t)"
      aria-label=${`Use the ${shown.value === "dark" ? "light" : "dark"} theme`}>${shown.value === "dark" ? "☀" : "☾"}</button>
    <button type="button" class="plain" onClick=${() => (helping.value = true)} title="Keys (?)" aria-label="Keys">?</button>
  </div>`;
}

/** Finds jobs; on their page as one types, from anywhere else by Enter. */
function Search() {
  const here = place.value.path[0] === "jobs" && place.value.path.length === 1;
  const [text, set] = useState("");
  useEffect(() => set(here ? place.value.query.q || "" : ""), [place.value.query.q, here]);
  const timer = useRef(0);
  const typed = (event) => {
    const { value } = event.target;
    set(value);
    clearTimeout(timer.current);
    if (here) timer.current = setTimeout(() => change({ q: value, cursor: "" }, { replace: true }), 200);
  };
  const submit = (event) => {
    event.preventDefault();
    clearTimeout(timer.current);
    go(["jobs"], { q: text });
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <input id="search" type="search" value=${text} onInput=${typed} aria-label="Find jobs"
      placeholder="Find jobs: words, !not, tier=, state=   ( / )" autocomplete="off" spellcheck="false" />
  </form>`;
}

const SAYS = {
  past: "The page shows the past; press n for now",
  paused: "The page stands still; press Space to go on",
  lost: "The stream broke; the browser connects again by itself",
  waiting: "The stream is being opened",
  behind: "The log's clock is behind: is the clock component running?",
  live: "What is shown follows the log",
  file: "A log that was exported: it is whole, and nothing more comes",
};

function Chip() {
  const { kind, text } = state.value;
  const said = kind === "behind" ? `behind by ${span(behindMs.value)}` : text;
  if (kind === "past") {
    return html`<button type="button" class="chip is-past" title=${SAYS.past} onClick=${() => change({ at: "" })}>${text} · back to ${head.value?.file ? "its end" : "now"}</button>`;
  }
  if (kind === "file") {
    return html`<span class="chip is-file" title=${`${SAYS.file}: ${head.value.file}`}>${said}</span>`;
  }
  return html`<button type="button" class=${`chip is-${kind}`} title=${SAYS[kind]} onClick=${togglePause}
    aria-live="polite" aria-label=${`${said}; ${kind === "paused" ? "go on" : "pause"}`}>${said}</button>`;
}

function Nav({ first }) {
  // Asked from every page: it is also how the page knows the log's own time.
  const open = useAnswer(["fleet"]).body?.alerts.length;
  return html`<nav class="nav" aria-label="Pages">
    <ul>
      ${PAGES.map(
        ([, path, title]) => html`<li key=${title}>
          <a href=${link(path)} aria-current=${(path[0] || "") === (first || "") ? "page" : undefined}>
            ${title}${title === "Fleet" && open ? html`<span class="count" title=${`${count(open)} open alerts`}>${count(open)}</span>` : ""}
          </a>
        </li>`,
      )}
    </ul>
  </nav>`;
}

listen(BASE);
render(html`<${App} />`, document.getElementById("app"));
