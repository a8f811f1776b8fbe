// Shows where a tier's shards are: its containers, how evenly they are loaded before and after the last
// plan, and each move with its reason.

import { useAnswer } from "../app/api.js";
import { Balance } from "../app/balance.js";
import { doIt } from "../app/dialogs.js";
import { change, link, place } from "../app/place.js";
import { Choice, Copies, Head, JobLink, Nothing, Pager, Section, Shown, State, Table, Time } from "../app/parts.js";
import { fixed } from "../app/stream.js";
import { html } from "../app/ui.js";
import { brief, bytes, count, number, span } from "../app/words.js";
import { Capacity, Meter } from "./fleet.js";

const VIEWS = [["", "Containers"], ["moves", "Moves"], ["moving", "Shards on their way"], ["shards", "All shards"]];
const LIMIT = 100;
const MOVES = 100;

export function PlacementPage() {
  const tiers = useAnswer(["tiers"]);
  const names = tiers.body?.items.map((one) => one.tier) || [];
  const tier = place.value.query.tier || (names.includes("default") ? "default" : names[0]);
  return html`
    <${Head} title="Placement" acts=${html`<${Copies} command=${`turbine get containers --tier ${tier}`} />`}>
      ${names.length > 1 && html`<select aria-label="Tier" class="fit" value=${tier} onChange=${(event) => change({ tier: event.target.value, container: "", cursor: "" })}>
        ${names.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`}
      ${names.length === 1 && html`<span class="quiet">tier <bdi>${tier}</bdi></span>`}
    <//>
    <${Shown} answer=${tiers}>
      ${(body) =>
        body.items.length
          ? html`<${Tier} tier=${tier} of=${body.items.find((one) => one.tier === tier)} />`
          : html`<${Nothing}>No tier is defined at this instant. <code>turbine tier create default --shards 64</code> makes one.<//>`}
    <//>`;
}

function Tier({ tier, of }) {
  const { view = "", container = "" } = place.value.query;
  const balance = useAnswer(["tiers", tier, "balance"]);
  return html`
    ${of && html`<${Lent} of=${of} />`}
    ${of && html`<${Section} id="capacity" title="Capacity" note="of what its containers have: used by tasks solid, reserved by jobs hatched">
      <${Capacity} of=${of} /><//>`}
    <${Section} id="balance" title="Balance" note="each container's load as a share of the tier's mean, and the band it is to lie in">
      <${Shown} answer=${balance}>${(body) => html`<${Balance} of=${body} />`}<//>
    <//>
    <${Section} id="places" title=${(VIEWS.find(([key]) => key === view) || VIEWS[0])[1]}
      acts=${html`<${Choice} label="View" name="view" value=${view} options=${VIEWS} />`}>
      ${container && html`<p class="small">Of container <b><bdi>${container}</bdi></b>. <button type="button" class="word" onClick=${() => change({ container: "" })}>Of all</button></p>`}
      ${view === "moves" ? html`<${Moves} tier=${tier} container=${container} />`
        : view ? html`<${Shards} tier=${tier} container=${container} moving=${view === "moving"} />`
        : html`<${Containers} tier=${tier} container=${container} />`}
    <//>`;
}

/** What a tier has of others, or others of it, and whom it has stopped. */
function Lent({ of }) {
  const loans = of.loans.map((one) => `${one.lender} lends ${one.containers.length} to ${one.borrower}`);
  const stopped = of.preempted;
  if (!loans.length && !stopped.length) return null;
  return html`<p class="note is-warn">${loans.join(", ")}${loans.length && stopped.length ? "; " : ""}
    ${stopped.length > 0 && html`stopped for want of capacity: ${stopped.map((one) => html`<${JobLink} key=${one} job=${one} /> `)}`}</p>`;
}

const amount = (resource, found) => (/memory|disk|bytes|network/.test(resource) ? bytes(found) : number(found));

function Containers({ tier, container }) {
  const answer = useAnswer(["tiers", tier, "containers"]);
  const columns = [
    { key: "container", label: "Container", fit: true, cell: (one) => html`<a href=${link(["placement"], { tier, container: one.container, view: "shards" })}><bdi>${one.container}</bdi></a>` },
    { key: "state", label: "State", fit: true, cell: (one) => html`<span title=${one.drain ? `${one.drain.author}: ${one.drain.reason}` : ""}><${State} of=${one.state} /></span>` },
    { key: "region", label: "Region", fit: true, cell: (one) => one.region || "–" },
    { key: "shards", label: "Shards", num: true, fit: true, cell: (one) => count(one.shards) },
    { key: "moving", label: "Moving", num: true, fit: true, cell: (one) => (one.moving ? count(one.moving) : html`<span class="quiet">–</span>`) },
    { key: "tasks", label: "Tasks", num: true, fit: true, cell: (one) => count(one.tasks) },
    { key: "load", label: "Used", cell: (one) => html`<span class="meters">${Object.entries(one.load).map(([resource, each]) => html`<${Meter} key=${resource}
        label=${resource} of=${each.share} hint=${`${amount(resource, each.used)} of ${amount(resource, each.capacity)}`} />`)}</span>` },
    { key: "silence", label: "Silent", num: true, fit: true, cell: (one) => (one.silence_ms > 10_000 ? html`<span class="warn">${span(one.silence_ms)}</span>` : span(one.silence_ms)) },
    { key: "epoch", label: "Epoch", num: true, fit: true },
    { key: "since", label: "Since", fit: true, cell: (one) => html`<${Time} ms=${one.since_ms} full />` },
    { key: "acts", label: "", fit: true, cell: (one) => html`<${ContainerActs} of=${one} />` },
  ];
  return html`<${Shown} answer=${answer}>
    ${(body) => {
      const rows = body.items.filter((one) => !container || one.container === container);
      return rows.length
        ? html`<${Table} label="Containers" columns=${columns} rows=${rows} keyOf=${(one) => one.container} />`
        : html`<${Nothing}>No container of this tier lives at this instant; <code>python -m turbine.ops.container NAME</code> starts one.<//>`;
    }}
  <//>`;
}

