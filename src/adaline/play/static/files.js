// Files that users drop on a tab, files that they take away, and the style sheet of a tab.
import { make } from "./dom.js";

/** A button to choose a file, and a whole panel to drop one on; `hear(file)` gets it. */
export function dropped(panel, words, accept, hear) {
  const input = make("input", { type: "file", accept, class: "sr", onchange: () => {
    if (input.files.length) hear(input.files[0]);
    input.value = ""; // so that the same file can be chosen again
  } });
  const element = make("label", { class: "dropzone" }, input, make("span", {}, words));
  let inside = 0;
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (by) => { inside = Math.max(0, inside + by); panel.classList.toggle("dropping", inside > 0); };
  panel.addEventListener("dragenter", (event) => { if (carries(event)) mark(1); });
  panel.addEventListener("dragleave", (event) => { if (carries(event)) mark(-1); });
  panel.addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); });
  panel.addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    mark(-inside);
    if (event.dataTransfer.files.length) hear(event.dataTransfer.files[0]);
  });
  return element;
}

/** Give the user a file to keep. */
export function saved(name, type, bytes) {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Load a style sheet of the page once. */
export function styled(name) {
  if (document.head.querySelector(`link[href="${name}"]`)) return;
  document.head.append(make("link", { rel: "stylesheet", href: name }));
}
