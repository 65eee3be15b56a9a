// The plane on a canvas: areas, boundaries, ellipses, the proof, and points; what Python found.
import { brief, colour, ready } from "./dom.js";
import { stroke, ticks } from "./curves.js";

const TINT = 0.2; // opacity of a class's area
const REJECT = 255;

/** From numbers to pixels and back, for a view [left, right, bottom, top]. */
export function mapping([left, right, bottom, top], width, height) {
  return {
    x: (value) => (value - left) / (right - left) * width,
    y: (value) => (top - value) / (top - bottom) * height,
    backX: (pixel) => left + pixel / width * (right - left),
    backY: (pixel) => top - pixel / height * (top - bottom),
  };
}

/** The part of a polygon where a x + b y + c > 0. */
export function clipped(polygon, a, b, c) {
  const side = ([x, y]) => a * x + b * y + c, found = [];
  polygon.forEach((point, i) => {
    const before = polygon[(i + polygon.length - 1) % polygon.length];
    const here = side(point), there = side(before);
    if ((here > 0) !== (there > 0)) {
      const share = there / (there - here);
      found.push([before[0] + share * (point[0] - before[0]), before[1] + share * (point[1] - before[1])]);
    }
    if (here > 0) found.push(point);
  });
  return found;
}

/** Scaled so that the largest weight is 1: weights that have run away can still be drawn. */
function tamed({ W, b }) {
  const flat = [...W.flat(), ...b];
  if (flat.some((value) => value === null)) return null;
  const size = Math.max(...flat.map(Math.abs));
  if (!(size > 0)) return null;
  return { W: W.map((w) => w.map((value) => value / size)), b: b.map((value) => value / size) };
}

/** The area of each class under linear neurons, as polygons of the view: [[code, polygon], ...]. */
export function regions(weights, [left, right, bottom, top]) {
  const known = tamed(weights);
  if (!known) return [];
  const { W, b } = known, box = [[left, bottom], [right, bottom], [right, top], [left, top]];
  if (W.length === 1) {
    const [[w1, w2]] = W;
    return [
      [weights.classes[1], clipped(box, w1, w2, b[0])],
      [weights.classes[0], clipped(box, -w1, -w2, -b[0])],
    ];
  }
  return W.map((w, k) => [weights.classes[k], W.reduce(
    (area, v, j) => (j === k ? area : clipped(area, w[0] - v[0], w[1] - v[1], b[k] - b[j])), box)]);
}

function path(pen, map, points) {
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(map.x(x), map.y(y)) : pen.moveTo(map.x(x), map.y(y))));
  pen.closePath();
}

/** Fill the area of each class, and draw the lines between them. */
export function drawRegions(pen, canvas, map, view, weights, filled) {
  const ink = colour(canvas, "mark");
  for (const [code, area] of regions(weights, view)) {
    if (area.length < 3) continue;
    path(pen, map, area);
    if (filled) {
      pen.globalAlpha = TINT;
      pen.fillStyle = colour(canvas, `class${code}`);
      pen.fill();
      pen.globalAlpha = 1;
    }
    if (weights.W.length > 1) {
      pen.strokeStyle = ink;
      pen.lineWidth = 1.5;
      pen.stroke();
    }
  }
  if (weights.W.length === 1) {
    const known = tamed(weights);
    if (known) drawLine(pen, map, view, known.W[0], known.b[0], { ink, width: 3 });
  }
}

/** The line w'x + b = 0 inside the view. */
export function drawLine(pen, map, [left, right, bottom, top], w, b, { ink, width = 2, dash = [] }) {
  const ends = [];
  if (Math.abs(w[1]) > 1e-300) for (const x of [left, right]) {
    const y = -(w[0] * x + b) / w[1];
    if (y >= bottom && y <= top) ends.push([map.x(x), map.y(y)]);
  }
  if (Math.abs(w[0]) > 1e-300) for (const y of [bottom, top]) {
    const x = -(w[1] * y + b) / w[0];
    if (x >= left && x <= right) ends.push([map.x(x), map.y(y)]);
  }
  if (ends.length > 1) stroke(pen, ink, width, dash, [ends[0], ends.at(-1)]);
}

