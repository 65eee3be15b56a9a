"""What the error of one row costs: a class for each loss.

A loss is a function of the value v = w'x + b + offset and of the target t. It gives the value, the
slope and the curvature with respect to v, and promises that

- the curvature changes by at most a factor e^s where v moves by s: the third derivative is at most
  the second. For K classes s is the range max_k u_k - min_k u_k of the change u of the values;
- the slope is a sum of terms of the total size `terms`, each right to a few units of rounding, and
  the curvature is at most `terms`.

The certificates rest on these promises, and `tests/sums/test_losses.py` checks them for every loss
found here. A new loss is a class like `Poisson`, and an estimator that names it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from adaline.results import Array
from adaline.sums.scaled_rows import ScaledRows

LARGEST_TARGET = 1e300  # sums of a few stay in the range of float64
LARGEST_OFFSET = 600.0  # exp of it still leaves room for products in float64


class Parts(NamedTuple):
    """Of every row: value, slope, curvature and terms (m,).

    For K classes slopes are (K, m), and in the place of the curvature diag(p) - pp' stand the
    probabilities p (K, m).
    """

    value: Array
    slope: Array
    curvature: Array
    terms: Array


class Loss:
    """One criterion."""

    endless: str
    """Why weights may grow without bound where there is no penalty."""

    def parts(self, v: Array, t: NDArray[Any]) -> Parts:
        """At values v, (m,) of one output or (K, m)."""
        raise NotImplementedError

    def leads(self, v: Array, t: NDArray[Any]) -> Array | None:
        """By how much the value of a row's own class leads, (m,); None without classes."""
        return None

    def start(self, rows: ScaledRows, K: int) -> Array:
        """A theta (K, p + 1) to begin with."""
        return np.zeros((K, rows.q))

    def null(self, rows: ScaledRows, K: int) -> float:
        """Sum of the losses of the best fit without features."""
        raise NotImplementedError

    def saturated(self, rows: ScaledRows) -> float:
        """The least that the sum of the losses could be: deviance is twice what lies above."""
        return 0.0

    def constant(self, rows: ScaledRows) -> float:
        """What the loss leaves out of minus the log likelihood."""
        return 0.0


class ClassLoss(Loss):
    """What two classes and K classes have in common."""

    def null(self, rows: ScaledRows, K: int) -> float:
        """Loss of the best constant probabilities; of equal ones where there is no bias."""
        codes = (rows.Y > 0).astype(np.int64) if K == 1 else rows.Y
        share = np.bincount(codes, rows.weights, minlength=max(K, 2)) / rows.weight
        if not rows.intercept:
            return rows.weight * float(np.log(len(share)))
        share = share[share > 0]
        return -rows.weight * float(share @ np.log(share))


class Logistic(ClassLoss):
    """log(1 + exp(-t v)) for t = -1 or +1: minus the log likelihood of p = 1 / (1 + exp(-v))."""

    endless = "weights grow without bound: the classes are separable but for ties"

    def parts(self, v: Array, t: Array) -> Parts:
        m = t * v
        e = np.exp(-np.abs(m))
        p_likely = 1.0 / (1.0 + e)
        bent = e * p_likely
        # Not 1 - p: that would lose the digits of small probabilities.
        p_wrong = np.where(m > 0.0, bent, p_likely)
        bent *= p_likely
        value = np.log1p(e, out=e)
        value -= np.minimum(m, 0.0, out=m)
        return Parts(value, -t * p_wrong, bent, p_wrong)

    def leads(self, v: Array, t: Array) -> Array:
        return t * v


class Softmax(ClassLoss):
    """log sum_k exp(v_k) - v_t for class codes t: K classes."""

    endless = Logistic.endless

    def parts(self, v: Array, t: NDArray[np.int64]) -> Parts:
        own = np.arange(len(t))
        v = v - v.max(axis=0)
        p = np.exp(v)
        total = p.sum(axis=0)
        p /= total
        slope = p.copy()
        slope[t, own] = 0.0
        slope[t, own] = -slope.sum(axis=0)  # not p - 1: that would lose the digits of small slopes
        return Parts(np.log(total) - v[t, own], slope, p, np.ones(len(t)))

    def leads(self, v: Array, t: NDArray[np.int64]) -> Array:
        own = np.arange(len(t))
        mine, others = v[t, own], v.copy()
        others[t, own] = -np.inf
        return np.asarray(mine - others.max(axis=0))


