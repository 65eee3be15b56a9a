// The tab of tables: drop a file, choose what to learn, read the verdict, try the model.
// Names and values of files are text of strangers: they are set as text, never as HTML.
import { brief, make } from "./dom.js";
import { dropped, saved, styled } from "./files.js";
import { makeTrial } from "./trial.js";

const DOING = { look: "Looking at the columns", fit: "Learning and measuring the quality", predict: "Predicting the rows of the file" };
const EVERY = 300; // milliseconds between two questions how far it is

export function mount(el, send) {
  styled("signals.css"); // the zone to drop files on
  styled("table.css");
  el.classList.add("table-tab");
  const file = makeFile(el, send);
  const columns = makeColumns(send);
  const result = makeResult(send);
  const trial = makeTrial(send);
  el.append(file.element, columns.element, result.element, trial.element);
  let timer = null;
  return {
    show(drawing) {
      if (drawing.answer) return trial.answer(drawing.answer);
      if (drawing.download) return saved(drawing.download.name, drawing.download.type, drawing.download.bytes);
      for (const part of [file, columns, result, trial]) part.show(drawing);
      clearTimeout(timer);
      if (drawing.doing) timer = setTimeout(() => send({ event: "wait" }), EVERY);
    },
    fail(error) { file.failed(); trial.failed(error); },
  };
}

/** Drop a file; what is running, and how to end it. */
function makeFile(panel, send) {
  const name = make("p", { class: "filename" });
  const problem = make("p", { class: "problem", role: "alert" });
  const words = make("span");
  const cancel = make("button", { type: "button", onclick: () => send({ event: "cancel" }) }, "Cancel");
  const busy = make("div", { class: "row busy", role: "status", hidden: true }, make("progress", { "aria-label": "Running" }), words, cancel);
  let began = 0, doing = "";
  const upload = (file) => {
    problem.textContent = "";
    name.textContent = `Sending ${file.name} …`;
    file.arrayBuffer().then((bytes) => send({ event: "upload", name: file.name }, bytes),
      () => { problem.textContent = "The browser cannot read this file."; });
  };
  const drop = dropped(panel, "Drop a table anywhere here, or choose a file: CSV, Excel, Parquet, JSON, up to 200 MB", "", upload);
  return {
    element: make("div", { class: "card file" }, drop, name, busy, problem),
    show(drawing) {
      name.textContent = drawing.file + (drawing.look ? `, ${drawing.look.rows?.toLocaleString("en") ?? "many"} rows` : "");
      if (drawing.doing !== doing) began = Date.now();
      doing = drawing.doing;
      busy.hidden = !doing;
      if (doing) words.textContent = `${DOING[doing]}: ${drawing.progress || `${Math.round((Date.now() - began) / 1000)} s so far`}`;
      if ("problem" in drawing || doing) problem.textContent = drawing.problem ?? "";
    },
    failed() { if (name.textContent.startsWith("Sending")) name.textContent = ""; }, // the page says why
  };
}

/** The columns of the file, which of them to learn from, and which to learn. */
function makeColumns(send) {
  const target = make("select", { onchange: () => mark() });
  const learner = make("select");
  const body = make("tbody");
  const warnings = make("div");
  const fit = make("button", { type: "button", class: "first", onclick: () => send({ event: "fit", target: target.value, model: learner.value, ...chosen() }) }, "Learn");
  const head = make("tr", {}, ...["Use", "Column", "Holds", "Gaps", "Different", "Such as", "What becomes of it"].map((words) => make("th", { scope: "col" }, words)));
  const element = make("div", { class: "card", hidden: true },
    make("h2", {}, "What to learn"),
    make("div", { class: "row" }, labelled("Learn the column", target), labelled("with", learner), fit),
    make("div", { class: "steps columns" }, make("table", {}, make("thead", {}, head), body)), warnings);
  let shown = null, boxes = [];

  const chosen = () => {
    const others = boxes.filter((box) => box.name !== target.value);
    return {
      ignore: others.filter((box) => box.used && !box.input.checked).map((box) => box.name),
      use: others.filter((box) => !box.used && box.input.checked).map((box) => box.name),
    };
  };
  const mark = () => {
    for (const { name, input, row } of boxes) {
      input.disabled = name === target.value;
      row.classList.toggle("target", input.disabled);
    }
  };
  const fill = (look, learners) => {
    target.replaceChildren(...look.columns.map(({ name }) => make("option", { value: name }, name)));
    target.selectedIndex = look.columns.length - 1;
    learner.replaceChildren(make("option", { value: "" }, "what suits the column"), ...learners.map((name) => make("option", { value: name }, name)));
    boxes = look.columns.map((column) => makeRow(column, look.left_out));
    body.replaceChildren(...boxes.map((box) => box.row));
    warnings.replaceChildren(...look.warnings.map((words) => make("p", { class: "hint" }, words)));
    mark();
  };
  return {
    element,
    show({ look, doing, learners }) {
      element.hidden = !look;
      fit.disabled = Boolean(doing);
      if (look && JSON.stringify(look) !== shown) {
        shown = JSON.stringify(look);
        fill(look, learners);
      }
      if (!look) shown = null;
    },
  };
}

