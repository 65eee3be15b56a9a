"""Signals and tables in a real Chromium, and hostile names that stay text."""

from __future__ import annotations

import re

import pytest

from page_server import served
from page_user import User

HOSTILE = '<img src=x onerror="window.hurt=1">'


@pytest.fixture
def page(browser, tmp_path):
    with served() as running, User(browser, running.address, tmp_path) as user:
        yield user.page


def test_a_filter_learns_a_world_that_is_chosen(page):
    page.get_by_role("tab", name="Signals").click()
    page.locator(".signals .verdict", has_text="weights").wait_for(timeout=60_000)
    page.locator("#panel-signals").get_by_label("World").select_option("engine")
    page.locator(".signals .verdict", has_text=re.compile("noise (fell|rose)")).wait_for()


def test_controls_changed_in_quick_succession_all_count(page):
    page.get_by_role("tab", name="Signals").click()
    page.locator(".signals .verdict", has_text="weights").wait_for(timeout=60_000)
    panel = page.locator("#panel-signals")
    panel.get_by_label("World").select_option("engine")
    panel.get_by_role("combobox", name="Filter").select_option("nlms")  # an answer is due
    panel.get_by_label("The path changes").check()
    code = page.locator(".signals:not(.busy) .lines pre", has_text="NLMS")
    code.wait_for(state="attached", timeout=60_000)
    assert panel.get_by_label("The path changes").is_checked()


def test_hostile_names_of_a_table_are_text(page):
    page.get_by_role("tab", name="Table").click()
    rows = "".join(f"{k},<b>{'ab'[k % 2]}</b>,{3 * k % 7}\n" for k in range(40))
    header = HOSTILE.replace('"', '""')
    content = f'"{header}","<script>window.hurt=1</script>",price\n{rows}'
    page.locator("#panel-table input[type=file]").set_input_files(
        {"name": f"{HOSTILE}.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )
    page.get_by_role("button", name="Learn", exact=True).wait_for()
    assert HOSTILE in page.locator(".table-tab .columns").inner_text()
    assert page.locator(".table-tab img, .table-tab script, .table-tab b").count() == 0
    assert page.evaluate("window.hurt") is None
