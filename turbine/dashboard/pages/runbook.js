// Shows what to do at night about an alert: the pages of docs/runbooks, which lie beside this one, so
// that they are there when nothing else is.

import { link, place } from "../app/place.js";
import { Head, JobLink, Nothing, Waiting } from "../app/parts.js";
import { html, useEffect, useState } from "../app/ui.js";

let kept = null;
const load = () => (kept ??= fetch("runbooks.json").then((answer) => (answer.ok ? answer.json() : {}), () => ({})));

export function RunbookPage({ name }) {
  const [pages, set] = useState(null);
  useEffect(() => {
    load().then(set);
  }, []);
  if (!pages) return html`<${Waiting} />`;
  const names = Object.keys(pages);
  if (!(name in pages)) {
    return html`<${Head} title=${name || "Runbooks"} />
      ${name && html`<${Nothing}>There is no page of that name.<//>`}
      <ul class="plain-list">${names.map((one) => html`<li key=${one}><a href=${link(["runbooks", one])}>${one}</a></li>`)}</ul>`;
  }
  const { job } = place.value.query;
  return html`<${Head} title=${name}><span class="quiet">what to do</span>${job && html`<span class="quiet">about</span> <${JobLink} job=${job} />`}<//>
    <article class="prose">${blocks(pages[name]).map(block)}</article>`;
}

/** As much of Markdown as these pages use: a block is its kind and its lines. */
export function blocks(text) {
  const found = [];
  let open = null;
  const kindOf = (line) =>
    /^#+ /.test(line) ? "head" : /^ {4}/.test(line) ? "code" : /^\|/.test(line) ? "table" : /^(\d+\.|-) /.test(line) ? "list" : "text";
  for (const line of text.split("\n").slice(1)) {
    if (!line.trim()) {
      open = open?.kind === "code" || open?.kind === "list" ? { ...open, gap: true, of: open.of || open } : null;
      continue;
    }
    let kind = kindOf(line);
    const last = open?.of || open;
    if (last?.kind === "list" && (kind === "text" || kind === "code") && /^ {2}/.test(line)) {
      last.lines[last.lines.length - 1] += ` ${line.trim()}`;
      open = last;
    } else if (last && last.kind === kind && kind !== "head" && !(open.gap && kind === "text")) {
      if (open.gap && kind === "code") last.lines.push("");
      last.lines.push(line);
      open = last;
    } else {
      open = { kind, lines: [line] };
      found.push(open);
    }
  }
  return found;
}

function block({ kind, lines }, key) {
  switch (kind) {
    case "head":
      return html`<h2 key=${key}>${inline(lines[0].replace(/^#+ /, ""))}</h2>`;
    case "code":
      return html`<pre key=${key} class="code" tabindex="0">${named(lines.map((line) => line.slice(4)).join("\n"))}</pre>`;
    case "list":
      return html`<${/^\d/.test(lines[0]) ? "ol" : "ul"} key=${key}>${lines.map((line, at) => html`<li key=${at}>${inline(line.replace(/^(\d+\.|-) +/, ""))}</li>`)}<//>`;
    case "table": {
      const rows = lines.filter((line) => !/^\|[\s|:-]+\|$/.test(line)).map((line) => line.slice(1, -1).split("|").map((one) => one.trim()));
      return html`<div key=${key} class="scroll" tabindex="0" role="region" aria-label=${rows[0].join(", ")}><table><thead><tr>${rows[0].map((one, at) => html`<th key=${at} scope="col">${inline(one)}</th>`)}</tr></thead>
        <tbody>${rows.slice(1).map((row, at) => html`<tr key=${at}>${row.map((one, column) => html`<td key=${column}>${inline(one)}</td>`)}</tr>`)}</tbody></table></div>`;
    }
    default:
      return html`<p key=${key}>${inline(lines.join(" "))}</p>`;
  }
}

/** What is typed, with the job of the alert that one came by in it, as a shell takes it. */
export function named(text) {
  const { job } = place.value.query;
  if (!job) return text;
  const quoted = /^[\w.-]+$/.test(job) ? job : `'${job.replaceAll("'", "'\\''")}'`;
  return text.replace(/\bJOB\b/g, () => quoted);
}

/** Code, stress and links within a line. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part, key) => {
    const linked = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part);
    if (linked) {
      const page = /^([a-z-]+)\.md$/.exec(linked[2]);
      return page ? html`<a key=${key} href=${link(["runbooks", page[1]], { job: place.value.query.job })}>${linked[1]}</a>` : linked[1];
    }
    if (part.startsWith("`")) return html`<code key=${key}>${named(part.slice(1, -1))}</code>`;
    if (part.startsWith("**")) return html`<b key=${key}>${part.slice(2, -2)}</b>`;
    return part;
  });
}
