// The canvas of the board: draws the plane, and turns clicks, drags and keys into events.
import { CLASSES, brief, colour, make } from "./dom.js";
import {
  areaPicture, drawAxes, drawContour, drawLine, drawPoints, drawProof, drawRegions, drawRing, drawVector, mapping, prepared,
} from "./plane.js";
import { stroke } from "./curves.js";

const REACH = 14; // pixels around a point that belong to it
const HELP = "Click for a point of the chosen class; shift-click or the other button for the next class. Drag to move, double-click to delete. "
  + "Keys: arrows move the cross, Enter adds, n and p choose a point, arrows move it, Delete removes it, 1 to 4 choose the class, of the chosen point if there is one, . and , step.";

export function field(el, send, now) {
  const canvas = make("canvas", { class: "plane", tabindex: "0", role: "application", "aria-label": `Board. ${HELP}` });
  const told = make("p", { class: "sr", role: "status" });
  const box = make("div", { class: "plane-box" }, canvas);
  el.append(box, told, make("p", { class: "hint help" }, "Click: a point. Shift-click: of the next class. Drag: move. Double-click: delete."));
  const own = { selected: -1, cursor: null, dragging: null, picture: null, pictureOf: null };
  let waiting = false;
  const redraw = () => { // at most once a frame, however many events there are
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paintBoard(canvas, now, own); });
  };
  now.redraw = redraw;
  new ResizeObserver(redraw).observe(canvas);
  pointing(canvas, send, now, own, redraw);
  typing(canvas, send, now, own, redraw, (words) => { told.textContent = words; });
  return {
    redraw() { own.pictureOf = null; redraw(); },
    show(drawing, news) {
      if (news.points && own.selected >= drawing.points.X.length) own.selected = -1;
      if (news.points && own.dragging) drawing.points.X[own.dragging.index] = own.dragging.place;
      redraw();
    },
  };
}

function paintBoard(canvas, now, own) {
  const { drawing } = now;
  if (!drawing.view) return;
  const base = prepared(canvas, drawing.view);
  if (!base) return;
  const { pen, width, height, map } = base, { view, points, run, present, proof } = drawing;
  const mark = colour(canvas, "mark"), large = canvas.closest(".large") !== null;
  if (run && present.grid) {
    if (own.pictureOf !== present.grid) {
      own.picture = areaPicture(canvas, present.grid);
      own.pictureOf = present.grid;
    }
    pen.drawImage(own.picture, 0, 0, width, height);
  }
  if (run && present.weights?.line && !present.grid) drawRegions(pen, canvas, map, view, present.weights, true);
  drawAxes(pen, canvas, map, view, width, height, ["x1", "x2"]);
  if (now.proof) drawProof(pen, canvas, map, view, proof, points);
  if (run) paintLearner(pen, canvas, map, view, drawing, mark, width, height);
  drawPoints(pen, canvas, map, points, large);
  if (run && present.sample >= 0) drawRing(pen, map, points.X[present.sample], large ? 20 : 13, mark);
  if (points.X[own.selected]) drawRing(pen, map, points.X[own.selected], large ? 24 : 17, colour(canvas, "accent"), [5, 3]);
  if (own.cursor && document.activeElement === canvas) {
    const [x, y] = [map.x(own.cursor[0]), map.y(own.cursor[1])], ink = colour(canvas, "accent");
    stroke(pen, ink, 2, [], [[x - 12, y], [x + 12, y]]);
    stroke(pen, ink, 2, [], [[x, y - 12], [x, y + 12]]);
  }
}

/** What the learner has found: boundary, weight vector, margin, ellipses. */
function paintLearner(pen, canvas, map, view, { run, present, points }, mark, width, height) {
  for (const { code, mean, lines } of run.ellipses) {
    const ink = colour(canvas, `class${code}`);
    for (const line of lines) stroke(pen, ink, 2, [], [...line, line[0]].map(([x, y]) => [map.x(x), map.y(y)]));
    const [x, y] = [map.x(mean[0]), map.y(mean[1])];
    stroke(pen, ink, 3, [], [[x - 6, y], [x + 6, y], null, [x, y - 6], [x, y + 6]]);
  }
  if (present.grid?.field) drawContour(pen, mark, present.grid.n, present.grid.field, width, height);
  if (!present.weights?.line) return;
  if (present.grid) drawRegions(pen, canvas, map, view, present.weights, false);
  drawVector(pen, canvas, map, present.weights);
  if (run.margin) {
    const { W: [w], b: [b] } = present.weights;
    for (const side of [-1, 1]) drawLine(pen, map, view, w, b + side * run.margin.size, { ink: mark, width: 1.5, dash: [5, 4] });
    stroke(pen, mark, 2, [2, 3], run.margin.nearest.map(([x, y]) => [map.x(x), map.y(y)]));
    for (const i of run.margin.support) drawRing(pen, map, points.X[i], 13, mark);
  }
}

/** Rounded to a thousandth of the view, so that links and code stay short. */
function rounded(value, size) {
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return Number(value.toFixed(Math.min(12, digits)));
}

