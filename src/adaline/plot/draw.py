"""What the displays draw with: colours, axis labels, points, images, reference lines and legends.

Used as `draw.points(ax, x, y)` by all displays.
"""

from __future__ import annotations

import textwrap
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.words import DateColumn

Axes = Any  # matplotlib.axes.Axes, whose stubs reject keyword dictionaries
Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Okabe and Ito's colours, which colour-blind readers can tell apart, the darker ones first; then
# five of Tol's, for the classes from the eighth on.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A7A00"),
    *("#332288", "#AA4466", "#117733", "#AA4499", "#7A5230"),
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "p", "h", "*")
LINES = ("-", "--", "-.", ":")
INK, PAPER = "#000000", "#ffffff"  # in SVG they follow the text colour and background of the page
MANY_POINTS = 500  # beyond this, points become pixels: SVG would need 100 bytes for each
LETTERS_PER_INCH = 10  # of a title or legend in 10 point type, on average, rounded down
STYLE: Any = {  # of matplotlib
    "font.size": 10.0,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.framealpha": 0.85,
    "legend.facecolor": PAPER,
    "legend.edgecolor": "none",
    "legend.fontsize": 9.8,
    "savefig.dpi": 110,
    "svg.fonttype": "none",
}


def shorten(text: object, length: int = 28) -> str:
    """A name as it can be shown: without control characters, at most `length` letters.

    >>> shorten("a" * 40, length=8)
    'aaaaaaa…'
    """
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return clean if len(clean) <= length else clean[: length - 1] + "…"


def label(text: object, length: int = 28) -> str:
    """A name for matplotlib: dollars are not formulas, and legends show a leading underscore."""
    clean = shorten(text, length).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{clean}" if clean.startswith("_") else clean


def wrap(text: str, inches: float, reserved: int = 0) -> str:
    """A title in lines of so many inches, less the letters reserved for a colour bar."""
    text = text.replace(" %", "\N{NO-BREAK SPACE}%").replace("$", r"\$")
    return textwrap.fill(text, int(LETTERS_PER_INCH * inches) - reserved)


def label_axes(ax: Axes, x: object, y: object = None, length: int = 28) -> None:
    """Column names along the axes; days since 1970 are written as dates."""
    ax.set_xlabel(label(x, length))
    if isinstance(x, DateColumn):
        ax.xaxis_date()
        ax.tick_params(axis="x", labelrotation=30)
    if y is not None:
        ax.set_ylabel(label(y, length))
        if isinstance(y, DateColumn):
            ax.yaxis_date()


def colour(k: int) -> str:
    """The colour of class or curve k."""
    return COLOURS[k % len(COLOURS)]


def line(k: int) -> str:
    """The line style of curve k."""
    return LINES[k % len(LINES)]


def marker(k: int) -> str:
    """The marker of class k: with the colours, 144 classes look different."""
    return MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]


def tint(k: int, alpha: float) -> tuple[float, float, float, float]:
    """The colour of class k as numbers, with an opacity."""
    red, green, blue = (int(colour(k)[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue, alpha


def points(ax: Axes, x: Any, y: Any, k: int = 0, **more: Any) -> None:
    """Points of class k: smaller, fainter and flattened to pixels where there are many."""
    look: dict[str, Any] = {"color": colour(k), "marker": marker(k), "zorder": 3}
    if len(x) > MANY_POINTS:
        look |= {"s": 9, "alpha": 0.55, "linewidths": 0, "edgecolors": "none", "rasterized": True}
    else:
        look |= {"s": 24, "alpha": 0.85, "linewidths": 0.5, "edgecolors": PAPER}
    ax.scatter(x, y, **look | more)


def classes(ax: Axes, rows: Array, codes: Any, labels: Any) -> None:
    """Rows of the plane, each class in its colour."""
    for k, name in enumerate(labels):
        if (codes == k).any():
            x, y = rows[codes == k].T
            points(ax, x, y, k, label=label(name))


def image(ax: Axes, x: Array, y: Array, colours: Any, **more: Any) -> Any:
    """An image of colours or numbers, (len(y), len(x)), behind a picture."""
    look = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
    return ax.imshow(colours, extent=(x[0], x[-1], y[0], y[-1]), **look | more)


def contours(ax: Axes, x: Array, y: Array, values: Array, levels: list[float], **more: Any) -> Any:
    """Lines where values (len(y), len(x)) reach these levels; None where they reach none."""
    if not values.min() < levels[-1] or not values.max() > levels[0]:
        return None
    return ax.contour(x, y, values, levels, **{"colors": INK, "linewidths": 1.2} | more)


def stems(ax: Axes, values: Array, k: int = 0) -> Any:
    """A vertical line from zero to each value."""
    ends = np.minimum(values, 0.0), np.maximum(values, 0.0)
    return ax.vlines(np.arange(len(values)), *ends, color=colour(k))


def reference(ax: Axes, value: float, words: str | None = None, along: str = "h") -> None:
    """A thin dotted line across the axes."""
    across = ax.axhline if along == "h" else ax.axvline
    across(value, color=INK, linewidth=0.9, linestyle=":", label=words)


def colour_bar(image: Any, words: str, axes: Any = None, **more: Any) -> None:
    """The scale of an image, as pixels: in SVG each colour would be a shape."""
    bar = image.axes.figure.colorbar(image, ax=image.axes if axes is None else axes, **more)
    bar.set_label(words)
    bar.solids.set_rasterized(True)


def legend(ax: Axes, **more: Any) -> None:
    """A legend, if anything has a label: below the axes where the layout makes room for it."""
    labels = ax.get_legend_handles_labels()[1]
    if not labels:
        return
    figure: Any = ax.figure
    if type(figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine":
        from matplotlib.transforms import ScaledTranslation

        # Tick labels longer than the usual 5 letters take from the width of the axes.
        beside = max((len(text.get_text()) for text in ax.get_yticklabels()), default=0)
        letters = 1.2 * LETTERS_PER_INCH * figure.get_figwidth() * ax.get_position().width
        letters -= max(beside - 5, 0)
        lengths = sorted((len(text) + 6 for text in labels), reverse=True)  # 6 for the marker
        columns = sum(length <= letters for length in accumulate(lengths))
        below = ScaledTranslation(0, -40 / 72, figure.dpi_scale_trans)  # the labels of the axis
        more = {"title": more.get("title"), "loc": "upper left", "bbox_to_anchor": (0.0, 0.0)}
        more |= {"bbox_transform": ax.transAxes + below, "borderaxespad": 0.0, "frameon": False}
        more["ncols"] = max(columns, 1)
    ax.legend(**more)
