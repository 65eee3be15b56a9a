"""What tests of the tabs of signals and tables do in a page."""

from __future__ import annotations

import base64
import csv
import io
import re

import numpy as np

# Counts what the page plays; runs before the page's own scripts.
HEAR = """
window.played = [];
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (...given) {
  const samples = this.buffer.getChannelData(0);
  const loudest = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  window.played.push({ rate: this.buffer.sampleRate, length: samples.length, loudest });
  return start.apply(this, given);
};
"""


def verdict(page, words, timeout=60_000):
    page.locator(".signals .verdict", has_text=re.compile(words)).wait_for(timeout=timeout)


def settled(page, words):
    """Wait for the hint at the rate, which every new drawing writes anew."""
    page.locator(".signals .bound", has_text=re.compile(words)).wait_for()


def dropped(page, selector, name, content, kind="audio/wav"):
    """Drop a file on an element, as a user does from a folder."""
    transfer = page.evaluate_handle(
        """([name, text, kind]) => {
            const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], name, { type: kind }));
            return data;
        }""",
        [name, base64.b64encode(content).decode(), kind],
    )
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event(selector, event, {"dataTransfer": transfer})


HOSTILE = '<img src=x onerror="window.hurt=1">'


def table(rows=60):
    rng = np.random.default_rng(0)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([HOSTILE, "<script>window.hurt=1</script>", "colour", "price"])
    for _ in range(rows):
        a, b, colour = rng.normal(), rng.normal(), rng.choice(["<b>red</b>", "blue"])
        writer.writerow([f"{a:.4f}", f"{b:.4f}", colour, f"{3 * a - b + 0.1 * rng.normal():.4f}"])
    return text.getvalue().encode()


def uploaded(page, content, name="prices.csv"):
    page.locator("#panel-table input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )
