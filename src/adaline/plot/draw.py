"""What all displays share: checked rows, labels and grids; colours, curves, points and legends.

Used as `draw.check_rows(X)` and `draw.points(ax, x, y)`. Names of columns come from
`evaluation.trial.column_names`, as in verdicts and reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted
from sklearn.utils.validation import check_consistent_length as check_consistent_length

from adaline import Trace
from adaline.evaluation.words import DateColumn, plain

Axes = Any  # matplotlib.axes.Axes, whose stubs reject keyword dictionaries
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Names = Sequence[Any] | None  # of columns

# Okabe and Ito's colours, which colour-blind readers can tell apart, the darker ones first; then
# five of Tol's, for the classes from the eighth on.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A7A00"),
    *("#332288", "#AA4466", "#117733", "#AA4499", "#7A5230"),
)
INK, PAPER = "#000000", "#ffffff"  # in SVG they follow the text colour and background of the page
FEW_MARKS = 100  # that a reader can tell apart
MANY_POINTS = 300  # beyond this, points become pixels: SVG would need 150 bytes for each
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


def tints(K: int) -> Array:
    """The colours of K classes, and a grey one, as red, green, blue and opacity."""
    from matplotlib.colors import to_rgba_array

    return to_rgba_array([*map(colour, range(K)), "#999999"], 0.2)


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


def boundary(ax: Axes, x: Array, y: Array, v: Array, margin: float | None = None) -> None:
    """Where values (len(y), len(x)) are zero, and dashed where they are -margin and margin."""
    if v.min() < 0 < v.max():  # else matplotlib warns that there is no line
        ax.contour(x, y, v, [0.0], colors=INK, linewidths=1.3)
        if margin and v.min() < margin and v.max() > -margin:
            ax.contour(x, y, v, [-margin, margin], colors=INK, linewidths=0.8, linestyles="--")


def reference(ax: Axes, value: float | None, words: str | None = None, along: str = "h") -> None:
    """A thin dotted line across the axes, or for None where x and y are equal."""
    look: dict[str, Any] = {"color": INK, "linewidth": 0.9, "linestyle": ":", "label": words}
    if value is None:
        ax.axline((0, 0), slope=1, **look)
    else:
        (ax.axhline if along == "h" else ax.axvline)(value, **look)


def colour_bar(image: Any, words: str, **more: Any) -> None:
    """The scale of an image, as pixels: in SVG each colour would be a shape."""
    bar = image.axes.figure.colorbar(image, ax=image.axes, **more)
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
    if labels := ax.get_legend_handles_labels()[1]:
        letters = 11 * ax.figure.get_figwidth() * ax.get_position().width
        columns = max(1, int(letters / (max(map(len, labels)) + 6)))  # 6 for the marker
        # Four letters below the axes: past the labels of the axis.
        place = {"loc": "upper left", "bbox_to_anchor": (-0.1, 0.0), "borderaxespad": 4.0}
        ax.legend(**place, frameon=False, ncols=columns)


def check_rows(X: Any) -> Array:
    """X as finite float64 (n, p); sparse rows become dense."""
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.asarray(check_array(X, dtype=np.float64, input_name="X"))


def check_signal(values: Any, what: str, ndim: int = 1) -> NDArray[Any]:
    """Finite numbers (n,), or (records, taps) with ndim=2, as float64 or complex128."""
    v = np.asarray(values)
    if v.dtype.kind not in "fciub" or v.ndim != ndim or not v.size:
        expected = "a vector of numbers, (n,)" if ndim == 1 else "numbers, (records, taps)"
        raise ValueError(f"{what} has shape {v.shape}; expected {expected}.")
    if not np.isfinite(v).all():
        raise ValueError(f"{what} contains NaN or infinity, as filters give that have diverged.")
    return v.astype(np.result_type(v, np.float64))


def check_model(model: BaseEstimator, method: str = "predict") -> None:
    """A fitted model that has the method."""
    if not hasattr(model, method):
        raise TypeError(f"{type(model).__name__} has no {method}; this picture needs it.")
    check_is_fitted(model)


def check_classifier(
    model: BaseEstimator, X: Any, y: Any, method: str = "predict", binary: bool = False
) -> tuple[Array, Ints]:
    """Rows and codes of their labels for a fitted classifier."""
    check_model(model, method)
    if not hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} is no classifier; see PredictionDisplay.")
    if binary and len(model.classes_) != 2:
        raise ValueError(f"there are {len(model.classes_)} classes; this picture is for two.")
    R = check_rows(X)
    check_consistent_length(R, y)
    return R, encode(y, model.classes_)


def encode(y: Any, classes: Any) -> Ints:
    """The place of each label in `classes`."""
    codes = places(y, classes)
    if (codes == len(classes)).any():
        label, known = np.asarray(y).tolist()[int(np.argmax(codes))], list(classes[:10])
        raise ValueError(f"y has the label {label!r}; the model knows {known}.")
    return codes


def places(labels: Any, classes: Any) -> Ints:
    """Place of each label in classes; one past the last for others, such as "reject"."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    known = [place.get(label, len(place)) for label in np.asarray(labels).tolist()]
    return np.array(known, dtype=np.int64)


def limits(values: Array, share: float = 0.08) -> tuple[float, float]:
    """The range of the values with a margin; one unit where they are all equal."""
    low, high = float(values.min()), float(values.max())
    margin = share * (high - low) or max(0.5, 0.1 * abs(high))
    return low - margin, high + margin


def grid_points(x: Array, y: Array) -> Array:
    """All (x, y) of a grid, row by row."""
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def weights_along(trace: Trace) -> tuple[Array, list[str], Ints]:
    """Weights and bias (m, p + 1) of one neuron at the start and after each change.

    Each has a name and the sample that was learned from, -1 for all at once.
    """
    if (K := trace.W_after.shape[1]) > 1:
        raise ValueError(f"there are {K} neurons; expected one: one target, or two classes.")
    theta = np.column_stack([trace.W_after[:, 0], trace.b_after[:, 0]])
    if trace.unit in ("iteration", "step"):  # the start is the first of them
        words = [f"{trace.unit.capitalize()} {k} of {trace.passes[-1]}" for k in trace.passes]
        return theta, words, np.full(len(theta), -1)
    is_batch = trace.unit == "pass"
    at = np.flatnonzero(np.diff(trace.passes, append=np.inf) if is_batch else trace.updated)
    kind, samples = "Correction", trace.samples[at]
    if is_batch:
        kind, samples = "Pass", np.full(len(at), -1)
    words = ["Before learning", *(f"{kind} {k} of {len(at)}" for k in range(1, len(at) + 1))]
    start = np.append(trace.W_before[0, 0], trace.b_before[0, 0])
    return np.vstack([start, theta[at]]), words, np.append(-1, samples)
