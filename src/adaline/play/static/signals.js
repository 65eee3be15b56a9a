// The tab of signals: choose a world and a filter, watch it learn, and listen.
import { curves } from "./curves.js";
import { brief, check, choice, make, slider } from "./dom.js";
import { dropped, styled } from "./files.js";
import { spectrograms, stems } from "./pictures.js";
import { player } from "./sounds.js";

const SCENES = [
  ["system", "Identify a system"],
  ["tone", "Voice in a hum"],
  ["engine", "Voice in an engine"],
  ["echo", "Echo of a loudspeaker"],
  ["wav", "A sound file of yours"],
];
const ABOUT = {
  system: "Noise goes into an unknown system. The filter gets its input and output, and learns the response.",
  tone: "A voice with a hum. The filter gets the hum alone, and learns how it reached the microphone. A hum moves few weights only: many filters remove it, and the weights need not be the true path.",
  engine: "A voice with the noise of an engine. The filter gets a microphone at the engine, and takes away all that this explains.",
  echo: "A loudspeaker plays a voice, and a microphone hears its echo; somebody nearby talks from 60 to 85 % of the time. The filter gets what was played.",
  wav: "Your sound file, with a noise of ours or a voice of ours, or with its second channel as the reference.",
};
const LEARNERS = [
  ["lms", "LMS"], ["nlms", "NLMS"], ["rls", "RLS"], ["wiener", "Wiener (knows all samples, but cannot change)"], ["auto", "as the task chooses"],
];
const USES = [["voice", "the voice, in an engine"], ["noise", "the noise, beside a voice"], ["pair", "channel 1 the recording, 2 its reference"]];
const LEVELS = {
  system: "Noise of the system", echo: "Voice nearby", tone: "Loudness of the hum", engine: "Loudness of the noise", wav: "Loudness of the noise",
};
const SOUNDS = { before: "Before", after: "After", difference: "What was taken away", wanted: "The voice alone" };

export function mount(el, send) {
  styled("signals.css");
  el.classList.add("signals");
  const set = (settings) => {
    el.classList.add("busy");
    send.latest({ event: "set", settings });
  };
  const controls = makeControls(el, set, (file) => file.arrayBuffer().then((bytes) => send({ event: "upload", name: file.name }, bytes)));
  const results = makeResults(send);
  el.append(make("div", { class: "side card" }, ...controls.elements), results.element);
  return {
    show(drawing) {
      if (drawing.sound) return results.play(drawing.sound);
      el.classList.remove("busy");
      controls.show(drawing);
      results.show(drawing);
    },
    fail() {
      el.classList.remove("busy");
      controls.again();
    },
    redraw() { results.redraw(); },
  };
}

function makeControls(panel, set, upload) {
  const decibel = (value) => `${brief(value)} dB`;
  const memory = (value) => (value >= 99_000 ? "all samples" : `${brief(Math.round(value))} samples`);
  const scene = choice("World", SCENES, (value) => set({ scene: value }));
  const about = make("p", { class: "hint" });
  const use = choice("The file is", USES, (value) => set({ use: value }));
  const file = make("p", { class: "hint filename" });
  const drop = dropped(panel, "Drop a wav file anywhere here, or choose one", ".wav,audio/wav", upload);
  const learner = choice("Filter", LEARNERS, (value) => set({ learner: value }));
  const taps = slider("Taps", { min: 1, max: 256, step: 1 }, (value) => set({ taps: Math.round(value) }));
  const share = slider("Rate", { min: 0.0005, max: 2, scale: "log", words: (value) => `${brief(value)} of the bound` },
    (value) => set({ share: clamped(value, 0.0005, 2) }));
  const bound = make("p", { class: "hint bound" });
  const memories = slider("Memory", { min: 20, max: 100_000, scale: "log", words: memory }, (value) => set({ memory: clamped(value, 20, 100_000) }));
  const level = slider("Loudness", { min: -60, max: 30, step: 1, words: decibel }, (value) => set({ level: value }));
  const colours = slider("Colour of the input", { min: 0, max: 0.98 }, (value) => set({ colour: value }));
  const change = check("The path changes in the middle", (value) => set({ change: value }));
  const seed = make("button", { type: "button", onclick: () => set({ seed: (last.settings.seed + 1) % 10_000 }) }, "Other random numbers");
  let last = null;
  const show = (drawing) => {
    last = drawing;
    const s = drawing.settings, wav = drawing.wav;
    scene.show(s.scene);
    scene.select.querySelector('option[value="wav"]').disabled = !wav;
    about.textContent = ABOUT[s.scene];
    use.element.hidden = s.scene !== "wav";
    use.show(s.use);
    use.select.querySelector('option[value="pair"]').disabled = !(wav?.channels > 1);
    file.textContent = wav ? `${wav.name}: ${brief(wav.seconds)} s, ${brief(wav.rate)} samples a second${wav.used < wav.seconds ? `; the first ${brief(wav.used)} s are used` : ""}` : "";
    learner.show(s.learner);
    taps.show(s.taps);
    share.show(s.share);
    share.element.hidden = !["lms", "nlms"].includes(s.learner);
    bound.hidden = share.element.hidden;
    bound.textContent = s.learner === "lms"
      ? `η = ${brief(drawing.eta)}; the bound 2/tr[R] is ${brief(drawing.bound)} here.` : `η = ${brief(drawing.eta)}; NLMS is stable below 2.`;
    memories.show(s.memory);
    memories.element.hidden = s.learner !== "rls";
    level.show(s.level);
    level.element.firstChild.textContent = LEVELS[s.scene];
    const pair = s.scene === "wav" && s.use === "pair";
    level.element.hidden = pair;
    change.element.hidden = pair;
    seed.hidden = pair;
    change.show(s.change);
    colours.show(s.colour);
    colours.element.hidden = s.scene !== "system";
  };
  const elements = [scene, about, drop, file, use, learner, taps, share, bound, memories, level, colours, change, seed];
  return { elements: elements.map((one) => one.element ?? one), show, again: () => last && show(last) };
}

