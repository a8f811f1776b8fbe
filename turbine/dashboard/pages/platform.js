// Shows how the control plane itself does: who has said something last, how far running follows
// expected, what could not be read, where the topics end.

import { useAnswer } from "../app/api.js";
import { link } from "../app/place.js";
import { Copies, Head, Nothing, Section, Shown, Table, Time } from "../app/parts.js";
import { head } from "../app/stream.js";
import { classes, html } from "../app/ui.js";
import { count, plural, span } from "../app/words.js";

/** A component that decides has little to say for hours; the clock behind its words must not be old. */
const TICK_LATE_MS = 10_000;

export function PlatformPage() {
  const answer = useAnswer(["platform"]);
  return html`<${Head} title="Platform health" acts=${html`<${Copies} command="turbine log stats" path=${new URL("api/v1/platform", document.baseURI).href} />`} />
    <${Shown} answer=${answer}>${(body) => html`<${Platform} of=${body} />`}<//>`;
}

function Platform({ of }) {
  const { reconcile, projection } = of;
  return html`
    <div class="strip">
      ${[
        [reconcile.jobs_quarantined, "in quarantine", "bad"],
        [reconcile.jobs_failing, "whose sync fails", "bad"],
        [reconcile.jobs_behind, "behind their config", "warn"],
        [reconcile.jobs_syncing, "syncing", ""],
      ].map(([many, text, mood]) => html`<span key=${text}><b class=${many ? mood : ""}>${count(many)}</b> jobs ${text}</span>`)}
      <span><b>${span(reconcile.oldest_behind_ms)}</b> the oldest is behind</span>
      <span><b class=${projection.behind_records > 1000 ? "warn" : ""}>${count(projection.behind_records)}</b> records this page has not read</span>
      ${of.stream_readers !== undefined && html`<span><b>${count(of.stream_readers)}</b> ${of.stream_readers === 1 ? "page listens" : "pages listen"}</span>`}
    </div>
    ${of.audit && html`<${Audit} of=${of.audit} />`}
    <div class="columns">
      <${Components} of=${of.components} />
      <${Letters} of=${of} />
    </div>
    <${Topics} of=${of.topics} />`;
}

const Audit = ({ of }) => html`<p class=${classes("note", of.mismatches > 0 && "is-bad")}>The last audit derived ${plural(of.checked, "decision")} again
  and found ${of.mismatches ? html`<b>${plural(of.mismatches, "mismatch")}</b>` : "each the same"}.</p>`;

function Components({ of }) {
  const columns = [
    { key: "component", label: "Component", fit: true, cell: (one) => html`<a href=${link(["journal"], { component: one.component })}>${one.component}</a>` },
    { key: "at", label: "Last word", fit: true, cell: (one) => html`<${Time} ms=${one.last_at_ms} now=${head.value?.now_ms} full />` },
    { key: "silent", label: "Since then", num: true, fit: true, hint: "Nothing to say is nothing wrong", cell: (one) => span(one.silent_ms) },
    { key: "behind", label: "Tick behind", num: true, fit: true, hint: "How far the tick of its last decision was behind the log",
      cell: (one) => html`<span class=${one.tick_behind_ms > TICK_LATE_MS ? "warn" : ""}>${span(one.tick_behind_ms)}</span>` },
    { key: "decisions", label: "Decisions", num: true, fit: true, cell: (one) => count(one.decisions) },
    { key: "position", label: "At", cell: (one) => html`<code>${one.last_position}</code>` },
  ];
  return html`<${Section} id="components" title="Components" note="by their last words in the log">
    ${of.length
      ? html`<${Table} label="Components" columns=${columns} rows=${of} keyOf=${(one) => one.component} />`
      : html`<${Nothing}>No component has decided anything yet; <code>turbine serve</code> runs them.<//>`}
  <//>`;
}

function Letters({ of }) {
  const reasons = Object.entries(of.dead_letters_by_reason);
  return html`<${Section} id="letters" title="Dead letters" note=${of.dead_letters ? count(of.dead_letters) : ""}>
    ${reasons.length
      ? html`<ul class="reasons">${reasons.map(([reason, many]) => html`<li key=${reason}><b>${count(many)}</b> ${reason}</li>`)}</ul>
          <ul class="alerts">${of.last_dead_letters.slice(0, 8).map((one) => html`<li key=${`${one.place}:${one.offset}`}>
            <p class="break"><bdi>${one.sentence}</bdi></p><p class="small quiet"><code>${one.place}:${one.offset}</code> <${Time} ms=${one.at_ms} full /></p></li>`)}</ul>`
      : html`<${Nothing}>Everything on the log could be read.<//>`}
  <//>`;
}

function Topics({ of }) {
  const ends = (one) => Object.values(one.ends).reduce((sum, end) => sum + end, 0);
  const columns = [
    { key: "topic", label: "Topic", fit: true, cell: (one) => html`<code>${one.topic}</code>` },
    { key: "kind", label: "Kind", fit: true },
    { key: "by", label: "Written by", cell: (one) => one.written_by },
    { key: "partitions", label: "Partitions", num: true, fit: true, cell: (one) => (one.partitions ? count(one.partitions) : html`<span class=${head.value?.file ? "quiet" : "bad"}>${head.value?.file ? "not in the file" : "not there"}</span>`) },
    { key: "ends", label: "Records written", num: true, fit: true, hint: "The sum of where its partitions end",
      cell: (one) => html`<span title=${Object.entries(one.ends).map(([place, end]) => `${place} ends at ${end}`).join("\n")}>${count(ends(one))}</span>` },
  ];
  return html`<${Section} id="topics" title="Topics and where they end">
    <${Table} label="Topics" columns=${columns} rows=${of} keyOf=${(one) => one.topic} />
  <//>`;
}
