"""A report in a real browser: silent console, no requests, no sideways scrolling, dark or light."""

from __future__ import annotations

import numpy as np
import pytest

import adaline


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 4))
    y = np.where(X[:, 0] + rng.standard_normal(800) > 0, "<script>alert(1)</script>", "no'\"")
    names = ["<img src=x onerror=alert(1)>", "b" * 300, "$c$", "<svg onload=alert(1)>"]
    model = adaline.LogisticRegression().fit(X[:400], y[:400])
    place = tmp_path_factory.mktemp("report") / "page.html"
    return adaline.write_report(place, model, X[400:], y[400:], names=names, warnings=names)


LETTERS = """() => [...document.querySelectorAll('figure svg text')].map(text => {
  const box = text.getBoundingClientRect(), page = text.ownerSVGElement.getBoundingClientRect();
  const m = text.getScreenCTM();
  const inside = box.left >= page.left - 1 && box.right <= page.right + 1
    && box.top >= page.top - 1 && box.bottom <= page.bottom + 1;
  const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(m.a, m.b);
  return [size, inside ? '' : text.textContent];
})"""


@pytest.mark.parametrize("width", [400, 1280])
def test_no_letter_of_a_picture_is_small_or_cut(browser, page_file, width):
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(page_file.as_uri())
    found = page.evaluate(LETTERS)
    assert len(found) > 50
    assert min(size for size, _ in found) >= 9
    assert [cut for _, cut in found if cut] == []
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_a_report_opens_silently(browser, page_file, scheme, width):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page, heard = context.new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(page_file.as_uri())
    page.wait_for_load_state("load")
    assert [message for message in heard if not message.startswith(("file:", "data:"))] == []
    assert len([message for message in heard if message.startswith("file:")]) == 1
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) <= 0
    assert page.locator("script, img").count() == 0
    pictures = page.locator("figure svg")
    assert pictures.count() >= 4
    assert all(box["height"] > 50 for box in (p.bounding_box() for p in pictures.all()))
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(22, 24, 27)")
    text = page.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
    assert text == page.evaluate("getComputedStyle(document.body).color")
    context.close()
