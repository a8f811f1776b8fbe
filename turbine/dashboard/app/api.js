// Knows how the API is asked: at the instant of the URL, once for what many parts want, with problems
// as sentences. Every page is a client of the same API as anybody else's program.

import { at, place } from "./place.js";
import { hear, pulse } from "./stream.js";
import { signal, useEffect, useState } from "./ui.js";

export const BASE = new URL("api/v1/", document.baseURI);
/** Beyond it a request is not on its way any more: the sentence of a failure is more use. */
const PATIENCE_MS = 20_000;
/** What is asked for waits for its verdict in the log, and a what-if plays days. */
const LONG_MS = 180_000;

/** What the API refuses, in its own sentence (RFC 9457), or what kept it from answering. */
export class Problem extends Error {
  /** @param {{title?: string, detail?: string, status?: number, place?: string}} told */
  constructor(told) {
    super(told.detail || told.title || "the API refused, and does not say why");
    this.status = told.status || 0;
    this.title = told.title || "";
    this.told = told;
  }
}

/** @param {string[]} path @param {Record<string, unknown>} query */
export function address(path, query = {}) {
  const found = new URL(path.map(encodeURIComponent).join("/"), BASE);
  for (const [key, value] of Object.entries(query)) {
    if (value !== "" && value !== null && value !== undefined) found.searchParams.set(key, String(value));
  }
  return found;
}

/** Questions that are on their way: two parts of a page that want the same share one answer. */
const under = new Map();

/** @returns {Promise<any>} */
export function ask(path, query = {}, { method = "GET", ...more } = {}) {
  const given = { ...query };
  if (method === "GET" && at.value && given.at === undefined) given.at = at.value;
  const url = address(path, given);
  if (method !== "GET") return send(url, { method, ...more });
  const key = url.href;
  if (!under.has(key)) {
    const answer = send(url, { method, past: Boolean(given.at) }).finally(() => under.delete(key));
    under.set(key, answer);
  }
  return under.get(key);
}

async function send(url, { method, body, token, past }) {
  const limit = AbortSignal.timeout(method === "GET" ? PATIENCE_MS : LONG_MS);
  let answer;
  try {
    answer = await fetch(url, {
      method,
      cache: "no-cache", // the browser asks with the ETag it has, and 304 costs nothing
      headers: {
        Accept: "application/json",
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: limit,
    });
  } catch {
    throw new Problem({
      title: limit.aborted ? "No answer in time" : "No connection",
      detail: limit.aborted
        ? "The API has not answered in time; is its machine short of processors?"
        : "The API cannot be reached; is `turbine dashboard` still running?",
    });
  }
  const found = await read(answer);
  if (method === "GET" && !past && found?.now_ms) hear({ now_ms: found.now_ms });
  return found;
}

async function read(answer) {
  const text = await answer.text();
  let body;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    throw new Problem({
      status: answer.status,
      title: "No JSON",
      detail: `The API answered ${answer.status} with something that is no JSON; is there a proxy in between?`,
    });
  }
  if (!answer.ok) throw new Problem({ status: answer.status, ...body });
  return body;
}

const PAGES_MAX = 12;

/** All pages of a list as one: for what is only told by the whole of it. */
async function askAll(path, query) {
  const first = await ask(path, query);
  const items = [...first.items];
  let { next } = first;
  for (let page = 1; next && page < PAGES_MAX; page += 1) {
    const more = await ask(path, { ...query, cursor: next });
    items.push(...more.items);
    ({ next } = more);
  }
  return { ...first, items, next };
}

/** Asks again although nothing has come from the log: somebody pressed a key. */
export const again = signal(0);
const RETRY_MS = 5_000;

/**
 * @typedef {{body: any, problem: Problem | null, waiting: boolean, since: number}} Answer
 */

/**
 * The answer to a question, kept fresh: asked again when the log goes on, when the instant changes,
 * and after a failure. What was known stays on the page meanwhile.
 * @param {string[] | null} path null asks nothing
 * @returns {Answer}
 */
export function useAnswer(path, query = {}, { live = true, all = false } = {}) {
  const key = path === null ? "" : address(path, { ...query, at: at.value }).href;
  const [answer, set] = useState({ key: "", body: null, problem: null, waiting: true, since: 0 });
  const beat = live && !at.value ? pulse.value : 0;
  const asked = again.value;
  const [retry, setRetry] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    let ended = false;
    let timer = 0;
    set((old) => ({ ...old, waiting: true }));
    (all ? askAll : ask)(path, query).then(
      (body) => !ended && set({ key, body, problem: null, waiting: false, since: Date.now() }),
      (problem) => {
        if (ended) return;
        set((old) => ({ ...old, key: old.key || key, problem, waiting: false, failed: key }));
        // What is not there will not be there in a moment either; a connection may be.
        if (!(problem.status >= 400 && problem.status < 500)) {
          timer = setTimeout(() => setRetry((count) => count + 1), RETRY_MS);
        }
      },
    );
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [key, beat, asked, retry]);
  const other = answer.key !== key;
  const problem = answer.problem && answer.failed === key ? answer.problem : null;
  // Another filter or another instant of the same page keeps the old rows until the new ones are here;
  // of another subject nothing is kept.
  const same = answer.key.split("?")[0] === key.split("?")[0];
  const gone = problem && problem.status >= 400 && problem.status < 500;
  return {
    body: same && !gone ? answer.body : null,
    problem,
    waiting: answer.waiting || (other && !problem),
    since: answer.since,
  };
}

/** One key of the page's state, with its default. */
export const stateOf = (key, usual = "") => place.value.query[key] ?? usual;
