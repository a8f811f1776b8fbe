// Knows how everything here is drawn: Preact with tagged templates, and no build step.
//
// Strings from outside become text nodes or attributes, never markup: there is no other way in here,
// and a contract test reads every module for one.

import { Fragment, h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { Fragment, render };
export { useEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.js";
export { computed, effect, signal, batch } from "../vendor/signals.js";

export const html = htm.bind(h);

/** Class names of what holds. @param {...(string|false|null|undefined)} names */
export const classes = (...names) => names.filter(Boolean).join(" ") || undefined;
