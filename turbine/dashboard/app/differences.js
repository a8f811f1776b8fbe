// Knows how two configs are shown as one tree of what differs, path by path.

import { html } from "./ui.js";
import { leaves, value } from "./words.js";

/** @param {{of: {path: string, before?: any, after?: any, layer?: string}[]}} props */
export function Differences({ of, none = "No difference." }) {
  if (!of.length) return html`<p class="quiet small">${none}</p>`;
  return html`<table class="differences">
    <thead><tr><th scope="col">Path</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
    <tbody>
      ${of.map(
        (one) => html`<tr key=${one.path}>
          <td><code class="break">${one.path}</code></td>
          <td class="break">${"before" in one ? html`<del>${value(one.before)}</del>` : html`<span class="quiet">not set</span>`}</td>
          <td class="break">${"after" in one ? html`<ins>${value(one.after)}</ins>` : html`<span class="quiet">not set</span>`}</td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}

/** What differs between two configs, where the API does not say it already. */
export function between(before, after) {
  const olds = new Map(leaves(before));
  const news = new Map(leaves(after));
  return [...new Set([...olds.keys(), ...news.keys()])]
    .sort()
    .filter((path) => JSON.stringify(olds.get(path)) !== JSON.stringify(news.get(path)))
    .map((path) => ({
      path,
      ...(olds.has(path) ? { before: olds.get(path) } : {}),
      ...(news.has(path) ? { after: news.get(path) } : {}),
    }));
}
