"""The files of the front end: as they are, and as one module for notebooks."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
# Of the board, in the order of their imports.
MODULES = (
    *("dom.js", "curves.js", "plane.js", "field.js", "timeline.js", "margins.js"),
    *("weight_space.js", "dialogs.js", "board.js", "app.js"),
)
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.M)
LAZY_IMPORT = re.compile(r'import\("\./(\w+)\.js"\)')
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.M)


@cache
def static_files() -> dict[str, bytes]:
    """The files of the page, by name: these and no others are sent."""
    folder = files("adaline.play") / "static"
    kept = [file for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES]
    return {file.name: file.read_bytes() for file in sorted(kept, key=lambda file: file.name)}


def bundle() -> str:
    """The board as one module, since a widget cannot import other files.

    Each file becomes a function that returns its exports; `import` takes names from there.
    """
    parts = []
    for file in MODULES:
        text, name = static_files()[file].decode(), file.removesuffix(".js")
        text = IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = {m[2]}_js;", text)
        # Tabs that a notebook lacks are never opened.
        text = LAZY_IMPORT.sub(
            lambda m: f"Promise.resolve({f'{m[1]}_js' if f'{m[1]}.js' in MODULES else '{}'})", text
        )
        exports, text = ", ".join(EXPORT.findall(text)), EXPORT.sub("", text)
        if file != MODULES[-1]:
            text = f"const {name}_js = (() => {{\n{text}\nreturn {{ {exports} }};\n}})();"
        parts.append(text)
    return "\n".join(parts)
