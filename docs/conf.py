"""How `make docs` builds the guide: Markdown pages, pictures from code, reference from docstrings.

Nothing is fetched: equations are plain text, and the theme brings its own fonts and scripts.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

import adaline

project = "adaline"
author = "the adaline developers"
project_copyright = "the adaline developers"
version = release = adaline.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
]
default_role = "code"
templates_path = ["_templates"]
exclude_patterns = ["_build", "adr/README.md"]
html_theme = "pydata_sphinx_theme"
html_title = "adaline"
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 4,
    "navigation_with_keys": False,
    "use_edit_page_button": False,
}
html_show_sourcelink = False
html_copy_source = False

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

# Pictures: vector only, one style, the code shown above each.
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = True
plot_rcparams = {"svg.hashsalt": "adaline", "figure.figsize": (6.4, 4.0), "savefig.bbox": "tight"}
plot_apply_rcparams = True

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
