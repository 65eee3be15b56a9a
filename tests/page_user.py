"""A user of the page in a browser: clicks, drags, choices; and a console that must stay empty."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any, Self


def quoted(words: str) -> str:
    """Words in a selector of playwright."""
    return json.dumps(words, ensure_ascii=False)


class User:
    """A page that is open in a browser; leaving it fails where the console was not empty."""

    def __init__(self, browser: Any, address: str, folder: Path, **more: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **more}
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.folder = folder
        self.heard: list[str] = []
        self.page.on("console", lambda message: self.heard.append(message.text))
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.goto(address)

    def __enter__(self) -> Self:
        self.page.wait_for_selector(".verdict[data-verdict]")
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.page.screenshot(path=str(self.folder / "failed.png"), full_page=True)
            print(f"The page is at {self.folder / 'failed.png'}; its console: {self.heard}")
        self.context.close()
        assert kind is not None or self.heard == []

    def press(self, name: str) -> None:
        """Press the button with these words, and wait for the drawing."""
        self.page.locator(f"button:text-is({quoted(name)}):visible").click()
        self.settle()

    def settle(self) -> None:
        """Wait until what was asked is drawn."""
        self.page.wait_for_timeout(150)

    def choose(self, label: str, value: str) -> None:
        """Choose from the list with this label."""
        self.page.locator(f"label:visible:has(span:text-is({quoted(label)})) select").select_option(
            value
        )
        self.settle()

    def preset(self, name: str) -> None:
        """Take the points of a preset; waits until they are there."""
        before = self.link()
        self.choose("Points", name)
        self.until(lambda: self.link() != before)

    def verdict(self) -> str:
        return str(self.page.locator(".verdict").get_attribute("data-verdict"))

    def wait_for(self, verdict: str) -> None:
        self.page.wait_for_selector(f'.verdict[data-verdict="{verdict}"]')

    def _at(self, place: tuple[float, float]) -> tuple[float, float]:
        """Shares of the board's width and height as pixels of the window."""
        self.page.locator("canvas.plane").scroll_into_view_if_needed()
        box = self.page.locator("canvas.plane").bounding_box()
        return box["x"] + place[0] * box["width"], box["y"] + place[1] * box["height"]

    def click(self, x: float, y: float, *, modifiers: Any = (), button: Any = "left") -> None:
        """Click on the board; waits until the point is there."""
        before = self.points()
        self.page.locator("canvas.plane").scroll_into_view_if_needed()
        box = self.page.locator("canvas.plane").bounding_box()
        self.page.locator("canvas.plane").click(
            position={"x": x * box["width"], "y": y * box["height"]},
            modifiers=list(modifiers),
            button=button,
        )
        self.until(lambda: self.points() == before + 1)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.page.mouse.move(*self._at(start))
        self.page.mouse.down()
        self.page.mouse.move(*self._at(end), steps=6)
        self.page.mouse.up()
        self.settle()

    def until(self, so: Any) -> None:
        """Wait until something is so."""
        for _ in range(400):
            if so():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("it did not come to be so in twenty seconds.")

    def link(self) -> dict[str, Any]:
        """The state in the address."""
        self.page.wait_for_timeout(350)  # the address is written every 300 ms
        text = self.page.evaluate("location.hash").partition("=")[2]
        found: dict[str, Any] = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return found

    def points(self) -> int:
        """How many points there are, as the address tells it."""
        return len(self.link()["x"])

    def problem(self) -> str:
        """The sentence about what is wrong; empty where nothing is."""
        return str(self.page.locator(".problem").text_content())

    def step_words(self) -> str:
        return str(self.page.locator(".place-words").inner_text())

    def code(self) -> str:
        """What "Show the code" shows."""
        self.press("Show the code")
        found = self.page.locator("pre.code").inner_text()
        self.press("Close")
        return str(found)
