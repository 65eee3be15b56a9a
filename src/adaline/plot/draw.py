"""What the displays draw with: colours, curves, points, images, reference lines and legends.

Used as `draw.points(ax, x, y)` by all displays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.words import DateColumn, plain

Axes = Any  # matplotlib.axes.Axes, whose stubs reject keyword dictionaries
Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Okabe and Ito's colours, which colour-blind readers can tell apart, the darker ones first; then
# five of Tol's, for the classes from the eighth on.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A7A00"),
    *("#332288", "#AA4466", "#117733", "#AA4499", "#7A5230"),
)
INK, PAPER = "#000000", "#ffffff"  # in SVG they follow the text colour and background of the page
FEW_MARKS = 100  # that a reader can tell apart
MANY_POINTS = 500  # beyond this, points become pixels: SVG would need 100 bytes for each
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


def label(text: object, length: int = 28) -> str:
    """A name for matplotlib: dollars are not formulas, and legends show a leading underscore."""
    clean = plain(text, length).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{clean}" if clean.startswith("_") else clean


def colour(k: int) -> str:
    """The colour of class or curve k."""
    return COLOURS[k % len(COLOURS)]


def line(k: int) -> str:
    """The line style of curve k."""
    return ("-", "--", "-.", ":")[k % 4]


def marker(k: int) -> str:
    """The marker of class k: with the colours, 132 classes look different."""
    return "o^sDvPX<>ph"[(k + k // len(COLOURS)) % 11]


def tint(k: int, alpha: float) -> tuple[float, float, float, float]:
    """The colour of class k as numbers, with an opacity."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour(k), alpha)


def curve(ax: Axes, x: Any, y: Any, k: int = 0, style: str | None = None, **more: Any) -> Any:
    """Curve k, in its colour and line style unless others are given."""
    return ax.plot(x, y, line(k) if style is None else style, **{"color": colour(k)} | more)[0]


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


def mark(ax: Axes, at: Array, words: str, marker: str, s: float = 90) -> None:
    """Marks around a few rows, counted in the legend; more would hide the rest."""
    if 0 < len(at) <= FEW_MARKS:
        face = {} if marker == "x" else {"facecolors": "none"}
        ax.scatter(*at.T, marker=marker, s=s, label=f"{words} ({len(at)})", color=INK, **face)


def image(ax: Axes, x: Array, y: Array, colours: Any, **more: Any) -> Any:
    """An image of colours or numbers, (len(y), len(x)), behind a picture."""
    look = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
    return ax.imshow(colours, extent=(x[0], x[-1], y[0], y[-1]), **look | more)


def contours(ax: Axes, x: Array, y: Array, values: Array, levels: list[float], **more: Any) -> Any:
    """Lines where values (len(y), len(x)) reach these levels; None where they reach none."""
    if not values.min() < levels[-1] or not values.max() > levels[0]:
        return None
    return ax.contour(x, y, values, levels, **{"colors": INK, "linewidths": 1.2} | more)


def reference(ax: Axes, value: float, words: str | None = None, along: str = "h") -> None:
    """A thin dotted line across the axes."""
    across = ax.axhline if along == "h" else ax.axvline
    across(value, color=INK, linewidth=0.9, linestyle=":", label=words)


def diagonal(ax: Axes, ends: Any, words: str) -> None:
    """A thin dotted line of equal x and y."""
    ax.plot(ends, ends, color=INK, linewidth=0.9, linestyle=":", label=words)


def colour_bar(image: Any, words: str, axes: Any = None, **more: Any) -> None:
    """The scale of an image, as pixels: in SVG each colour would be a shape."""
    bar = image.axes.figure.colorbar(image, ax=image.axes if axes is None else axes, **more)
    bar.set_label(words)
    bar.solids.set_rasterized(True)


def describe(ax: Axes, x: object, y: object = None, title: str | None = None, **more: Any) -> None:
    """Labels of both axes, other properties of the axes, and a legend below them.

    Days since 1970 are written as dates. The legend has as many columns as its labels leave room.
    """
    ax.set(**more)
    for axis, text in ((ax.xaxis, x), (ax.yaxis, y)):
        if text is not None:
            axis.set_label_text(label(text, 44))
        if isinstance(text, DateColumn):
            axis.axis_date()
            ax.tick_params(axis=axis.axis_name, labelrotation=30)
    if title is not None:
        ax.set_title(title)
    labels = ax.get_legend_handles_labels()[1]
    if not labels:
        return
    from matplotlib.transforms import ScaledTranslation

    figure: Any = ax.figure
    letters = 11 * figure.get_figwidth() * ax.get_position().width
    columns = max(1, int(letters / (max(map(len, labels)) + 6)))  # 6 for the marker
    below = ScaledTranslation(0, -40 / 72, figure.dpi_scale_trans)  # the labels of the axis
    place = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "borderaxespad": 0.0}
    ax.legend(**place, bbox_transform=ax.transAxes + below, frameon=False, ncols=columns)
