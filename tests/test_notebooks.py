"""The notebooks of the lectures are in step with their pages, and their cells run.

A cell of Python is a block of the page, word for word, and what it prints is compared with what the
page says. One notebook is executed as Jupyter does it, where nbclient is installed.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from test_docs import LINK, anchors
from test_readme import LOOSELY, blocks

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"


def maker() -> Any:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


MAKER = maker()
PAGES = MAKER.PAGES
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
EXECUTED = "002-the-perceptron"  # by Jupyter's own client; the quickest of them


def sources(page: Path, kind: str) -> list[str]:
    text = (NOTEBOOKS / page.with_suffix(".ipynb").name).read_text(encoding="utf-8")
    return ["".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == kind]


@EACH
def test_a_notebook_is_in_step_with_its_page(page):
    file = NOTEBOOKS / page.with_suffix(".ipynb").name
    assert file.read_text(encoding="utf-8") == MAKER.written(page), (
        "the page has changed; run `python docs/notebooks.py`."
    )


def test_there_is_a_notebook_a_lecture_one_on_audits_and_no_other():
    assert len(PAGES) == 6
    names = [page.with_suffix(".ipynb").name for page in PAGES]
    assert sorted(file.name for file in NOTEBOOKS.iterdir()) == sorted(names)


@EACH
def test_every_block_of_the_page_is_a_cell(page):
    cells, told = sources(page, "code"), blocks(page)
    assert len(cells) == len(told)
    for cell, block in zip(cells, told, strict=True):
        if block.picture or block.film:
            function, call = ast.parse(cell).body
            assert isinstance(function, ast.FunctionDef)
            inside = function.body[: len(function.body) - block.film]
            assert ast.unparse(inside) == ast.unparse(ast.parse(block.code))
            assert ast.unparse(call) == f"{function.name}()"
        else:
            assert cell == block.code.strip()
    for text in sources(page, "markdown"):
        assert "```{" not in text, "a directive of Sphinx is no text of a notebook"


@EACH
def test_links_of_a_notebook_lead_somewhere(page):
    for found in LINK.finditer("\n".join(sources(page, "markdown"))):
        file, _, heading = (found[1] or found[2]).partition("#")
        assert (NOTEBOOKS / file).exists(), file
        if heading:
            assert heading in anchors(ROOT / "docs" / "lectures" / Path(file).with_suffix(".md"))


def prints(said: str, out: str) -> bool:
    return doctest.OutputChecker().check_output(said, out, LOOSELY)


def test_jupyter_executes_a_notebook(monkeypatch, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    page = next(p for p in PAGES if p.stem == EXECUTED)
    notebook = nbformat.read(NOTEBOOKS / f"{EXECUTED}.ipynb", as_version=4)
    nbformat.validate(notebook)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own parts
        nbclient.NotebookClient(notebook, timeout=120, resources={}).execute(cwd=str(tmp_path))
    ran = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = set()
    for cell, block in zip(ran, blocks(page), strict=True):
        out = "".join(o.text for o in cell.outputs if o.get("name") == "stdout")
        if block.output is not None:
            assert prints(block.output, out), cell.source
        shown |= {kind for o in cell.outputs for kind in o.get("data", {})}
        if block.film:
            assert any(re.search("adaline-film", str(o)) for o in cell.outputs)
    assert {"image/png", "text/html"} <= shown
