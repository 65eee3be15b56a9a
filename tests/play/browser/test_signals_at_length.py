"""The tab of signals in a real browser: filters by clicks, a sound file dropped, sounds played."""

from __future__ import annotations

import re

import pytest

from page_tabs import HEAR, settled, verdict


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
            page.locator(".signals details.lines pre", has_text=_class(learner)).wait_for(
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
    verdict(page, r"(1\.99|2) times the bound")
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
    page.locator(".signals details.lines pre", has_text="RLS(").wait_for(state="attached")
    page.wait_for_url(re.compile("#signals=.+"))
    page.wait_for_timeout(400)  # the address follows after 300 ms
    words, code = (
        page.locator(".signals .verdict").inner_text(),
        page.locator(".signals details.lines pre").text_content(),
    )
    page.goto(page.url)
    page.reload()
    verdict(page, "noise")
    assert page.locator(".signals .verdict").inner_text() == words
    assert page.locator(".signals details.lines pre").text_content() == code


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True)])
def test_nothing_is_wider_than_the_page(open_page, width, dark):
    page = open_page(width=width, dark=dark, tab="Signals")
    verdict(page, "weights")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
