"""Whether probabilities are what happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.calibration import calibration
from adaline.evaluation.quality import wilson
from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """Whether what is told to have probability p happens p of the time.

    Attributes
    ----------
    told, happened : ndarray of shape (m,)
        Mean probability of the rows of each bin, and the share of them that are positive.
    low, high : ndarray of shape (m,)
        Wilson's 95 % interval of that share.
    counts : ndarray of int, shape (m,)
    brier : float
        Mean squared difference of probability and what happened.
    positive, model : str
    verdict : str
        Whether the probabilities can be taken at their word (`adaline.evaluation.calibration`).
    """

    told: Array
    happened: Array
    low: Array
    high: Array
    counts: NDArray[np.int64]
    brier: float
    positive: str
    model: str
    verdict: str = ""
    size = (4.4, 3.8)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, bins: int = 10) -> Self:
        """Probabilities of `classes_[1]`, two classes, in bins of about equally many rows."""
        R, codes = _given.labelled(model, X, y, two=True)
        _given.fitted(model, "predict_proba")
        p = np.asarray(_given.ask(model, "predict_proba", R), dtype=np.float64)[:, 1]
        label = str(model.classes_.tolist()[1])
        return cls._of(codes == 1, p, bins, label, type(model).__name__)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        probabilities: Any,
        *,
        positive: Any = 1,
        bins: int = 10,
        name: str = "The probability",
    ) -> Self:
        """Probabilities of the label `positive` that are known already."""
        p = _given.numbers(probabilities, "probabilities")
        _given.same_length(len(p), y, "y")
        if p.min() < 0 or p.max() > 1:
            raise ValueError(
                f"probabilities lie between 0 and 1; these reach {p.min():g} and {p.max():g}."
            )
        return cls._of(np.asarray(y) == positive, p, bins, str(positive), name)

    @classmethod
    def _of(cls, yes: Any, p: Array, bins: int, positive: str, model: str) -> Self:
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise ValueError(f"bins is {bins!r}; expected a whole number, 1 or more.")
        edges = np.quantile(p, np.arange(1, bins) / bins)
        place = np.searchsorted(edges, p)  # equal probabilities share a bin
        parts = [np.flatnonzero(place == k) for k in np.unique(place)]
        counts = np.array([len(b) for b in parts], dtype=np.int64)
        told = np.array([p[b].mean() for b in parts])
        happened = np.array([yes[b].mean() for b in parts])
        low, high = wilson(happened, counts)
        brier = float(np.mean((p - yes) ** 2))
        with np.errstate(divide="ignore"):
            odds = np.log(p) - np.log1p(-p)
        said = calibration(yes, odds).sentence
        return cls(told, happened, low, high, counts, brier, positive, model, said)

    @property
    def claim(self) -> str:
        inside = int(np.sum((self.low <= self.told) & (self.told <= self.high)))
        return (
            f"{self.model}: in {inside} of {len(self.told)} bins the probability told is within "
            f"the 95 % interval of what happened (Brier score {number(self.brier, 3)})"
        ) + (f". {self.verdict.rstrip('.')}" if self.verdict else "")

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        ax.plot([0, 1], [0, 1], ":", color=_canvas.INK, linewidth=0.9, label="calibrated")
        reach = np.maximum([self.happened - self.low, self.high - self.happened], 0.0)
        ax.errorbar(
            self.told,
            self.happened,
            yerr=reach,
            fmt="o-",
            color=_canvas.colour(0),
            markersize=5,
            capsize=2,
            linewidth=1.0,
            label="95 % intervals",
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="probability told")
        ax.set_ylabel(f"share of {_canvas.plain(self.positive, 16)} that happened")
        _canvas.legend(ax, loc="upper left")
