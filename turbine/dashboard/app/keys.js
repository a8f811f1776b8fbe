// Knows which keys do what, and the page that says so.

import { Dialog } from "./dialogs.js";
import { change, go } from "./place.js";
import { toggleClock, toggleTheme } from "./settings.js";
import { togglePause } from "./stream.js";
import { html, signal } from "./ui.js";

export const helping = signal(false);

/** Pages by the letter after g. */
export const PAGES = [
  ["f", [], "Fleet"],
  ["j", ["jobs"], "Jobs"],
  ["p", ["placement"], "Placement"],
  ["l", ["journal"], "Journal"],
  ["w", ["whatif"], "What-if"],
  ["s", ["scoreboard"], "Scoreboard"],
  ["c", ["contract"], "Contract"],
  ["h", ["platform"], "Platform health"],
];
const LONE = {
  "?": () => (helping.value = true),
  "/": () => document.querySelector("#search")?.focus(),
  n: () => change({ at: "" }),
  " ": togglePause,
  t: toggleTheme,
  u: toggleClock,
};
const CHORD_MS = 1_200;

let begun = 0;

addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input:not([type=range]), select, textarea, dialog");
  if (event.key === "Escape" && event.target.id === "search") event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  // A space presses what has the focus, as everywhere.
  if (event.key === " " && event.target.closest?.("button, a, summary, input, [tabindex]")) return;
  const page = begun && Date.now() - begun < CHORD_MS && PAGES.find(([key]) => key === event.key);
  begun = event.key === "g" ? Date.now() : 0;
  if (page) go(page[1]);
  else if (LONE[event.key]) LONE[event.key]();
  else return;
  event.preventDefault();
});

const LANES = [["alert", "alerts"], ["scaling", "scaling"], ["config", "config"], ["sync", "syncs"], ["placement", "moves"]];
const OTHER = [
  ["?", "These keys"],
  ["/", "Find a job"],
  ["Space", "Pause what is live, and go on"],
  ["n", "Back to now"],
  ["t", "Dark or light"],
  ["u", "UTC or the time here"],
  ["Esc", "Close, or leave a field"],
];

export function Help() {
  if (!helping.value) return null;
  const close = () => (helping.value = false);
  return html`<${Dialog} label="Keys" onClose=${close}>
    <h2>Keys</h2>
    <dl class="keys">
      ${OTHER.map(([key, text]) => html`<dt key=${key}><kbd>${key}</kbd></dt><dd>${text}</dd>`)}
      ${PAGES.map(([key, , text]) => html`<dt key=${key}><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${text}</dd>`)}
    </dl>
    <h2>The time bar</h2>
    <p class="legend">${LANES.map(([kind, text]) => html`<span key=${kind}><i class=${`lane-${kind}`}></i>${text}</span>`)}</p>
    <p class="small quiet">
      In a search, words must occur, <code>!word</code> must not, and <code>tier=</code> and
      <code>state=</code> pick.
    </p>
    <div class="acts"><button type="button" class="main-act" onClick=${close}>Close</button></div>
  <//>`;
}
