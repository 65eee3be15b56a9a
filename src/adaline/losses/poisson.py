"""The loss of counts: y has a Poisson distribution of mean mu = exp(v).

    loss = mu - y v,    dloss/dv = mu - y,    d2loss/dv2 = d3loss/dv3 = mu

Literature: McCullagh & Nelder 1989, chapter 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from adaline.kernels.losses.links import POISSON
from adaline.linalg import UNIT
from adaline.objective import Extent, Objective, Part, reach
from adaline.results import Array

LARGEST_OFFSET = 600.0  # exp of it still leaves room for products in float64


class Poisson:
    """The criterion; see `objective.Loss`."""

    endless = "weights grow without bound: on some rows of count 0 the mean can shrink for ever"

    def parts(self, rows: Objective, theta: Array, slopes: Array) -> list[Part]:
        """Sums over pieces of the rows."""
        return rows.neuron(POISSON, theta, slopes)

    def size(self, rows: Extent, theta: Array, f: float, slopes: float) -> float:
        """Sum of mu + y |v|."""
        return slopes + rows.total + rows.total * (1.0 + reach(rows, theta))

    def rounding(self, rows: Extent, theta: Array, slopes: float) -> Array:
        """Terms are at most (mu + y) |z|, and v is off by (p + 4) u (|theta|'|z| + |offset|).

        An error of v is a relative error of mu; the sum of all mu is that of the slopes and of y.
        """
        means = abs(slopes) + rows.total
        values = (len(rows.top) + 4) * reach(rows, theta)
        sums = (rows.depth() + 8.0) * (means + rows.total)
        return np.asarray(1.01 * UNIT * (sums + values * means) * rows.top)

    def start(self, rows: Objective) -> Array:
        """The bias at which all means together are right, where there is a bias."""
        theta = np.zeros((1, len(rows.top)))
        if rows.intercept:
            theta[0, -1] = np.log(_rate(rows))
        return theta

    def null(self, rows: Objective) -> float:
        """Loss where all rates exp(v - offset) are equal: the best one, or 1 without a bias."""
        v = np.log(_rate(rows)) if rows.intercept else 0.0
        v = v + (rows.offset if len(rows.offset) else np.zeros(rows.X.shape[0]))
        return _weighted(rows, np.exp(v) - rows.target * v)

    def saturated(self, rows: Objective) -> float:
        """Loss where every mean is its count."""
        y = rows.target
        return _weighted(rows, y - xlogy(y, y))

    def constant(self, rows: Objective) -> float:
        """log y!, which does not depend on the mean."""
        return _weighted(rows, gammaln(rows.target + 1.0))


def poisson_loss(
    X: Any, y: Array, omega: Array, offset: Array, alpha: float, intercept: bool
) -> Objective:
    """The penalised loss of rows with counts y, in units that fit the columns."""
    return Objective.of(Poisson(), X, y, omega, alpha, intercept, offset=offset)


def _weighted(rows: Objective, values: Array) -> float:
    """Sum of omega times the values."""
    return float(rows.omega @ values if len(rows.omega) else np.sum(values))


def _rate(rows: Objective) -> float:
    """Counts by exposure, exp(offset); as if there were one count where there is none."""
    exposure = np.exp(rows.offset) if len(rows.offset) else np.ones(rows.X.shape[0])
    return (rows.total or 1.0) / _weighted(rows, exposure)
