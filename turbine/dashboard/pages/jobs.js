// Shows the jobs: found, sorted and paged by the API, so that five thousand are as quick as five.

import { useAnswer } from "../app/api.js";
import { change, link, place } from "../app/place.js";
import { Ago, Choice, Copies, Head, JobLink, Nothing, Pager, Shown, State, Table } from "../app/parts.js";
import { html } from "../app/ui.js";
import { brief, count, rate, seconds } from "../app/words.js";

const LIMIT = 50;
const STATES = ["", "running", "paused", "syncing", "starting", "behind", "lagging", "failing", "quarantined", "deleted"].map((one) => [one, one || "all"]);

/** Which layers above the base have their way, and on which paths: a pin by hand is to be seen. */
const OVERRIDDEN = (one) => {
  const layers = [...new Set(one.overrides.map((each) => each.layer))];
  return layers.map((layer) => {
    const own = one.overrides.filter((each) => each.layer === layer);
    const title = own.map((each) => each.path).join(", ");
    return html`<span key=${layer} class=${layer === "oncall" ? "tag is-warn" : "tag"} title=${title}>${layer}</span> `;
  });
};

const COLUMNS = [
  { key: "job", label: "Job", sort: "name", cell: (one) => html`<${JobLink} job=${one.job} />` },
  { key: "state", label: "State", sort: "state", fit: true, cell: (one) => html`<${State} of=${one.state} />` },
  { key: "tasks", label: "Tasks", sort: "tasks", num: true, fit: true, hint: "Running of those that should run",
    cell: (one) => html`<span class=${one.running < one.tasks && one.state !== "paused" ? "bad" : ""}>${count(one.running)}</span> / ${count(one.tasks)}` },
  { key: "lag", label: "Lag", sort: "lag", num: true, fit: true, hint: "Age of the oldest record that is not read yet",
    cell: (one) => seconds(one.lag_seconds) },
  { key: "records", label: "Records behind", num: true, fit: true, cell: (one) => brief(one.lag_records) },
  { key: "rate", label: "Input", num: true, fit: true, cell: (one) => rate(one.rate_in) },
  { key: "policy", label: "Policy", fit: true, cell: (one) => html`${one.policy}${one.mode && one.mode !== "act" ? html` <span class="tag is-warn">${one.mode}</span>` : ""}` },
  { key: "tier", label: "Tier", fit: true, cell: (one) => html`<bdi>${one.tier}</bdi>` },
  { key: "priority", label: "Priority", num: true, fit: true },
  { key: "overrides", label: "Overridden", fit: true, cell: OVERRIDDEN },
  { key: "alerts", label: "Alerts", num: true, fit: true, cell: (one) => (one.alerts ? html`<span class="bad">${count(one.alerts)}</span>` : html`<span class="quiet">–</span>`) },
  { key: "updated", label: "Changed", fit: true, cell: (one) => html`<${Ago} ms=${one.updated_ms} />` },
];

export function JobsPage() {
  const { q = "", state = "", sort = "lag", cursor = "" } = place.value.query;
  const answer = useAnswer(["jobs"], { q, state, sort, cursor, limit: LIMIT });
  const find = [q, state && `state=${state}`].filter(Boolean).join(" ");
  return html`
    <${Head} title="Jobs" acts=${html`<${Copies} command="turbine get jobs" path=${new URL(`api/v1/jobs?${new URLSearchParams({ q, state, sort })}`, document.baseURI).href} />`}>
      <${Choice} label="State" name="state" value=${state} options=${STATES} />
    <//>
    <${Shown} answer=${answer}>
      ${(page) =>
        page.items.length
          ? html`<${Table} label="Jobs" columns=${COLUMNS} rows=${page.items} keyOf=${(one) => one.job} to=${(one) => link(["jobs", one.job])} sort=${sort}
                onSort=${(key) => change({ sort: key === "lag" ? "" : key, cursor: "" })} />
              <${Pager} shown=${page.items.length} total=${page.total} next=${page.next} first=${cursor} />`
          : html`<${Nothing}>${find
              ? html`No job is found by <bdi><code>${find}</code></bdi>. Words must occur in the name, <code>!word</code> must not;
                  <button type="button" class="word" onClick=${() => change({ q: "", state: "", cursor: "" })}>show all</button>.`
              : html`There are no jobs at this instant; <code>turbine apply -f job.yaml</code> makes one.`}<//>`}
    <//>`;
}
