"""Why classes are separable or not: hulls, nearest points, and the rows of the proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import adaline
from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class SeparabilityDisplay(Display):
    """Convex hulls of classes in the plane, and what `separability` proves of them.

    Lecture: linear discriminants. Two classes are separable where their hulls do not meet; the
    best hyperplane halves the way between the hulls' nearest points.

    Attributes
    ----------
    verdict, sentence : str
        What is proven, and the proof in words.
    rows, codes : ndarray of shape (n, 2) and (n,)
    hulls : list of arrays of shape (m, 2)
        Corners of each class's hull, counter-clockwise.
    nearest : ndarray of shape (2, 2), or None
        The hulls' nearest points, where two classes are separable.
    line : tuple of ndarray (2,) and float, or None
        w of length one and b of the hyperplane w'x + b = 0 of the largest margin found.
    margin : float or None
    proof : ndarray of int
        Rows that decide: those nearest points are made of, or those whose signed combination is
        zero, which no hyperplane can have on their right sides.
    multipliers : ndarray of shape (m,)
        Their weights, with sum one.
    labels : tuple
    names : tuple of two str
    fit_intercept : bool
        Whether the line may miss the origin.

    Examples
    --------
    >>> from adaline.plot import SeparabilityDisplay
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> xor = SeparabilityDisplay.from_data(X, ["no", "yes", "yes", "no"])
    >>> xor.verdict, xor.proof, xor.multipliers
    ('overlapping', array([0, 1, 2, 3]), array([0.25, 0.25, 0.25, 0.25]))
    """

    verdict: str
    sentence: str
    rows: Array
    codes: Any
    hulls: list[Array]
    nearest: Array | None
    line: tuple[Array, float] | None
    margin: float | None
    proof: Any
    multipliers: Array
    labels: tuple[Any, ...]
    names: tuple[str, str]
    fit_intercept: bool
    size = (5.2, 4.0)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        found: Any = None,
        names: Sequence[Any] | None = None,
        time_limit: float | None = 10.0,
    ) -> Self:
        """Decide, and show why.

        Parameters
        ----------
        X, y : array-like of shape (n, 2) and (n,)
            Two columns: hulls in more dimensions have no picture.
        found : Separability, optional
            What `separability(X, y)` answered, if it is known already.
        names : sequence of two str, optional
        time_limit : float, optional
            Seconds for `separability` to decide in.
        """
        R = _given.rows(X)
        if R.shape[1] != 2:
            raise ValueError(
                f"X has {R.shape[1]} columns; hulls are shown in the plane, for two. Two of many "
                "columns may overlap where all together separate."
            )
        _given.same_length(len(R), y, "y")
        if found is None:
            found = adaline.separability(R, y, time_limit=time_limit)
        codes = _given.codes(y, found.labels, len(R))
        named = _given.column_names(None, X, 2, names)
        proof = np.array([i for i, _ in found.rows], dtype=np.int64)
        total = sum(found.multipliers) or 1
        shares = np.array([m / total for m in found.multipliers], dtype=np.float64)
        nearest, line, margin = None, None, found.margin
        if found.verdict == "separable" and len(found.labels) == 2:
            nearest, line, margin, proof, shares = _nearest(R, codes, found)
        hulls = [hull(R[codes == k]) for k in range(len(found.labels))]
        words = found.explain()
        return cls(
            found.verdict,
            words,
            R,
            codes,
            hulls,
            nearest,
            line,
            margin,
            proof,
            shares,
            tuple(found.labels),
            (named[0], named[1]),
            bool(found.fit_intercept),
        )

    @property
    def claim(self) -> str:
        # Only with a bias, and for two classes, are hulls the whole truth.
        plain = len(self.labels) == 2 and self.fit_intercept
        what = "linear machine" if len(self.labels) > 2 else "line"
        what += "" if self.fit_intercept else " through the origin"
        if self.verdict == "separable":
            said = "Separable: the hulls do not meet" if plain else f"Separable by a {what}"
            return (
                said
                if self.margin is None
                else f"{said}; a margin of {number(self.margin, 3)} is left"
            )
        said = {
            "quasi-separable": "Quasi-separable: "
            + ("the hulls only touch" if plain else f"a {what} has rows on itself, none wrong"),
            "overlapping": "Overlapping: " + ("the hulls meet" if plain else f"no {what} does"),
        }.get(self.verdict, "Undecided whether the classes are separable")
        if len(self.proof) and self.verdict != "undecided":
            said += f", which {len(self.proof)} rows prove"
        return said

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        for k, label in enumerate(self.labels):
            some, corners = self.rows[self.codes == k], self.hulls[k]
            ax.fill(*corners.T, facecolor=_canvas.colour(k), alpha=0.15, edgecolor="none")
            ax.plot(
                *np.vstack([corners, corners[:1]]).T,
                color=_canvas.colour(k),
                linewidth=1.0,
                linestyle=_canvas.LINES[k % len(_canvas.LINES)],
            )
            _canvas.points(ax, some[:, 0], some[:, 1], k, label=_canvas.plain(label))
        if len(self.proof):
            at = self.rows[self.proof]
            ax.scatter(
                at[:, 0],
                at[:, 1],
                s=50.0 + 150.0 * self.multipliers / self.multipliers.max(),
                zorder=4,
                facecolors="none",
                edgecolors=_canvas.INK,
                linewidths=1.1,
                label="rows of the proof",
            )
        limits = [_given.frame(self.rows[:, j], 0.12) for j in (0, 1)]
        if self.line is not None:
            self._draw_line(ax, limits)
        if self.nearest is not None:
            ax.plot(*self.nearest.T, "k.-", linewidth=1.4, label="nearest points", zorder=5)
        ax.set(xlim=limits[0], ylim=limits[1])
        _canvas.label_axes(ax, *self.names[:2])
        _canvas.legend(ax)

    def _draw_line(self, ax: Axes, limits: list[tuple[float, float]]) -> None:
        """w'x + b = 0, and ± margin."""
        assert self.line is not None
        w, b = self.line
        grid = [np.linspace(*limit, 60) for limit in limits]
        v = w[0] * grid[0][None, :] + w[1] * grid[1][:, None] + b
        ax.contour(*grid, v, [0.0], colors=_canvas.INK, linewidths=1.2)
        if self.margin:
            ax.contour(
                *grid,
                v,
                [-self.margin, self.margin],
                colors=_canvas.INK,
                linewidths=0.7,
                linestyles="--",
            )