function clamped(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

function makeResults(send) {
  const verdict = make("div", { class: "verdict", role: "status" });
  const notes = make("div", { class: "notes" });
  const buttons = make("div", { class: "row listen", role: "group", "aria-label": "Listen" });
  const sound = player((which) => {
    for (const button of buttons.querySelectorAll("button[data-which]")) button.setAttribute("aria-pressed", button.dataset.which === which);
  });
  const plots = make("div", { class: "plots" });
  const curve = curves(plots, "Learning curve");
  const off = curves(plots, "Distance of the weights from the true path");
  const offFigure = plots.lastElementChild;
  const weights = make("div", { class: "weights" });
  const bars = stems(weights, "Weights");
  const moment = slider("Moment", { min: 0, max: 1, step: 1, words: (k) => (told ? `${brief(told.weights.at[Math.round(k)] ?? 0)} s` : "") }, (k) => showWeights(Math.round(k)));
  weights.append(moment.element);
  const shades = make("div", { class: "shades" });
  const pictures = spectrograms(shades);
  const claim = make("p", { class: "hint" });
  const code = make("pre", { tabindex: "0" });
  const lines = make("details", { class: "lines" }, make("summary", {}, "Show the code"), make("p", { class: "hint" }, "These lines give the same weights."), code);
  const element = make("div", { class: "results" }, make("div", { class: "card" }, verdict, notes, buttons), plots, weights, shades, claim, lines);
  plots.append(weights);
  let told = null;

  function showWeights(k) {
    const { taps, learned, true: paths, path } = told.weights;
    const w = Array.from({ length: taps }, (_, j) => learned.getFloat32(4 * (k * taps + j), true));
    const h = paths.length ? paths[path[k]] : null;
    const peak = Math.max(1e-9, ...(h ?? w).map(Math.abs)) * 1.15;
    bars.show(w, h, h ? peak : Math.max(peak, ...w.map((v) => Math.abs(v) * 1.05)));
  }

  const show = (drawing) => {
    told = drawing;
    sound.stop();
    verdict.classList.toggle("bad", drawing.diverged);
    verdict.replaceChildren(...drawing.verdict.map((words) => make("p", {}, words)));
    notes.replaceChildren(...drawing.notes.map((words) => make("p", { class: "hint" }, words)));
    buttons.replaceChildren(make("span", {}, "Listen:"), ...drawing.sounds.map((which) => make("button", {
      type: "button", "data-which": which, "aria-pressed": "false", onclick: (event) => {
        if (event.currentTarget.getAttribute("aria-pressed") === "true") sound.stop();
        else send({ event: "listen", which });
      },
    }, drawing.settings.scene === "system" && which === "wanted" ? "The system's noise" : SOUNDS[which])));
    showCurves(drawing);
    const last = drawing.weights.at.length - 1;
    moment.input.max = last;
    moment.show(last);
    moment.element.hidden = last < 1;
    showWeights(last);
    shades.hidden = !drawing.spectrogram;
    claim.textContent = drawing.spectrogram ? `${drawing.spectrogram.claim}; shades span ${drawing.spectrogram.range} dB.` : "";
    if (drawing.spectrogram) pictures.show(drawing.spectrogram);
    code.textContent = drawing.code;
  };

  function showCurves({ curve: c, misalignment, settings }) {
    const half = settings.change ? c.seconds / 2 : null;
    const floor = { name: "Wiener filter", x: c.floor.flatMap((f) => [f.from, f.to, f.to]), y: c.floor.flatMap((f) => [f.db, f.db, null]) };
    curve.title(`Learning curve: power of ${c.of}`);
    curve.show({ series: [{ name: `mean over ${brief(c.window)} samples`, x: c.at, y: c.db }, floor], x: "time, s", y: "dB", at: half });
    offFigure.hidden = !misalignment;
    if (misalignment) off.show({ series: [{ name: "misalignment", x: misalignment.at, y: misalignment.db }], x: "time, s", y: "dB", at: half });
  }

  return { element, show, play: sound.play, redraw: () => { curve.redraw(); off.redraw(); bars.redraw(); pictures.redraw(); } };
}
