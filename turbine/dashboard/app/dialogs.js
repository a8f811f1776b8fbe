// Knows how something is done from here: first the plan of it, then that plan by its id, never
// another one that is made meanwhile. The API refuses it where the job has moved since.

import { again, ask } from "./api.js";
import { Differences } from "./differences.js";
import { Facts } from "./parts.js";
import { link } from "./place.js";
import { html, signal, useEffect, useRef, useState } from "./ui.js";
import { clockName, time } from "./words.js";

/**
 * @typedef {{title: string, says: string, path: string[], body: object, fields: Field[], danger?: boolean}} Act
 * @typedef {{name: string, label: string, usual?: string, kind?: string, required?: boolean, hint?: string}} Field
 */

/** What is being done; null while nothing is. */
export const act = signal(null);

const TOKEN = "turbine.token";
export const token = () => sessionStorage.getItem(TOKEN) || "";
export const setToken = (text) => (text ? sessionStorage.setItem(TOKEN, text) : sessionStorage.removeItem(TOKEN));

/** Opens the dialog. @param {Act} what */
export function doIt(what) {
  act.value = what;
}

/** A dialog of the browser's own: it keeps the focus, and Escape closes it. */
export function Dialog({ label, onClose, children }) {
  const ref = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${ref} aria-label=${label} onClose=${onClose}>${children}</dialog>`;
}

export function ActDialog() {
  const what = act.value;
  if (!what) return null;
  return html`<${Doing} key=${what.title} what=${what} close=${() => (act.value = null)} />`;
}

const usual = (what) => Object.fromEntries(what.fields.map((one) => [one.name, one.usual || ""]));

function Doing({ what, close }) {
  const [given, setGiven] = useState(usual(what));
  const [plan, setPlan] = useState(null);
  const [done, setDone] = useState(null);
  const [problem, setProblem] = useState(null);
  const [asks, setAsks] = useState(!token());
  const [busy, setBusy] = useState(false);

  const send = async (path, body) => {
    setBusy(true);
    setProblem(null);
    try {
      return await ask(path, {}, { method: "POST", body, token: token() });
    } catch (refused) {
      if (refused.status === 401 || refused.status === 403) {
        setToken("");
        setAsks(true);
      }
      setProblem(refused);
      return null;
    } finally {
      setBusy(false);
    }
  };
  const look = async (event) => {
    event.preventDefault();
    const typed = event.target.elements.token?.value.trim();
    if (typed) {
      setToken(typed);
      setAsks(false);
    }
    const made = what.make ? what.make(given) : given;
    const answer = await send(what.path, { ...what.body, ...made, dry_run: true });
    if (answer) setPlan(answer);
  };
  const apply = async () => {
    const answer = await send(["plans", plan.plan, "apply"], {});
    if (answer) {
      setDone(answer);
      again.value += 1;
    }
  };
  return html`<${Dialog} label=${what.title} onClose=${close}>
    <h2>${what.title}</h2>
    <p class="soft">${what.says}</p>
    ${problem && html`<${Refused} problem=${problem} />`}
    ${done
      ? html`<${Done} done=${done} close=${close} />`
      : plan
        ? html`<${Planned} plan=${plan} busy=${busy} apply=${apply} back=${() => setPlan(null)} />`
        : html`<${Form} what=${what} given=${given} set=${setGiven} asks=${asks} busy=${busy} look=${look} close=${close} />`}
  <//>`;
}

const Refused = ({ problem }) => html`<div class="note is-bad" role="alert" data-state="refused">
  <span class="strong">${problem.title || "Refused."}</span> ${problem.message}
</div>`;

function Form({ what, given, set, asks, busy, look, close }) {
  const write = (name) => (event) => set({ ...given, [name]: event.target.value });
  return html`<form onSubmit=${look}>
    ${what.fields.map(
      (one) => html`<label class="field" key=${one.name}>
        <span>${one.label}</span>
        ${one.options
          ? html`<select value=${given[one.name]} onChange=${write(one.name)}>
              ${one.options.map((option) => html`<option key=${option}>${option}</option>`)}
            </select>`
          : html`<input name=${one.name} type=${one.kind || "text"} min=${one.min} value=${given[one.name]} required=${one.required}
              placeholder=${one.hint} onInput=${write(one.name)} />`}
      </label>`,
    )}
    ${asks &&
    html`<label class="field">
      <span>Token: in the file api-token of the server's directory; kept until this tab is closed</span>
      <input name="token" type="password" autocomplete="off" required />
    </label>`}
    <div class="acts">
      <button type="button" onClick=${close}>Cancel</button>
      <button type="submit" class="main-act" disabled=${busy}>Show the plan</button>
    </div>
  </form>`;
}

function Planned({ plan, busy, apply, back }) {
  const refused = plan.verdict === "rejected";
  return html`<div data-state="plan">
    <p class=${refused ? "note is-bad" : "note"}>
      ${refused ? html`<span class="strong">This would be rejected.</span> <bdi>${plan.explanation}</bdi>` : "Nothing has happened yet. This is what would:"}
    </p>
    <${Facts}
      pairs=${[
        plan.plan && ["plan", html`<code>${plan.plan}</code>`],
        plan.effect && ["effect", html`<bdi>${plan.effect}</bdi>`],
        plan.layer && ["would be", `version ${plan.version} of ${plan.layer}`],
        plan.expires_ms && ["is kept until", `${time(plan.expires_ms)} ${clockName()}`],
        plan.command && ["the same by hand", html`<code class="break">${plan.command}</code>`],
      ]}
    />
    <${Differences} of=${plan.differences || []} none="Nothing of what is expected changes." />
    <div class="acts">
      <button type="button" onClick=${back}>Back</button>
      <button type="button" class="main-act" disabled=${busy || !plan.plan} onClick=${apply}>Apply this plan</button>
    </div>
  </div>`;
}

/** How a verdict reads. */
function verdictText(done) {
  switch (done.verdict) {
    case "accepted":
      return `Accepted${done.version ? ` as version ${done.version} of ${done.layer}` : ""}.`;
    case "rejected":
      return `Rejected, ${done.reason}: ${done.explanation}`;
    case "unknown":
      return `No verdict yet, and it may still stand: ask for ${done.change_id} again, it counts once.`;
    default:
      return done.effect || done.explanation || "Done.";
  }
}

function Done({ done, close }) {
  return html`<div data-state="done">
    <p class=${done.verdict === "rejected" ? "note is-bad" : "note"} role="status">${verdictText(done)}
      ${done.decision_id && html`${" "}<a href=${link(["decisions", done.decision_id])} onClick=${close}>The decision</a>`}</p>
    <div class="acts"><button type="button" class="main-act" onClick=${close}>Close</button></div>
  </div>`;
}
