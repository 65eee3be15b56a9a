"""The tab of tables in a real browser: drop a file, learn, read, try, download; hostile names."""

from __future__ import annotations

import re

import pytest

import adaline
from page_tabs import HOSTILE, table, uploaded


def test_a_table_is_learned_read_tried_and_taken_away(open_page, tmp_path):
    page = open_page(tab="Table")
    uploaded(page, table(), name=f"{HOSTILE}.csv")
    learn = page.get_by_role("button", name="Learn", exact=True)
    learn.wait_for()
    assert page.locator(".table-tab .columns tbody tr").count() == 4
    assert page.locator("#panel-table").get_by_label("Learn the column").input_value() == "price"
    learn.click()
    page.locator(".table-tab .verdict", has_text=re.compile("Explains 9")).wait_for()
    prediction = page.locator(".table-tab .prediction strong")
    prediction.wait_for()
    before = prediction.inner_text()
    page.locator(".table-tab .fields input").first.fill("5")
    page.locator(".table-tab .prediction strong", has_not_text=before).wait_for()
    page.locator(".table-tab .fields input").first.fill("many")
    page.locator(".table-tab .card .problem", has_text="many").wait_for()
    page.locator(".table-tab .fields input").first.fill("5")
    page.locator(".table-tab .card .problem", has_text="many").wait_for(state="detached")
    page.locator(".table-tab .answer", has_text="holds a new value in 95 %").wait_for()
    assert (
        page.locator(".table-tab .parts tbody tr").count() == 5
    )  # an average row, three columns, the sum
    with page.expect_download() as download:
        page.get_by_role("button", name="Model", exact=True).click()
    download.value.save_as(tmp_path / "model.adaline")
    model = adaline.load(tmp_path / "model.adaline")
    assert model.encoding.inputs[0].name == HOSTILE
    with page.expect_download() as download:
        page.get_by_role("button", name="Predictions for the file").click()
    download.value.save_as(tmp_path / "predictions.csv")
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 61
    page.get_by_role("button", name="Show the report here").click()
    report = page.frame_locator("iframe.report")
    report.locator("h1").wait_for()
    assert (
        report.locator("h1").evaluate("e => getComputedStyle(e).fontFamily").startswith("system-ui")
    )
    address = page.locator("iframe.report").get_attribute("src")
    answer = page.request.get(f"{page.url.partition('#')[0].rstrip('/')}{address}")
    assert "sandbox; default-src 'none'" in answer.headers["content-security-policy"]
    assert page.evaluate("window.hurt") is None
    assert page.locator(".table-tab img, .table-tab script, .table-tab b").count() == 0


def test_columns_can_be_left_out(open_page):
    page = open_page(tab="Table")
    uploaded(page, table())
    page.get_by_role("button", name="Learn", exact=True).wait_for()
    page.locator("#panel-table").get_by_label("Use colour").uncheck()
    assert page.locator("#panel-table").get_by_label("Use price").is_disabled()
    page.get_by_role("combobox", name="with").select_option("least-squares")
    page.get_by_role("button", name="Learn", exact=True).click()
    page.locator(".table-tab .prediction").wait_for()
    assert page.locator(".table-tab .fields input").count() == 2
    assert "--ignore=colour" in page.locator(".table-tab pre").inner_text()
    assert "least-squares" in page.locator(".table-tab .found").inner_text()


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + bytes(200), b"just one line"])
def test_what_is_no_table_is_told_in_a_sentence(open_page, content):
    page = open_page(tab="Table")
    uploaded(page, content, "bad.csv")
    problem = page.locator(".problem:not(:empty)").first
    problem.wait_for()
    told = problem.inner_text()
    assert "Traceback" not in told
    assert len(told) > 15
    uploaded(page, table())  # and the page goes on
    page.get_by_role("button", name="Learn", exact=True).wait_for()


def test_a_fit_can_be_cancelled(open_page):
    page = open_page(tab="Table")
    uploaded(page, table())
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    page.locator(".file .problem", has_text="Cancelled.").wait_for()
    assert page.get_by_role("button", name="Learn", exact=True).is_enabled()


def test_two_pages_do_not_see_each_other(open_page):
    first, second = open_page(tab="Table"), open_page(tab="Table")
    uploaded(first, table(), "secret.csv")
    first.get_by_role("button", name="Learn", exact=True).wait_for()
    second.reload()
    second.locator("#panel-table .dropzone").wait_for()
    assert "secret" not in second.locator("body").inner_text()


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True)])
def test_nothing_is_wider_than_the_page(open_page, width, dark):
    page = open_page(width=width, dark=dark, tab="Table")
    uploaded(page, table())
    page.get_by_role("button", name="Learn", exact=True).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
