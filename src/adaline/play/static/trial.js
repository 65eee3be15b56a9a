// Try a model: a field for each column answers with a prediction, its interval, and its parts.
import { brief, make } from "./dom.js";

export function makeTrial(send) {
  const form = make("form", { class: "fields", onsubmit: (event) => { event.preventDefault(); ask(); }, oninput: () => ask() });
  const result = make("div", { class: "answer", role: "status" });
  const problem = make("p", { class: "problem" }); // beside the form; the page says it aloud
  const about = make("p", { class: "hint" });
  const element = make("div", { class: "card", hidden: true }, make("h2", {}, "Try the model"),
    about, form, problem, result);
  let inputs = [], shown = "", waits = false;
  const ask = () => {
    if (!inputs.length) return;
    waits = true;
    send.latest({ event: "try", row: Object.fromEntries(inputs.map(({ name, input }) => [name, input.value])) });
  };
  return {
    element,
    show({ fields, fit }) {
      element.hidden = !fit;
      about.textContent = fields.length ? "The first row of the file; change a value. Empty stands for missing."
        : "The model has too many columns for a form.";
      if (JSON.stringify([fields, fit]) === shown) return;
      shown = JSON.stringify([fields, fit]);
      inputs = fields.map(makeField);
      form.replaceChildren(...inputs.map(({ element: field }) => field));
      result.replaceChildren();
      ask();
    },
    answer(found) {
      waits = false;
      problem.textContent = "";
      result.replaceChildren(...said(found), ...parts(found.parts));
    },
    failed(error) {
      if (waits) problem.textContent = error;
      waits = false;
    },
  };
}

let count = 0;

function makeField({ name, levels, value }) {
  const list = levels.length ? `levels-${count += 1}` : undefined;
  const input = make("input", { type: "text", list, autocomplete: "off" });
  input.value = value;
  const options = list ? [make("datalist", { id: list }, ...levels.map((level) => make("option", { value: level })))] : [];
  return { name, input, element: make("label", { class: "field" }, make("span", {}, name), input, ...options) };
}

/** The prediction in words. */
function said({ prediction, classes, interval, unknown }) {
  const shown = typeof prediction === "number" ? brief(prediction) : String(prediction);
  const lines = [make("p", { class: "prediction" }, "Prediction: ", make("strong", {}, shown))];
  if (interval && !classes.length) {
    lines.push(make("p", {}, `From ${brief(interval.low[0])} to ${brief(interval.high[0])}: holds ${interval.of} in ${100 * interval.level} % of all cases, if the model fits.`));
  }
  for (const { label, p, place } of classes) {
    const range = interval ? `, from ${percent(interval.low[place])} to ${percent(interval.high[place])}` : "";
    lines.push(make("p", { class: "chance" }, make("span", {}, label), make("meter", { min: 0, max: 1, value: p }), `${percent(p)}${range}`));
  }
  if (unknown.length) lines.push(make("p", { class: "hint" }, `Not seen while learning, and given no weight: the value of ${unknown.join(", ")}.`));
  return lines;
}

function percent(p) {
  return `${brief(100 * p)} %`;
}

/** What makes the prediction up: bars to the left and right of an average row. */
function parts(found) {
  if (!found) return [make("p", { class: "hint" }, "This learner's score is no sum of columns, so nothing makes it up.")];
  const { of, score, base, average, against, columns, for: speaksFor } = found;
  const longest = Math.max(1e-300, ...columns.map(({ part }) => Math.abs(part)));
  const bar = (value) => {
    const element = make("span", { class: value < 0 ? "part-bar less" : "part-bar" });
    element.style.width = `${50 * Math.abs(value) / longest}%`;
    return make("td", { class: "part-cell" }, element);
  };
  const row = (words, value, drawn) => make("tr", {}, make("th", { scope: "row" }, words), make("td", {}, brief(value)), drawn);
  const end = of === "the prediction" ? "The prediction" : `The sum: ${of}`;
  const meaning = against !== null ? `Positive speaks for the predicted class against ${against}.`
    : speaksFor !== null ? `Positive speaks for ${speaksFor}.` : "";
  return [make("table", { class: "parts" },
    make("caption", {}, `What makes it up. ${meaning}`),
    make("tbody", {}, row(average ? "An average row" : "A row of zeros", base, make("td")),
      ...columns.map(({ name, part }) => row(name, part, bar(part))), row(end, score, make("td"))))];
}
