"""`Display`, the base class of all pictures: a claim in a sentence, `plot` and `svg`.

Figures are made without pyplot, so no window opens and no global state changes.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Self
from xml.etree import ElementTree

import numpy as np

from adaline import MissingExtra
from adaline.plot import draw

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.figure import Figure


class Display:
    """Base class of all displays: named numbers, a claim in a sentence, `plot` and `svg`.

    Subclasses set `claim` and `_draw`, which receives one axes for each panel.

    Attributes
    ----------
    ax_ : Axes, or array of Axes
        Where the last `plot` drew.
    figure_ : Figure

    Examples
    --------
    >>> from adaline.plot import CoverDisplay
    >>> CoverDisplay.from_dimensions(2)
    <CoverDisplay: Half of all labellings are separable at two points per weight>
    """

    ax_: Any
    figure_: Any
    panels = 1  # axes side by side
    size: tuple[float, float] = (5.2, 3.6)  # inches of one panel

    @property
    def claim(self) -> str:
        """What the picture shows, in a sentence: its title, and its text for screen readers."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """The claim: all numbers would fill pages."""
        return f"<{type(self).__name__}: {self.claim}>"

    def _repr_html_(self) -> str:
        return self.svg() if hasattr(self, "figure_") else f"<p>{escape(self.claim)}</p>"

    def plot(self, ax: Any = None, *, title: bool = True) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            For a display of several panels, as many axes.
        title : bool, default=True
            Whether to write `claim` over the picture.

        Returns
        -------
        self, with `ax_` and `figure_`
        """
        (width, height), n = self.size, self.panels
        with style():
            given = new_figure(width * n, height).subplots(1, n) if ax is None else ax
            axes = list(np.ravel(np.asarray(given, dtype=object)))
            if len(axes) != n:
                raise ValueError(
                    f"{type(self).__name__} draws {n} panels and got {len(axes)} axes; give one "
                    "for each, or none."
                )
            self._draw(*axes)
            if title and (n == 1 or ax is None):
                write_title(axes, self.claim, width * n)
        self.ax_ = axes[0] if n == 1 else np.array(axes, dtype=object)
        self.figure_ = axes[0].figure
        return self

    def svg(self, key: str = "picture") -> str:
        """The picture as SVG: text stays text, and pictures with different keys share no ids."""
        if not hasattr(self, "figure_"):
            self.plot()
        return svg_of(self.figure_, key, self.claim)

    def svgs(self, key: str = "picture") -> list[str]:
        """Each panel as an SVG of its own, without the claim, for narrow pages."""
        with style():
            axes = [new_figure(*self.size).subplots() for _ in range(self.panels)]
            self._draw(*axes)
        words = [self.claim, *(ax.get_title(loc="left") for ax in axes[1:])]
        return [svg_of(ax.figure, f"{key}-{k}", words[k]) for k, ax in enumerate(axes)]

    def _draw(self, *axes: Any) -> None:
        raise NotImplementedError


def new_figure(width: float, height: float) -> Any:
    """A figure of so many inches, which no list of pyplot holds."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def write_title(axes: Sequence[Any], words: str, inches: float) -> None:
    """A title, in lines of so many inches, over one panel, or over the figure of several."""
    # A letter of this size takes a ninth of an inch, with what labels of the axis need.
    text = textwrap.fill(words, int(9 * inches)).replace("$", r"\$")
    if len(axes) == 1:
        axes[0].set_title(text)
    else:
        size = draw.STYLE["axes.titlesize"]
        axes[0].figure.suptitle(text, x=0.01, ha="left", fontsize=size)


def style() -> AbstractContextManager[None]:
    """Our settings of matplotlib while we draw."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtra.of("plot", "a picture", "matplotlib") from None
    return mpl.rc_context(draw.STYLE)


def svg_of(figure: Figure, key: str, words: str) -> str:
    """A figure as one `<svg>` element for a page: no ids shared with others, no date, no script.

    Black follows the page's text colour and white its background (`--paper`), for dark pages.
    """
    import matplotlib as mpl

    out = io.BytesIO()
    # matplotlib's ids are hashes salted with the key: pictures on one page share none.
    with mpl.rc_context(draw.STYLE | {"svg.hashsalt": key}), warnings.catch_warnings():
        # Letters that matplotlib's font lacks are drawn by the reader's fonts.
        warnings.filterwarnings("ignore", message=".*missing from .*font", category=UserWarning)
        none = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        figure.savefig(out, format="svg", metadata=none)
    text = out.getvalue().decode("utf-8")
    root = ElementTree.fromstring(text)
    _simplify(root, set(re.findall(r"(?<=[(\"]#)[^)\"]+(?=[)\"])", text)))
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.attrib |= {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": words}
    root.attrib |= {"fill": "currentColor", "stroke-linejoin": "round"}
    root.attrib["font-family"] = "'DejaVu Sans', Verdana, sans-serif"
    return ElementTree.tostring(root, encoding="unicode")


def _simplify(root: ElementTree.Element, used: set[str]) -> None:
    """Drop what a reader never sees, a third of the bytes: metadata, unused ids, digits."""
    for element in root.iter():
        for child in [c for c in element if c.tag.endswith(("}metadata", "}style"))]:
            element.remove(child)
        element.tag = element.tag.rpartition("}")[2]
        if element.tag not in ("text", "tspan"):
            element.text = None  # line breaks between elements
        old, element.attrib, element.tail = element.attrib, {}, None
        for qualified, value in old.items():
            name = qualified.rpartition("}")[2]
            if name in ("d", "x", "y"):
                value = re.sub(r"-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}", value)
            elif name in ("style", "fill", "stroke"):
                value = re.sub(r"\s*font-family:[^;]*;?", "", value)
                value = value.replace(draw.INK, "currentColor")
                value = value.replace(draw.PAPER, f"var(--paper, {draw.PAPER})")
            if name != "id" or value in used:
                element.attrib[name] = value
