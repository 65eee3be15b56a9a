"""Every learner by clicks, links, code, files, restarts, two pages at once, and how fast it is."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.play import Session
from adaline.play.learners import LEARNERS
from page_server import TOKEN, served
from page_user import User


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.filterwarnings("ignore")
def test_every_learner_is_run_to_its_end_by_clicks(user, learner):
    user.preset("separable")
    user.choose("Learner", learner)
    user.until(lambda: user.link()["learner"] == learner)
    if user.page.locator(".timeline").is_visible():
        user.press("Start")
        user.press("Step ▶")
        user.until(lambda: user.step_words().startswith("step 1 of"))
        last = user.step_words().split()[3].rstrip(",")
        user.page.locator("label:has(span:text-is('Speed')) input").fill("3")
        user.press("Run")
        user.until(lambda: user.step_words().startswith(f"step {last} of"))
    link, found = user.link(), {}
    exec(user.code(), found)
    state = _state(link)
    if learner != "kernel":
        assert np.array_equal(found["W"], state.run.W[state.step])


def _state(link):
    session = Session()
    for _ in session.hear({"tab": "board", "event": "open", "link": link}):
        pass
    return session.states["board"]


def test_a_link_opens_the_same_board_in_another_page(browser, running, user, tmp_path):
    user.preset("gaussians")
    user.choose("Learner", "logistic")
    user.until(lambda: user.link()["learner"] == "logistic")
    user.press("Start")
    user.until(lambda: user.link().get("at") == 0)
    address = running.address + user.page.evaluate("location.hash")
    with User(browser, address, tmp_path) as other:
        assert other.link() == user.link()
        assert other.code() == user.code()
        assert other.step_words() == user.step_words()


def test_a_short_link_names_a_preset(browser, running, tmp_path):
    with User(browser, running.address + "#board=xor", tmp_path) as user:
        user.wait_for("overlapping")


def test_two_pages_do_not_see_each_other(browser, running, user, tmp_path):
    with User(browser, running.address, tmp_path) as other:
        user.preset("xor")
        user.wait_for("overlapping")
        other.press("Run")
        assert other.verdict() == "separable"


def test_a_page_connects_again_after_the_server_was_restarted(browser, tmp_path):
    with served() as first:
        user = User(browser, first.address, tmp_path)
        user.page.wait_for_selector(".verdict[data-verdict]")
        user.preset("xor")
        user.wait_for("overlapping")
        link = user.link()
    user.until(lambda: "ended" in user.problem())
    with served(first.port):
        user.until(lambda: user.problem() == "")
        user.wait_for("overlapping")
        assert user.link() == link
        user.press("Clear")
        user.until(lambda: user.points() == 0)
    with served(first.port, token=TOKEN + "another"):
        user.until(lambda: "anew" in user.problem())
    user.context.close()
