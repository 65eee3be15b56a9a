// The tab of signals: choose a world and a filter, and watch it learn.
import { curves } from "./curves.js";
import { brief, controls, make, slider } from "./dom.js";
import { styled } from "./files.js";
import { spectrograms, stems } from "./pictures.js";

export function mount(el, send) {
  styled("signals.css");
  el.classList.add("signals");
  const settings = controls((name, value) => {
    el.classList.add("busy");
    send.latest({ event: "set", settings: { [name]: value } });
  });
  const about = make("p", { class: "hint" }), rate = make("p", { class: "hint bound" });
  const results = makeResults();
  el.append(make("div", { class: "side card" }, about, settings.element, rate), results.element);
  let last = null;
  return {
    show(drawing) {
      el.classList.remove("busy");
      if (!last) settings.build(drawing.controls);
      last = drawing;
      about.textContent = drawing.about;
      rate.textContent = drawing.rate;
      settings.show(drawing.settings);
      results.show(drawing);
    },
    fail() {
      el.classList.remove("busy");
      if (last) settings.show(last.settings);
    },
    redraw() { results.redraw(); },
  };
}

function makeResults() {
  const verdict = make("div", { class: "verdict", role: "status" });
  const plots = make("div", { class: "plots" });
  const curve = curves(plots, "Learning curve");
  const off = curves(plots, "Distance of the weights from the true path");
  const offFigure = plots.lastElementChild;
  const weights = make("div", { class: "weights" });
  const bars = stems(weights, "Weights");
  let shown = null;
  const moment = slider("Moment", { min: 0, max: 1, step: 1, words: (k) => (shown ? `${brief(shown.weights.at[Math.round(k)] ?? 0)} s` : "") }, (k) => showWeights(Math.round(k)));
  weights.append(moment.element);
  plots.append(weights);
  const shades = make("div", { class: "shades" });
  const pictures = spectrograms(shades);
  const claim = make("p", { class: "hint" });
  const code = make("pre", { tabindex: "0" });
  const lines = make("details", { class: "lines" }, make("summary", {}, "Show the code"), make("p", { class: "hint" }, "These lines give the same weights."), code);
  const element = make("div", { class: "results" }, make("div", { class: "card" }, verdict), plots, shades, claim, lines);

  function showWeights(k) {
    const { taps, learned, true: paths, path } = shown.weights;
    const w = Array.from({ length: taps }, (_, j) => learned.getFloat32(4 * (k * taps + j), true));
    const h = paths[path[k]];
    bars.show(w, h, Math.max(1e-9, ...h.map(Math.abs)) * 1.15);
  }

  function showCurves({ curve: c, misalignment, settings, seconds }) {
    const half = settings.change ? seconds / 2 : null;
    const floor = { name: "Wiener (knows all samples, but cannot change)", x: c.floor.flatMap((f) => [f.from, f.to, f.to]), y: c.floor.flatMap((f) => [f.db, f.db, null]) };
    curve.title(`Learning curve: power of ${c.of}`);
    curve.show({ series: [{ name: `mean over ${brief(c.window)} samples`, x: c.at, y: c.db }, floor], x: "time, s", y: "dB", at: half });
    offFigure.hidden = !misalignment;
    if (misalignment) off.show({ series: [{ name: "misalignment", x: misalignment.at, y: misalignment.db }], x: "time, s", y: "dB", at: half });
  }

  return {
    element,
    redraw: () => { for (const picture of [curve, off, bars, pictures]) picture.redraw(); },
    show(drawing) {
      shown = drawing;
      verdict.classList.toggle("bad", drawing.diverged);
      verdict.replaceChildren(...drawing.verdict.map((words) => make("p", {}, words)));
      showCurves(drawing);
      const last = drawing.weights.at.length - 1;
      moment.input.max = last;
      moment.show(last);
      moment.element.hidden = last < 1;
      showWeights(last);
      shades.hidden = !drawing.spectrogram;
      claim.textContent = drawing.spectrogram?.claim ?? "";
      if (drawing.spectrogram) pictures.show(drawing.spectrogram);
      code.textContent = drawing.code;
    },
  };
}
