"""A board as one HTML file: its front end, and every step that Python drew, recorded.

The file needs no server, no network and no Python: a teacher can mail it or put it on any web
space. Points and learner cannot be changed there. `Board` in notebooks uses the same bundle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from adaline.play.session import read_static_files, to_base64, to_json

# The scripts of the board, in the order of their imports.
SCRIPTS = (
    *("dom", "curves", "files", "plane", "field", "timeline", "margins", "weight_space"),
    *("dialogs", "tasks", "board", "app"),
)
MAX_STEPS = 400  # of a recording, which has some kilobytes for each


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
