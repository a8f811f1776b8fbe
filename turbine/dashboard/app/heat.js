// Knows how many tasks are seen at once: a cell each, the deeper the worse, on one canvas, since ten
// thousand elements would take a second.

import { shown } from "./settings.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const CELL = 14;
const GAP = 2;

/** Between two colours, by a share. */
function mixed(low, high, share) {
  const parts = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [from, to] = [parts(low), parts(high)];
  return `rgb(${from.map((one, at) => Math.round(one + (to[at] - one) * share)).join(" ")})`;
}

/**
 * @param {{cells: {key: string, share: number | null, text: string}[], label: string}} props `share` is 0 to 1;
 *   null where nobody knows
 */
export function Heat({ cells, label }) {
  const ref = useRef(null);
  const [text, say] = useState("");
  const grid = useRef({ across: 1 });
  useEffect(() => {
    const canvas = ref.current;
    const paint = () => {
      const width = canvas.parentElement.clientWidth;
      const across = Math.max(1, Math.floor((width + GAP) / (CELL + GAP)));
      grid.current = { across };
      const down = Math.ceil(cells.length / across);
      const scale = devicePixelRatio;
      canvas.width = width * scale;
      canvas.height = Math.max(1, down * (CELL + GAP)) * scale;
      canvas.style.height = `${down * (CELL + GAP)}px`;
      const style = getComputedStyle(document.documentElement);
      const [low, high, line] = ["--heat-0", "--heat-1", "--line-strong"].map((name) => style.getPropertyValue(name).trim());
      const ctx = canvas.getContext("2d");
      ctx.scale(scale, scale);
      cells.forEach((cell, at) => {
        const x = (at % across) * (CELL + GAP);
        const y = Math.floor(at / across) * (CELL + GAP);
        if (cell.share === null) {
          ctx.strokeStyle = line;
          ctx.strokeRect(x + 0.5, y + 0.5, CELL - 1, CELL - 1);
        } else {
          ctx.fillStyle = mixed(low, high, Math.max(0, Math.min(1, cell.share)));
          ctx.fillRect(x, y, CELL, CELL);
        }
      });
    };
    paint();
    const watch = new ResizeObserver(paint);
    watch.observe(canvas.parentElement);
    return () => watch.disconnect();
  }, [cells, shown.value]);
  const move = (event) => {
    const column = Math.floor(event.offsetX / (CELL + GAP));
    const row = Math.floor(event.offsetY / (CELL + GAP));
    say(column < grid.current.across ? cells[row * grid.current.across + column]?.text || "" : "");
  };
  return html`<figure class="heat">
    <div><canvas ref=${ref} role="img" aria-label=${label} onMouseMove=${move} onMouseLeave=${() => say("")}></canvas></div>
    <figcaption class="small quiet">${text || label}</figcaption>
  </figure>`;
}
