"""Coefficients by name, with their intervals where the theory has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class CoefficientsDisplay(Display):
    """Coefficients, the largest on top, with intervals from `summary()` where there are any.

    Attributes
    ----------
    model : str
    names : tuple of str
        The intercept is left out: it has other units.
    coef : ndarray of shape (p,)
    low, high : ndarray of shape (p,), or None
        Ends of the intervals, of the posterior for `Ridge`; infinite where one has no end.
    level : float
        Confidence level.
    per_deviation : bool
        Whether they are coefficients times the standard deviation of their column.
    hidden : int
        How many smaller ones are not drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares
    >>> from adaline.plot import CoefficientsDisplay
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> y = X @ [2.0, 0.0] + np.sin(np.arange(50.0))
    >>> picture = CoefficientsDisplay.from_estimator(LeastSquares().fit(X, y))
    >>> print(picture.claim)
    LeastSquares: 1 of 2 coefficients has an interval (95 %) without zero
    """

    model: str
    names: tuple[str, ...]
    coef: Array
    low: Array | None
    high: Array | None
    level: float
    per_deviation: bool
    most: int

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        names: Sequence[Any] | None = None,
        level: float = 0.95,
        output: int = 0,
        most: int = 25,
        **summary: Any,
    ) -> Self:
        """Coefficients of a fitted linear model.

        Parameters
        ----------
        model : fitted linear model
        X : array-like of shape (n, p), optional
            Rows to measure columns with: coefficients are then told for one standard deviation of
            their column, and can be compared.
        names : sequence of str, optional
        level : float, default=0.95
        output : int
            Which target or class, where there are several; these have no intervals.
        most : int, default=25
            How many to draw, the largest.
        **summary
            What else `summary` takes, such as intervals="profile".
        """
        if getattr(model, "coef_", None) is None:
            raise TypeError(f"{type(model).__name__} has no coef_; it is not fitted or not linear.")
        if not 0 < level < 1:
            raise ValueError(f"level is {level}; a confidence level lies between 0 and 1.")
        W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        if not 0 <= output < len(W):
            raise ValueError(f"output is {output}; there are {len(W)}, counted from 0.")
        w = W[output]
        named = _given.column_names(model, X, len(w), names)
        ends = _intervals(model, len(w), level, summary) if len(W) == 1 else None
        unit = np.ones(len(w))
        if X is not None:
            R = _given.rows(X)
            _given.width(model, R)
            unit = R.std(axis=0)
        low, high = (None, None) if ends is None else (ends[0] * unit, ends[1] * unit)
        name = type(model).__name__
        return cls(name, tuple(named), w * unit, low, high, level, X is not None, int(most))

    @property
    def hidden(self) -> int:
        """How many smaller ones are not drawn."""
        return max(0, len(self.coef) - self.most)

    @property
    def claim(self) -> str:
        p = len(self.coef)
        if self.low is None or self.high is None:
            largest = _canvas.short(self.names[int(np.argmax(np.abs(self.coef)))])
            said = f"{self.model}: the largest of {p} coefficients is that of {largest}"
        else:
            sure = int(np.sum((self.low > 0) | (self.high < 0)))
            verb = "has an interval" if sure == 1 else "have intervals"
            said = f"{self.model}: {sure} of {p} coefficients {verb} ({100 * self.level:g} %)"
            said += " without zero"
        return said + (f"; the {self.most} largest" if self.hidden else "")

    def _axes(self, ax: Any) -> list[Axes]:
        self.size = (5.2, 1.1 + 0.24 * max(min(len(self.coef), self.most), 3))
        return super()._axes(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        order = np.argsort(-np.abs(self.coef), kind="stable")[: self.most][::-1]
        at, w = np.arange(len(order)), self.coef[order]
        _canvas.level(ax, 0.0, along="v")
        if self.low is not None and self.high is not None:
            low, high = self.low[order], self.high[order]
            finite = np.isfinite(low) & np.isfinite(high)
            sure = (low > 0) | (high < 0)
            for k, some in enumerate((sure, ~sure)):
                both = some & finite
                reach = np.abs([w - low, high - w])[:, both]
                words = ("interval without zero", "zero is inside")[k]
                ax.errorbar(
                    w[both],
                    at[both],
                    xerr=reach,
                    color=_canvas.colour(k),
                    label=words,
                    fmt=_canvas.marker(k),
                    markersize=5,
                    capsize=2,
                    linewidth=1.2,
                )
            ax.plot(w[~finite], at[~finite], "x", color=_canvas.INK)
        else:
            ax.hlines(at, np.minimum(w, 0.0), np.maximum(w, 0.0), color=_canvas.colour(0))
            ax.plot(w, at, _canvas.marker(0), color=_canvas.colour(0), markersize=5)
        ax.set_yticks(at, [_canvas.plain(self.names[j]) for j in order])
        ax.set_ylim(-0.6, len(order) - 0.4)
        # Short, as long names leave little room; "per sd" is what the tables call it, too.
        ax.set_xlabel("coefficient per sd" if self.per_deviation else "coefficient")
        _canvas.legend(ax)


def _intervals(
    model: Any, p: int, level: float, more: dict[str, Any]
) -> tuple[Array, Array] | None:
    """Ends of the intervals without the intercept's, or None where there are none."""
    if not hasattr(model, "summary"):
        return None
    try:
        columns = model.summary(level=level, **more).columns
    except ValueError:
        if more:
            raise
        return None  # a large or rank-deficient fit, or a stream, has no standard errors
    ends = [
        next((v for name, v in columns.items() if name.startswith(side)), None)
        for side in ("low", "high")
    ]
    if ends[0] is None or ends[1] is None or len(ends[0]) < p:
        return None
    low, high = (np.asarray(v, dtype=np.float64)[-p:] for v in ends)
    return None if np.isnan(low).any() or np.isnan(high).any() else (low, high)
