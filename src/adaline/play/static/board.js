// The board: points to click and drag.
import { make } from "./dom.js";

export function mount(el, send) {
  const pre = make("pre");
  el.append(pre);
  return { show(drawing) { pre.textContent = drawing.proof.words; } };
}
