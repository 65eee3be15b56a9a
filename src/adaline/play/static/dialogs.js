// Take it away: the Python lines of the present state, and the board as a page.
import { make } from "./dom.js";
import { saved } from "./files.js";

export function dialogs(el, send) {
  const text = make("pre", { tabindex: "0", class: "code" });
  const copy = make("button", { type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      copy.textContent = "Selected: copy with Ctrl-C";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  } }, "Copy");
  const close = make("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = make("dialog", { class: "code-dialog", "aria-label": "The code of what you see" },
    make("h2", {}, "The code of what you see"),
    make("p", { class: "hint" }, "These lines run as they are, and end with the same weights W and b."),
    text, make("div", { class: "row" }, copy, close));
  el.append(make("section", { class: "card row", "aria-label": "Take it away" },
    make("button", { type: "button", class: "first", onclick: () => send({ event: "code" }) }, "Show the code"),
    make("button", { type: "button", class: "edit", title: "One HTML file that shows every step without a server", onclick: () => send({ event: "export" }) }, "Export as a page"), dialog));
  return {
    show(_drawing, news) {
      if ("code" in news) {
        text.textContent = news.code;
        if (!dialog.open) dialog.showModal();
      }
      if ("html" in news) saved("board.html", "text/html", news.html);
    },
  };
}
