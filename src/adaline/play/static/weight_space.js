// The space of both weights: the error as shades, the path, and the cone of separating weights.
import { brief, check, colour, make } from "./dom.js";
import { clipped, prepared } from "./plane.js";
import { stroke } from "./curves.js";

export function weightSpace(el, send) {
  const canvas = make("canvas", { class: "space-canvas", role: "img" });
  const words = make("p", { class: "hint" });
  let open = false, all = null, space = null, picture = null;
  const body = make("div", { hidden: true }, canvas, words);
  const toggle = check("Show", (value) => {
    open = value;
    body.hidden = !open;
    if (open) send({ event: "weights" });
  });
  const card = make("section", { class: "card", "aria-label": "Weight space" }, make("h2", {}, "Weight space"), toggle.element, body);
  el.append(card);
  const redraw = () => open && space && paintSpace(canvas, words, space, all, picture);
  new ResizeObserver(redraw).observe(canvas);
  return {
    redraw() { if (space) picture = shaded(canvas, space); redraw(); },
    show(drawing, news) {
      all = drawing;
      card.hidden = !drawing.run?.space;
      if ("space" in news) {
        space = news.space;
        canvas.hidden = !space;
        if (space) picture = shaded(canvas, space);
      } else if (open && !card.hidden && news.run) send.latest({ event: "weights" });
      redraw();
    },
  };
}

function shaded(canvas, { n, surface }) {
  const made = document.createElement("canvas");
  made.width = made.height = n;
  const pen = made.getContext("2d"), data = pen.createImageData(n, n);
  const ink = colour(canvas, "soft"), rgb = [1, 3, 5].map((at) => parseInt(ink.slice(at, at + 2), 16));
  for (let i = 0; i < n * n; i += 1) {
    const level = Math.floor(Math.sqrt(surface.getFloat32(4 * i, true)) * 12) / 12; // steps show contours
    data.data.set([...rgb, 20 + 190 * level], 4 * i);
  }
  pen.putImageData(data, 0, 0);
  return made;
}

function paintSpace(canvas, words, { view, path, error, bias }, { points, present, proof }, picture) {
  const base = prepared(canvas, view);
  if (!base) return;
  const { pen, width, height, map } = base, [left, right, bottom, top] = view;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(picture, 0, 0, width, height);
  const b = present?.weights?.b?.[0] ?? bias, classes = present?.weights?.classes ?? [0, 1];
  let cone = [[left, bottom], [right, bottom], [right, top], [left, top]];
  points.X.forEach(([x1, x2], i) => {
    const t = points.codes[i] === classes[1] ? 1 : -1;
    if (points.X.length <= 60) drawn(pen, colour(canvas, "line"), view, map, [x1, x2], b);
    cone = clipped(cone, t * x1, t * x2, t * b);
  });
  if (cone.length > 2 && proof.verdict === "separable") {
    pen.beginPath();
    cone.forEach(([x, y], i) => (i ? pen.lineTo(map.x(x), map.y(y)) : pen.moveTo(map.x(x), map.y(y))));
    pen.closePath();
    pen.globalAlpha = 0.45;
    pen.fillStyle = colour(canvas, "good");
    pen.fill();
    pen.globalAlpha = 1;
  }
  stroke(pen, colour(canvas, "series1"), 2, [], path.map(([x, y]) => [map.x(x), map.y(y)]));
  const w = present?.weights?.W?.[0];
  if (w && w[0] !== null) {
    pen.beginPath();
    pen.arc(map.x(w[0]), map.y(w[1]), 6, 0, 2 * Math.PI);
    pen.fillStyle = colour(canvas, "series2");
    pen.fill();
  }
  words.textContent = `Across w1, up w2; darker is more ${error}. Green: weights that separate with b = ${brief(b)}. Line: the path; dot: now.`;
  canvas.setAttribute("aria-label", words.textContent);
}

/** The line of weights that put a point on the boundary. */
function drawn(pen, ink, [left, right, bottom, top], map, [x1, x2], b) {
  const half = clipped([[left, bottom], [right, bottom], [right, top], [left, top]], x1, x2, b);
  if (half.length < 3) return;
  const onLine = half.filter(([u, v]) => Math.abs(u * x1 + v * x2 + b) < 1e-9 * (1 + Math.abs(b) + Math.abs(u * x1) + Math.abs(v * x2)));
  if (onLine.length > 1) stroke(pen, ink, 1, [], onLine.slice(0, 2).map(([u, v]) => [map.x(u), map.y(v)]));
}
