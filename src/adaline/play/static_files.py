"""The files of the front end, as the package holds them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}


@cache
def static_files() -> dict[str, bytes]:
    """The files of the page, by name: these and no others are sent."""
    folder = files("adaline.play") / "static"
    return {
        file.name: file.read_bytes()
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if ending(file.name) in TYPES
    }


def ending(name: str) -> str:
    """The last dot of a name, and what follows."""
    return f".{name.rpartition('.')[2]}"
