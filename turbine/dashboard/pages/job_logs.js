// Shows what one task of a job prints, and how it failed last: what a person would else look for on
// the machine of its container.

import { useAnswer } from "../app/api.js";
import { at, change, link, place } from "../app/place.js";
import { Copies, Facts, Nothing, Section, Shown, State, Time } from "../app/parts.js";
import { html, useEffect, useRef } from "../app/ui.js";
import { count, time } from "../app/words.js";

const LIMIT = 1_000; // tasks to choose from; any other by its number in the address
const TAIL = 200;
const NEAR_PX = 8; // from the end: nobody scrolls to the pixel
const TROUBLED = ["failed", "restarting"];

export function JobLogs({ job }) {
  const answer = useAnswer(["jobs", job, "tasks"], { limit: LIMIT });
  return html`<${Shown} answer=${answer}>
    ${(body) => {
      const chosen = place.value.query.task;
      if (!body.items.length && !chosen) {
        return html`<${Nothing}>The job has no tasks at this instant, and nobody prints. <code>turbine describe job ${job}</code> tells why.<//>`;
      }
      const task = chosen || String((body.items.find((one) => TROUBLED.includes(one.state)) || body.items[0]).task);
      return html`<${Chosen} job=${job} task=${task} items=${body.items} />`;
    }}
  <//>`;
}

function Chosen({ job, task, items }) {
  const known = items.some((one) => String(one.task) === task);
  return html`
    <div class="filters">
      <label class="quiet" for="task">Task</label>
      <select id="task" value=${task} onChange=${(event) => change({ task: event.target.value })}>
        ${!known && html`<option value=${task}>${task}</option>`}
        ${items.map((one) => html`<option key=${one.task} value=${String(one.task)}>${one.task} · ${one.state}</option>`)}
      </select>
      <span class="room"></span>
      <${Copies} command=${`turbine logs ${job}/${task}`} />
    </div>
    <${Failure} key=${`f${task}`} job=${job} task=${task} />
    <${Printed} key=${`p${task}`} job=${job} task=${task} />`;
}

function Failure({ job, task }) {
  const answer = useAnswer(["jobs", job, "tasks", task]);
  return html`<${Section} id="failure" title="Its last failure" note=${at.value ? "as of then" : "from the log, whatever became of its container"}>
    <${Shown} answer=${answer}>
      ${({ last_failure: last }) =>
        last
          ? html`<${Facts} pairs=${failed(last)} />
              ${last.traceback
                ? html`<pre class="lines" tabindex="0" role="region" aria-label="Traceback"><bdi>${last.traceback}</bdi></pre>`
                : html`<p class="quiet">No traceback came with it.</p>`}`
          : html`<${Nothing}>It has not failed up to this instant.<//>`}
    <//>
  <//>`;
}

const failed = (last) => [
  ["when", html`<${Time} ms=${last.at_ms} full />, attempt ${count(last.attempt)}`],
  ["where", html`<a href=${link(["placement"], { container: last.container })}><bdi>${last.container}</bdi></a>`],
  ["cause", html`<${State} of=${last.cause} />${last.error_class && html` <code class="break">${last.error_class}</code>`}`],
  last.explanation && ["it says", html`<bdi class="break">${last.explanation}</bdi>`],
  ["again", last.retry_ms === null ? "not tried again" : time(last.retry_ms)],
];

function Printed({ job, task }) {
  // No record holds what is printed: at any instant of the time bar these are the lines of now.
  const answer = useAnswer(["jobs", job, "tasks", task, "log"], { tail: TAIL, at: "" });
  return html`<${Section} id="printed" title="What it printed last" note=${at.value ? "as of now, and not of the instant above" : "as of now"}>
    <${Shown} answer=${answer}>
      ${(body) => html`
        <p class="quiet small">In <bdi>${body.container}</bdi>${body.host && html` on <bdi>${body.host}</bdi>`}, the last ${count(body.lines.length)} lines${body.cut ? "; longer ones before them are left out" : ""}.</p>
        ${body.lines.length
          ? html`<${Lines} of=${body.lines} />`
          : html`<${Nothing}>It has printed nothing there.<//>`}`}
    <//>
  <//>`;
}

/** The newest are in sight, until one scrolls up to read: then they stand still. */
function Lines({ of }) {
  const ref = useRef(null);
  const follows = useRef(true);
  useEffect(() => {
    if (follows.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [of]);
  const scrolled = ({ currentTarget: box }) => (follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX);
  return html`<pre ref=${ref} class="lines" tabindex="0" role="log" aria-live="off" aria-label="Lines" onScroll=${scrolled}>${of.map(line)}</pre>`;
}

const line = (one, index) => html`<span key=${index} class=${one.stream === "stderr" ? "warn" : ""}><span class="quiet">${time(one.at_ms)} ${one.stream.padEnd(6)} </span><bdi>${one.text}</bdi>${"\n"}</span>`;
