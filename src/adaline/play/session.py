"""One page: the state of each tab, and what a message of the page changes in it.

A tab is a module with two pure functions: `start() -> state`, and `step(state, event) -> (state,
drawing)`. An event is a mapping with a name at "event"; a drawing is a mapping of what the page
needs to draw, and may hold arrays and bytes. Two keys of a drawing mean something to the session
and the page: "then", an event that the session handles next, after it has sent the drawing (long
work in parts, with its progress shown), and "link", the state as JSON that `step(state, {"event":
"open", "link": link})` takes up again. The HTML of a "document" becomes an address that the page
shows in a frame.
"""

from __future__ import annotations

import secrets
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from adaline.play.messages import Refused

HOMES = {
    "board": "adaline.play.board",
    "signals": "adaline.play.signals",
    "table": "adaline.play.tables",
}
LARGEST_FILE = 200 * 2**20  # bytes of a file that is dropped on the page
LONGEST_NAME = 255  # characters of its name


def tabs() -> list[str]:
    """The tabs that there are, in their order."""
    return [name for name, home in HOMES.items() if find_spec(home) is not None]


class Session:
    """The states of one page's tabs, and the file that is coming in parts.

    Parameters
    ----------
    opened : sequence of str, optional
        Tabs of the page; by default all.

    Attributes
    ----------
    states : dict
        By tab, as `start` and `step` gave them.
    documents : dict
        HTML that the page shows in a frame, by a key that nobody can guess; one at a time.

    Examples
    --------
    >>> from adaline.play import Session
    >>> page = Session()
    >>> (answer,) = page.hear({"tab": "board", "event": "preset", "name": "xor"})
    >>> answer["drawing"]["proof"]["verdict"]
    'overlapping'
    >>> list(page.hear({"tab": "board", "event": "preset", "name": "and so on"}))[0]["error"]
    "there is no preset 'and so on'."
    """

    def __init__(self, opened: Any = None) -> None:
        self.tabs = tabs() if opened is None else list(opened)
        self.states: dict[str, Any] = {}
        self.documents: dict[str, bytes] = {}
        self._file: bytearray | None = None
        self._file_of: tuple[Any, Any] = (None, None)

    def hear(self, message: Mapping[str, Any], payload: bytes = b"") -> Iterator[dict[str, Any]]:
        """The answers to a message of the page, one after the other.

        What the tab refuses is answered with a sentence, and its state stays as it was. A message
        that no page of ours would send raises `Refused`.
        """
        tab, event = message.get("tab"), dict(message)
        if (
            not isinstance(tab, str)
            or tab not in self.tabs
            or not isinstance(event.get("event"), str)
        ):
            raise Refused("a message names no tab and event of the page.")
        if event["event"] == "upload":
            whole = self._collected(event, payload)
            if whole is None:
                return
            event = whole
        while event:
            answer, event = self._stepped(str(tab), event)
            yield answer

    def end(self) -> None:
        """The page is closed: tabs that have an `end(state)` let go of what they hold."""
        for tab, state in self.states.items():
            finish = getattr(import_module(HOMES[tab]), "end", None)
            if finish is not None:
                with suppress(Exception):  # one tab must not keep another from its end
                    finish(state)
        self.states.clear()
        self.documents.clear()

    def _stepped(self, tab: str, event: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The answer to one event, and the event that follows from it, if any."""
        try:
            # What learning warns of is part of what it returns, and the drawing tells it.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = import_module(HOMES[tab])
                if tab not in self.states:
                    self.states[tab] = module.start()
                state, drawing = module.step(self.states[tab], event)
        except (ValueError, TypeError, ArithmeticError, ImportError, MemoryError) as error:
            return {"tab": tab, "error": _sentence(error)}, {}
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return {"tab": tab, "error": "this is a defect of adaline; the terminal says more."}, {}
        self.states[tab] = state
        drawing = dict(drawing)
        if "document" in drawing:
            key = secrets.token_urlsafe(24)
            self.documents = {key: drawing["document"]}
            drawing["document"] = f"/document/{key}"
        return {"tab": tab, "drawing": drawing}, drawing.pop("then", None) or {}

    def _collected(self, event: dict[str, Any], payload: bytes) -> dict[str, Any] | None:
        """The upload as one event once its last part is there; None before."""
        name, more = event.get("name"), event.get("more", False)
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            raise Refused("a file has no name, or a very long one.")
        if self._file is None or self._file_of != (event["tab"], name):
            self._file, self._file_of = bytearray(), (event["tab"], name)
        if len(self._file) + len(payload) > LARGEST_FILE:
            self._file = None
            raise Refused(f"a file has more than {LARGEST_FILE // 2**20} MB.")
        self._file += payload
        if more:
            return None
        whole, self._file = bytes(self._file), None
        return {**event, "bytes": whole}


def _sentence(error: BaseException) -> str:
    """What a library function says of input it cannot use, as one line of text."""
    return " ".join(str(error).split())[:2000] or f"{type(error).__name__}."
