// Small line plots on a canvas: axes, a legend outside the data, linear or logarithmic scale.
import { brief, colour, make, ready } from "./dom.js";

const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];
const INKS = ["series1", "series2", "series3", "series4"];

/**
 * A figure in `el`. `show({series, x, y, log, at, whole})` draws
 *   series: [{name, x?: [numbers], y: [numbers or null], dash?, ink?, points?}]; x counts from 0,
 *   x, y: words at the axes;  log: whether y is logarithmic;  at: an x to mark by a line;
 *   whole: whether x counts, so that only whole numbers are labelled.
 */
export function curves(el, title) {
  const legend = make("div", { class: "legend" });
  const canvas = make("canvas", { role: "img", class: "plot" });
  const caption = make("figcaption", {}, title);
  el.append(make("figure", { class: "curves" }, caption, legend, canvas));
  let told = null;
  const redraw = () => told && draw(canvas, told);
  new ResizeObserver(redraw).observe(canvas);
  return {
    redraw,
    title(words) { caption.textContent = words; },
    show(what) {
      told = { log: false, ...what, series: what.series.map((one, k) => ({ ...one, k })) };
      const alone = told.series.length === 1 && told.series[0].name === caption.textContent;
      legend.replaceChildren(...(alone ? [] : told.series.map((one) => entry(one))));
      canvas.setAttribute("aria-label", `${caption.textContent}: ${told.series.map(words).join("; ")}`);
      redraw();
    },
  };
}

function entry({ name, k, dash = k, ink = INKS[k % 4] }) {
  const key = make("canvas", { class: "key", "aria-hidden": "true" });
  requestAnimationFrame(() => {
    const pen = ready(key, 26, 10);
    pen.strokeStyle = colour(key, ink);
    pen.lineWidth = 2;
    pen.setLineDash(DASHES[dash % 4]);
    pen.beginPath();
    pen.moveTo(1, 5);
    pen.lineTo(25, 5);
    pen.stroke();
  });
  return make("span", { class: "entry" }, key, name);
}

function words({ name, y }) {
  const there = y.filter((value) => value !== null);
  if (!there.length) return `${name} has no values`;
  return `${name} from ${brief(there[0])} to ${brief(there.at(-1))}`;
}

/** Round numbers between two, at most `most` of them. */
export function ticks(from, to, most) {
  const rough = (to - from) / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return [from];
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k += 1) found.push(k * step);
  return found;
}

function decades(from, to, most) {
  const every = Math.max(1, Math.ceil((to - from) / most)), found = [];
  for (let k = Math.ceil(from - 1e-9); k <= to + 1e-9; k += every) found.push(k);
  return found.length > 1 ? found : [from, to];
}

function bounds(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  return low === high ? [low - (Math.abs(low) || 1) * 0.5, high + (Math.abs(high) || 1) * 0.5] : [low, high];
}

/** Series on the scale they are drawn on: a value that has no logarithm is a gap. */
function scaled(series, log) {
  const onScale = (value) => (value === null || (log && value <= 0) ? null : log ? Math.log10(value) : value);
  return series.map((one) => ({ ...one, x: one.x ?? one.y.map((_, i) => i), y: one.y.map(onScale) }));
}

function draw(canvas, { series, x, y, log, at, whole }) {
  const { width, height } = canvas.getBoundingClientRect();
  const pen = ready(canvas, width, height);
  if (!pen) return;
  const lines = scaled(series, log);
  const [left, right] = bounds(lines.flatMap((one) => one.x));
  const [bottom, top] = bounds(lines.flatMap((one) => one.y));
  const size = parseFloat(getComputedStyle(canvas).fontSize) || 12;
  pen.font = `${size}px ${getComputedStyle(canvas).fontFamily}`;
  const marks = log ? decades(bottom, top, height / (3 * size)) : ticks(bottom, top, height / (3 * size));
  const label = (value) => brief(log ? 10 ** value : value);
  const wide = Math.max(...marks.map((mark) => pen.measureText(label(mark)).width));
  const box = { left: wide + 12 + size, right: width - 10, top: 8, bottom: height - 2.6 * size - 4 };
  const px = (value) => box.left + (value - left) / (right - left) * (box.right - box.left);
  const py = (value) => box.bottom - (value - bottom) / (top - bottom) * (box.bottom - box.top);
  axes(pen, canvas, { box, marks, px, py, label, left, right, size, x, y, height, whole });
  if (at !== undefined && at !== null) stroke(pen, colour(canvas, "mark"), 1.5, [3, 3], [[px(at), box.top], [px(at), box.bottom]]);
  for (const one of lines) {
    const points = one.y.map((value, i) => (value === null ? null : [px(one.x[i]), py(value)]));
    const ink = colour(canvas, one.ink ?? INKS[one.k % 4]);
    stroke(pen, ink, 2, DASHES[(one.dash ?? one.k) % 4], points);
    if (one.points || points.length === 1) dots(pen, ink, points);
  }
}

function axes(pen, canvas, { box, marks, px, py, label, left, right, size, x, y, height, whole }) {
  const grid = colour(canvas, "grid"), ink = colour(canvas, "soft");
  pen.fillStyle = ink;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (const mark of marks) {
    stroke(pen, grid, 1, [], [[box.left, py(mark)], [box.right, py(mark)]]);
    pen.fillText(label(mark), box.left - 6, py(mark));
  }
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const mark of ticks(left, right, (box.right - box.left) / (5 * size))) {
    if (whole && !Number.isInteger(Number(mark.toFixed(9)))) continue;
    stroke(pen, ink, 1, [], [[px(mark), box.bottom], [px(mark), box.bottom + 4]]);
    pen.fillText(brief(mark), px(mark), box.bottom + 6);
  }
  stroke(pen, ink, 1, [], [[box.left, box.bottom], [box.right, box.bottom]]);
  pen.textBaseline = "bottom";
  if (x) pen.fillText(x, (box.left + box.right) / 2, height - 1);
  if (y) {
    pen.save();
    pen.translate(size, (box.top + box.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(y, 0, 0);
    pen.restore();
  }
}

/** A line through points; null breaks it. */
export function stroke(pen, ink, width, dash, points) {
  pen.strokeStyle = ink;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  let down = false;
  for (const point of points) {
    if (point === null) down = false;
    else if (down) pen.lineTo(...point);
    else { pen.moveTo(...point); down = true; }
  }
  pen.stroke();
  pen.setLineDash([]);
}

function dots(pen, ink, points) {
  pen.fillStyle = ink;
  for (const point of points) {
    if (point === null) continue;
    pen.beginPath();
    pen.arc(...point, 3, 0, 2 * Math.PI);
    pen.fill();
  }
}
