"""Typesets equations as MathML, which browsers draw themselves: no script, nothing fetched.

Pages write LaTeX between dollar signs, as notebooks and GitHub do; latex2mathml turns it into
MathML while Sphinx builds. An equation that it cannot turn is a warning, so `make docs` fails.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

logger = logging.getLogger(__name__)
PRIME, BAR = "\u2032", "|"
TIGHT = {"lspace": "0", "rspace": "0", "stretchy": "false"}


def mathml(latex: str, display: str) -> str:
    """The <math> element of an equation, which also tells its LaTeX to whoever cannot see it."""
    # latex2mathml knows align*, but not aligned, which is what goes between two pairs of dollars.
    source = convert(latex.strip().replace("{aligned}", "{align*}"), display=display)
    root = ET.fromstring(
        re.sub(r" xmlns=\"[^\"]*\"", "", source.replace("<mi>&</mi>", "<mi>\\</mi>"))
    )
    for node in root.iter():
        if (node.text or "").startswith("\\"):
            raise ValueError(f"latex2mathml does not know {node.text!r}")
        if node.tag == "mo" and node.text in (BAR, "/"):  # bars around a vector are its length
            node.attrib.update(TIGHT)
        if (side := node.attrib.pop("columnalign", None)) is not None:
            node.set("style", f"text-align: {side}")  # browsers of today know no columnalign
        if node.tag in ("msup", "msubsup") and node[-1].text == PRIME:
            transpose(node)
        for name, after in pairwise([*node, None]):
            if name.tag in ("mi", "mo") and len(name.text or "") > 1:
                space_out(name, after)
    root.set("xmlns", "http://www.w3.org/1998/Math/MathML")
    root.set("aria-label", " ".join(latex.split()))
    return ET.tostring(root, encoding="unicode")


def transpose(node: ET.Element) -> None:
    """Write a prime beside its letter: raised as well as drawn high, it would be tiny."""
    base = node[0]
    if node.tag == "msubsup":
        base = ET.Element("msub")
        base.extend(node[:2])
    mark = ET.Element("mo", TIGHT)
    mark.text = PRIME
    node.tag = "mrow"
    node[:] = [base, mark]


def space_out(name: ET.Element, after: ET.Element | None) -> None:
    """Keep the name of a function, such as ln, apart from what is beside it."""
    name.tag = "mo"
    gap = "0" if after is not None and after.text in ("(", "[") else "0.17em"
    name.attrib.update(TIGHT | {"form": "prefix", "lspace": "0.12em", "rspace": gap})


def written(latex: str, display: str, node: nodes.Element) -> str:
    """MathML, or a warning and the LaTeX itself."""
    try:
        return mathml(latex, display)
    except Exception as error:  # whatever it is, the page and the equation must be named
        logger.warning("cannot typeset %r: %s", latex, error, location=node)
        return f"<code>{html.escape(latex)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(written(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Parts with a wide space between them may go below each other, on a phone."""
    parts = [node.astext()]
    if r"\begin" not in parts[0]:
        parts = parts[0].split(r"\qquad")
    drawn = "".join(written(part, "block", node) for part in parts if part.strip())
    self.body.append(f'<div class="equation">{drawn}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
