"""The search for changes that no test notices: what it changes, and what it need not try."""

from __future__ import annotations

from pathlib import Path

import pytest

from harmless_mutants import HARMLESS
from mutants import ROOT, SOURCE, _without_line, mutants, nearest

EXAMPLE = """
def f(x: int = 0) -> int:
    if x < 1 and ready:
        return g(x) + 2
    return 0
"""


def test_each_change_is_told_in_one_line_that_names_it():
    said = [what for _, what, _ in mutants(EXAMPLE)]
    assert "f: x < 1 and ready  ->  not (x < 1 and ready)" in said
    assert "f: x < 1 and ready  ->  x <= 1 and ready" in said
    assert "f: return g(x) + 2  ->  return g(x) + 3" in said
    assert len(set(said)) == len(said)
    assert not any("\n" in what for what in said)


def test_annotations_decorators_and_strict_are_left_as_they_are():
    text = "@dataclass(frozen=True)\nclass A:\n    x: Literal[1]\n\nz = zip(a, b, strict=True)\n"
    assert not list(mutants(text))


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_changes_are_changes_of_the_source_and_have_a_reason(name):
    known = {what for _, what, _ in mutants((SOURCE / name).read_text(encoding="utf-8"))}
    gone = [what for what in HARMLESS[name] if what not in known]
    assert not gone, "the source has changed: delete these, and read what replaced them"
    assert all(len(why) > 10 for why in HARMLESS[name].values())


def test_tests_of_a_file_are_its_own_examples_and_those_of_its_name(monkeypatch):
    monkeypatch.chdir(ROOT)
    path = SOURCE / "evaluation" / "_errors.py"
    near, far = nearest(path, ["tests/evaluation", "tests/cli/test_fit.py"])
    assert near == [str(path), str(Path("tests/evaluation/test_errors.py"))]
    assert far[-1] == str(Path("tests/cli/test_fit.py"))
    assert str(Path("tests/evaluation/test_words.py")) in far


def test_a_line_of_a_log_is_known_again_where_lines_have_moved():
    text = "evaluation/words.py:67  chance: p < 0.1  ->  p <= 0.1"
    assert _without_line(text) == ("evaluation/words.py", "chance: p < 0.1  ->  p <= 0.1")
