"""One page: the state of each tab, what a message of the page changes in it, and its encoding.

A tab is a module with two pure functions: `start() -> state`, and `step(state, event) -> (state,
drawing)`. An event is a mapping with a name at "event"; a drawing is a mapping of what the page
needs to draw, and may hold arrays and bytes. Two keys of a drawing have a meaning here: "link", the
state as JSON that `step(state, {"event": "open", "link": link})` restores, and "document", whose
HTML becomes an address that the page shows in a frame.

A message without bytes is JSON. With bytes it is a binary frame: the length of a JSON header (4
bytes, little-endian), the header, and the bytes; the header lists their sizes, and each stands in
the drawing as {"$bytes": its number}.
"""

from __future__ import annotations

import json
import math
import secrets
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

TABS = {
    "board": "adaline.play.board",
    "signals": "adaline.play.signals",
    "table": "adaline.play.tables",
}
MAX_FILE = 200 * 2**20  # bytes of a file that is dropped on the page
MAX_NAME = 255  # characters of its name
MAX_DEPTH = 20  # nested brackets of a message of the page
MAX_HEADER = 256 * 1024  # bytes of JSON in front of a payload


class Refused(ValueError):
    """A message that no page of ours would send; the connection ends."""


class Session:
    """The states of one page's tabs, and the file that is arriving in parts.

    Parameters
    ----------
    tabs : sequence of str, optional
        Tabs of the page; by default all.

    Attributes
    ----------
    states : dict
        By tab, as `start` and `step` returned them.
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

    def __init__(self, tabs: Sequence[str] = tuple(TABS)) -> None:
        self.tabs = list(tabs)
        self.states: dict[str, Any] = {}
        self.documents: dict[str, bytes] = {}
        self._file: bytearray | None = None
        self._file_of: tuple[Any, Any] = (None, None)

    def hear(self, message: Mapping[str, Any], payload: bytes = b"") -> Iterator[dict[str, Any]]:
        """The answer to a message of the page; none while a file is incomplete.

        Input that the tab rejects is answered with an error, and its state stays as it was. A
        message that no page of ours would send raises `Refused`.
        """
        tab, event = message.get("tab"), dict(message)
        known = isinstance(tab, str) and tab in self.tabs
        if not known or not isinstance(event.get("event"), str):
            raise Refused("a message names no tab and event of the page.")
        if event["event"] == "upload":
            content = self._collect(event, payload)
            if content is None:
                return
            event["bytes"] = content
        yield self._answer(str(tab), event)

    def end(self) -> None:
        """Close the page: tabs with an `end(state)` release what they hold."""
        for tab, state in self.states.items():
            end = getattr(import_module(TABS[tab]), "end", None)
            if end is not None:
                with suppress(Exception):  # one tab must not keep another from its end
                    end(state)
        self.states.clear()
        self.documents.clear()

    def _answer(self, tab: str, event: Mapping[str, Any]) -> dict[str, Any]:
        try:
            # What learning warns of is part of what it returns, and shown in the drawing.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = import_module(TABS[tab])
                if tab not in self.states:
                    self.states[tab] = module.start()
                state, drawing = module.step(self.states[tab], event)
        except (ValueError, TypeError, ArithmeticError, ImportError, MemoryError) as error:
            words = " ".join(str(error).split())[:2000] or f"{type(error).__name__}."
            return {"tab": tab, "error": words}
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return {"tab": tab, "error": "internal error of adaline; see the terminal."}
        self.states[tab] = state
        if "document" in drawing:
            key = secrets.token_urlsafe(24)
            self.documents = {key: drawing["document"]}
            drawing = {**drawing, "document": f"/document/{key}"}
        return {"tab": tab, "drawing": drawing}

    def _collect(self, event: Mapping[str, Any], payload: bytes) -> bytes | None:
        """The bytes of a file once its last part has arrived; None before."""
        name, source = event.get("name"), (event["tab"], event.get("name"))
        if not isinstance(name, str) or len(name) > MAX_NAME:
            raise Refused("a file has no name, or a very long one.")
        if self._file is None or self._file_of != source:
            self._file, self._file_of = bytearray(), source
        if len(self._file) + len(payload) > MAX_FILE:
            self._file = None
            raise Refused(f"a file has more than {MAX_FILE // 2**20} MB.")
        self._file += payload
        if event.get("more", False):
            return None
        content, self._file = bytes(self._file), None
        return content


def split_bytes(message: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """A message as JSON can write it, and the bytes that were in it.

    >>> split_bytes({"sound": b"..", "level": float("nan")})
    ({'sound': {'$bytes': 0}, 'level': None}, [b'..'])
    """
    buffers: list[bytes] = []
    return {str(key): _to_json(value, buffers) for key, value in message.items()}, buffers


def _to_json(value: Any, buffers: list[bytes]) -> Any:
    """Lists and numbers instead of arrays; null for NaN and infinity, which JSON cannot write."""
    match value:
        case bytes() | bytearray() | memoryview():
            buffers.append(bytes(value))
            return {"$bytes": len(buffers) - 1}
        case None | bool() | str() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): _to_json(item, buffers) for key, item in value.items()}
        case np.ndarray() | np.generic():
            # Finite arrays need no look at each number, which takes most of the time.
            finite = value.dtype.kind in "biu" or (
                value.dtype.kind == "f" and bool(np.isfinite(value).all())
            )
            return value.tolist() if finite else _to_json(value.tolist(), buffers)
        case list() | tuple():
            return [_to_json(item, buffers) for item in value]
    raise TypeError(f"a drawing holds {type(value).__name__}; expected numbers, text and lists.")


def pack(message: Mapping[str, Any]) -> str | bytes:
    """A message to the page: text, or a binary frame where it holds bytes."""
    header, buffers = split_bytes(message)
    if buffers:
        header["sizes"] = [len(buffer) for buffer in buffers]
    text = json.dumps(header, separators=(",", ":"), allow_nan=False)
    if not buffers:
        return text
    return b"".join([len(text.encode()).to_bytes(4, "little"), text.encode(), *buffers])


def unpack(frame: str | bytes) -> tuple[dict[str, Any], bytes]:
    """The message of a frame from a page, and its payload.

    >>> unpack('{"tab": "board", "event": "start"}')
    ({'tab': 'board', 'event': 'start'}, b'')
    """
    payload = b""
    if isinstance(frame, bytes):
        length = int.from_bytes(frame[:4], "little")
        if len(frame) < 4 + length or length > MAX_HEADER:
            raise Refused("a binary frame is shorter than its header says.")
        frame, payload = frame[4 : 4 + length], frame[4 + length :]
    try:
        message = json.loads(frame, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise Refused("a message is not JSON.") from None
    if not isinstance(message, dict):
        raise Refused("a message is not a JSON object.")
    if not _is_shallow(message, MAX_DEPTH):
        raise Refused("a message is nested too deeply.")
    return message, payload


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _is_shallow(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_shallow(item, depth - 1) for item in inner)
