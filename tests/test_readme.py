"""Every Python block of README.md and the guide runs, and prints what the page says it prints.

The blocks of a page run in order and share their names. A block ```text directly after a
Python block is its output, compared as a doctest with ELLIPSIS and NORMALIZE_WHITESPACE. The code
of a picture, `.. plot::` in a block ```{eval-rst}, runs in its turn, as Sphinx runs it: alone, or
with the names of the pictures before it where it says `:context:`. So does the code of a film, a
block ```{film}, which names it.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import textwrap
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
DOCS = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("lectures/*.md")]
PAGES = [ROOT / "README.md", *sorted([*DOCS, *(ROOT / "docs").glob("how-to/*.md")])]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\s*^```text\n(?P<output>.*?)^```$)?"
    r"|^```\{film\}\n(?P<film>.*?)^```$"
    r"|^```\{eval-rst\}\n(?P<rest>.*?)^```$",
    re.M | re.S,
)
# The directive, its options, and all that is indented below it.
PLOT = re.compile(
    r"^\.\. plot::[ \t]*\n(?P<options>(?:[ \t]+:[\w-]+:.*\n)*)(?P<code>(?:[ \t]+.*\n|[ \t]*\n)*)",
    re.M,
)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """Code of a page, the line it begins at, and the output it should have, if that is told."""

    line: int
    code: str
    output: str | None = None
    picture: bool = False
    options: str = ""
    film: bool = False


def blocks(page: Path) -> list[Block]:
    """Python blocks and pictures, in the page's order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in BLOCK.finditer(text):
        if block["film"] is not None:
            line = text[: block.start("film")].count("\n") + 1
            found.append(Block(line, block["film"], film=True))
            continue
        if block["rest"] is None:
            line = text[: block.start("code")].count("\n") + 1
            found.append(Block(line, block["code"], block["output"]))
            continue
        for plot in PLOT.finditer(block["rest"]):
            line = text[: block.start("rest") + plot.start("code")].count("\n") + 1
            code = textwrap.dedent(plot["code"])
            found.append(Block(line, code, None, True, plot["options"]))
    return found


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p)], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_the_python_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__page__"}
    pictures: dict[str, Any] = {}
    with warnings.catch_warnings():  # what a page ignores is its own matter
        for block in blocks(page):
            # Empty lines in front, so that a traceback points into the page.
            program = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
            if block.film:
                film = play(program)
                assert 2 <= len(film) <= 60, f"{page.name}:{block.line}"
                continue
            if block.picture:
                draw(
                    program,
                    pictures if ":context:" in block.options else {},
                    f"{page.name}:{block.line}",
                )
                continue
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(program, names)
            said, out = block.output, printed.getvalue()
            if said is not None:
                assert doctest.OutputChecker().check_output(said, out, LOOSELY), (
                    f"{page.name}:{block.line} prints\n{out}\nand the page says\n{said}"
                )


def draw(program: Any, names: dict[str, Any], where: str) -> None:
    """Run the code of a picture without a window, and see that it drew with pyplot."""
    plt = pytest.importorskip("matplotlib.pyplot")
    from sklearn.exceptions import ConvergenceWarning

    plt.switch_backend("Agg")
    plt.close("all")
    with warnings.catch_warnings(), plt.rc_context():
        warnings.simplefilter("ignore", ConvergenceWarning)  # pictures show few steps
        exec(program, names)
        figures = plt.get_fignums()
        assert figures, f"{where} draws on no figure of pyplot, so Sphinx would show nothing"
        for number in figures:
            plt.figure(number).canvas.draw()
    plt.close("all")


def play(program: Any) -> Any:
    """The film that the code of a film names."""
    pytest.importorskip("matplotlib")
    from sklearn.exceptions import ConvergenceWarning

    from adaline.plot import Animation

    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # films show few steps
        exec(program, names)
    assert isinstance(names["film"], Animation)
    return names["film"]


def test_every_picture_has_a_name_of_its_own():
    """Each block ```{eval-rst} counts its pictures from 1: unnamed, they overwrite each other."""
    names = {}
    for page in PAGES:
        for block in blocks(page):
            if not block.picture:
                continue
            where = f"{page.relative_to(ROOT).as_posix()}:{block.line}"
            found = re.search(r":filename-prefix:[ \t]*(\S+)", block.options)
            assert found, f"{where} has no :filename-prefix:, so its file may be overwritten"
            assert found[1] not in names, f"{where} and {names[found[1]]} are both {found[1]}"
            names[found[1]] = where


def test_every_lecture_has_a_page_with_pictures_and_a_film():
    pages = sorted((ROOT / "docs" / "lectures").glob("00*.md"))
    assert [page.name[:3] for page in pages] == ["000", "001", "002", "003", "004"]
    assert all(any(block.picture for block in blocks(page)) for page in pages)
    assert all(any(block.film for block in blocks(page)) for page in pages)
