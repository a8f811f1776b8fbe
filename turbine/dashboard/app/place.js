// Knows where one is: the page, its filters and the instant, all in the URL's fragment.
//
// In the fragment, so that the files can be served from any prefix by anything that serves files. A
// link that is copied shows its reader the same page, filters and instant.

import { computed, signal } from "./ui.js";

/** @typedef {{path: string[], query: Record<string, string>}} Place */

/** Kept when one goes to another page: the instant, and how much the time bar spans. */
const KEPT = ["at", "span"];

/** @returns {Place} */
export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query || "")),
  };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed a lone %: it is a name that no job has
  }
}

/** @param {string[]} path @param {Record<string, unknown>} query */
export function write(path, query = {}) {
  const said = Object.entries(query).filter(([, value]) => value !== "" && value != null && value !== false);
  const text = new URLSearchParams(said.map(([key, value]) => [key, String(value)])).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export const place = signal(parse(location.hash));
export const at = computed(() => place.value.query.at || "");

addEventListener("hashchange", () => {
  place.value = parse(location.hash);
});

/** A link to another page, at the same instant. */
export function link(path, query = {}) {
  const kept = Object.fromEntries(KEPT.map((key) => [key, place.value.query[key]]));
  return write(path, { ...kept, ...query });
}

/** A link to this page with some of its state changed. */
export function changed(query) {
  return write(place.value.path, { ...place.value.query, ...query });
}

export function go(path, query = {}) {
  location.hash = link(path, query);
}

/**
 * Changes the state of this page. What changes while one types or drags replaces the entry, or Back
 * would lead through every letter.
 */
export function change(query, { replace = false } = {}) {
  const next = changed(query);
  if (next === location.hash) return;
  if (!replace) {
    location.hash = next;
    return;
  }
  history.replaceState(null, "", next);
  place.value = parse(next);
}
