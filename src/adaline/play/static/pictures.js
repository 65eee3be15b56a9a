// Pictures of the tab of signals: weights as stems, and spectrograms. Python computed all of it.
import { stroke, ticks } from "./curves.js";
import { brief, colour, make, ready } from "./dom.js";

/** Weights as bars, and the true path as circles; `show(learned, path)`, path may be null. */
export function stems(el, title) {
  const canvas = make("canvas", { role: "img", class: "plot" });
  el.append(make("figure", { class: "curves" }, make("figcaption", {}, title),
    make("p", { class: "hint" }, "Bars: the weights. Circles: the true path."), canvas));
  let told = null;
  const redraw = () => told && drawStems(canvas, told);
  new ResizeObserver(redraw).observe(canvas);
  return {
    redraw,
    show(learned, path, scale) {
      told = { learned, path, scale };
      canvas.setAttribute("aria-label", `${title}: ${learned.length} weights, the first ${brief(learned[0])}`);
      redraw();
    },
  };
}

function drawStems(canvas, { learned, path, scale }) {
  const { width, height } = canvas.getBoundingClientRect();
  const pen = ready(canvas, width, height);
  if (!pen) return;
  const size = parseFloat(getComputedStyle(canvas).fontSize) || 12;
  pen.font = `${size}px ${getComputedStyle(canvas).fontFamily}`;
  const n = Math.max(learned.length, path?.length ?? 0);
  const box = { left: 4.5 * size, right: width - 8, top: 8, bottom: height - 2.6 * size - 4 };
  const px = (k) => box.left + (k + 0.5) / n * (box.right - box.left);
  const py = (v) => (box.top + box.bottom) / 2 - v / scale * (box.bottom - box.top) / 2;
  pen.fillStyle = colour(canvas, "soft");
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const mark of ticks(-scale, scale, height / (3 * size))) {
    stroke(pen, colour(canvas, "grid"), 1, [], [[box.left, py(mark)], [box.right, py(mark)]]);
    pen.fillText(brief(mark), box.left - 6, py(mark));
  }
  stroke(pen, colour(canvas, "soft"), 1, [], [[box.left, py(0)], [box.right, py(0)]]);
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const mark of ticks(0, n - 1, (box.right - box.left) / (4 * size))) {
    if (Number.isInteger(mark)) pen.fillText(brief(mark), px(mark), box.bottom + 4);
  }
  pen.textBaseline = "bottom";
  pen.fillText("delay, samples", (box.left + box.right) / 2, height - 1);
  const wide = Math.max(1, Math.min(14, 0.6 * (box.right - box.left) / n));
  pen.fillStyle = colour(canvas, "series1");
  const inside = (v) => Math.max(-scale, Math.min(scale, v));
  learned.forEach((v, k) => pen.fillRect(px(k) - wide / 2, Math.min(py(0), py(inside(v))), wide, Math.abs(py(inside(v)) - py(0))));
  pen.strokeStyle = colour(canvas, "series2");
  pen.lineWidth = 2;
  path?.forEach((v, k) => {
    pen.beginPath();
    pen.arc(px(k), py(inside(v)), Math.max(2, Math.min(4.5, wide / 2 + 1)), 0, 2 * Math.PI);
    pen.stroke();
  });
}

/** Two spectrograms on one scale of shades. */
export function spectrograms(el) {
  const canvases = ["Before", "After"].map((words) => {
    const canvas = make("canvas", { role: "img", class: "plot spectrogram" });
    el.append(make("figure", { class: "curves" }, make("figcaption", {}, words), canvas));
    return canvas;
  });
  let told = null;
  const redraw = () => told && canvases.forEach((canvas, k) => drawShades(canvas, told, k ? told.after : told.before));
  for (const canvas of canvases) new ResizeObserver(redraw).observe(canvas);
  return {
    redraw,
    show(what) {
      told = what;
      canvases.forEach((canvas, k) => canvas.setAttribute("aria-label",
        `Power over time and frequency, ${k ? "after" : "before"} the filter, up to ${brief(what.highest)} Hz. ${what.claim}.`));
      redraw();
    },
  };
}

/** A shade 0 to 255 as a colour: dark blue, green, yellow, all of rising lightness. */
function tint(shade) {
  const stops = [[13, 8, 40], [52, 45, 110], [33, 120, 125], [70, 180, 90], [253, 231, 60]];
  const at = shade / 255 * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at));
  return stops[k].map((low, c) => low + (at - k) * (stops[k + 1][c] - low));
}

const TINTS = Array.from({ length: 256 }, (_, shade) => tint(shade));

function drawShades(canvas, { columns, rows, highest, seconds }, shades) {
  const { width, height } = canvas.getBoundingClientRect();
  const pen = ready(canvas, width, height);
  if (!pen) return;
  const size = parseFloat(getComputedStyle(canvas).fontSize) || 12;
  const image = new ImageData(columns, rows);
  for (let r = 0; r < rows; r += 1) {
    for (let c = 0; c < columns; c += 1) {
      const to = 4 * ((rows - 1 - r) * columns + c); // the lowest frequency is at the bottom
      const [red, green, blue] = TINTS[shades.getUint8(r * columns + c)];
      image.data.set([red, green, blue, 255], to);
    }
  }
  const small = new OffscreenCanvas(columns, rows);
  small.getContext("2d").putImageData(image, 0, 0);
  const box = { left: 4 * size, right: width - 8, top: 4, bottom: height - 2.6 * size - 4 };
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, box.left, box.top, box.right - box.left, box.bottom - box.top);
  pen.font = `${size}px ${getComputedStyle(canvas).fontFamily}`;
  pen.fillStyle = colour(canvas, "soft");
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const mark of ticks(0, highest / 1000, 4)) {
    pen.fillText(brief(mark), box.left - 6, Math.max(size / 2, box.bottom - 1000 * mark / highest * (box.bottom - box.top)));
  }
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const mark of ticks(0, seconds, 5)) {
    const at = box.left + mark / seconds * (box.right - box.left);
    pen.fillText(brief(mark), Math.min(at, box.right - size), box.bottom + 4);
  }
  pen.textBaseline = "bottom";
  pen.fillText("time, s; frequency, kHz", (box.left + box.right) / 2, height - 1);
}
