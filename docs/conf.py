"""How `make docs` builds the guide: Markdown pages, pictures from code, reference from docstrings.

Nothing is fetched: equations are MathML, and the theme brings its own fonts and scripts.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

import adaline

HERE = Path(__file__).parent
sys.path.append(str(HERE / "_ext"))

project = "adaline"
author = "the adaline developers"
project_copyright = "the adaline developers"
version = release = adaline.__version__

extensions = [
    "boxes",
    "film",
    "live_report",
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_copybutton",
    "sphinx_design",
]
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_selector = "div.highlight-python pre, div.highlight-console pre, div.highlight-bash pre"
default_role = "code"
templates_path = ["_templates"]
exclude_patterns = ["_build", "adr/README.md"]
html_theme = "pydata_sphinx_theme"
html_title = "adaline"
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "use_edit_page_button": False,
}
# Pages that have no neighbours of their own leave the room beside them to the text.
html_sidebars = {"*": []}
html_show_sourcelink = False
html_copy_source = False

myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
# Attributes such as certificate_ are documented in several classes; each page means its own.
suppress_warnings = ["myst.header", "ref.python"]

autosummary_generate = True
# Cover and cover are two names, but one file where capitals do not count.
autosummary_filename_map = {
    f"adaline.{name}": f"adaline.function.{name}"
    for name in ("cover", "separability", "filters.theory")
}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Pictures: vector only, one style, the code folded below each.
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = True
plot_rcparams = {"svg.hashsalt": "adaline", "figure.figsize": (6.4, 4.0), "savefig.bbox": "tight"}
plot_apply_rcparams = True
plot_template = (HERE / "_templates" / "plot.rst.jinja").read_text(encoding="utf-8")

# Pictures show learning before it is done.
warnings.filterwarnings("ignore", category=ConvergenceWarning)


def plain_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain: |w| is a length and coef_ a name, not marks of reStructuredText."""
    code = False
    for i, line in enumerate(lines):
        code = line.strip() != "" and (code or line.strip().startswith(">>>"))
        if not code:
            plain = line.replace("|", "\\|")
            lines[i] = re.sub(r"(?<![`\w])(\w*[a-zA-Z])_(?![\w`])", r"\1\\_", plain)


def without_routing(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """scikit-learn gives every estimator set_fit_request and the like; they are not ours."""
    theirs = str(getattr(obj, "__module__", "")).startswith("sklearn")
    return skip or theirs or (name.startswith("set_") and name.endswith("_request"))


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", plain_text, priority=900)
    app.connect("autodoc-skip-member", without_routing)
