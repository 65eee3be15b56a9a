"""The search for changes that no test notices: what it changes, and what it need not try."""

from __future__ import annotations

import pytest

from harmless_mutants import HARMLESS
from mutants import SOURCE, mutants

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
