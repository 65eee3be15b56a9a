"""One page: the state of each tab, what a message changes in it, its encoding, and recordings.

A tab is a module with two pure functions: `start() -> state`, and `step(state, event) -> (state,
drawing)`. An event is a mapping with a name at "event"; a drawing is a mapping of what the page
needs to draw, and may hold arrays and bytes. Its "link" is the state as JSON, which
`step(state, {"event": "open", "link": link})` restores. The server has a session for each page,
and `Board` in notebooks has one.

A message is JSON. Bytes in a drawing stand there in base64, as {"$bytes": text}. A file that the
page sends follows the JSON of its event after a line break.

`record` makes a board one HTML file of its scripts and all its drawings, which needs no server, no
network and no Python: a teacher can mail it or put it on any web space.
"""

from __future__ import annotations

import base64
import json
import math
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

import numpy as np

TABS = {
    "board": "adaline.play.board",
    "signals": "adaline.play.signals",
    "table": "adaline.play.tables",
}
STATIC_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
# The scripts of the board, in the order of their imports.
SCRIPTS = (
    *("dom", "curves", "files", "plane", "field", "timeline", "margins", "weight_space"),
    *("dialogs", "tasks", "board", "app"),
)
MAX_STEPS = 400  # of a recording, which has some kilobytes for each


@cache
def read_static_files() -> dict[str, bytes]:
    """The files of the page, by name: these and no others are sent."""
    folder = (files("adaline.play") / "static").iterdir()
    return {f.name: f.read_bytes() for f in folder if f.name.rpartition(".")[2] in STATIC_TYPES}


class Refused(ValueError):
    """A message that no page of ours would send; the connection ends."""


class Session:
    """The states of one page's tabs.

    Parameters
    ----------
    tabs : sequence of str, optional
        Tabs of the page; by default all. `states` has what `start` and `step` of each returned.

    Examples
    --------
    >>> from adaline.play import Session
    >>> page = Session()
    >>> answer = page.hear({"tab": "board", "event": "open", "link": {"preset": "xor"}})
    >>> answer["drawing"]["proof"]["verdict"]
    'overlapping'
    >>> page.hear({"tab": "board", "event": "open", "link": {"preset": "star"}})["error"]
    "there is no preset 'star'."
    """

    def __init__(self, tabs: Sequence[str] = tuple(TABS)) -> None:
        self.tabs = list(tabs)
        self.states: dict[str, Any] = {}

    def hear(self, message: Mapping[str, Any], payload: bytes = b"") -> dict[str, Any]:
        """The answer to a message of the page.

        Input that the tab rejects is answered with an error, and its state stays as it was. A
        message that no page of ours would send raises `Refused`.
        """
        tab, event = message.get("tab"), {**message, "bytes": payload}
        if tab not in self.tabs or not isinstance(message.get("event"), str):
            raise Refused("a message names no tab and event of the page.")
        try:
            # What learning warns of is part of what it returns, and shown in the drawing.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = import_module(TABS[tab])
                state = self.states[tab] if tab in self.states else module.start()
                self.states[tab], drawing = module.step(state, event)
        except (ValueError, TypeError, ArithmeticError, ImportError, MemoryError) as error:
            words = " ".join(str(error).split())[:2000] or f"{type(error).__name__}."
            return {"tab": tab, "error": words}
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return {"tab": tab, "error": "internal error of adaline; see the terminal."}
        return {"tab": tab, "drawing": drawing}

    def answer(self, frame: bytes) -> str:
        """The answer to a message as the page sends and reads both."""
        text, _, payload = frame.partition(b"\n")
        if len(text) > 2**21:  # a board of 20,000 points has half of it
            raise Refused("a message is too long.")
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise Refused("a message is not JSON.") from None
        if not isinstance(message, dict):
            raise Refused("a message is not a JSON object.")
        return json.dumps(to_json(self.hear(message, payload)), separators=(",", ":"))

    def end(self) -> None:
        """Close the page: tabs with an `end(state)` release what they hold."""
        for tab, state in self.states.items():
            with suppress(Exception):  # one tab must not keep another from its end
                getattr(import_module(TABS[tab]), "end", lambda state: None)(state)
        self.states.clear()


def to_base64(data: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(data).decode()


def to_json(value: Any, encode: Callable[[bytes], Any] = to_base64) -> Any:
    """Lists and numbers instead of arrays; null for NaN and infinity, which JSON cannot write.

    >>> to_json({"sound": b"..", "level": float("nan")})
    {'sound': {'$bytes': 'Li4='}, 'level': None}
    """
    match value:
        case bytes():
            return {"$bytes": encode(value)}
        case Mapping():
            return {str(key): to_json(item, encode) for key, item in value.items()}
        case list() | tuple() | range():
            return [to_json(item, encode) for item in value]
        case np.ndarray() | np.generic():
            return to_json(value.tolist(), encode)
        case float() if not math.isfinite(value):
            return None
        case None | bool() | str() | int() | float():
            return value
    raise TypeError(f"a drawing holds {type(value).__name__}; expected numbers, text and lists.")


def bundle(*more: str) -> str:
    """The board as one script, since a widget or a file cannot import other files.

    No two scripts give a name to different things, so imports and exports can be left out.
    """
    text = "\n".join(read_static_files()[f"{name}.js"].decode() for name in (*SCRIPTS, *more))
    text = re.sub(r"^import [^;]*;\n|^export (?!default)", "", text, flags=re.M)
    return text.replace("export default", "const app =", 1) if more else text


def record(
    first: Mapping[str, Any], draw: Callable[[int], Mapping[str, Any]], steps: int, title: str
) -> str:
    """The HTML file of a board: its first drawing, and what `draw(k)` adds at each of its steps."""
    if steps > MAX_STEPS:
        raise ValueError(
            f"a recording has at most {MAX_STEPS} steps and this one {steps}; set fewer passes."
        )
    areas: dict[bytes, int] = {}  # one that stays the same is kept once
    drawings = [first, *(draw(k) for k in range(steps + 1))]
    frames = to_json(drawings, lambda area: areas.setdefault(area, len(areas)))
    data = json.dumps({"frames": frames, "areas": [to_base64(area) for area in areas]})
    data = data.replace("<", "\\u003c")  # no text of a drawing may end its script element
    files = {name: content.decode() for name, content in read_static_files().items()}
    page = files["index.html"].replace("play with linear learning", title)
    style = f"<style>\n{files['style.css']}</style>"
    page = page.replace('<link rel="stylesheet" href="style.css" />', style)
    recording = f'<script id="recording" type="application/json">{data}</script>'
    script = f'{recording}\n<script type="module">\n{bundle("recording")}</script>'
    return page.replace('<script type="module" src="host.js"></script>', script)
