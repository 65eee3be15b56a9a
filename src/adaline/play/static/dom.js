// Small helpers to build a page: elements, labelled controls, and colours of the theme.

/** Colours of classes, of Okabe and Ito, which colour-blind people tell apart; and marks. */
export const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"];
export const CLASSES = ["A", "B", "C", "D"];

/** An element with attributes, listeners (on...) and children. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** A drop-down list; `choices` are [value, words] pairs. */
export function choice(label, choices, hear) {
  const select = make("select", { onchange: () => hear(select.value) },
    ...choices.map(([value, words]) => make("option", { value }, words)));
  const element = make("label", { class: "field" }, make("span", {}, label), select);
  return { element, select, show(value) { select.value = value; } };
}

/** A slider with its value in words beside it. `scale: "log"` moves by hundredths of a decade. */
export function slider(label, { min, max, step = 0.01, scale = "linear", words = brief }, hear) {
  const log = scale === "log";
  const there = (value) => (log ? Math.round(100 * Math.log10(value)) / 100 : value);
  const back = (value) => Math.min(max, Math.max(min, log ? Number((10 ** value).toPrecision(3)) : value));
  const input = make("input", { type: "range", min: there(min), max: there(max), step: log ? 0.01 : step });
  const output = make("output");
  const tell = (value) => {
    output.textContent = words(value);
    input.setAttribute("aria-valuetext", words(value));
    return value;
  };
  input.addEventListener("input", () => hear(tell(back(Number(input.value)))));
  const element = make("label", { class: "field slider" }, make("span", {}, label), input, output);
  return { element, input, show(value) { input.value = there(value); tell(value); } };
}

/** A check box with its label. */
export function check(label, hear) {
  const input = make("input", { type: "checkbox", onchange: () => hear(input.checked) });
  const element = make("label", { class: "field check" }, input, make("span", {}, label));
  return { element, input, show(value) { input.checked = value; } };
}

/** Controls of settings that Python described; `hear(name, value)` gets what the user sets. */
export function controls(hear) {
  const element = make("div", { class: "settings" });
  let built = [];
  const build = (setting) => {
    const { name, title, kind, choices, scale, low, high } = setting, say = (value) => hear(name, value);
    const one = kind === "choice" ? choice(title, choices, say)
      : kind === "check" ? check(title, say)
        : slider(title, { min: low, max: high, scale, step: scale === "whole" ? 1 : (high - low) / 200 }, say);
    return { setting, ...one };
  };
  return {
    element,
    build(settings) {
      built = settings.map(build);
      element.replaceChildren(...built.map((one) => one.element));
    },
    show(values) {
      for (const { setting, ...one } of built) {
        if (!one.element.contains(document.activeElement)) one.show(values[setting.name]);
        one.element.hidden = !setting.when.every(([name, allowed]) => allowed.includes(values[name]));
      }
    },
  };
}

/** A number with four significant digits, and a true minus. */
export function brief(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e9)
    ? value.toExponential(2)
    : Number(size < 1e4 ? value.toPrecision(4) : value.toFixed(0)).toLocaleString("en-US", { maximumFractionDigits: 9 });
  return text.replace("-", "\u2212");
}

/** The value of a CSS variable where an element stands: the colours of the theme. */
export function colour(element, name) {
  return getComputedStyle(element).getPropertyValue(`--${name}`).trim();
}

/** A canvas of the element's size in device pixels, cleared; null where it is not shown. */
export function ready(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (!(width > 0 && height > 0)) return null;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
