"""Every equation of the guide becomes MathML, which a browser draws without a script."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from test_docs import PAGES, name, prose

ROOT = Path(__file__).parents[1]
EQUATION = re.compile(r"\$\$(.+?)\$\$|(?<![\\$`\w])\$([^$`\n]+(?:\n[^$`\n]+)?)\$(?!\d)", re.S)


@pytest.fixture(scope="module")
def mathml():
    pytest.importorskip("latex2mathml")
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("mathml", ROOT / "docs" / "_ext" / "mathml.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.mathml


def equations(page: Path) -> list[str]:
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    return [block or inline for block, inline in EQUATION.findall(text)]


def test_equations_can_be_typeset(mathml):
    for page in PAGES:
        for latex in equations(page):
            assert mathml(latex, "inline").startswith("<math"), f"{name(page)}: {latex}"


def test_a_prime_transposes_and_is_not_raised_twice(mathml):
    assert "msup" not in mathml("w'x", "inline")
    assert "<msub>" in mathml("m_1'S", "inline")
    assert "\u2032" in mathml("m_1'S", "inline")


@pytest.mark.parametrize("latex", [r"\nonsense x", r"\begin{nonsense} a & b \end{nonsense}"])
def test_an_unknown_command_is_refused(mathml, latex):
    with pytest.raises(ValueError, match="does not know"):
        mathml(latex, "inline")


def test_columns_are_aligned_as_browsers_know_it(mathml):
    drawn = mathml("\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}", "block")
    assert "columnalign" not in drawn
    assert "text-align: right" in drawn