def _nearest(R: Array, codes: Any, found: Any) -> tuple[Any, Any, float | None, Any, Array]:
    """The best hyperplane, its margin, and the rows it rests on; or the one that was found."""
    nothing = np.empty(0, dtype=np.int64), np.empty(0)
    try:
        best = adaline.max_margin(R, codes, fit_intercept=found.fit_intercept)
    except ValueError:  # closer than rounding can tell, though proven separable
        line = np.asarray(found.coef, dtype=np.float64), float(found.intercept)
        return None, line, found.margin, *nothing
    ends = np.stack([best.negative, best.positive]) if found.fit_intercept else None
    weights = best.weights / best.weights.sum()
    return ends, (best.w, best.b), best.margin, best.support, weights


def hull(points: Array) -> Array:
    """Corners of the convex hull, counter-clockwise, by Andrew's monotone chain.

    >>> hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]
    """
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    half = [_chain(ordered), _chain(ordered[::-1])]
    return np.array(half[0][:-1] + half[1][:-1])


def _chain(ordered: Array) -> list[list[float]]:
    """The lower half, from left to right."""
    kept: list[list[float]] = []
    for x, y in ordered.tolist():
        while len(kept) > 1:
            (ax, ay), (bx, by) = kept[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                break
            kept.pop()
        kept.append([x, y])
    return kept
