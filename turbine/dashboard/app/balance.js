// Knows how a tier's balance is drawn: a dot for each container along the share of the mean, the band
// behind, and the ends before and after the last plan.

import { Nothing, Time } from "./parts.js";
import { html } from "./ui.js";
import { number, percent } from "./words.js";

const WIDTH = 1000;
const HEIGHT = 44;
const MIDDLE = 22;
const ROWS = 3; // dots that would lie on one another stand side by side, in so many rows

/** @param {{of: {items: any[], before: object, after: object, explanation: string | null, plan: string | null, plan_at_ms: number | null}}} props */
export function Balance({ of }) {
  const resources = [...new Set([...of.items.map((one) => one.resource), ...Object.keys(of.before || {})])];
  if (!resources.length) {
    return html`<${Nothing}>No load of any container is known yet: task managers report per shard every ten minutes.<//>`;
  }
  const most = Math.max(2, ...of.items.map((one) => one.of_mean)) * 1.05;
  return html`<div class="balance">
    ${resources.map((resource) => html`<${Resource} key=${resource} name=${resource} most=${most}
      rows=${of.items.filter((one) => one.resource === resource)} before=${of.before?.[resource]} after=${of.after?.[resource]} />`)}
    <div class="balance-row scale small quiet" aria-hidden="true"><span></span><div><span>0</span><span style=${{ left: `${100 / most}%` }}>the mean</span><span>${number(most)} × the mean</span></div></div>
    ${of.plan && html`<p class="small quiet">Last plan <code>${of.plan}</code>${of.plan_at_ms && html`, <${Time} ms=${of.plan_at_ms} full />`}: <bdi>${of.explanation}</bdi></p>`}
  </div>`;
}

function Resource({ name, rows, before, after, most }) {
  const x = (share) => (Math.min(share, most) / most) * WIDTH;
  const band = rows.find((one) => one.high > 0) || { low: 0.9, high: 1.1 };
  const out = rows.filter((one) => !one.in_band).length;
  const label = `${name}: ${rows.length} containers, ${out} outside the band`;
  return html`<div class="balance-row">
    <div><span class="strong">${name}</span><br /><span class=${out ? "small warn" : "small quiet"}>${out ? `${out} of ${rows.length} out of band` : "all in band"}</span></div>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>
      <rect class="band" x=${x(band.low)} width=${x(band.high) - x(band.low)} y="4" height=${HEIGHT - 8} />
      <line class="mean" x1=${x(1)} x2=${x(1)} y1="2" y2=${HEIGHT - 2} vector-effect="non-scaling-stroke" />
      ${rows.map((one, at) => html`<line key=${one.container} class=${one.in_band ? "dot-in" : "dot-out"} x1=${x(one.of_mean)} x2=${x(one.of_mean) + 0.01}
        y1=${MIDDLE + ((at % ROWS) - 1) * 10} y2=${MIDDLE + ((at % ROWS) - 1) * 10} vector-effect="non-scaling-stroke"><title>${`${one.container}: ${percent(one.of_mean)} of the mean`}</title></line>`)}
    </svg>
    <dl class="spreads">
      <div><dt>before</dt><dd>${spread(before)}</dd></div>
      <div><dt>after</dt><dd>${spread(after)}</dd></div>
    </dl>
  </div>`;
}

/** The emptiest and the fullest, in thousandths of the mean, as shares. */
const spread = (of) => (of ? `${number(of.emptiest / 1000)} to ${number(of.fullest / 1000)}` : "–");
