// Time: step, back, run, a slider over all steps, and the speed.
import { brief, make, slider } from "./dom.js";

export function timeline(el, send) {
  let at = 0, steps = 0, running = false, speed = 8, due = 0, before = 0, asked = false;
  const go = (to) => send({ event: "go", to });
  const button = (words, label, act, look = "") => make("button", { type: "button", class: look, "aria-label": label, title: label, onclick: act }, words);
  const first = button("Start", "To the start", () => { pause(); go("first"); });
  const back = button("◀ Back", "One step back", () => { pause(); go("back"); });
  const step = button("Step ▶", "One step", () => { pause(); go("next"); });
  const pass = button("Pass", "To the end of the pass", () => { pause(); go("pass"); });
  const last = button("End", "To the end", () => { pause(); go("last"); });
  const run = button("Run", "Run or pause", () => (running ? pause() : begin()), "first run");
  const place = make("input", { type: "range", min: 0, max: 0, step: 1, class: "place", "aria-label": "Step", oninput: () => { pause(); send.latest({ event: "go", to: Number(place.value) }); } });
  const words = make("output", { class: "place-words" });
  const rate = slider("Speed", { min: 1, max: 1000, scale: "log", step: 0.01, words: (value) => `${brief(Math.round(value))} steps/s` }, (value) => { speed = value; });
  rate.show(speed);
  const bar = make("div", { class: "timeline", role: "group", "aria-label": "Time" },
    make("div", { class: "row" }, run, step, back, first, pass, last, rate.element),
    make("div", { class: "row" }, place, words));
  el.append(bar);

  function pause() {
    running = false;
    run.textContent = "Run";
  }
  function begin() {
    running = true;
    run.textContent = "Pause";
    due = 0;
    before = performance.now();
    asked = false;
    if (at >= steps) { asked = true; go("first"); }
    requestAnimationFrame(tick);
  }
  /** As many steps as the time allows; the next only when the last one was drawn. */
  function tick(now) {
    if (!running) return;
    due = Math.min(due + (now - before) / 1000 * speed, Math.max(1, speed));
    before = now;
    if (!asked && due >= 1) {
      asked = true;
      go(Math.min(steps, at + Math.floor(due)));
      due -= Math.floor(due);
    }
    requestAnimationFrame(tick);
  }
  return {
    fail: pause,
    show({ run: found, present }, news) {
      if (!news.present && !("run" in news)) return;
      asked = false;
      steps = found?.steps ?? 0;
      at = found ? present.at : 0;
      if (news.points) pause();
      if (running && at >= steps) pause();
      bar.hidden = steps === 0;
      place.max = steps;
      place.value = at;
      words.textContent = found ? `step ${at} of ${steps}, ${found.unit} ${present.pass} of ${found.passes}` : "";
      place.setAttribute("aria-valuetext", words.textContent);
      first.disabled = back.disabled = at === 0;
      step.disabled = pass.disabled = last.disabled = at >= steps;
      pass.hidden = found?.unit !== "pass" || found.batch;
    },
  };
}
