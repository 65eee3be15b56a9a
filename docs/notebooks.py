"""Write notebooks/*.ipynb from pages of lectures and of audits: `python docs/notebooks.py`.

A page is the source and its notebook a copy: text stays text, Python becomes cells, and the outputs
that a page prints are left out, as running a cell shows them. The code of a picture or a film runs
alone, on the page as in the notebook: there it is a function, whose names disturb no other cell.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted((DOCS / "lectures").glob("00*.md")), DOCS / "how-to" / "audit.md"]
FOLDER = ROOT / "notebooks"

# Blocks that become cells; a block ```text directly after Python is its output.
CODE = re.compile(
    r"^```python\n(?P<python>.*?)^```\n(?:\s*^```text\n.*?^```\n)?"
    r"|^```\{film\}\n(?P<film>.*?)^```\n"
    r"|^```\{eval-rst\}\n\.\. plot::[ \t]*\n(?:[ \t]+:[\w-]+:[^\n]*\n)*(?P<plot>.*?)^```\n",
    re.M | re.S,
)
LINK = re.compile(r"\]\(([^):#\s]+\.md)(#[\w-]+)?\)")
START = """\
*This notebook is a page of adaline's guide, [{page}](../docs/{folder}/{page}). To run it,
from a checkout of adaline:*

```bash
pip install '.[plot]' jupyterlab
jupyter lab notebooks/{notebook}
```

*Run the cells in their order; each is short. Films appear with buttons below them.*
"""


def notebook(page: Path) -> dict[str, Any]:
    """The page as a notebook without outputs, in nbformat 4.5."""
    text = page.read_text(encoding="utf-8")
    title, _, text = text.partition("\n")
    name = page.with_suffix(".ipynb").name
    cells = [
        ("markdown", title),
        ("markdown", START.format(page=page.name, folder=page.parent.name, notebook=name)),
    ]
    done = 0
    for block in CODE.finditer(text):
        cells += [("markdown", linked(text[done : block.start()], page)), ("code", program(block))]
        done = block.end()
    cells.append(("markdown", linked(text[done:], page)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = [cell(kind, source.strip()) for kind, source in cells if source.strip()]
    for k, one in enumerate(made):
        one["id"] = f"cell-{k:03}"
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def cell(kind: str, source: str) -> dict[str, Any]:
    """One cell; code that has not run has no outputs."""
    lines = source.splitlines(keepends=True)
    made: dict[str, Any] = {"cell_type": kind, "id": "", "metadata": {}, "source": lines}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def program(block: re.Match[str]) -> str:
    """The code of a cell: as it is, or as a function where it must run alone."""
    if block["python"] is not None:
        return block["python"]
    film = block["film"] is not None
    inside = textwrap.dedent(block["film"] if film else block["plot"]).strip()
    name = "film" if film else "picture"
    body = textwrap.indent(f"{inside}\nreturn film" if film else inside, "    ")
    return f"def show_{name}():\n{body}\n\n\nshow_{name}()\n"


def linked(text: str, page: Path) -> str:
    """Links of a page as they lead from the folder of the notebooks."""

    def target(link: re.Match[str]) -> str:
        file, heading = (page.parent / link[1]).resolve(), link[2] or ""
        if file in PAGES:
            return f"]({file.with_suffix('.ipynb').name}{heading})"
        return f"](../{file.relative_to(ROOT).as_posix()}{heading})"

    return LINK.sub(target, text)


def written(page: Path) -> str:
    """The file, the same each time."""
    return json.dumps(notebook(page), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for page in PAGES:
        file = FOLDER / page.with_suffix(".ipynb").name
        file.write_text(written(page), encoding="utf-8")
        print(file.relative_to(ROOT))
