"""Whether probabilities are calibrated, and where to set a threshold.

On average: sum of (observed - predicted) against its deviation. From low to high: Cox's slope b in
observed log-odds = a + b log-odds predicted; below 1 if probabilities are too near 0 and 1.
Reports, checks and plots use both.
"""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from adaline.estimators.logistic import LogisticRegression
from adaline.evaluation.quality import NORMAL_95
from adaline.evaluation.words import number, percent, plural
from adaline.results import Array, Result

MEANINGS = {
    "right": "calibrated",
    "too sure": "too near to 0 and 1: nearly certain predictions are less certain",
    "too timid": "too near to each other: likely predictions are likelier",
    "too high": "too high on average",
    "too low": "too low on average",
}


@dataclass(frozen=True)
class Calibration(Result):
    """Probabilities against what was observed in `rows` rows.

    `predicted` and `observed` are the mean probability and the share of rows of that class, `z`
    their difference in standard deviations; `slope` is Cox's with its 95% interval, nan if there is
    none; `kind` is "right" if both are within what chance does, "unknown" of too few rows, else the
    fault, a key of MEANINGS.
    """

    rows: int
    predicted: float
    observed: float
    z: float
    slope: float
    slope_low: float
    slope_high: float
    kind: str

    @property
    def sentence(self) -> str:
        """The result with its numbers."""
        text = f"{percent(self.predicted)} predicted on average, {percent(self.observed)} observed"
        text += f" in {plural(self.rows, 'row')}"
        if self.kind == "unknown":
            return f"Too few rows to check the probabilities: {text}."
        ends = f"{number(self.slope_low, 2)} to {number(self.slope_high, 2)}"
        slope = f"slope {number(self.slope, 2)}, 95% interval {ends}; 1 is right"
        return f"The probabilities are {MEANINGS[self.kind]} ({text}; {slope})."


def calibration(yes: Any, log_odds: Any) -> Calibration:
    """Check probabilities 1 / (1 + exp(-v)) against what was observed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> v = rng.normal(0, 2, 2000)
    >>> yes = rng.random(2000) < 1 / (1 + np.exp(-v))
    >>> calibration(yes, v).kind, calibration(yes, 3 * v).kind
    ('right', 'too sure')
    """
    y = np.asarray(yes, dtype=bool)
    # Beyond 30 a probability is 0 or 1 to rounding.
    v = np.clip(np.nan_to_num(np.asarray(log_odds, dtype=np.float64)), -30.0, 30.0)
    p = expit(v)
    z = float(np.sum(y - p) / np.sqrt(np.sum(p * (1 - p))))
    slope, error = _cox_slope(y, v)
    low, high = slope - NORMAL_95 * error, slope + NORMAL_95 * error
    kind = "right"
    if min(y.sum(), (~y).sum()) < 10 or not math.isfinite(high - low):  # any round number
        kind = "unknown"
    elif high < 1 or low > 1:
        kind = "too sure" if high < 1 else "too timid"
    elif abs(z) > NORMAL_95:
        kind = "too low" if z > 0 else "too high"
    return Calibration(len(y), float(p.mean()), float(y.mean()), z, slope, low, high, kind)


def _cox_slope(y: Any, v: Array) -> tuple[float, float]:
    """b of the likeliest a + b v, and its standard error; nan if there is none."""
    if np.ptp(v) == 0:
        return math.nan, math.nan
    # One class or separable rows raise ValueError: the likelihood grows without bound.
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore")
        columns = LogisticRegression(alpha=0).fit(v[:, np.newaxis], y).summary().columns
        return float(columns["coef"][1]), float(columns["std err"][1])
    return math.nan, math.nan


@dataclass(frozen=True, eq=False)
class Thresholds(Result):
    """Two classes at every threshold: a row is positive if its probability exceeds it.

    `hits` and `alarms` count positive and other rows above each of `thresholds`, from 0 up, and
    hold until the next; `positive` and `others` are the rows of the two classes, `label` is that
    of the positive one.

    >>> found = thresholds(np.array([True, False, True]), np.array([0.9, 0.5, 0.25]), "ill")
    >>> found.at(0.3), found.at(0.6)  # hits and false alarms
    ((1, 1), (1, 0))
    """

    thresholds: Array
    hits: Any
    alarms: Any
    positive: int
    others: int
    label: Any

    def at(self, threshold: float) -> tuple[int, int]:
        """Hits and false alarms if the probability has to exceed `threshold`."""
        k = int(np.searchsorted(self.thresholds, threshold, side="right")) - 1
        return int(self.hits[k]), int(self.alarms[k])

    def mean_cost(self, ratio: float) -> float:
        """Of a decision at the threshold 1 / (1 + ratio), if a miss costs `ratio` false alarms."""
        hits, alarms = self.at(1.0 / (1.0 + ratio))
        return (ratio * (self.positive - hits) + alarms) / (self.positive + self.others)

    def constant_cost(self, ratio: float) -> float:
        """The same of the better of two constant predictions."""
        return min(ratio * self.positive, self.others) / (self.positive + self.others)


def miss_to_alarm_ratio(model: BaseEstimator) -> float:
    """How many false alarms a miss costs, by the costs of a model; 1 without."""
    costs = getattr(model, "costs", None)
    C: Array = np.asarray([[0, 1], [1, 0]] if costs is None else costs, dtype=np.float64)
    miss, alarm = C[0, 1] - C[1, 1], C[1, 0] - C[0, 0]  # C[i, j]: deciding i when j is true
    return float(miss / alarm) if alarm > 0 and miss > 0 else 1.0


def thresholds(yes: Any, p: Array, label: Any = True) -> Thresholds | None:
    """Count hits and false alarms of probabilities p of the class `label`; None for one class."""
    y = np.asarray(yes, dtype=bool)
    if y.all() or not y.any():
        return None
    # At threshold 0 all rows with p > 0 are positive, at each value of p those above it.
    at = np.unique(np.append(p, 0.0))
    hits, alarms = (
        len(part) - np.searchsorted(np.sort(part), at, side="right") for part in (p[y], p[~y])
    )
    return Thresholds(at, hits, alarms, int(y.sum()), int((~y).sum()), label)
