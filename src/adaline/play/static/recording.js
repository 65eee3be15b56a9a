// The host of a board in a file of its own: answers come from a recording, not from Python.
const text = document.getElementById("recording").textContent, { areas } = JSON.parse(text);
const [opening, ...moments] = JSON.parse(text, (key, value) => (key === "$bytes" ? areas[value] : value)).frames;

/** The number of the step that an event asks for: given, or "first", "last", "next", "back", "pass". */
function stepOf(to, at) {
  const last = moments.length - 1, passOf = (k) => moments[k].present.pass;
  if (typeof to === "number") return Math.min(to, last);
  let next = at + 1;
  while (to === "pass" && next < last && passOf(next) === passOf(next + 1)) next += 1;
  return Math.max(0, Math.min(last, { first: 0, last, back: at - 1 }[to] ?? next));
}

class Recording {
  values = { tabs: ["board"], notebook: true };
  at = 0;

  get(name) { return this.values[name]; }
  on(name, hear) { if (name === "msg:custom") this.hear = hear; }
  send({ tab, event, to }) {
    if (event === "go") this.at = stepOf(to, this.at);
    const frame = event === "start" || event === "weights" ? opening : moments[this.at];
    const { code, ...drawing } = frame;
    const known = { start: drawing, go: drawing, code: { code }, weights: { space: opening.space } };
    const answer = Object.hasOwn(known, event) ? { tab, drawing: known[event] }
      : { tab, error: "This is a recording, whose points and settings stay. `adaline play` opens a board to change." };
    queueMicrotask(() => this.hear(answer));
  }
}

const page = document.getElementById("page");
page.classList.add("recording");
app.render({ model: new Recording(), el: page });
