// Shows all decisions, newest first: the audit log. What repeats is one line with a count, since the
// hundredth "nothing to do" hides the one decision that somebody looks for.

import { useAnswer } from "../app/api.js";
import { change, link, place } from "../app/place.js";
import { Choice, Copies, Head, JobLink, Nothing, Pager, Shown, Time } from "../app/parts.js";
import { classes, html, useMemo, useState } from "../app/ui.js";
import { count, lane } from "../app/words.js";

const LIMIT = 200;
const KINDS = ["", "config", "sync", "scaling", "placement", "alert"].map((one) => [one, one || "all"]);
const STANDING = [["", "all"], ["false", "standing"], ["true", "void"]];
const COMPONENTS = ["job-service", "state-syncer", "task-service", "auto-scaler", "shard-manager", "capacity-manager"];

export function JournalPage() {
  const { job = "", kind = "", component = "", void: lost = "", cursor = "" } = place.value.query;
  const query = { job, kind, component, void: lost };
  const answer = useAnswer(["journal"], { ...query, limit: LIMIT, cursor });
  const filtered = Object.values(query).some(Boolean);
  return html`
    <${Head} title="Journal" acts=${html`<${Copies} command=${`turbine log tail${job && ` --job ${job}`}`} />`}>
      <span class="quiet">who decided what, and why</span>
    <//>
    <div class="filters">
      <${Filter} name="job" label="Job" value=${job} hint="Of one job" />
      <select aria-label="Component" value=${component} onChange=${(event) => change({ component: event.target.value, cursor: "" })}>
        <option value="">Every component</option>
        ${COMPONENTS.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select>
      <${Choice} label="Kind" name="kind" value=${kind} options=${KINDS} />
      <${Choice} label="Standing" name="void" value=${lost} options=${STANDING} />
    </div>
    <${Shown} answer=${answer}>
      ${(body) =>
        body.items.length
          ? html`<${Entries} items=${body.items} /><${Pager} shown=${body.items.length} next=${body.next} first=${cursor} />`
          : html`<${Nothing}>${filtered
              ? html`No decision is of that kind.
                  <button type="button" class="word" onClick=${() => change({ job: "", kind: "", component: "", void: "", cursor: "" })}>Show all</button>`
              : "Nothing was decided up to this instant."}<//>`}
    <//>`;
}

/** A filter that holds when one leaves it or presses Enter: each letter would be a question. */
function Filter({ name, label, value, hint }) {
  return html`<input type="search" aria-label=${label} placeholder=${hint} value=${value}
    onChange=${(event) => change({ [name]: event.target.value.trim(), cursor: "" })} />`;
}

const REASON = (one) => one.body?.reason || one.body?.explanation || one.summary;
const same = (one, other) =>
  one.kind === other.kind && one.job === other.job && one.tier === other.tier && one.stands === other.stands && REASON(one) === REASON(other);

/** Entries that follow one another and say the same, together. */
export function collapsed(items) {
  const found = [];
  for (const one of items) {
    const before = found.at(-1);
    if (before && same(before[0], one)) before.push(one);
    else found.push([one]);
  }
  return found;
}

/** @param {{items: any[], plain?: boolean}} props plain: they are all of one job */
export function Entries({ items, plain = false }) {
  const groups = useMemo(() => collapsed(items), [items]);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Decisions">
    <table class="entries stack flow">
      <thead><tr>
        <th scope="col" class="fit">Decided</th><th scope="col" class="fit">Kind</th>
        ${!plain && html`<th scope="col" class="fit">About</th>`}<th scope="col">Says</th><th scope="col" class="fit">By</th>
      </tr></thead>
      <tbody>${groups.map((group) => html`<${Group} key=${group[0].position} of=${group} plain=${plain} />`)}</tbody>
    </table>
  </div>`;
}

function Group({ of, plain }) {
  const [open, set] = useState(false);
  const shown = open ? of : of.slice(0, 1);
  return shown.map(
    (one, at) => html`<tr key=${one.position} class=${classes(!one.stands && "void")}>
      <td class="fit"><${Time} ms=${one.at_ms} full /></td>
      <td class="fit"><a href=${link(["decisions", one.id])} class=${`kind is-${lane(one.kind)}`}>${one.kind}</a>${!one.stands && html` <span class="tag">void</span>`}</td>
      ${!plain && html`<td class="fit"><${About} of=${one} /></td>`}
      <td class="wide"><bdi>${one.summary}</bdi>
        ${at === 0 && of.length > 1 && html`${" "}<button type="button" class="word" aria-expanded=${open} onClick=${() => set(!open)}>
          same reason × ${count(of.length)}</button>`}</td>
      <td class="fit quiet">${one.component}</td>
    </tr>`,
  );
}

const About = ({ of }) => (of.job ? html`<${JobLink} job=${of.job} />` : html`<a href=${link(["placement"], { tier: of.tier })}>tier <bdi>${of.tier}</bdi></a>`);
