// The front end: a bar of tabs, the theme, and links that hold the state. It draws what Python
// computed. An anywidget front-end module; host.js hosts it in a page, anywidget in notebooks.
//
// A tab is a module with `mount(el, send) -> {show(drawing), link?}`. `send(event, bytes?)` tells
// Python what the user did; `send.latest(event)` does so once the last answer is there, and
// forgets older events that wait: for sliders and dragging.

import { mountBoard } from "./board.js";
import { make } from "./dom.js";

const HOMES = {
  board: async () => ({ mount: mountBoard }),
  signals: () => import("./signals.js"),
  table: () => import("./table.js"),
};
const TITLES = { board: "Board", signals: "Signals", table: "Table" };
const THEMES = ["auto", "light", "dark"];

function encoded(link) {
  const bytes = new TextEncoder().encode(JSON.stringify(link));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(text) {
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))));
}

/** The tab and the state that an address names: {tab, link}; empty where it names none. */
function fromAddress() {
  const [tab, text] = location.hash.slice(1).split("=");
  if (!Object.hasOwn(HOMES, tab)) return {};
  try {
    return { tab, link: text ? decoded(text) : undefined };
  } catch { // names in words: #board=xor or #board=xor,kernel
    const [preset, learner] = text.split(",");
    return { tab, link: { preset, ...(learner ? { learner } : {}) } };
  }
}

/** A drawing with its bytes, which stand in objects and never in lists. */
function filled(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  if ("$bytes" in value) return new DataView(Uint8Array.from(atob(value.$bytes), (c) => c.charCodeAt(0)).buffer);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
}

/** Two events of one kind as one: what both set is as the later has it. */
function joined(a, b) {
  if (![a, b].every((value) => value && typeof value === "object" && !Array.isArray(value))) return b;
  return Object.fromEntries(Object.keys({ ...a, ...b }).map((key) => [key, key in b ? joined(a[key], b[key]) : a[key]]));
}

/** What a tab sends with; counts answers that are due, so that `latest` never makes a queue. */
function sender(model, tab) {
  let due = 0, waiting = null;
  const send = (event, bytes) => {
    due += 1;
    model.send({ tab, ...event }, undefined, bytes ? [bytes] : []);
  };
  send.latest = (event) => {
    if (due === 0) send(event);
    else waiting = waiting?.event === event.event ? joined(waiting, event) : event; // two controls
  };
  send.answered = () => {
    due = Math.max(0, due - 1);
    if (due === 0 && waiting) {
      const event = waiting;
      waiting = null;
      send(event);
    }
  };
  send.reset = () => { due = 0; waiting = null; };
  return send;
}

