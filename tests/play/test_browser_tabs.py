"""Signals and tables in a real Chromium, in short; `make test-browser` runs the long part, too."""

from __future__ import annotations

import numpy as np

from page_tabs import HEAR, HOSTILE, dropped, table, uploaded, verdict
from wav_files import tones, wav


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
    verdict(page, "The power (fell|rose)")
    page.get_by_role("button", name="Before", exact=True).click()
    page.locator('button[aria-pressed="true"]:text-is("Before")').wait_for()
    assert page.evaluate("window.played")[0] == {"rate": 16_000, "length": 6000, "loudest": 1}


def test_hostile_names_of_a_table_are_text(open_page):
    page = open_page(tab="Table")
    uploaded(page, table(), name=f"{HOSTILE}.csv")
    page.get_by_role("button", name="Learn", exact=True).wait_for()
    assert HOSTILE in page.locator(".table-tab .columns").inner_text()
    assert page.locator(".table-tab img, .table-tab script, .table-tab b").count() == 0
    assert page.evaluate("window.hurt") is None
