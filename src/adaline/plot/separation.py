"""Why classes are separable or not: hulls, nearest points, and the rows of the proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial import ConvexHull, QhullError

import adaline
from adaline.evaluation.words import number
from adaline.plot import draw, inputs
from adaline.plot.display import Display
from adaline.plot.draw import Array, Ints


@dataclass(eq=False, repr=False)
class SeparabilityDisplay(Display):
    """Convex hulls of classes in the plane, and what `separability` proves about them.

    Two classes are separable where their hulls do not meet; the hyperplane of the largest margin
    bisects the segment between the hulls' nearest points.

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
        Rows that decide: those that nearest points are made of, or those whose signed combination
        is zero, so that no hyperplane has all of them on the correct side.
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
    codes: Ints
    hulls: list[Array]
    nearest: Array | None
    line: tuple[Array, float] | None
    margin: float | None
    proof: Ints
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
            The result of `separability(X, y)`, if it is known already.
        names : sequence of two str, optional
        time_limit : float, optional
            Seconds for `separability` to decide in.
        """
        R = inputs.check_rows(X)
        if R.shape[1] != 2:
            raise ValueError(
                f"X has {R.shape[1]} columns; hulls are shown in the plane, for two. Two of many "
                "columns may overlap where all together separate."
            )
        inputs.check_length(len(R), y, "y")
        result = adaline.separability(R, y, time_limit=time_limit) if found is None else found
        codes = inputs.encode(y, result.labels, len(R))
        proof = np.array([i for i, _ in result.rows], dtype=np.int64)
        multipliers = np.array([float(m) for m in result.multipliers])
        nearest, line, margin = None, None, result.margin
        if result.verdict == "separable" and len(result.labels) == 2:
            proof, multipliers = np.empty(0, dtype=np.int64), np.empty(0)
            line = np.asarray(result.coef, dtype=np.float64), float(result.intercept)
            try:
                best = adaline.max_margin(R, codes, fit_intercept=result.fit_intercept)
            except ValueError:
                pass  # closer than rounding can tell, though proven separable
            else:
                line, margin = (best.w, best.b), best.margin
                proof, multipliers = best.support, best.weights
                if result.fit_intercept:
                    nearest = np.stack([best.negative, best.positive])
        known = inputs.column_names(None, X, 2, names)
        return cls(
            verdict=result.verdict,
            sentence=result.explain(),
            rows=R,
            codes=codes,
            hulls=[convex_hull(R[codes == k]) for k in range(len(result.labels))],
            nearest=nearest,
            line=line,
            margin=margin,
            proof=proof,
            multipliers=multipliers / (multipliers.sum() or 1.0),
            labels=tuple(result.labels),
            names=(known[0], known[1]),
            fit_intercept=bool(result.fit_intercept),
        )

    @property
    def claim(self) -> str:
        # Hulls decide only for two classes, and only with a bias.
        hulls_decide = len(self.labels) == 2 and self.fit_intercept
        machine = "linear machine" if len(self.labels) > 2 else "line"
        machine += "" if self.fit_intercept else " through the origin"
        if self.verdict == "separable":
            words = "the hulls do not meet" if hulls_decide else f"by a {machine}"
            words = f"Separable{':' if hulls_decide else ''} {words}"
            margin = "" if self.margin is None else f"; the margin is {number(self.margin, 3)}"
            return words + margin
        if self.verdict == "undecided":
            return "Undecided whether the classes are separable"
        if self.verdict == "quasi-separable":
            words = "Quasi-separable: "
            words += (
                "the hulls only touch"
                if hulls_decide
                else (f"a {machine} has rows on itself, none misclassified")
            )
        else:
            words = "Overlapping: " + ("the hulls meet" if hulls_decide else f"no {machine} does")
        return words + (f", which {len(self.proof)} rows prove" if len(self.proof) else "")

    def _draw(self, ax: draw.Axes) -> None:
        for k, corners in enumerate(self.hulls):
            ax.fill(*corners.T, facecolor=draw.colour(k), alpha=0.15, edgecolor="none")
            around = np.vstack([corners, corners[:1]])
            ax.plot(*around.T, color=draw.colour(k), linewidth=1.0, linestyle=draw.line(k))
        draw.classes(ax, self.rows, self.codes, self.labels)
        if len(self.proof):
            look: dict[str, Any] = {"facecolors": "none", "edgecolors": draw.INK, "zorder": 4}
            look["s"] = 50.0 + 150.0 * self.multipliers / self.multipliers.max()
            ax.scatter(*self.rows[self.proof].T, label="rows of the proof", **look)
        limits = [inputs.limits(self.rows[:, j], 0.12) for j in (0, 1)]
        if self.line is not None:
            w, b = self.line
            x, y = (np.linspace(*limit, 60) for limit in limits)
            v = w[0] * x[None, :] + w[1] * y[:, None] + b
            draw.contours(ax, x, y, v, [0.0])
            if self.margin:
                dashed: dict[str, Any] = {"linewidths": 0.7, "linestyles": "--"}
                draw.contours(ax, x, y, v, [-self.margin, self.margin], **dashed)
        if self.nearest is not None:
            ax.plot(*self.nearest.T, "k.-", linewidth=1.4, label="nearest points", zorder=5)
        ax.set(xlim=limits[0], ylim=limits[1])
        draw.label_axes(ax, *self.names)
        draw.legend(ax)


def convex_hull(points: Array) -> Array:
    """Corners of the convex hull, counter-clockwise; the two ends where all are on a line.

    >>> convex_hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [2.0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]
    """
    distinct = np.unique(points, axis=0)  # sorted, so that the ends of a line come first and last
    try:
        corners = distinct[ConvexHull(distinct).vertices]
    except (QhullError, ValueError):
        return distinct[[0, -1]]
    return np.roll(corners, -int(np.lexsort(corners.T[::-1])[0]), axis=0)