class App {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.tabs = new Map(); // name to {panel, button, send, shown, link}
    this.alone = (model.get("tabs") ?? ["board"]).length === 1;
    this.inPage = model.get("notebook") !== true;
  }

  start() {
    this.el.replaceChildren();
    this.el.classList.add("adaline-play");
    this.problem = make("p", { class: "problem", role: "alert" });
    this.bar = make("div", { class: "tabs", role: "tablist", "aria-label": "What to play with", onkeydown: (e) => this.arrow(e) });
    this.panels = make("div", { class: "panels" });
    this.el.append(this.head(), this.problem, this.panels);
    for (const name of this.model.get("tabs") ?? ["board"]) this.add(name);
    this.model.on("msg:custom", (message) => this.hear(message));
    this.model.on("connection", (there, reason) => this.connection(there, reason));
    const asked = this.inPage ? fromAddress() : {};
    if (asked.tab && this.tabs.has(asked.tab)) this.tabs.get(asked.tab).link = asked.link;
    this.open(this.tabs.has(asked.tab) ? asked.tab : this.tabs.keys().next().value);
    if (this.inPage) window.addEventListener("hashchange", () => this.followed());
  }

  head() {
    const theme = make("button", { type: "button", class: "quiet" });
    const large = make("button", { type: "button", class: "quiet", "aria-pressed": "false", title: "Larger letters and points, for a projector" }, "Large");
    const dress = (name) => {
      this.el.dataset.theme = name;
      if (this.inPage) document.documentElement.dataset.theme = name;
      theme.textContent = `Theme: ${name}`;
      this.redraw();
    };
    const kept = this.inPage ? localStorage.getItem("adaline-theme") : null;
    theme.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(this.el.dataset.theme) + 1) % THEMES.length];
      if (this.inPage) localStorage.setItem("adaline-theme", next);
      dress(next);
    });
    large.addEventListener("click", () => {
      const on = large.getAttribute("aria-pressed") !== "true";
      large.setAttribute("aria-pressed", on);
      this.el.classList.toggle("large", on);
      this.redraw();
    });
    const buttons = [large, theme];
    if (this.inPage) {
      this.copy = make("button", { type: "button", class: "quiet", title: "Copy a link that holds what you see", onclick: () => this.copied() }, "Copy link");
      buttons.unshift(this.copy);
    }
    const head = make("header", { class: "head" }, make("strong", { class: "name" }, "adaline"), this.bar, make("span", { class: "space" }), ...buttons);
    dress(THEMES.includes(kept) ? kept : "auto");
    return head;
  }

  add(name) {
    const button = make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, "aria-selected": "false", tabindex: "-1", onclick: () => this.open(name) }, TITLES[name]);
    const panel = make("section", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true, class: "loading" });
    this.tabs.set(name, { button, panel, send: sender(this.model, name) });
    this.bar.append(button);
    this.bar.hidden = this.alone;
    this.panels.append(panel);
  }

  async open(name) {
    this.name = name;
    for (const [other, { button, panel }] of this.tabs) {
      button.setAttribute("aria-selected", other === name);
      button.tabIndex = other === name ? 0 : -1;
      panel.hidden = other !== name;
    }
    const tab = this.tabs.get(name);
    if (!tab.mounted) {
      tab.mounted = HOMES[name]().then((home) => { tab.shown = home.mount(tab.panel, tab.send); });
      await tab.mounted;
      this.ask(tab);
    }
    this.redraw();
    this.address();
  }

  /** Ask for the drawing of a tab: of its link, or of the state that Python has. */
  ask(tab) {
    tab.send(tab.link ? { event: "open", link: tab.link } : { event: "start" });
  }

  hear(message) {
    const tab = this.tabs.get(message.tab);
    if (!tab?.shown) return;
    this.problem.textContent = message.error ?? "";
    tab.panel.classList.remove("loading");
    if (message.drawing) {
      const drawing = filled(message.drawing);
      tab.shown.show(drawing);
      if ("link" in drawing) tab.link = drawing.link ?? undefined;
      if (message.tab === this.name) this.address();
    } else tab.shown.fail?.(message.error);
    tab.send.answered();
  }

  /** Keep the state in the address, without a new entry in the browser's history. */
  address() {
    if (!this.inPage || this.pending) return;
    this.pending = setTimeout(() => { // browsers limit how often an address may change
      this.pending = null;
      const { link } = this.tabs.get(this.name);
      history.replaceState(null, "", link ? `#${this.name}=${encoded(link)}` : `#${this.name}`);
    }, 300);
  }

  followed() {
    const { tab, link } = fromAddress();
    if (!this.tabs.has(tab)) return;
    const known = this.tabs.get(tab);
    if (link) known.link = link;
    if (known.mounted && link) this.ask(known);
    this.open(tab);
  }

  async copied() {
    const { link } = this.tabs.get(this.name);
    const text = `${location.origin}/${this.el.dataset.query}${link ? `#${this.name}=${encoded(link)}` : `#${this.name}`}`;
    try {
      await navigator.clipboard.writeText(text);
      this.copy.textContent = "Copied";
    } catch {
      this.copy.textContent = "Copy it from the address bar";
    }
    setTimeout(() => { this.copy.textContent = "Copy link"; }, 2000);
  }

  async connection(there, reason) {
    this.el.classList.toggle("lost", !there);
    for (const tab of this.tabs.values()) {
      tab.send.reset();
      if (there && tab.shown) this.ask(tab);
    }
    if (there) this.problem.textContent = "";
    else this.problem.textContent = reason || await this.why();
  }

  /** Why there is no connection: the server has ended, or has another token now. */
  async why() {
    try {
      const { status } = await fetch("/app.js", { cache: "no-store" });
      if (status === 403) return "The server was started anew: open the address that it has printed.";
      return "The connection was lost; connecting again …";
    } catch {
      return "The server has ended. Start it with adaline play; this page connects by itself where port and token are the same.";
    }
  }

  arrow(event) {
    const names = [...this.tabs.keys()], step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = names[(names.indexOf(this.name) + step + names.length) % names.length];
    this.open(next);
    this.tabs.get(next).button.focus();
  }

  redraw() {
    for (const tab of this.tabs.values()) tab.shown?.redraw?.();
  }
}

export default {
  render({ model, el }) {
    new App(model, el).start();
  },
};