function placeAt(view, map, x, y) {
  return [rounded(map.backX(x), view[1] - view[0]), rounded(map.backY(y), view[3] - view[2])];
}

function nearest(points, map, x, y) {
  let best = -1, least = REACH ** 2;
  points.X.forEach(([a, b], i) => {
    const away = (map.x(a) - x) ** 2 + (map.y(b) - y) ** 2;
    if (away <= least) { best = i; least = away; }
  });
  return best;
}

function pointing(canvas, send, now, own, redraw) {
  const where = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const map = mapping(now.drawing.view, width, height), x = event.clientX - left, y = event.clientY - top;
    return { map, x, y, place: placeAt(now.drawing.view, map, x, y) };
  };
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    if (!now.drawing.view) return;
    canvas.focus({ preventScroll: true });
    const { map, x, y, place } = where(event), index = nearest(now.drawing.points, map, x, y);
    own.cursor = null;
    if (index >= 0) {
      own.selected = index;
      own.dragging = { index, place: now.drawing.points.X[index], from: [x, y], moved: false };
      canvas.setPointerCapture(event.pointerId);
    } else {
      own.selected = -1;
      const other = event.shiftKey || event.button === 2;
      send({ event: "add", x: place[0], y: place[1], label: other ? (now.label + 1) % CLASSES.length : now.label });
    }
    redraw();
  });
  canvas.addEventListener("pointermove", (event) => {
    const { map, x, y, place } = where(event), drag = own.dragging;
    if (!drag) {
      if (now.drawing.points) canvas.style.cursor = nearest(now.drawing.points, map, x, y) >= 0 ? "grab" : "crosshair";
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.from[0], y - drag.from[1]) < 3) return;
    drag.place = place;
    now.drawing.points.X[drag.index] = place;
    drag.moved = true;
    send.latest({ event: "move", index: drag.index, x: place[0], y: place[1] });
    redraw();
  });
  const drop = () => {
    own.dragging = null;
  };
  canvas.addEventListener("pointerup", drop);
  canvas.addEventListener("pointercancel", drop);
  canvas.addEventListener("dblclick", (event) => {
    const { map, x, y } = where(event), index = nearest(now.drawing.points, map, x, y);
    if (index >= 0 && own.selected === index) send({ event: "delete", index });
    own.selected = -1;
  });
}

function typing(canvas, send, now, own, redraw, tell) {
  const said = (i) => {
    const { X, codes } = now.drawing.points;
    tell(`Point ${i}, class ${CLASSES[codes[i]]}, of ${X.length}, at ${brief(X[i][0])}, ${brief(X[i][1])}.`);
  };
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const act = {
    n: () => select(1), p: () => select(-1),
    Escape: () => { own.selected = -1; own.cursor = null; },
    Delete: () => own.selected >= 0 && send({ event: "delete", index: own.selected }),
    ".": () => send({ event: "go", to: "next" }), ",": () => send({ event: "go", to: "back" }),
    Enter: () => { const [x, y] = cursor(); send({ event: "add", x, y, label: now.label }); tell(`Added a point of class ${CLASSES[now.label]}.`); },
  };
  act.Backspace = act.Delete;
  act[" "] = act.Enter;
  const select = (by) => {
    const n = now.drawing.points.X.length;
    if (!n) return;
    own.selected = own.selected < 0 && by < 0 ? n - 1 : (own.selected + by + n) % n;
    said(own.selected);
  };
  const cursor = () => {
    const [left, right, bottom, top] = now.drawing.view;
    own.cursor ??= [rounded((left + right) / 2, right - left), rounded((bottom + top) / 2, top - bottom)];
    return own.cursor;
  };
  const move = ([dx, dy], large) => {
    const [left, right, bottom, top] = now.drawing.view, part = large ? 0.1 : 0.02;
    const shifted = ([x, y]) => [rounded(x + dx * part * (right - left), right - left), rounded(y + dy * part * (top - bottom), top - bottom)];
    if (own.selected < 0) {
      own.cursor = shifted(cursor());
      return tell(`Cross at ${brief(own.cursor[0])}, ${brief(own.cursor[1])}.`);
    }
    const [x, y] = shifted(now.drawing.points.X[own.selected]);
    now.drawing.points.X[own.selected] = [x, y];
    send.latest({ event: "move", index: own.selected, x, y });
    said(own.selected);
  };
  const label = (code) => {
    if (own.selected < 0) return now.choose(code);
    send({ event: "relabel", index: own.selected, label: code });
    tell(`Point ${own.selected} is of class ${CLASSES[code]} now.`);
  };
  canvas.addEventListener("keydown", (event) => {
    if (!now.drawing.view || event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrows[event.key]) move(arrows[event.key], event.shiftKey);
    else if (Object.hasOwn(act, event.key)) act[event.key]();
    else if ("1234".includes(event.key)) label(Number(event.key) - 1);
    else return;
    event.preventDefault();
    redraw();
  });
  canvas.addEventListener("focus", redraw);
  canvas.addEventListener("blur", redraw);
}
