// Margins b and errors e as bars, one a point; of minimum squared error they can be dragged.
import { CLASSES, brief, colour, make } from "./dom.js";
import { prepared } from "./plane.js";

const MOST = 40; // points whose bars can be told apart

export function margins(el, send) {
  const canvas = make("canvas", { class: "bars", role: "img" });
  const sliders = make("div", { class: "bar-sliders", role: "group", "aria-label": "Margins b" });
  const hint = make("p", { class: "hint" });
  const card = make("section", { class: "card", "aria-label": "Margins" }, make("h2", {}, "Margins b and errors e"), hint, sliders, canvas);
  el.append(card);
  let last = null;
  const redraw = () => last && paintMargins(canvas, last);
  new ResizeObserver(redraw).observe(canvas);
  return {
    redraw,
    show(drawing) {
      const bars = drawing.run ? drawing.present?.bars : null;
      card.hidden = !bars?.b || bars.b.length > MOST;
      if (card.hidden) { last = null; return; }
      const draggable = !bars.e;
      sliders.hidden = !draggable;
      canvas.hidden = draggable;
      hint.textContent = draggable ? "Drag a bar: the margin that a point should reach on the correct side."
        : "Full bars: margins b. Lines: Ya. Where they end at the same height, e = Ya − b is zero.";
      if (draggable) fill(sliders, bars.b, drawing.points.codes, send);
      last = draggable ? null : { ...bars, codes: drawing.points.codes };
      redraw();
    },
  };
}

let standing = []; // margins as the bars show them: several may move before an answer

function fill(el, b, codes, send) {
  standing = b;
  if (el.childElementCount !== b.length) {
    el.replaceChildren(...b.map((_, index) => make("input", {
      type: "range", min: -1, max: 2, step: 0.02, class: "bar",
      oninput: (event) => {
        const margin = Number((10 ** Number(event.target.value)).toPrecision(3));
        standing = standing.with(index, margin);
        send.latest({ event: "set", link: { margins: standing } });
      },
    })));
  }
  [...el.children].forEach((input, i) => {
    if (input !== document.activeElement) input.value = Math.log10(b[i]);
    input.dataset.code = codes[i];
    input.setAttribute("aria-label", `Margin of point ${i}, class ${CLASSES[codes[i]]}`);
    input.setAttribute("aria-valuetext", brief(b[i]));
    input.title = `Point ${i}: b = ${brief(b[i])}`;
  });
}

function paintMargins(canvas, { b, e, codes }) {
  const reached = b.map((value, i) => value + e[i]); // Ya
  const low = Math.min(0, ...reached), high = Math.max(...b, ...reached);
  const base = prepared(canvas, [0, b.length, low - 0.05 * (high - low), high + 0.05 * (high - low)]);
  if (!base) return;
  const { pen, map, width } = base;
  b.forEach((value, i) => {
    const left = map.x(i + 0.15), wide = map.x(i + 0.85) - left;
    pen.fillStyle = colour(canvas, `class${codes[i]}`);
    pen.globalAlpha = 0.55;
    pen.fillRect(left, map.y(value), wide, map.y(0) - map.y(value));
    pen.globalAlpha = 1;
    pen.fillStyle = colour(canvas, "mark");
    pen.fillRect(left - 2, map.y(reached[i]) - 1.5, wide + 4, 3);
  });
  pen.fillRect(0, map.y(0), width, 1);
  canvas.setAttribute("aria-label", `Margins b: ${b.map(brief).join(", ")}. Errors e: ${e.map(brief).join(", ")}.`);
}
