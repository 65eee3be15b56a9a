"""Classes in the plane: why they are separable or not, posteriors, and Mahalanobis distances."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial import ConvexHull, QhullError

import adaline
from adaline import GaussianClassifier
from adaline.evaluation.trial import ask, column_names
from adaline.evaluation.words import number, plural
from adaline.plot import draw
from adaline.plot.display import Display
from adaline.plot.draw import Array, Ints, Names


@dataclass(eq=False, repr=False)
class SeparabilityDisplay(Display):
    """Convex hulls of classes in the plane, and what `separability` proves about them.

    Two classes are separable where their hulls do not meet; the hyperplane of the largest margin
    bisects the segment between the hulls' nearest points.

    Examples
    --------
    >>> from adaline.plot import SeparabilityDisplay
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> xor = SeparabilityDisplay.from_data(X, ["no", "yes", "yes", "no"])
    >>> xor.verdict, xor.proof, xor.multipliers
    ('overlapping', array([0, 1, 2, 3]), array([0.25, 0.25, 0.25, 0.25]))
    """

    verdict: str  #: What is proven.
    rows: Array
    codes: Ints
    hulls: list[Array]  #: Corners of each class's hull, counter-clockwise.
    nearest: Array | None  #: The hulls' nearest points (2, 2), where two classes are separable.
    #: w of length one and b of the hyperplane w'x + b = 0 of the largest margin found.
    line: tuple[Array, float] | None
    margin: float | None
    #: Rows that decide, and their weights, of sum one: those that nearest points are made of, or
    #: those whose signed combination is zero, so that no hyperplane has all on the correct side.
    proof: Ints
    multipliers: Array
    labels: tuple[Any, ...]
    names: tuple[str, str]
    size = (5.2, 4.0)

    @classmethod
    def from_data(cls, X: Any, y: Any, *, names: Names = None) -> Self:
        """Decide within ten seconds, and show why, for rows of two columns."""
        R = draw.check_rows(X)
        if R.shape[1] != 2:
            raise ValueError(
                f"X has {R.shape[1]} columns; hulls are shown in the plane, for two. Two of many "
                "columns may overlap where all together separate."
            )
        draw.check_consistent_length(R, y)
        result = adaline.separability(R, y, time_limit=10.0)
        labels = tuple(result.labels)
        codes = draw.encode(y, labels)
        hulls = [convex_hull(R[codes == k]) for k in range(len(labels))]
        proof = np.array([i for i, _ in result.rows], dtype=np.int64)
        multipliers = np.array([float(m) for m in result.multipliers])
        nearest, line, margin = None, None, result.margin
        if result.verdict == "separable" and len(labels) == 2:
            proof, multipliers = np.empty(0, dtype=np.int64), np.empty(0)
            line = np.asarray(result.coef, dtype=np.float64), float(result.intercept)
            # ValueError: closer than rounding can tell, though proven separable.
            with suppress(ValueError):
                best = adaline.max_margin(R, codes)
                line, margin = (best.w, best.b), best.margin
                proof, multipliers = best.support, best.weights
                nearest = np.stack([best.negative, best.positive])
        multipliers = multipliers / (multipliers.sum() or 1.0)
        a, b = column_names(None, X, names, 2)
        shown = result.verdict, R, codes, hulls, nearest, line, margin
        return cls(*shown, proof, multipliers, labels, (a, b))

    @property
    def claim(self) -> str:
        words = {
            "separable": "Separable: the hulls do not meet",
            "quasi-separable": "Quasi-separable: the hulls only touch",
            "overlapping": "Overlapping: the hulls meet",
            "undecided": "Undecided whether the classes are separable",
        }[self.verdict]
        if len(self.labels) > 2:  # hulls decide for two
            words = f"{words.split(':')[0]} by a linear machine"
        if self.margin is not None and self.verdict == "separable":
            return f"{words}; the margin is {number(self.margin, 3)}"
        return words + f", which {len(self.proof)} rows prove" * bool(len(self.proof))

    def _draw(self, ax: draw.Axes) -> None:
        for k, corners in enumerate(self.hulls):
            ax.fill(*corners.T, facecolor=draw.colour(k), alpha=0.15, edgecolor="none")
            x, y = np.vstack([corners, corners[:1]]).T
            draw.curve(ax, x, y, k, linewidth=1.0)
        draw.classes(ax, self.rows, self.codes, self.labels)
        if len(self.proof):
            look: dict[str, Any] = {"facecolors": "none", "edgecolors": draw.INK, "zorder": 4}
            look["s"] = 50.0 + 150.0 * self.multipliers / self.multipliers.max()
            ax.scatter(*self.rows[self.proof].T, label="rows of the proof", **look)
        limits = [draw.limits(self.rows[:, j], 0.12) for j in (0, 1)]
        if self.line is not None:
            w, b = self.line
            x, y = (np.linspace(*limit, 60) for limit in limits)
            v = w[0] * x[None, :] + w[1] * y[:, None] + b
            draw.boundary(ax, x, y, v, self.margin)
        if self.nearest is not None:
            ax.plot(*self.nearest.T, "k.-", linewidth=1.4, label="nearest points", zorder=5)
        draw.describe(ax, *self.names, xlim=limits[0], ylim=limits[1])


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


@dataclass(eq=False, repr=False)
class GaussianDisplay(Display):
    """The posterior p(k | x) over two features, and each class's Mahalanobis ellipses.

    The squared distance is (x - m)' S^-1 (x - m).

    Examples
    --------
    >>> from adaline import GaussianClassifier
    >>> from adaline.plot import GaussianDisplay
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [4.0, 4.0], [6.0, 4.0], [4.0, 6.0]])
    >>> model = GaussianClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> picture = GaussianDisplay.from_estimator(model, X, ["a", "a", "a", "b", "b", "b"])
    >>> at = picture.ellipses[1][0].T  # distance 1 from the mean of class "b"
    >>> bool(np.allclose(model.mahalanobis(at)[:, 1], 1.0))
    True
    """

    x: Array
    y: Array
    posterior: Array  #: Of each class on the grid, (K, g, g).
    means: Array
    inside: float  #: The share of the rows within distance 2 of the mean of their class.
    #: For each class, points (2, 2, 90) at the distances 1 and 2 from its mean.
    ellipses: list[Array]
    rows: Array
    codes: Ints
    classes: list[Any]
    names: tuple[str, str]
    size = (5.2, 4.0)

    @classmethod
    def from_estimator(
        cls, model: GaussianClassifier, X: Any, y: Any, *, names: Names = None
    ) -> Self:
        """Evaluate a `GaussianClassifier` of two features on a grid."""
        R, codes = draw.check_classifier(model, X, y, "mahalanobis")
        if R.shape[1] != 2:
            raise ValueError(f"there are {R.shape[1]} columns; this picture is of two features.")
        C = np.asarray(model.covariance_, dtype=np.float64)
        if model.covariance == "diagonal":
            C = np.stack([np.diag(row) for row in C])
        means = np.asarray(model.means_)
        # Points m + d L (cos, sin) at the distances d = 1 and 2, where L L' = C.
        values, vectors = np.linalg.eigh(np.broadcast_to(C, (len(means), 2, 2)))
        angle, roots = np.linspace(0.0, 2.0 * np.pi, 90), np.sqrt(np.maximum(values, 0.0))
        circles = vectors * roots[:, None, :] @ np.stack([np.cos(angle), np.sin(angle)])
        ellipses = [
            np.stack([m[:, None] + d * circle for d in (1.0, 2.0)])
            for m, circle in zip(means, circles, strict=True)
        ]
        inside = float(np.mean(model.mahalanobis(R)[np.arange(len(R)), codes] <= 4.0))
        curves = [e.transpose(0, 2, 1).reshape(-1, 2) for e in ellipses]
        a, b = (np.linspace(*draw.limits(v, 0.03), 140) for v in np.concatenate([R, *curves]).T)
        P = ask(model, "predict_proba", draw.grid_points(a, b))
        posterior = np.asarray(P, dtype=np.float64).T.reshape(-1, len(b), len(a))
        first, second = column_names(model, X, names)
        shown = means, inside, ellipses, R, codes, model.classes_.tolist(), (first, second)
        return cls(a, b, posterior, *shown)

    @property
    def claim(self) -> str:
        return (
            f"{100 * self.inside:.0f}% of {plural(len(self.rows), 'row')} lie within distance 2 of "
            f"their class mean; {100 * (1.0 - np.exp(-2.0)):.0f}% would if Gaussian"
        )

    def _draw(self, ax: draw.Axes) -> None:
        K, P = len(self.classes), self.posterior
        # The colour of the likeliest class, fainter the less certain.
        shade = draw.tints(K)[P.argmax(axis=0)]
        shade[..., 3] = 0.04 + 0.4 * (P.max(axis=0) - 1.0 / K) / (1.0 - 1.0 / K)
        draw.image(ax, self.x, self.y, shade)
        L = np.log(np.maximum(P, 1e-300))  # whose differences are smooth at boundaries
        for k, log_p in enumerate(L):
            lead = log_p - np.delete(L, k, axis=0).max(axis=0)
            draw.boundary(ax, self.x, self.y, lead)
        draw.classes(ax, self.rows, self.codes, self.classes)
        for k, curves in enumerate(self.ellipses):
            for i, (x, y) in enumerate(curves):
                draw.curve(ax, x, y, k, draw.line(i), linewidth=1.4)
            ax.plot(*self.means[k], "+", color=draw.INK, markersize=10, zorder=5)
        draw.describe(ax, *self.names, xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])