/** The weight vector, from the line towards the side of the second class. */
export function drawVector(pen, canvas, map, { W, b }) {
  const known = W.length === 1 ? tamed({ W, b }) : null;
  if (!known) return;
  const [[w1, w2]] = known.W, size = Math.hypot(w1, w2);
  if (!(size > 1e-12)) return;
  const foot = [-known.b[0] * w1 / size ** 2, -known.b[0] * w2 / size ** 2];
  const from = [map.x(foot[0]), map.y(foot[1])];
  const away = [map.x(foot[0] + w1) - from[0], map.y(foot[1] + w2) - from[1]];
  const scale = 46 / Math.hypot(...away), to = [from[0] + away[0] * scale, from[1] + away[1] * scale];
  const turn = Math.atan2(away[1], away[0]), ink = colour(canvas, "mark");
  stroke(pen, ink, 2, [], [from, to]);
  stroke(pen, ink, 2, [], [-0.45, 0.45].map((a) => [to[0] - 11 * Math.cos(turn + a), to[1] - 11 * Math.sin(turn + a)])
    .toSpliced(1, 0, to));
  pen.fillStyle = ink;
  pen.fillText("w", to[0] + 8 * Math.cos(turn) - 4, to[1] + 12 * Math.sin(turn) + 4);
}

function channels(canvas, code) {
  const text = colour(canvas, code === REJECT ? "soft" : `class${code}`);
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

/** A picture of decisions and how sure they are, one pixel a place of the grid. */
export function areaPicture(canvas, { n, codes, strength }) {
  const picture = document.createElement("canvas");
  picture.width = picture.height = n;
  const pen = picture.getContext("2d"), data = pen.createImageData(n, n), inks = new Map();
  for (let i = 0; i < n * n; i += 1) {
    const code = codes.getUint8(i);
    if (!inks.has(code)) inks.set(code, channels(canvas, code));
    const sure = Math.max(0, (strength.getUint8(i) - 85) / 170); // one third and less is no colour
    const striped = code === REJECT && (Math.floor(i / n) + i) % 6 < 3;
    data.data.set([...inks.get(code), code === REJECT ? (striped ? 90 : 25) : 25 + 95 * sure], 4 * i);
  }
  pen.putImageData(data, 0, 0);
  return picture;
}

/** Where a field on an n by n grid changes its sign, cell by cell. */
export function drawContour(pen, ink, n, field, width, height) {
  const at = (i, j) => field.getFloat32(4 * (i * n + j), true);
  const px = (j) => (j + 0.5) / n * width, py = (i) => (i + 0.5) / n * height;
  pen.strokeStyle = ink;
  pen.lineWidth = 3;
  pen.beginPath();
  for (let i = 0; i + 1 < n; i += 1) for (let j = 0; j + 1 < n; j += 1) {
    const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]], cuts = [];
    for (let k = 0; k < 4; k += 1) {
      const [a, b] = [corners[k], corners[(k + 1) % 4]], u = at(...a), v = at(...b);
      if ((u > 0) === (v > 0)) continue;
      const share = u / (u - v);
      cuts.push([px(a[1] + share * (b[1] - a[1])), py(a[0] + share * (b[0] - a[0]))]);
    }
    for (let k = 0; k + 1 < cuts.length; k += 2) {
      pen.moveTo(...cuts[k]);
      pen.lineTo(...cuts[k + 1]);
    }
  }
  pen.stroke();
}

/** Axes: thin lines at round numbers, with labels at the edge. */
export function drawAxes(pen, canvas, map, [left, right, bottom, top], width, height, names) {
  const grid = colour(canvas, "grid"), soft = colour(canvas, "soft");
  pen.fillStyle = soft;
  for (const x of ticks(left, right, width / 80)) {
    stroke(pen, grid, x === 0 ? 2 : 1, [], [[map.x(x), 0], [map.x(x), height]]);
    if (map.x(x) < width - 60) pen.fillText(brief(x), map.x(x) + 3, height - 5);
  }
  for (const y of ticks(bottom, top, height / 70)) {
    stroke(pen, grid, y === 0 ? 2 : 1, [], [[0, map.y(y)], [width, map.y(y)]]);
    if (map.y(y) < height - 22 && map.y(y) > 32) pen.fillText(brief(y), 4, map.y(y) - 3);
  }
  pen.textAlign = "right";
  pen.fillText(names[0], width - 5, height - 5);
  pen.textAlign = "left";
  pen.fillText(names[1], 4, 14);
}

