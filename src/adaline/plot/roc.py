"""Hits against false alarms, over all thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class RocCurveDisplay(Display):
    """Hits against false alarms, over all thresholds of the decision function.

    Attributes
    ----------
    fpr, tpr, thresholds : ndarray of shape (m,)
        Shares of negative and positive rows at or above the threshold; the first is above all.
    area : float
        The area under the curve: how often a positive row has the larger value than a negative.
    at : tuple of two floats, or None
        False alarms and hits of the decisions that the model takes.
    positive, model : str
    """

    fpr: Array
    tpr: Array
    thresholds: Array
    area: float
    at: tuple[float, float] | None
    positive: str
    model: str
    size = (4.4, 3.8)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any) -> Self:
        """The curve of a classifier of two classes; `classes_[1]` is positive."""
        R, codes = _given.labelled(model, X, y, two=True)
        if hasattr(model, "decision_function"):
            values = _given.ask(model, "decision_function", R)
        else:
            values = _given.ask(_given.fitted(model, "predict_proba"), "predict_proba", R)[:, 1]
        label = model.classes_.tolist()[1]
        yes = np.asarray(_given.ask(model, "predict", R)) == label
        at = (
            (float(yes[codes == 0].mean()), float(yes[codes == 1].mean()))
            if len(np.unique(codes)) == 2
            else None
        )
        return cls._of(
            codes == 1,
            _given.numbers(values, "decision values"),
            at,
            str(label),
            type(model).__name__,
        )

    @classmethod
    def from_predictions(
        cls, y: Any, values: Any, *, positive: Any = None, name: str = "The value"
    ) -> Self:
        """The curve of values that are known already; `positive` is by default the larger label."""
        known = np.unique(np.asarray(y))
        if len(known) != 2:
            raise ValueError(f"these rows are of {len(known)} classes; a ROC curve is for two.")
        label = known[1] if positive is None else positive
        found = _given.numbers(values, "values")
        _given.same_length(len(found), y, "y")
        return cls._of(np.asarray(y) == label, found, None, str(label), name)

    @classmethod
    def _of(cls, yes: Any, values: Array, at: Any, positive: str, model: str) -> Self:
        if not 0 < yes.sum() < len(yes):
            raise ValueError("the rows are of one class; a ROC curve needs both.")
        order = np.argsort(-values, kind="stable")
        v, hit = values[order], yes[order]
        last = np.append(np.flatnonzero(np.diff(v)), len(v) - 1)  # ties move together
        tpr = np.append(0.0, np.cumsum(hit)[last] / hit.sum())
        fpr = np.append(0.0, np.cumsum(~hit)[last] / (~hit).sum())
        area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
        return cls(fpr, tpr, np.append(np.inf, v[last]), area, at, positive, model)

    @property
    def claim(self) -> str:
        return (
            f"{self.model} ranks a row of {_canvas.short(self.positive, 16)} above one of the "
            f"other class {100 * self.area:.1f} % of the time"
        )

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        ax.plot([0, 1], [0, 1], ":", color=_canvas.INK, linewidth=0.9, label="guessing")
        if len(self.fpr) > 500:  # corners that cannot be seen apart
            keep = np.unique(np.searchsorted(self.fpr + self.tpr, np.linspace(0, 2, 500)))
            keep = np.union1d(keep[keep < len(self.fpr)], [0, len(self.fpr) - 1])
        else:
            keep = np.arange(len(self.fpr))
        ax.plot(
            self.fpr[keep], self.tpr[keep], color=_canvas.colour(0), label=f"area {self.area:.3f}"
        )
        if self.at is not None:
            ax.plot(*self.at, "o", color=_canvas.colour(1), markersize=8, label="as it decides")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set(
            xlabel="false alarms, share of the others",
            ylabel=f"hits, share of {_canvas.plain(self.positive, 16)}",
        )
        _canvas.legend(ax, loc="lower right")
