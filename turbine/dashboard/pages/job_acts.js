// Knows what a person can do about a job from here, each as a plan first.

import { doIt } from "../app/dialogs.js";
import { fixed } from "../app/stream.js";
import { html } from "../app/ui.js";

const REASON = { name: "reason", label: "Reason, for whoever reads the journal", required: true, hint: "INC-123: the sink is slow" };
const EXPIRES = { name: "expires", label: "Expires after", usual: "2h", required: true, hint: "90s, 2h, 1d" };

const wish = (job, verb, title, says) => ({ title: `${title} ${job}`, says, path: ["jobs", job, verb], body: {}, fields: [REASON] });

/** A pin of the size: it is an oncall change, which hides what the scaler wants until it ends. */
const scale = (job, tasks) => ({
  title: `Scale ${job} by hand`,
  says: "The number of tasks is pinned in the oncall layer, above what the scaler wants, until it expires.",
  path: ["changes"],
  body: { job, layer: "oncall" },
  fields: [{ name: "tasks", label: "Tasks", kind: "number", min: 1, usual: String(tasks), required: true }, EXPIRES, REASON],
  make: ({ tasks: wanted, expires, reason }) => ({ set: { tasks: Number(wanted) }, expires, reason }),
});

/** What the pin hides holds again. */
const unpin = (job, paths) => ({
  title: `Take back what is overridden on ${job}`,
  says: `Clears ${paths.join(", ")} from the oncall layer: what lies below holds again.`,
  path: ["changes"],
  body: { job, layer: "oncall", clear: paths },
  fields: [REASON],
});

export function JobActs({ job }) {
  const { job: name, line, sync } = job;
  if (!job.alive) return null;
  const paused = line.state === "paused" || job.expected.paused;
  const pinned = line.overrides.filter((one) => one.layer === "oncall").map((one) => one.path);
  const acts = [
    ["Scale…", scale(name, line.tasks || job.expected.tasks || 1)],
    paused
      ? ["Resume…", wish(name, "resume", "Resume", "Its tasks start again where their offsets are.")]
      : ["Pause…", wish(name, "pause", "Pause", "Its tasks stop and keep their offsets; lag grows until it is resumed.")],
    sync?.quarantine && ["Release…", wish(name, "release", "Release", "The syncer plans the refused config once more.")],
    pinned.length > 0 && ["Take back override…", unpin(name, pinned)],
  ].filter(Boolean);
  const why = fixed();
  return html`<span class="acts-row">
    ${acts.map(([text, what]) => html`<button key=${text} type="button" disabled=${Boolean(why)} title=${why || undefined} onClick=${() => doIt(what)}>${text}</button>`)}
  </span>`;
}
