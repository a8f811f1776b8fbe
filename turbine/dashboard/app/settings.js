// Knows what one reader prefers, and keeps it in the browser: the theme and the clock.

import { effect, signal } from "./ui.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Storage may be forbidden; the page works without, and forgets. */
function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    return; // the choice holds until the page is closed
  }
}

/** "" follows the system. */
export const theme = signal(kept("turbine.theme") || "");
export const shown = signal("light");
/** Times are UTC for everybody who looks at the same incident, unless one asks for one's own. */
export const local = signal(kept("turbine.clock") === "local");

function apply() {
  shown.value = theme.value || (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = shown.value;
}

dark.addEventListener("change", apply);
effect(apply);

export function toggleTheme() {
  theme.value = shown.value === "dark" ? "light" : "dark";
  keep("turbine.theme", theme.value);
}

export function toggleClock() {
  local.value = !local.value;
  keep("turbine.clock", local.value ? "local" : "utc");
}
