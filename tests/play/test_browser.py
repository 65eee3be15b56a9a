"""The board in a real Chromium."""

from __future__ import annotations

import pytest

from adaline.play import Session
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
    user.press("Clear")
    user.until(lambda: user.points() == 0)


def test_a_short_link_names_a_preset_and_a_page_connects_again(browser, tmp_path):
    with served() as first:
        user = User(browser, f"{first.address}#board=xor,kernel", tmp_path)
        user.wait_for("overlapping")
        link = user.link()
    user.until(lambda: "ended" in user.problem())
    with served(first.port):
        user.until(lambda: user.problem() == "")
        assert user.link() == link
        user.press("Clear")
        user.until(lambda: user.points() == 0)
    user.context.close()


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
    assert "Point 0, class A" in user.page.locator("[role=status]").inner_text()
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


def test_an_exported_board_works_from_a_file_without_a_server(browser, tmp_path):
    page = Session(["board"])
    link = {"preset": "xor", "learner": "kernel"}
    page.hear({"tab": "board", "event": "open", "link": link})
    file = tmp_path / "board.html"
    answer = page.hear({"tab": "board", "event": "export"})
    file.write_text(answer["drawing"]["html"], encoding="utf-8")
    with User(browser, file.as_uri(), tmp_path) as user:
        assert user.verdict() == "overlapping"
        assert user.step_words().startswith("step 0 of ")
        user.press("Step ▶")
        assert user.step_words().startswith("step 1 of ")
        user.press("◀ Back")
        user.press("End")
        last = page.hear({"tab": "board", "event": "go", "to": "last"})["drawing"]["present"]["at"]
        assert user.step_words().startswith(f"step {last} of {last}")
        assert user.code() == page.hear({"tab": "board", "event": "code"})["drawing"]["code"]
        user.press("Run")
        user.until(lambda: user.step_words().startswith(f"step {last} of"))
        assert user.page.locator("button:text-is('Clear')").count() == 1
        assert not user.page.locator("button:text-is('Clear')").is_visible()
