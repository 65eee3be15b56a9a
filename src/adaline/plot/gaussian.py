"""Gaussian classes in the plane: posterior probabilities, and ellipses of equal distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from adaline.evaluation.words import plural
from adaline.plot import draw, inputs
from adaline.plot.display import Display
from adaline.plot.draw import Array, Ints


@dataclass(eq=False, repr=False)
class GaussianDisplay(Display):
    """The posterior p(k | x) over two features, and each class's Mahalanobis ellipses.

    The squared distance is (x - m)' S^-1 (x - m).

    Attributes
    ----------
    x, y, posterior : ndarray of shape (g,), (g,) and (g, g)
        p(classes[1] | x) for two classes; the largest posterior for more. Other features are at
        their means.
    decided : ndarray of int, shape (g, g)
        The class of the largest posterior.
    means : ndarray of shape (K, 2)
    covariances : ndarray of shape (K, 2, 2)
        Of the two features.
    ellipses : list of K arrays of shape (d, 2, 90)
        Points at the distances `distances` from each mean.
    distances : tuple of float
    rows, codes : ndarray of shape (n, 2) and (n,)
    classes : list
    names : tuple of two str
    held : int
        How many other features are held at their means.
    leads : ndarray of shape (K, g, g), or None
        For more than two classes: the log posterior of each less that of the next best; 0 at the
        boundaries.

    Examples
    --------
    >>> import numpy as np
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
    posterior: Array
    decided: Ints
    means: Array
    covariances: Array
    ellipses: list[Array]
    distances: tuple[float, ...]
    rows: Array
    codes: Ints
    classes: list[Any]
    names: tuple[str, str]
    held: int
    leads: Array | None = None
    size = (5.4, 4.0)
    reserved = 12

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        names: Sequence[Any] | None = None,
        distances: Sequence[float] = (1.0, 2.0),
        grid: int = 140,
    ) -> Self:
        """Evaluate a fitted `GaussianClassifier` on a grid; `features` as in DecisionDisplay."""
        R, codes = inputs.check_classifier(model, X, y, "mahalanobis")
        known = inputs.column_names(model, X, R.shape[1], names)
        pair = inputs.two_columns(features, known)
        reach = tuple(float(d) for d in distances)
        if not reach or min(reach) <= 0:
            raise ValueError(f"distances is {distances!r}; expected numbers above zero.")
        means, covariances = model.means_[:, pair], _covariances(model, pair)
        ellipses = [_ellipses(m, C, reach) for m, C in zip(means, covariances, strict=True)]
        curves = [e.transpose(0, 2, 1).reshape(-1, 2) for e in ellipses]
        seen = np.concatenate([R[:, pair], *curves])
        a, b = (np.linspace(*inputs.limits(seen[:, i], 0.03), int(grid)) for i in (0, 1))
        G, shape = inputs.slice_points(R, pair, a, b), (len(b), len(a))
        P = np.asarray(inputs.call(model, "predict_proba", G), dtype=np.float64)
        shown = P[:, 1] if P.shape[1] == 2 else P.max(axis=1)
        leads = _leads(model, G).T.reshape(-1, *shape) if P.shape[1] > 2 else None
        return cls(
            x=a,
            y=b,
            posterior=shown.reshape(shape),
            decided=P.argmax(axis=1).reshape(shape),
            means=means,
            covariances=covariances,
            ellipses=ellipses,
            distances=reach,
            rows=R[:, pair],
            codes=codes,
            classes=model.classes_.tolist(),
            names=(known[pair[0]], known[pair[1]]),
            held=R.shape[1] - 2,
            leads=leads,
        )

    @property
    def claim(self) -> str:
        values, vectors = np.linalg.eigh(self.covariances)
        along = np.einsum("ni,nij->nj", self.rows - self.means[self.codes], vectors[self.codes])
        # A feature without variance has no distances: every row is at its mean.
        variances = np.where(values > 1e-12 * values[:, -1:], values, np.inf)[self.codes]
        d = max(self.distances)
        inside = float(np.mean(np.sum(along**2 / variances, axis=1) <= d**2))
        words = (
            f"{100 * inside:.0f} % of {plural(len(self.rows), 'row')} lie within distance {d:g} of "
            f"their class mean; {100 * (1.0 - np.exp(-0.5 * d**2)):.0f} % would if Gaussian"
        )
        if self.held:
            words += f"; posterior with {plural(self.held, 'other feature')} at the mean"
        return words

    def _draw(self, ax: draw.Axes) -> None:
        if len(self.classes) == 2:
            self._draw_posterior(ax)
        else:
            self._draw_winners(ax)
        draw.classes(ax, self.rows, self.codes, self.classes)
        for k, curves in enumerate(self.ellipses):
            for i, curve in enumerate(curves):
                ax.plot(*curve, color=draw.colour(k), linestyle=draw.line(i), linewidth=1.4)
            ax.plot(*self.means[k], "+", color=draw.INK, markersize=10, zorder=5)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])
        draw.label_axes(ax, *self.names)
        draw.legend(ax)

    def _draw_posterior(self, ax: draw.Axes) -> None:
        """p(classes[1] | x), in the classes' colours, with a scale."""
        from matplotlib.colors import LinearSegmentedColormap

        ends = [draw.colour(0), "#f7f7f7", draw.colour(1)]
        colours = LinearSegmentedColormap.from_list("classes", ends)
        look: dict[str, Any] = {"cmap": colours, "alpha": 0.45, "vmin": 0.0, "vmax": 1.0}
        image = draw.image(ax, self.x, self.y, self.posterior, **look)
        draw.colour_bar(image, f"p({draw.label(self.classes[1], 12)} | x)")
        draw.contours(ax, self.x, self.y, self.posterior, [0.5])

    def _draw_winners(self, ax: draw.Axes) -> None:
        """The colour of the likeliest class, fainter the less certain."""
        K = len(self.classes)
        shade = np.array([draw.tint(k, 1.0) for k in range(K)])[self.decided]
        shade[..., 3] = 0.04 + 0.4 * (self.posterior - 1.0 / K) / (1.0 - 1.0 / K)
        draw.image(ax, self.x, self.y, shade)
        for lead in () if self.leads is None else self.leads:
            draw.contours(ax, self.x, self.y, lead, [0.0], linewidths=0.8)


def _leads(model: Any, G: Array) -> Array:
    """Log posteriors less the best of the others, (g, K): their zeros are smooth lines."""
    scores = np.asarray(inputs.call(model, "predict_log_proba", G), dtype=np.float64)
    best = np.sort(scores, axis=1)[:, -2:]
    return scores - np.where(scores == best[:, 1:], best[:, :1], best[:, 1:])


def _covariances(model: Any, pair: list[int]) -> Array:
    """Covariances of two features, (K, 2, 2), for any shape of covariance_."""
    C, K = np.asarray(model.covariance_, dtype=np.float64), len(model.classes_)
    if model.covariance == "diagonal":
        C = np.stack([np.diag(row) for row in C])
    elif C.ndim == 2:
        C = np.repeat(C[None], K, axis=0)
    return C[:, pair][:, :, pair]


def _ellipses(mean: Array, C: Array, distances: tuple[float, ...]) -> Array:
    """Points m + d L (cos, sin), where L L' = C."""
    angle = np.linspace(0.0, 2.0 * np.pi, 90)
    values, vectors = np.linalg.eigh(C)
    L = vectors * np.sqrt(np.maximum(values, 0.0))
    circle = L @ np.stack([np.cos(angle), np.sin(angle)])
    return np.stack([mean[:, None] + d * circle for d in distances])
