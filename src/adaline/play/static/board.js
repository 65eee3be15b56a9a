// The board: points to click and drag, a learner with its settings, time, and the proof.
import { CLASSES, brief, check, choice, controls, make } from "./dom.js";
import { curves } from "./curves.js";
import { dialogs } from "./dialogs.js";
import { field } from "./field.js";
import { margins } from "./margins.js";
import { tasks } from "./tasks.js";
import { timeline } from "./timeline.js";
import { weightSpace } from "./weight_space.js";

const LOGARITHMIC = ["mean squared error", "mean squared error through the sigmoid", "|gradient|", "|e|"];

export function mountBoard(el, send) {
  const now = { drawing: {}, label: 0 }; // what was drawn last, and the class of new points
  const shown = parts(el, send, now);
  return {
    redraw: () => shown.forEach((part) => part.redraw?.()),
    fail: () => shown.forEach((part) => part.fail?.()),
    show(drawing) {
      Object.assign(now.drawing, drawing);
      for (const part of shown) part.show(now.drawing, drawing);
    },
  };
}

/** The parts of the board, each with show(all, news); and the page they stand on. */
function parts(el, send, now) {
  const board = make("div", { class: "board-left" }), side = make("div", { class: "board-side" });
  el.classList.add("board");
  el.append(board, side);
  const all = [
    toolbar(board, send, now),
    field(board, send, now),
    timeline(board, send),
    tasks(side, send),
    learner(side, send),
    verdict(side, send, now),
    margins(side, send),
    table(side),
    plots(side),
    weightSpace(side, send),
    dialogs(side, send),
  ];
  return all;
}

function toolbar(el, send, now) {
  const classes = CLASSES.map((name, code) => make("button", {
    type: "button", class: `class-button class-${code}`, "aria-pressed": String(code === 0), "aria-label": `New points are of class ${name}`,
    onclick: () => choose(code),
  }, make("span", { class: `mark mark-${code}`, "aria-hidden": "true" }), name));
  const choose = (code) => {
    now.label = code;
    classes.forEach((button, k) => button.setAttribute("aria-pressed", k === code));
  };
  now.choose = choose;
  const presets = choice("Points", [], (name) => send({ event: "set", link: { preset: name } }));
  const clear = make("button", { type: "button", onclick: () => send({ event: "set", link: { preset: "empty" } }) }, "Clear");
  el.append(
    make("div", { class: "row edit", role: "group", "aria-label": "Points" }, ...classes, make("span", { class: "space" }), presets.element, clear));
  return {
    show(_drawing, news) {
      if (news.presets) {
        presets.select.replaceChildren(make("option", { value: "", disabled: true }, "choose …"),
          ...news.presets.map(([value, words]) => make("option", { value }, words)));
      }
      if (news.points) presets.show("");
    },
  };
}

function learner(el, send) {
  const names = choice("Learner", [], (name) => send({ event: "set", link: { learner: name } }));
  const words = make("p", { class: "hint" }), why = make("p", {});
  const settings = controls((name, value) => send.latest({ event: "set", link: { settings: { [name]: value } } }));
  const bound = make("p", { class: "hint bound" }), ended = make("p", { class: "ended", "aria-live": "polite" });
  const reasons = make("details", { class: "why" }, make("summary", {}, "Why?"), why);
  names.select.classList.add("wide");
  settings.element.classList.add("edit");
  el.append(make("section", { class: "card", "aria-label": "Learner" }, names.element, words, settings.element, bound, ended, reasons));
  let of = null, learners = [];
  return {
    show(drawing, news) {
      if (news.learners) {
        learners = news.learners;
        names.select.replaceChildren(...learners.map(({ name, title }) => make("option", { value: name }, title)));
        of = null;
      }
      tellEnd(ended, drawing);
      why.textContent = drawing.run ? [drawing.run.stopped, drawing.run.certificate].filter(Boolean).map((text) => text[0].toUpperCase() + text.slice(1)).join(" ") : "";
      reasons.hidden = !why.textContent;
      if (!news.learner) return;
      names.show(drawing.learner);
      if (of !== drawing.learner) {
        of = drawing.learner;
        const known = learners.find((one) => one.name === of);
        words.textContent = known.words;
        settings.build(known.settings);
      }
      settings.show(drawing.settings);
      tellRate(bound, drawing);
    },
  };
}