function makeRow(column, leftOut) {
  const used = !Object.hasOwn(leftOut, column.name);
  const input = make("input", { type: "checkbox", "aria-label": `Use ${column.name}` });
  input.checked = used;
  const cells = [column.name, column.holds, column.gaps, column.different, column.examples.join(", "), column.why ? `${column.use}: ${column.why}` : column.use];
  const row = make("tr", {}, make("td", {}, input), ...cells.map((words) => make("td", {}, String(words ?? ""))));
  return { name: column.name, used, input, row };
}

function labelled(words, control) {
  return make("label", { class: "field" }, make("span", {}, words), control);
}

/** The verdict, what it rests on, and the files to take away. */
function makeResult(send) {
  const verdict = make("p", { class: "verdict" });
  const facts = make("div", { class: "found" });
  const table = make("div", { class: "steps coefficients" });
  const warnings = make("div", { class: "warnings" });
  const command = make("pre", { tabindex: "0" });
  const ask = (what) => send({ event: "download", what });
  const model = make("button", { type: "button", onclick: () => ask("model") }, "Model");
  const report = make("button", { type: "button", onclick: () => ask("report") }, "Report");
  const predictions = make("button", { type: "button", onclick: () => { after = "predictions"; send({ event: "predict" }); } }, "Predictions for the file");
  let after = "", fitted = "";
  const element = make("div", { class: "card", hidden: true }, make("h2", {}, "What was found"), verdict, facts, warnings,
    make("div", { class: "row downloads" }, make("span", {}, "Download:"), model, report, predictions),
    table, make("p", { class: "hint" }, "The same on a command line:"), command);
  return {
    element,
    show({ fit, doing, command: line, predicted, reports }) {
      element.hidden = !fit;
      if (!fit) { fitted = ""; return; }
      for (const button of [model, report, predictions]) button.disabled = Boolean(doing);
      report.hidden = !reports;
      if (after && !doing) {
        const what = after;
        after = "";
        if (predicted) ask(what);
      }
      if (JSON.stringify(fit) === fitted) return;
      fitted = JSON.stringify(fit);
      verdict.textContent = fit.verdict;
      facts.replaceChildren(...told(fit).map((words) => make("p", {}, words)));
      warnings.replaceChildren(...fit.warnings.map((words) => make("p", { class: "warning" }, `Warning: ${words}`)));
      table.replaceChildren(coefficients(fit));
      command.textContent = line;
    },
  };
}

function told({ model, certificate, separability }) {
  return [`Learner: ${model.name}, ${model.why}.`,
    ...(certificate ? [`Certificate, ${certificate.kind}: ${certificate.statement}`] : []),
    ...(separability ? [`Separability: ${separability.sentence}`] : [])];
}

function coefficients({ coefficients: rows, more, target }) {
  if (!rows.length) return make("p", {}, "");
  const heads = [...new Set(rows.flatMap(Object.keys))].filter((key) => key !== "name");
  const cell = (value) => make("td", {}, typeof value === "number" ? brief(value) : String(value ?? ""));
  return make("div", {}, make("table", {},
    make("thead", {}, make("tr", {}, ...[target, ...heads].map((words) => make("th", { scope: "col" }, words)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, make("th", { scope: "row" }, row.name), ...heads.map((key) => cell(row[key])))))),
  more ? make("p", { class: "hint" }, `${more} more are in the report.`) : "");
}
