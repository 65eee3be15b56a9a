"""The tab of signals in a real browser: filters by clicks, a sound file dropped, sounds played."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest

from wav_files import tones, wav

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


def test_every_filter_in_every_world_by_clicks(open_page):
    page = open_page(tab="Signals")
    verdict(page, "The weights miss the path by")
    for world, words in {
        "tone": "noise",
        "engine": "noise",
        "echo": "echo",
        "system": "weights",
    }.items():
        page.locator("#panel-signals").get_by_label("World").select_option(world)
        verdict(page, words)
        for learner in ("nlms", "rls", "wiener", "auto", "lms"):
            page.get_by_role("combobox", name="Filter").select_option(learner)
            page.locator(".signals details.code pre", has_text=_class(learner)).wait_for(
                state="attached"
            )
            assert page.locator(".signals .verdict p").count() > 0


def _class(learner):
    names = {"nlms": "NLMS(", "rls": "RLS(", "wiener": "WienerFilter", "lms": " LMS"}
    return re.compile(re.escape(names[learner]) if learner in names else r"taps=\d+\)")


def test_a_rate_beyond_the_bound_is_named(open_page):
    page = open_page(tab="Signals")
    settled(page, "2/tr")
    page.locator("#panel-signals").get_by_label("Rate").focus()
    page.keyboard.press("End")
    verdict(page, "LMS diverged at sample")
    verdict(page, "1.99 times the bound")
    assert "NaN" not in page.locator("#panel-signals").inner_text()
    page.keyboard.press("Home")
    verdict(page, "The weights miss")


def test_the_sounds_are_played(open_page):
    page = open_page()
    page.add_init_script(HEAR)
    page.reload()
    page.get_by_role("tab", name="Signals").click()
    verdict(page, "weights")
    page.locator("#panel-signals").get_by_label("World").select_option("tone")
    verdict(page, "noise")
    for name in ("Before", "After", "What was taken away", "The voice alone"):
        page.get_by_role("button", name=name, exact=True).click()
        page.locator(f'button[aria-pressed="true"]:text-is("{name}")').wait_for()
    played = page.evaluate("window.played")
    assert [p["length"] for p in played] == [32_000] * 4
    assert [p["rate"] for p in played] == [8000] * 4
    assert played[0]["loudest"] == pytest.approx(1.0)
    page.get_by_role("button", name="The voice alone").click()  # a second click ends it
    assert page.locator('.signals .listen button[aria-pressed="true"]').count() == 0


def test_a_wav_file_that_is_dropped_is_used_and_can_be_heard(open_page):
    page = open_page()
    page.add_init_script(HEAR)
    page.reload()
    page.get_by_role("tab", name="Signals").click()
    verdict(page, "weights")
    rng = np.random.default_rng(0)
    sound = np.column_stack([tones(6000), 0.3 * rng.standard_normal(6000)])
    name = "<b onmouseover=alert(1)>voice.wav"
    dropped(page, "#panel-signals", name, wav(sound, 16_000))
    page.locator(".signals .filename", has_text="voice.wav").wait_for()
    verdict(page, "noise")
    assert page.locator(".signals .filename b").count() == 0
    page.locator("#panel-signals").get_by_label("The file is").select_option("pair")
    verdict(page, "The power fell|more")
    page.get_by_role("button", name="Before", exact=True).click()
    page.locator('button[aria-pressed="true"]:text-is("Before")').wait_for()
    assert page.evaluate("window.played")[0] == {"rate": 16_000, "length": 6000, "loudest": 1}


def test_what_is_no_sound_is_told_and_the_page_goes_on(open_page):
    page = open_page(tab="Signals")
    verdict(page, "weights")
    page.locator("#panel-signals input[type=file]").set_input_files(
        {"name": "notes.wav", "mimeType": "audio/wav", "buffer": b"no sound at all"}
    )
    page.locator(".problem", has_text="notes.wav").first.wait_for()
    page.locator("#panel-signals").get_by_label("World").select_option("tone")
    verdict(page, "noise")


def test_the_moment_of_the_weights_can_be_chosen(open_page):
    page = open_page(tab="Signals")
    verdict(page, "weights")
    moment = page.locator("#panel-signals").get_by_label("Moment")
    late = page.locator(".signals .weights canvas").get_attribute("aria-label")
    moment.focus()
    page.keyboard.press("Home")
    assert page.locator(".signals .weights canvas").get_attribute("aria-label") != late


def test_a_link_opens_the_same_state(open_page):
    page = open_page(tab="Signals")
    verdict(page, "weights")
    page.locator("#panel-signals").get_by_label("World").select_option("engine")
    verdict(page, "noise")
    page.get_by_role("combobox", name="Filter").select_option("rls")
    page.locator(".signals details.code pre", has_text="RLS(").wait_for(state="attached")
    page.wait_for_url(re.compile("#signals=.+"))
    page.wait_for_timeout(400)  # the address follows after 300 ms
    words, code = (
        page.locator(".signals .verdict").inner_text(),
        page.locator(".signals details.code pre").text_content(),
    )
    page.goto(page.url)
    page.reload()
    verdict(page, "noise")
    assert page.locator(".signals .verdict").inner_text() == words
    assert page.locator(".signals details.code pre").text_content() == code


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True)])
def test_nothing_is_wider_than_the_page(open_page, width, dark):
    page = open_page(width=width, dark=dark, tab="Signals")
    verdict(page, "weights")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
