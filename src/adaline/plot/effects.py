"""What one column does to the answer, the others at their averages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.evaluation.coefficients import coefficients
from adaline.evaluation.effects import Effect, effect_of
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TICKS = 150  # rows whose values are marked on the axis


@dataclass(eq=False, repr=False)
class EffectDisplay(Display):
    """The answer as one column changes and the others stay at their averages.

    Attributes
    ----------
    effect : Effect
        The curve, with its 95 % interval where a theory has one.
    seen : ndarray of shape (m,)
        Values of the column, marked on the axis: where there are none, the curve is a guess.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares
    >>> from adaline.plot import EffectDisplay
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> model = LeastSquares().fit(X, X @ [2.0, 0.0] + 1.0)
    >>> picture = EffectDisplay.from_estimator(model, X, "age", names=["age", "dose"], target="pay")
    >>> picture.claim
    'From age -0.94 to 0.914, pay goes from -0.881 to 2.83'
    """

    effect: Effect
    seen: Array
    size = (4.6, 3.2)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        column: Any,
        *,
        names: Sequence[Any] | None = None,
        target: str | None = None,
    ) -> Self:
        """Ask a fitted model about an average row of X, whose `column` (name or number) changes."""
        R = _given.rows(X)
        _given.width(_given.fitted(model), R)
        if hasattr(model, "classes_"):
            _given.fitted(model, "predict_proba")
        named = _given.column_names(model, X, R.shape[1], names)
        j = _given.place(column, named)
        found = coefficients(model, named)
        return cls.of(effect_of(model, found, R, named, j, target), R[:, j])

    @classmethod
    def of(cls, effect: Effect, values: Array) -> Self:
        """A curve that is known already, and the values of its column."""
        return cls(effect, values[:: max(1, len(values) // _TICKS)])

    @property
    def claim(self) -> str:
        return self.effect.sentence

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        e = self.effect
        times = 100.0 if e.share else 1.0
        for k, what in enumerate(e.of):
            words = _canvas.plain(what) if len(e.of) > 1 else None
            self._draw_one(ax, k, times, words)
        low, high = e.x[0], e.x[-1]
        inside = self.seen[(self.seen >= low) & (self.seen <= high)]
        ax.plot(
            inside,
            np.zeros(len(inside)),
            "|",
            color=_canvas.INK,
            alpha=0.35,
            markersize=7,
            transform=ax.get_xaxis_transform(),
            zorder=1,
        )
        if len(e.x) == 2:
            ax.set_xticks(e.x)
            room = 0.35 * (high - low)
            ax.set_xlim(low - room, high + room)
        _canvas.label_axes(ax, e.name)
        if e.share:
            what = "" if len(e.of) > 1 else f" of {_canvas.plain(e.of[0], 16)}"
            ax.set_ylabel(f"probability{what} (%)")
        else:
            ax.set_ylabel(_canvas.plain(e.of[0], 24))
        _canvas.legend(ax)

    def _draw_one(self, ax: Axes, k: int, times: float, words: str | None) -> None:
        """One curve and its interval; two values are two points."""
        e, colour = self.effect, _canvas.colour(k)
        y = times * e.y[:, k]
        ends = None if e.low is None or e.high is None else (times * e.low, times * e.high)
        if len(e.x) > 2:
            style = _canvas.LINES[k % len(_canvas.LINES)]
            ax.plot(e.x, y, color=colour, linestyle=style, label=words)
            if ends is not None:
                band: dict[str, Any] = {"color": colour, "alpha": 0.22, "linewidth": 0}
                words = "95 % interval" if len(e.of) == 1 else None
                ax.fill_between(e.x, ends[0][:, k], ends[1][:, k], label=words, **band)
            return
        reach = None
        if ends is not None:
            reach = np.maximum([y - ends[0][:, k], ends[1][:, k] - y], 0.0)
            words = words or "95 % interval"
        look: dict[str, Any] = {"color": colour, "capsize": 3, "markersize": 6, "linewidth": 1.2}
        ax.errorbar(e.x, y, yerr=reach, fmt=f"{_canvas.marker(k)}--", label=words, **look)
