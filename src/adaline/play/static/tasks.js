// Six tasks beside the board; Python says which of them the board solves.
import { make } from "./dom.js";

export function tasks(el, send) {
  const list = make("ol", { class: "task-list" }), count = make("summary");
  el.append(make("details", { class: "card edit tasks" }, count, list));
  const done = new Set();
  let begun = -1, rows = [];
  const begin = (k, link) => { begun = k; send({ event: "set", link }); };
  return {
    show(_drawing, news) {
      if (news.tasks) {
        rows = news.tasks.map(({ words, link }, k) => make("li", {}, make("button", { type: "button", onclick: () => begin(k, link) }, words)));
        list.replaceChildren(...rows);
      }
      if (news.solved?.[begun]) done.add(begun);
      rows.forEach((row, k) => {
        row.classList.toggle("done", done.has(k));
        row.classList.toggle("begun", k === begun);
      });
      count.textContent = `Six tasks: ${done.size} solved`;
    },
  };
}