/** What learning comes to, or why it cannot learn. */
function tellEnd(el, { problem, run }) {
  const text = problem || run?.end || "";
  if (el.textContent !== text) el.textContent = text; // a screen reader says it once
  el.classList.toggle("bad", Boolean(problem) || /diverged/.test(run?.stopped ?? ""));
}

function tellRate(el, { rates, settings }) {
  el.hidden = !rates || settings.rate !== "number";
  if (el.hidden) return;
  const over = settings.eta > rates.bound;
  el.textContent = `Stable up to ${rates.name} = ${brief(rates.bound)}; η is ${over ? "beyond it: learning may diverge" : "below it"}.`;
  el.classList.toggle("bad", over);
}

const SIGNS = { separable: "✓", overlapping: "✗", "quasi-separable": "≈", undecided: "?" };

function verdict(el, send, now) {
  const title = make("strong", { class: "verdict" }), short = make("p", {}), words = make("p", {}), facts = make("ul", { class: "facts" });
  const show = check("Draw the proof on the board", (value) => { now.proof = value; now.redraw?.(); });
  now.proof = true;
  show.show(true);
  el.append(make("section", { class: "card", "aria-label": "What is proven", "aria-live": "polite" },
    make("h2", {}, "Can a line separate them?"), title, short, make("details", { class: "why" }, make("summary", {}, "Why?"), words, facts), show.element));
  return {
    show({ proof, run, points }, news) {
      if (!news.proof) return;
      title.textContent = proof.verdict ? `${SIGNS[proof.verdict]} ${proof.verdict}` : "";
      title.dataset.verdict = proof.verdict ?? "";
      short.textContent = proof.short;
      words.textContent = proof.words;
      const told = [];
      if (proof.bound) told.push(mistakes(proof.bound, run));
      if (proof.cover) told.push(`Of all labellings of ${proof.cover.n} points in general position, a line separates ${shareOf(proof.cover)} (Cover); half at ${proof.cover.capacity} points.`);
      facts.replaceChildren(...told.map((text) => make("li", {}, text)));
      show.element.hidden = !proof.verdict || proof.verdict === "undecided" || points.X.length === 0;
    },
  };
}

function mistakes(sharp, run) {
  const most = Math.floor(sharp + 1e-9);
  const made = run?.corrections;
  const bound = `A perceptron with a bias and fixed increments makes at most ${most} corrections here, (R/γ)² = ${brief(sharp)} with the bias as a third input`;
  return made === null || made === undefined ? `${bound}.` : `${bound}; this one made ${made}.`;
}

function shareOf({ fraction }) {
  if (fraction === 1) return "all";
  return fraction >= 1e-4 ? `${brief(100 * fraction)} %` : `a share of ${brief(fraction)}`;
}

function table(el) {
  const body = make("table"), count = make("p", { class: "hint" });
  const card = make("section", { class: "card", "aria-label": "The table of learning" }, make("h2", {}, "Step by step"), make("p", { class: "hint" }, "A row is a step of the learner; the marked one is now."), make("div", { class: "steps", tabindex: "0", role: "region", "aria-label": "Rows of the table" }, body), count);
  el.append(card);
  return {
    show({ present, run }) {
      const rows = run && present?.table;
      card.hidden = !rows?.rows.length;
      if (card.hidden) return;
      body.replaceChildren(
        make("thead", {}, make("tr", {}, ...rows.head.map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, ...rows.rows.map((cells, i) => make("tr", { "aria-current": rows.first + i === rows.present ? "step" : undefined },
          ...cells.map((cell) => make("td", {}, cell))))));
      count.textContent = `Rows ${rows.first + 1} to ${rows.first + rows.rows.length} of ${rows.count}.`;
    },
  };
}

function plots(el) {
  const card = make("section", { class: "card", "aria-label": "Curves" });
  el.append(card);
  const figures = [curves(card, ""), curves(card, "")];
  const boxes = [...card.querySelectorAll("figure")];
  return {
    redraw: () => figures.forEach((figure) => figure.redraw()),
    show({ run, present }, news) {
      const lines = run?.curves ?? [];
      card.hidden = !lines.some(({ y }) => y.length > 1);
      figures.forEach((figure, k) => {
        boxes[k].hidden = k >= lines.length;
        if (k >= lines.length || card.hidden) return;
        const { name, x, y } = lines[k];
        figure.title(name);
        figure.show({ series: [{ name, x, y, ink: `series${k + 1}`, dash: 0, points: y.length < 30 }], x: run.unit, whole: true, log: LOGARITHMIC.includes(name), at: present?.pass });
      });
    },
  };
}
