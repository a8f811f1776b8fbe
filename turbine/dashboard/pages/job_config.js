// Shows who wants what of a job: a column for each layer, the winning value of each path, who said so,
// why, and until when.

import { Differences, between } from "../app/differences.js";
import { Countdown, Nothing, Section } from "../app/parts.js";
import { html } from "../app/ui.js";
import { leaves, value } from "../app/words.js";

const LAYERS = ["base", "provisioner", "scaler", "oncall"];

export function JobConfig({ body }) {
  const layers = LAYERS.map((name) => [name, body.layers[name]]);
  const own = Object.fromEntries(layers.map(([name, layer]) => [name, new Map(leaves(layer.config))]));
  const paths = [...new Set(layers.flatMap(([name]) => [...own[name].keys()]))].sort();
  const running = body.sync?.running || {};
  return html`
    <${Section} id="layers" title="Layers" note="the one further right wins, path by path">
      ${paths.length
        ? html`<div class="scroll" tabindex="0" role="region" aria-label="Layers">
            <table class="layers">
              <thead><tr><th scope="col">Path</th>${layers.map(([name, layer]) => html`<th scope="col" key=${name}><${LayerHead} name=${name} of=${layer} /></th>`)}</tr></thead>
              <tbody>${paths.map((path) => html`<${Path} key=${path} path=${path} own=${own} origins=${body.origins} />`)}</tbody>
            </table>
          </div>`
        : html`<${Nothing}>Nobody wants anything of this job: it is deleted, or nothing of it was accepted yet.<//>`}
    <//>
    <${Section} id="pending" title="Running to expected" note="what the state syncer still has to bring into effect">
      <${Differences} of=${between(running, body.expected)} none="Running is what is expected." />
    <//>`;
}

function LayerHead({ name, of }) {
  return html`<span class="layer-head">
    <span class="strong">${name}</span> <span class="quiet">version ${of.version}</span>
    ${of.author && html`<bdi title=${of.reason}>${of.author}${of.reason && `: ${of.reason}`}</bdi>`}
    ${of.ends.map((one) => html`<${LayerEnd} key=${one.change_id} of=${one} />`)}
  </span>`;
}

/** What one end takes back: its own changes, and nothing else of the layer. */
function LayerEnd({ of }) {
  const paths = of.differences.map((one) => one.path).join(", ");
  return html`<bdi title=${`${[...of.other_ids, of.change_id].join(", ")} by ${of.author}`}><${Countdown} ms=${of.expires_ms} /> <span class="quiet">${paths}</span></bdi>`;
}

/** The layer that a path's value comes from: that of the path itself, or of one above or below it. */
function origin(origins, path) {
  if (origins[path]) return origins[path];
  const parent = Object.keys(origins).find((one) => path.startsWith(`${one}.`));
  return parent ? origins[parent] : null;
}

function Path({ path, own, origins }) {
  const wins = origin(origins, path);
  return html`<tr>
    <td><code class="break">${path}</code></td>
    ${LAYERS.map((name) => {
      const has = own[name].has(path);
      const found = own[name].get(path);
      // A null hides what lies below it: that is not the same as saying nothing.
      const text = found === null ? "hidden" : value(found);
      return html`<td key=${name} class=${has ? (wins === name || found === null ? "strong break" : "lost break") : ""}>
        ${has && html`<bdi>${text}</bdi>`}</td>`;
    })}
  </tr>`;
}
