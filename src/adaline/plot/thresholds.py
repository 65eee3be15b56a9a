"""Two classes at every threshold: what is found, how often the answer is right, what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.evaluation.answers import answers
from adaline.evaluation.thresholds import Thresholds, ratio_of, thresholds
from adaline.evaluation.words import name, number, percent
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400  # corners that can be seen apart


@dataclass(eq=False, repr=False)
class ThresholdDisplay(Display):
    """Recall, precision and mean cost over the probability from which on a class is answered.

    Attributes
    ----------
    counts : Thresholds
        Hits and false alarms at every threshold.
    ratio : float
        How many false alarms a miss costs.
    threshold : float
        Where the model answers: 1 / (1 + ratio).

    Examples
    --------
    >>> from adaline.plot import ThresholdDisplay
    >>> picture = ThresholdDisplay.from_predictions(["a", "b", "b"], [0.2, 0.4, 0.9], positive="b")
    >>> picture.counts.at(0.3)
    (2, 0)
    """

    counts: Thresholds
    ratio: float = 1.0
    size = (4.6, 3.8)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, ratio: float | None = None) -> Self:
        """A classifier of two classes with probabilities; `classes_[1]` is the class answered.

        Without `ratio`, the costs of the model decide, or both errors cost the same.
        """
        R, codes = _given.labelled(model, X, y, two=True)
        _given.fitted(model, "predict_proba")
        odds = answers(model, R).scores
        found = thresholds(codes == 1, odds, model.classes_.tolist()[1])
        return cls._of(found, ratio_of(model) if ratio is None else ratio)

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Any, *, positive: Any = 1, ratio: float = 1.0
    ) -> Self:
        """Probabilities of the label `positive` that are known already."""
        p = _given.numbers(probabilities, "probabilities")
        _given.same_length(len(p), y, "y")
        if p.min() < 0 or p.max() > 1:
            raise ValueError(
                f"probabilities lie between 0 and 1; these reach {p.min():g} and {p.max():g}."
            )
        with np.errstate(divide="ignore"):
            odds = np.log(p) - np.log1p(-p)
        return cls._of(thresholds(np.asarray(y) == positive, odds, positive), ratio)

    @classmethod
    def _of(cls, found: Thresholds | None, ratio: float) -> Self:
        if found is None:
            raise ValueError("the rows are of one class; a threshold needs both.")
        if not ratio > 0 or not np.isfinite(ratio):
            raise ValueError(f"ratio is {ratio!r}; expected how many false alarms a miss costs.")
        return cls(found, float(ratio))

    @property
    def threshold(self) -> float:
        """Where both errors are expected to cost the same."""
        return 1.0 / (1.0 + self.ratio)

    @property
    def claim(self) -> str:
        c, label = self.counts, repr(name(self.counts.label))
        hits, alarms = c.at(self.threshold)
        price = c.priced(self.ratio)
        right = "no row gets that answer"
        if hits + alarms:
            right = f"{percent(hits / (hits + alarms))} of these answers are right"
        return (
            f"Answered from {percent(self.threshold)} on, {label} is found in "
            f"{percent(hits / c.positive)} of its rows, and {right}; a decision costs "
            f"{number(price.cost, 3)} on average, without a model {number(price.constant, 3)}"
        )

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        c = self.counts
        at = np.append(c.thresholds, 1.0)
        keep = np.unique(np.searchsorted(at, np.linspace(0.0, 1.0, _POINTS)))
        keep = np.union1d(keep[keep < len(at)], [0, len(at) - 1])
        costs = (self.ratio * (c.positive - c.hits) + c.alarms) / (c.positive + c.others)
        alone = self.counts.priced(self.ratio).constant
        curves = (
            ("found (recall)", c.recall),
            ("answers right (precision)", c.precision),
            ("cost against no model", costs / alone),
        )
        for k, (words, values) in enumerate(curves):
            steps = np.append(values, values[-1])[keep]
            look: dict[str, Any] = {"color": _canvas.colour(k), "linestyle": _canvas.LINES[k]}
            ax.step(at[keep], steps, where="post", label=words, **look)
        _canvas.level(ax, self.threshold, "answered from here on", along="v")
        top = min(2.0, 1.05 * max(1.0, float(np.nanmax(costs)) / alone))
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.02, top))
        ax.set_xlabel(f"probability of {_canvas.plain(c.label, 16)}, at least")
        ax.set_ylabel("share, or cost")
        _canvas.legend(ax)
