"""The board in a real Chromium, in short; `make test-browser` runs the long part, too."""

from __future__ import annotations

import pytest

from page_server import served
from page_user import User


@pytest.fixture(scope="module")
def running():
    with served() as found:
        yield found


@pytest.fixture
def user(browser, running, tmp_path):
    with User(browser, running.address, tmp_path) as found:
        yield found


def test_points_are_clicked_learned_stepped_and_proven(user):
    assert user.verdict() == "separable"
    user.preset("empty")
    user.click(0.3, 0.5)
    user.click(0.7, 0.5, modifiers=["Shift"])
    user.wait_for("separable")
    user.click(0.75, 0.3, button="right")
    user.drag((0.3, 0.5), (0.9, 0.5))  # A is now on the line through both B, beyond them
    assert user.points() == 3
    user.press("Start")
    user.press("Step ▶")
    assert user.step_words().startswith("step 1 of ")
    assert user.page.locator('tr[aria-current="step"]').count() == 1
    user.press("End")
    user.press("Undo")
    user.press("Undo")
    assert user.points() == 2


def test_the_page_fits_a_phone_and_is_dark_where_the_reader_likes_it(browser, running, tmp_path):
    more = {"viewport": {"width": 400, "height": 800}, "color_scheme": "dark"}
    with User(browser, running.address, tmp_path, **more) as user:
        user.wait_for("separable")
        sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert user.page.evaluate(sideways) <= 0
        paper = user.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert sum(int(v) for v in paper[4:-1].split(",")) < 200


def test_a_board_is_made_with_the_keyboard_alone(user):
    user.preset("empty")
    user.page.locator("canvas.plane").focus()
    for key in ("ArrowLeft", "ArrowLeft", "Enter", "2", "Shift+ArrowRight", "Enter"):
        user.page.keyboard.press(key)
    user.wait_for("separable")
    user.page.keyboard.press("n")
    user.page.keyboard.press("ArrowUp")
    assert "Point 1 of 2, class A" in user.page.locator("[role=status]").inner_text()
    user.page.keyboard.press("3")
    user.until(lambda: user.link()["c"] == "CB")
    user.page.keyboard.press("Delete")
    user.until(lambda: user.points() == 1)


def test_every_control_has_a_name_for_screen_readers(user):
    nameless = user.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas, [tabindex]")]
            .filter((one) => one.checkVisibility() && !one.hasAttribute("aria-hidden"))
            .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim()
                || one.labels?.[0]?.textContent.trim() || one.getAttribute("aria-labelledby")))
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_the_paper(browser, running, tmp_path, scheme):
    """WCAG asks for a contrast of 4.5; points and lines need 3."""
    names = ["ink", "soft", "bad", "good", "accent", "class0", "class1", "class2", "class3"]
    with User(browser, running.address, tmp_path, color_scheme=scheme) as user:
        style = "getComputedStyle(document.querySelector('.adaline-play'))"
        read = f"name => {style}.getPropertyValue('--' + name).trim()"
        inks = {name: user.page.evaluate(read, name) for name in [*names, "paper", "panel"]}
    for ground in ("paper", "panel"):
        for name in names:
            least = 3.0 if name.startswith("class") else 4.5
            assert contrast(inks[name], inks[ground]) >= least, (name, ground)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG defines it."""

    def light(text: str) -> float:
        parts = [int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
