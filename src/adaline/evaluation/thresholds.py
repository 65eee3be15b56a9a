"""Two classes at every threshold: hits, false alarms, precision, and what the errors cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from adaline.evaluation.words import name, number, plural
from adaline.results import Array, Result

RATIOS = (1.0, 2.0, 5.0, 10.0, 20.0)  # how many false alarms a miss costs


@dataclass(frozen=True)
class Priced:
    """Decisions at one threshold, and their cost.

    Attributes
    ----------
    ratio : float
        How many false alarms a miss costs.
    threshold : float
        1 / (1 + ratio): where both errors are expected to cost the same.
    misses, alarms : int
        Positive rows answered with the other class, and the reverse.
    cost : float
        Mean cost of a decision, in false alarms.
    constant : float
        The same of the better of two constant answers.
    best : float
        The threshold of the least cost on these rows.
    best_cost : float
        That cost; it flatters, as these rows chose the threshold.
    """

    ratio: float
    threshold: float
    misses: int
    alarms: int
    cost: float
    constant: float
    best: float
    best_cost: float


@dataclass(frozen=True, eq=False)
class Thresholds(Result):
    """Two classes at every threshold t: a row is positive where its probability exceeds t.

    Attributes
    ----------
    thresholds : ndarray of shape (m,)
        From 0 up; the counts hold from each threshold to the next.
    hits, alarms : ndarray of int, shape (m,)
        Positive and other rows above the threshold.
    positive, others : int
        Rows of the two classes.
    label : object
        The positive class.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.evaluation.thresholds import thresholds
    >>> found = thresholds(np.array([True, False, True]), np.array([2.0, 0.0, -1.0]), "ill")
    >>> found.at(0.3), found.at(0.6)  # hits and false alarms
    ((1, 1), (1, 0))
    >>> found.priced(5.0).misses
    0
    """

    thresholds: Array
    hits: Any
    alarms: Any
    positive: int
    others: int
    label: Any

    def at(self, threshold: float) -> tuple[int, int]:
        """Hits and false alarms where the probability has to exceed `threshold`."""
        k = int(np.searchsorted(self.thresholds, threshold, side="right")) - 1
        return int(self.hits[k]), int(self.alarms[k])

    @property
    def recall(self) -> Array:
        """Share of positive rows that are found."""
        return np.asarray(self.hits / self.positive)

    @property
    def false_alarms(self) -> Array:
        """Share of the others that are called positive."""
        return np.asarray(self.alarms / self.others)

    @property
    def precision(self) -> Array:
        """Share of the answers that are right; nan where there is no answer."""
        said = self.hits + self.alarms
        nothing = np.full(len(said), np.nan)
        return np.asarray(np.divide(self.hits, said, out=nothing, where=said > 0))

    def priced(self, ratio: float) -> Priced:
        """Decisions where a miss costs `ratio` false alarms."""
        n, threshold = self.positive + self.others, 1.0 / (1.0 + ratio)
        hits, alarms = self.at(threshold)
        costs = (ratio * (self.positive - self.hits) + self.alarms) / n
        k = int(np.argmin(costs))
        ends = [*self.thresholds.tolist(), 1.0]
        return Priced(
            ratio,
            threshold,
            self.positive - hits,
            alarms,
            (ratio * (self.positive - hits) + alarms) / n,
            min(ratio * self.positive, self.others) / n,
            (ends[k] + ends[k + 1]) / 2,
            float(costs[k]),
        )

    @property
    def sentence(self) -> str:
        """What moving the threshold buys."""
        half, low = self.at(0.5), self.at(1 / 6)
        what = repr(name(self.label))
        alarms = self.others
        return (
            f"Answering {what} from a probability of 50 % on finds {number(half[0])} of its "
            f"{number(self.positive)} rows, with {plural(half[1], 'false alarm')} among "
            f"{number(alarms)} others. Where a miss costs five false alarms, answer it from 17 % "
            f"on: {number(low[0])} found, {plural(low[1], 'false alarm')}."
        )


def ratio_of(model: Any) -> float:
    """How many false alarms a miss costs, by the costs of a model; 1 without."""
    costs = getattr(model, "costs", None)
    if costs is None:
        return 1.0
    C: Array = np.asarray(costs, dtype=np.float64)
    miss, alarm = C[0, 1] - C[1, 1], C[1, 0] - C[0, 0]
    return float(miss / alarm) if alarm > 0 and miss > 0 else 1.0


def thresholds(yes: Any, log_odds: Any, label: Any = True) -> Thresholds | None:
    """Count hits and false alarms at every threshold; None where one class has no row.

    Parameters
    ----------
    yes : array of bool, shape (n,)
    log_odds : array of shape (n,)
        Of the positive class.
    label : object
        What the positive class is called.
    """
    y = np.asarray(yes, dtype=bool)
    if not 0 < y.sum() < len(y):
        return None
    p = expit(np.nan_to_num(np.asarray(log_odds, dtype=np.float64)))
    order = np.argsort(p, kind="stable")
    cuts, first = np.unique(p[order], return_index=True)
    # Above the k-th value lie the rows from the next value on.
    below = np.append(first[1:], len(y))
    known = np.concatenate([[0], np.cumsum(y[order])])
    hits = known[-1] - known[below]
    alarms = (len(y) - below) - hits
    found = int(y.sum())
    at = np.concatenate([[0.0], cuts]) if cuts[0] > 0 else cuts
    if cuts[0] > 0:
        hits, alarms = np.append(found, hits), np.append(len(y) - found, alarms)
    return Thresholds(at, hits, alarms, found, len(y) - found, label)
