"""Pictures that move, made while the guide is built: the directive ```{film}.

Its content is Python that runs alone and names an `Animation` film. The page shows the last frame;
nothing moves before a reader presses a button, and the code is folded below.
"""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)
MOST_BYTES = 300_000  # of a film: a page with two of them still loads at once


class Film(SphinxDirective):
    """Run the code, and put the film on the page."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        names: dict[str, Any] = {}
        try:
            exec(compile(code, f"{self.env.docname} film", "exec"), names)
            shown = names["film"].to_html()
        except Exception as error:  # whatever it is, the page must be named
            logger.warning("a film has no picture: %r", error, location=self.get_location())
            return []
        if len(shown) > MOST_BYTES:
            logger.warning(
                "a film has %d bytes of at most %d; give fewer frames",
                len(shown),
                MOST_BYTES,
                location=self.get_location(),
            )
        box = nodes.literal_block(code, code, language="python")
        return [
            _raw(f'<div class="film">{shown}</div>'),
            _raw('<details class="plot-code"><summary>The code of this film</summary>'),
            box,
            _raw("</details>"),
        ]


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("film", Film)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
