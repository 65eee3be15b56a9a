"""The guide is whole: names are in its reference, pages can be reached, links lead somewhere.

Commands in blocks ```console run as well: a line "$ adaline ..." is called, and the lines below it
are its output, compared as a doctest with ELLIPSIS and NORMALIZE_WHITESPACE.
"""

from __future__ import annotations

import doctest
import inspect
import re
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if not {"_build", "generated"} & set(page.relative_to(DOCS).parts)
)
UNLISTED = {
    DOCS / "index.md",
    DOCS / "adr" / "README.md",
}  # the root, and a page for readers of the source
FENCED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.M | re.S)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """The page without its blocks of code."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def listed() -> dict[str, list[str]]:
    """What the reference lists, by module."""
    found: dict[str, list[str]] = {}
    text = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    for block in re.findall(r"```\{eval-rst\}\n(.*?)```", text, re.S):
        module = re.search(r"currentmodule:: (\S+)", block)
        names = re.findall(r"^   ~?(\w[\w.]*)$", block, re.M)
        found.setdefault(module[1] if module else "", []).extend(names)
    return found


@pytest.mark.parametrize(
    "module", ["adaline", "adaline.filters", "adaline.plot", "adaline.data", "adaline.play"]
)
def test_every_public_name_is_in_the_reference(module):
    if module == "adaline.plot":
        pytest.importorskip("matplotlib")
    found = listed()
    public = set(__import__(module, fromlist=["__all__"]).__all__) - {"__version__"}
    home = set(found[module]) | (set(found["adaline"]) & public)
    assert sorted(public - home) == []


def test_nothing_in_the_reference_is_listed_twice_or_missing_in_its_module():
    for module, names in listed().items():
        assert len(names) == len(set(names))
        for dotted in names:
            path, _, attribute = f"{module}.{dotted}".strip(".").rpartition(".")
            assert hasattr(__import__(path, fromlist=[attribute]), attribute), dotted


def documented() -> list[tuple[str, str]]:
    """Every docstring that the reference prints: of the names it lists, and of their members."""
    found: list[tuple[str, str]] = []
    for module, names in listed().items():
        for dotted in names:
            path, _, attribute = f"{module}.{dotted}".strip(".").rpartition(".")
            thing = getattr(__import__(path, fromlist=[attribute]), attribute)
            found.append((dotted, inspect.getdoc(thing) or ""))
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                public = not member.startswith("_") and callable(value) and value.__doc__
                if public and str(value.__module__).startswith("adaline"):
                    found.append((f"{dotted}.{member}", inspect.cleandoc(value.__doc__)))
    return found


def test_every_summary_in_the_reference_is_a_whole_sentence():
    """The first paragraph is all that a list shows: it must not go on in an equation below it."""
    cut = [
        (thing, summary)
        for thing, text in documented()
        if not (summary := text.split("\n\n")[0].strip()).endswith((".", "?", "!"))
    ]
    assert cut == []


def test_no_formula_goes_on_as_a_list():
    """A line that begins with "+ " is an item of a list to Markdown. Our lists have "- "."""
    for page in [ROOT / "README.md", *PAGES]:
        found = re.findall(r"^ *[+*] .*$", prose(page), re.M)
        assert found == [], f"{name(page)}: a line of text that looks like a list"


def children(page: Path) -> set[Path]:
    """The pages in the toctrees of a page."""
    found: set[Path] = set()
    for block in TOCTREE.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if not line.strip() or line.startswith(":"):
                continue
            if ":glob:" in block and re.search(r"[*?\[]", line):
                found |= set(page.parent.glob(f"{line}.md"))
            else:
                found.add(page.parent / f"{line}.md")
    return found


def test_every_page_is_reached_from_a_toctree():
    seen: set[Path] = set()
    waiting = {DOCS / "index.md"}
    while waiting:
        page = waiting.pop()
        assert page.exists(), f"{name(page)} is in a toctree, and does not exist"
        seen.add(page)
        waiting |= children(page) - seen
    assert [name(page) for page in PAGES if page not in seen | UNLISTED] == []


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *PAGES],
    ids=name,
)
def test_relative_links_lead_to_files_and_headings(page):
    for found in LINK.finditer(prose(page)):
        target = found[1] or found[2]
        if re.match(r"[a-z]+:", target):
            continue
        file, _, heading = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{name(page)} links to {target}, and there is no such file"
        if heading and there.suffix == ".md":
            assert heading in anchors(there), f"{name(page)} links to {target}: no such heading"


def anchors(page: Path) -> set[str]:
    """Headings as links call them: small letters, hyphens for spaces, no punctuation."""
    titles = re.findall(r"^#{1,3} (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def commands(page: Path) -> list[tuple[str, str]]:
    """Each command of a page's console blocks, and the output it should have."""
    found: list[tuple[str, str]] = []
    for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize("page", [p for p in [ROOT / "README.md", *PAGES] if commands(p)], ids=name)
def test_the_commands_of_a_page_print_what_it_says(page, tmp_path, monkeypatch, capfd):
    pytest.importorskip("cyclopts")
    from adaline.cli import main

    shutil.copytree(ROOT / "examples" / "data", tmp_path / "examples" / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    for command, output in commands(page):
        program, *words = shlex.split(command)
        assert program == "adaline", f"{name(page)}: only adaline is run here, not {program}"
        with pytest.raises(SystemExit):
            main(words)
        printed = "".join(capfd.readouterr())
        assert doctest.OutputChecker().check_output(output, printed, LOOSELY), (
            f"{name(page)}: {command}\nprints\n{printed}\nand the page says\n{output}"
        )
