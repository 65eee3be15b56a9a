"""Gaussian classes in the plane: posterior probabilities, and ellipses of equal distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DISTANCES = (1.0, 2.0)


@dataclass(eq=False, repr=False)
class GaussianDisplay(Display):
    """The posterior over two features, and each class's Mahalanobis ellipses.

    Lecture 5.8: p(k | x) by Bayes' theorem, and the squared distance (x - m)' S^-1 (x - m).

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
        Of more than two classes: the log posterior of each less that of the next best; 0 at the
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
    decided: Any
    means: Array
    covariances: Array
    ellipses: list[Array]
    distances: tuple[float, ...]
    rows: Array
    codes: Any
    classes: list[Any]
    names: tuple[str, str]
    held: int
    leads: Array | None = None
    size = (5.4, 4.0)
    beside = 12

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        names: Sequence[Any] | None = None,
        distances: Sequence[float] = _DISTANCES,
        grid: int = 140,
    ) -> Self:
        """Ask a fitted `GaussianClassifier` over a grid; `features` as in DecisionDisplay."""
        _given.fitted(model, "mahalanobis")
        R = _given.rows(X)
        _given.width(model, R)
        codes = _given.codes(y, model.classes_, len(R))
        named = _given.column_names(model, X, R.shape[1], names)
        pair = _given.two_of(features, named)
        reach = tuple(float(d) for d in distances)
        if not reach or min(reach) <= 0:
            raise ValueError(f"distances is {distances!r}; expected numbers above zero.")
        means, both = model.means_[:, pair], _covariances(model, pair)
        ellipses = [_ellipses(m, C, reach) for m, C in zip(means, both, strict=True)]
        seen = np.concatenate(
            [R[:, pair], *(e.transpose(0, 2, 1).reshape(-1, 2) for e in ellipses)]
        )
        a, b = (np.linspace(*_given.frame(seen[:, i], 0.03), int(grid)) for i in (0, 1))
        G = np.tile(R.mean(axis=0), (len(a) * len(b), 1))
        G[:, pair[0]], G[:, pair[1]] = np.tile(a, len(b)), np.repeat(b, len(a))
        P = np.asarray(_given.ask(model, "predict_proba", G), dtype=np.float64)
        leads = _leads(model, G, P.shape[1])
        shown = P[:, 1] if P.shape[1] == 2 else P.max(axis=1)
        shape = len(b), len(a)
        return cls(
            a,
            b,
            shown.reshape(shape),
            P.argmax(axis=1).reshape(shape),
            means,
            both,
            ellipses,
            reach,
            R[:, pair],
            codes,
            model.classes_.tolist(),
            (named[pair[0]], named[pair[1]]),
            R.shape[1] - 2,
            None if leads is None else leads.T.reshape(-1, *shape),
        )

    @property
    def claim(self) -> str:
        n = len(self.rows)
        away = self.rows - self.means[self.codes]
        values, axes = np.linalg.eigh(self.covariances)
        along = np.einsum("ni,nij->nj", away, axes[self.codes])
        # A feature without spread has no distances: every row is at its mean.
        known = values > 1e-12 * values[:, -1:]
        unit = np.where(known, values, np.inf)[self.codes]
        squares = np.sum(along**2 / unit, axis=1)
        inside = float(np.mean(squares <= max(self.distances) ** 2))
        expected = 1.0 - np.exp(-0.5 * max(self.distances) ** 2)
        said = (
            f"{100 * inside:.0f} % of {_canvas.many(n)} lie within distance "
            f"{max(self.distances):g} of their class's mean; {100 * expected:.0f} % would "
            "if Gaussian"
        )
        if self.held:
            said += f"; posterior with {self.held} other feature{'s' * (self.held > 1)} at the mean"
        return said

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        box = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        if len(self.classes) == 2:
            self._draw_posterior(ax, box)
        else:
            self._draw_winners(ax, box)
        for k, label in enumerate(self.classes):
            some = self.rows[self.codes == k]
            _canvas.points(ax, some[:, 0], some[:, 1], k, label=_canvas.plain(label))
            for line, curve in enumerate(self.ellipses[k]):
                style = _canvas.LINES[line % len(_canvas.LINES)]
                ax.plot(*curve, color=_canvas.colour(k), linestyle=style, linewidth=1.4, zorder=4)
            ax.plot(*self.means[k], "+", color=_canvas.INK, markersize=10, zorder=5)
        ax.set(xlim=box[:2], ylim=box[2:])
        _canvas.label_axes(ax, *self.names[:2])
        _canvas.legend(ax)

    def _draw_posterior(self, ax: Axes, box: Any) -> None:
        """p(classes[1] | x), in the classes' colours, with a bar."""
        from matplotlib.colors import LinearSegmentedColormap

        ends = [_canvas.colour(0), "#f7f7f7", _canvas.colour(1)]
        image = ax.imshow(
            self.posterior,
            extent=box,
            origin="lower",
            aspect="auto",
            alpha=0.45,
            vmin=0.0,
            vmax=1.0,
            cmap=LinearSegmentedColormap.from_list("classes", ends),
            interpolation="none",
        )
        bar = ax.figure.colorbar(image, ax=ax)
        bar.set_label(f"p({_canvas.plain(self.classes[1], 12)} | x)")
        bar.solids.set_rasterized(True)  # type: ignore[union-attr]
        if self.posterior.min() < 0.5 < self.posterior.max():
            ax.contour(self.x, self.y, self.posterior, [0.5], colors=_canvas.INK, linewidths=1.2)

    def _draw_winners(self, ax: Axes, box: Any) -> None:
        """The colour of the likeliest class, the fainter the less certain."""
        K = len(self.classes)
        shade = np.array([_canvas.tint(_canvas.colour(k), 1.0) for k in range(K)])[self.decided]
        shade[..., 3] = 0.04 + 0.4 * (self.posterior - 1.0 / K) / (1.0 - 1.0 / K)
        ax.imshow(shade, extent=box, origin="lower", aspect="auto", interpolation="none")
        for lead in () if self.leads is None else self.leads:
            if lead.min() < 0 < lead.max():
                ax.contour(self.x, self.y, lead, [0.0], colors=_canvas.INK, linewidths=0.8)


def _leads(model: Any, G: Array, K: int) -> Array | None:
    """Log posteriors less the best of the others, (g, K): their zeros are smooth lines."""
    if K == 2:
        return None
    scores = np.asarray(_given.ask(model, "predict_log_proba", G), dtype=np.float64)
    best = np.sort(scores, axis=1)[:, -2:]
    others = np.where(scores == best[:, 1:], best[:, :1], best[:, 1:])
    return np.asarray(scores - others)


def _covariances(model: Any, pair: tuple[int, int]) -> Array:
    """Covariances of two features, (K, 2, 2), whatever the shape of covariance_."""
    C, K = np.asarray(model.covariance_, dtype=np.float64), len(model.classes_)
    if model.covariance == "diagonal":
        C = np.stack([np.diag(row) for row in C])
    elif C.ndim == 2:
        C = np.repeat(C[None], K, axis=0)
    return C[:, pair][:, :, pair]


def _ellipses(mean: Array, C: Array, distances: tuple[float, ...]) -> Array:
    """Points m + d L (cos, sin), where L L' = C."""
    angle = np.linspace(0.0, 2.0 * np.pi, 90)
    values, axes = np.linalg.eigh(C)
    L = axes * np.sqrt(np.maximum(values, 0.0))
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return np.stack([mean[:, None] + d * (L @ circle) for d in distances])