/** Emptied or filled again, as a plan first. */
function ContainerActs({ of }) {
  const undo = Boolean(of.drain);
  const [verb, word] = undo ? ["undrain", "Undrain"] : ["drain", "Drain"];
  const act = () =>
    doIt({
      title: `${word} ${of.container}`,
      says: undo ? "Shards may come to it again." : "Its shards move to other containers, a few at a time; it keeps running.",
      path: ["containers", of.container, verb],
      body: {},
      fields: [{ name: "reason", label: "Reason, for whoever reads the log", required: true, hint: "its disk is failing" }],
    });
  return html`<button type="button" class="plain" disabled=${Boolean(fixed())} title=${fixed() || undefined} onClick=${act} aria-label=${`${word} ${of.container}`}>${word}…</button>`;
}

const MOVE_COLUMNS = [
  { key: "asked", label: "Asked", fit: true, cell: (one) => html`<${Time} ms=${one.asked_ms} full />` },
  { key: "shard", label: "Shard", num: true, fit: true },
  { key: "from", label: "From", fit: true, cell: (one) => html`<bdi>${one.from || "nowhere"}</bdi>` },
  { key: "to", label: "To", fit: true, cell: (one) => html`<bdi>${one.to || "nowhere yet"}</bdi>` },
  { key: "stage", label: "Stage", fit: true, cell: (one) => html`<${State} of=${one.stage} />` },
  { key: "took", label: "Took", num: true, fit: true, cell: (one) => span(one.took_ms) },
  { key: "reason", label: "Reason", wide: true, cell: (one) => html`<bdi class="break">${one.reason}</bdi>` },
  { key: "decision", label: "", fit: true, cell: (one) => html`<a href=${link(["decisions", one.decision])}>why</a>` },
];

function Moves({ tier, container }) {
  const answer = useAnswer(["tiers", tier, "moves"], { last: MOVES });
  return html`<${Shown} answer=${answer}>
    ${(body) => {
      const rows = body.items.filter((one) => !container || one.from === container || one.to === container).reverse();
      return rows.length
        ? html`<${Table} kind="stack flow" label="Moves" columns=${MOVE_COLUMNS} rows=${rows} keyOf=${(one) => `${one.shard} ${one.asked_ms} ${one.position}`} />`
        : html`<${Nothing}>No shard was moved up to this instant.<//>`;
    }}
  <//>`;
}

const SHARD_COLUMNS = [
  { key: "shard", label: "Shard", num: true, fit: true },
  { key: "stage", label: "Stage", fit: true, cell: (one) => html`<span title=${one.unplaced || ""}><${State} of=${one.stage} /></span>` },
  { key: "container", label: "Container", fit: true, cell: (one) => html`<bdi>${one.container || "–"}</bdi>` },
  { key: "to", label: "On its way to", fit: true, cell: (one) => html`<bdi>${one.to || "–"}</bdi>` },
  { key: "tasks", label: "Tasks", num: true, fit: true, cell: (one) => count(one.tasks) },
  { key: "job", label: "Job", cell: (one) => one.job && html`<${JobLink} job=${one.job} />` },
  { key: "load", label: "Used", fit: true, cell: (one) => Object.entries(one.load || {}).map(([resource, found]) => `${resource} ${/memory/.test(resource) ? bytes(found) : brief(found)}`).join(", ") },
  { key: "generation", label: "Generation", num: true, fit: true },
  { key: "regions", label: "Regions", fit: true, cell: (one) => one.regions.join(", ") || "any" },
  { key: "since", label: "Since", fit: true, cell: (one) => html`<${Time} ms=${one.since_ms} full />` },
];

function Shards({ tier, container, moving }) {
  const { cursor = "" } = place.value.query;
  const answer = useAnswer(["tiers", tier, "shards"], { moving: moving ? "true" : "", container, limit: LIMIT, cursor });
  return html`<${Shown} answer=${answer}>
    ${(body) =>
      body.items.length
        ? html`<${Table} label="Shards" columns=${SHARD_COLUMNS} rows=${body.items} keyOf=${(one) => String(one.shard)} />
            <${Pager} shown=${body.items.length} total=${body.total} next=${body.next} first=${cursor} />`
        : html`<${Nothing}>${moving ? "No shard is on its way." : "No shard is held here."}<//>`}
  <//>`;
}
