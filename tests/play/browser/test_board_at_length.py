"""Every learner by clicks, links, code, files, restarts, two pages at once, and how fast it is."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.play import Session
from adaline.play.learners import LEARNERS
from page_server import TOKEN, served
from page_user import User

CSV = "a,b,kind\n" + "".join(f"{i % 9},{(i * 7) % 11},{'xy'[i % 2]}\n" for i in range(60))


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
        assert np.array_equal(found["W"], state.run().W[state.step()])


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


def test_a_csv_is_dropped_and_its_columns_changed(user):
    drop(user, "t<b>.csv", CSV)
    user.page.wait_for_selector(".columns:visible")
    assert user.page.locator(".columns strong").inner_text() == "t<b>.csv"
    assert len(user.link()["x"]) == 60
    before = user.link()["x"]
    user.choose("across", "b")  # the other axis is b, too: refused
    user.until(lambda: "different" in user.problem())
    assert user.link()["x"] == before


def drop(user, name, text):
    """Drop a file on the board."""
    user.page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name));
            const box = document.querySelector(".plane-box");
            box.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }""",
        [name, text],
    )


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.exe", "MZ", ".csv"),
        ("a.csv", "", "empty"),
        ("a.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n9,0\n", "classes"),
        ("a.csv", "kind\nx\ny\nx\n", "two columns"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_a_sentence(user, name, text, words):
    drop(user, name, text)
    user.until(lambda: words in user.problem())
    assert user.points() == 4  # the board is as it was


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


def test_a_step_on_500_points_reaches_the_screen_quickly(user, capsys):
    """Told, not asserted: seconds depend on the machine."""
    rng = np.random.default_rng(0)
    rows = "".join(
        f"{a:.4f},{b:.4f},{'xy'[int(a + b > 0)]}\n" for a, b in rng.normal(size=(500, 2))
    )
    drop(user, "many.csv", "a,b,kind\n" + rows)
    user.page.wait_for_selector(".columns:visible")
    user.press("Start")
    took = user.page.evaluate(
        """async () => {
            const step = document.querySelector(".timeline button.first");
            const words = document.querySelector(".place-words"), took = [];
            for (let k = 0; k < 60; k += 1) {
                const before = words.textContent, begun = performance.now();
                step.click();
                while (words.textContent === before) await new Promise(requestAnimationFrame);
                took.push(performance.now() - begun);
            }
            return took;
        }"""
    )
    with capsys.disabled():
        median, most = np.median(took), np.quantile(took, 0.95)
        print(f"\n  a step of 500 points: median {median:.0f} ms, 95 % below {most:.0f} ms")
    assert len(took) == 60