/** A mark of a class: circle, triangle, square, diamond, so that colour is not all. */
export function drawMark(pen, code, x, y, r) {
  pen.beginPath();
  if (code === 0) pen.arc(x, y, r, 0, 2 * Math.PI);
  else if (code === 1) {
    pen.moveTo(x, y - 1.25 * r);
    pen.lineTo(x + 1.15 * r, y + 0.8 * r);
    pen.lineTo(x - 1.15 * r, y + 0.8 * r);
  } else if (code === 2) pen.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  else {
    pen.moveTo(x, y - 1.3 * r);
    pen.lineTo(x + 1.3 * r, y);
    pen.lineTo(x, y + 1.3 * r);
    pen.lineTo(x - 1.3 * r, y);
  }
  pen.closePath();
}

/** All points; many are drawn small and plain. */
export function drawPoints(pen, canvas, map, { X, codes }, large) {
  const many = X.length > 1000, r = (many ? 2.5 : X.length > 150 ? 5 : 7.5) * (large ? 1.5 : 1);
  const inks = [0, 1, 2, 3].map((code) => colour(canvas, `class${code}`)), rim = colour(canvas, "paper");
  pen.lineWidth = 1.5;
  X.forEach(([x, y], i) => {
    pen.fillStyle = inks[codes[i]];
    if (many) return pen.fillRect(map.x(x) - r, map.y(y) - r, 2 * r, 2 * r);
    drawMark(pen, codes[i], map.x(x), map.y(y), r);
    pen.fill();
    pen.strokeStyle = rim;
    pen.stroke();
    if (X.length > 60) return;
    pen.fillStyle = colour(canvas, "soft"); // numbers as proofs and tables cite them
    pen.fillText(i, map.x(x) + r + 2, map.y(y) - r);
  });
}

/** A ring around a point. */
export function drawRing(pen, map, [x, y], r, ink, dash = []) {
  pen.beginPath();
  pen.setLineDash(dash);
  pen.arc(map.x(x), map.y(y), r, 0, 2 * Math.PI);
  pen.strokeStyle = ink;
  pen.lineWidth = 3;
  pen.stroke();
  pen.setLineDash([]);
}

/** The proof: a line with its margin, or the points whose hulls meet. */
export function drawProof(pen, canvas, map, view, proof, points) {
  const ink = colour(canvas, "good");
  if (proof.line && proof.line.w) {
    const { w, b } = proof.line;
    drawLine(pen, map, view, w, b, { ink, width: 2, dash: [8, 5] });
    for (const side of [-1, 1]) drawLine(pen, map, view, w, b + side * proof.margin, { ink, width: 1, dash: [2, 4] });
    return;
  }
  if (!proof.rows?.length) return;
  const bad = colour(canvas, "bad");
  for (const code of new Set(proof.rows.map((i) => points.codes[i]))) {
    const hull = proof.rows.filter((i) => points.codes[i] === code).map((i) => points.X[i]);
    stroke(pen, bad, 2, [6, 4], [...hull, hull[0]].map(([x, y]) => [map.x(x), map.y(y)]));
  }
  for (const i of proof.rows) drawRing(pen, map, points.X[i], 15, bad, [4, 3]);
}

/** Prepare a canvas: the pen, its size, and the way from numbers to pixels. */
export function prepared(canvas, view) {
  const { width, height } = canvas.getBoundingClientRect();
  const pen = ready(canvas, width, height);
  if (!pen) return null;
  const style = getComputedStyle(canvas);
  pen.font = `${parseFloat(style.fontSize) * 0.85}px ${style.fontFamily}`;
  return { pen, width, height, map: mapping(view, width, height) };
}
