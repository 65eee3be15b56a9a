"""The module that notebooks load, in a page without our server: a board over anywidget's model."""

from __future__ import annotations

import pytest

from adaline.play.session import Session, bundle, to_json

pytest.importorskip("anywidget", reason="the extra `notebook` is not installed")

HOST = """async (text) => {
    const listeners = [], values = { tabs: ["board"], notebook: true };
    const model = {
        get: (name) => values[name], set() {}, save_changes() {},
        on: (name, hear) => { if (name === "msg:custom") listeners.push(hear); },
        send: async (message) => {
            const answer = await window.python(message);
            for (const hear of listeners) hear(answer);
        },
    };
    const module = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    module.default.render({ model, el: document.body });
}"""


def test_the_bundle_draws_a_board_and_steps(browser):
    session, heard = Session(["board"]), []

    def python(message):
        return to_json(session.hear(message))

    page = browser.new_page()
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.expose_function("python", python)
    page.evaluate(HOST, bundle())
    page.wait_for_selector('.verdict[data-verdict="separable"]')
    assert page.locator("[role=tab]:visible").count() == 0
    page.locator('button:text-is("Step ▶")').click()
    page.wait_for_selector('tr[aria-current="step"]')
    assert session.states["board"].step == 1
    assert heard == []
    page.close()
