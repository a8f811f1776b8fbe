// Shows what was decided about one job, and what stood against what was not.

import { useAnswer } from "../app/api.js";
import { link, place } from "../app/place.js";
import { Choice, Copies, Nothing, Pager, Section, Shown, Table, Time } from "../app/parts.js";
import { html } from "../app/ui.js";
import { time } from "../app/words.js";
import { Entries } from "./journal.js";

const LIMIT = 100;

export function JobDecisions({ job }) {
  const { cursor = "" } = place.value.query;
  const answer = useAnswer(["jobs", job, "decisions"], { limit: LIMIT, cursor });
  return html`<${Shown} answer=${answer}>
    ${(body) =>
      body.items.length
        ? html`<${Entries} items=${body.items} plain /><${Pager} shown=${body.items.length} next=${body.next} first=${cursor} />`
        : html`<${Nothing}>Nothing was decided about this job up to this instant.<//>`}
  <//>`;
}

const ACTIONS = ["scale-up", "scale-down", "memory-up", "memory-down", "rebalance", "move"];

const COLUMNS = [
  { key: "at", label: "Decided", fit: true, cell: (one) => html`<${Time} ms=${one.at_ms} full />` },
  { key: "kind", label: "Kind", fit: true, cell: (one) => html`<a href=${link(["decisions", one.id])}>${one.kind}</a>` },
  { key: "text", label: "What stood against it", wide: true, cell: (one) => html`<bdi class=${one.taken ? "good" : ""}>${one.text}</bdi>` },
  { key: "until", label: "At least until", fit: true, cell: (one) => (one.until_ms ? time(one.until_ms) : html`<span class="quiet">–</span>`) },
];

export function WhyNot({ job }) {
  const { action = "scale-up" } = place.value.query;
  const answer = useAnswer(["jobs", job, "why-not"], { action });
  return html`<${Section} id="why-not" title="Why is it not scaled?"
    acts=${html`<${Choice} label="Action" name="action" value=${action} options=${ACTIONS.map((one) => [one, one])} />`}>
    <${Shown} answer=${answer}>
      ${(body) => html`<p class="lead">Policy <b>${body.policy}</b>, mode <b>${body.mode}</b>.</p>
        ${body.reasons.length
          ? html`<${Table} kind="stack flow" label="Reasons" columns=${COLUMNS} rows=${body.reasons} keyOf=${(one) => one.id} />`
          : html`<${Nothing}>The policy said nothing about ${action} of this job. It says a word whenever its verdict changes; is the
              auto scaler running?<//>`}
        <${Copies} command=${`turbine why-not ${job} --action ${action}`} />`}
    <//>
  <//>`;
}