class LogLink(Loss):
    """Losses of a mean mu = exp(v): what regressions on counts and on positive numbers share.

    A subclass says which targets it takes, `lowest` and whether that is `included`; `told` is the
    same in words, for every message about a target that is not.
    """

    lowest, included = 0.0, True
    told = "counts are not negative"
    name, unit = "Poisson", "count"

    def bad(self, t: Array) -> NDArray[np.bool_]:
        """Which targets have no such loss."""
        low = t >= self.lowest if self.included else t > self.lowest
        return np.asarray(~low | (t > LARGEST_TARGET))

    def start(self, rows: ScaledRows, K: int) -> Array:
        """The bias at which all means together are right, where there is a bias."""
        theta = np.zeros((1, rows.q))
        if rows.intercept:
            theta[0, -1] = np.log(self.rate(rows))
        return theta

    def null(self, rows: ScaledRows, K: int) -> float:
        """Loss where all rates exp(v - offset) are equal: the best one, or 1 without a bias."""
        v = np.full(rows.n, np.log(self.rate(rows)) if rows.intercept else 0.0)
        v = v + rows.offset if len(rows.offset) else v
        return float(rows.weights @ self.parts(v, rows.Y).value)

    def rate(self, rows: ScaledRows) -> float:
        """The common rate exp(v - offset) of least loss."""
        raise NotImplementedError

    def deviance(self, t: Array, mean: Array) -> Array:
        """Twice what the loss of each row lies above the least it could be."""
        raise NotImplementedError

    def dispersion(self, rows: ScaledRows, v: Array, free: float) -> float:
        """The factor phi of the variance; 1 where the distribution has none."""
        return 1.0

    def expected(self, v: Array) -> Array:
        """The curvature that is to be expected at the mean exp(v): Fisher's information."""
        return np.exp(v)


class Poisson(LogLink):
    """exp(v) - t v for counts t: minus the log likelihood of the mean exp(v), but for log t!."""

    endless = "weights grow without bound: on some rows of count 0 the mean can shrink for ever"

    def parts(self, v: Array, t: Array) -> Parts:
        mean = np.exp(v)
        return Parts(mean - t * v, mean - t, mean, mean + t)

    def rate(self, rows: ScaledRows) -> float:
        """Counts by exposure, exp(offset); as if there were one count where there is none."""
        exposure = np.exp(rows.offset) if len(rows.offset) else np.ones(rows.n)
        return float(rows.weights @ rows.Y or 1.0) / float(rows.weights @ exposure)

    def saturated(self, rows: ScaledRows) -> float:
        return float(rows.weights @ (rows.Y - xlogy(rows.Y, rows.Y)))

    def constant(self, rows: ScaledRows) -> float:
        return float(rows.weights @ gammaln(rows.Y + 1.0))

    def deviance(self, t: Array, mean: Array) -> Array:
        with np.errstate(divide="ignore"):  # infinite where the mean is 0 and the count is not
            return np.asarray(2.0 * (xlogy(t, t) - xlogy(t, mean) - t + mean))


class Gamma(LogLink):
    """t exp(-v) + v for t > 0: minus the log likelihood of the mean exp(v), by the dispersion."""

    endless = "weights grow without bound"
    included = False
    told = "targets are positive"
    name, unit = "gamma", "target"

    def parts(self, v: Array, t: Array) -> Parts:
        share = t * np.exp(-v)
        return Parts(share + v, 1.0 - share, share, 1.0 + share)

    def rate(self, rows: ScaledRows) -> float:
        """The mean of t by exposure."""
        each = rows.Y * np.exp(-rows.offset) if len(rows.offset) else rows.Y
        return float(rows.weights @ each) / rows.weight

    def saturated(self, rows: ScaledRows) -> float:
        return float(rows.weights @ (1.0 + np.log(rows.Y)))

    def deviance(self, t: Array, mean: Array) -> Array:
        share = t / mean
        return np.asarray(2.0 * (share - 1.0 - np.log(share)))

    def expected(self, v: Array) -> Array:
        return np.ones(len(v))

    def dispersion(self, rows: ScaledRows, v: Array, free: float) -> float:
        """Pearson's: the mean of ((t - mu) / mu)^2 over the degrees of freedom left."""
        left = float(rows.weights @ np.expm1(np.log(rows.Y) - v) ** 2) * rows.unit
        return left / free if free > 0 else np.nan
